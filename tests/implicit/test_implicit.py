# SPDX-License-Identifier: Apache-2.0
"""Solutions by the implicit function theorem: against closed forms, differences, and differentiated iterations."""

import math
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

P = np.array([2.0, 1.3])


def equations(u, p):
    return np.array([u[0] ** 2 + u[1] - p[0], u[0] - u[1] ** 3 * p[1]])


def solved(p):
    u = fsolve(equations, np.ones(2), args=(p,), xtol=1e-12)
    for _ in range(2):
        j = np.array([[2.0 * u[0], 1.0], [1.0, -3.0 * u[1] ** 2 * p[1]]])
        u = u - np.linalg.solve(j, equations(u, p))
    return u


solution = codipy.implicit.root(equations, solved)


def slopes(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def loss(p):
    return np.sum(np.sin(solution(p)) * p)


@each_strategy
def test_first_and_second_derivatives(strategy):
    def plain(p):
        return np.sum(np.sin(solved(p)) * p)

    value, gradient = codipy.value_and_grad(loss, strategy=strategy)(P)
    assert value == plain(P)
    np.testing.assert_allclose(gradient, slopes(plain, P), rtol=1e-8)
    np.testing.assert_allclose(codipy.hessian(loss, strategy=strategy)(P), slopes(codipy.grad(loss), P), rtol=1e-7)
    along = codipy.jvp(loss, (P,), (P,), strategy=strategy)[1]
    assert along == pytest.approx(np.dot(gradient, P), rel=1e-12)


def test_any_order_of_a_number():
    f = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    assert f(8.0) == 8.0 ** (1.0 / 3.0)
    factor = 1.0
    for order in range(1, 5):
        factor *= 1.0 / 3.0 - order + 1.0
        f = codipy.grad(f)
        assert f(8.0) == pytest.approx(factor * 8.0 ** (1.0 / 3.0 - order), rel=1e-12)


def test_variables_of_the_function_around_it():
    def outer(p):
        q = p * 1.5
        root = codipy.implicit.root(lambda u: u**2 - q[0] * u - q[1], lambda: larger(codipy.value(q)))
        return root() * q[1]

    def larger(q):
        return (q[0] + math.sqrt(q[0] ** 2 + 4.0 * q[1])) / 2.0

    def plain(p):
        return larger(1.5 * p) * 1.5 * p[1]

    np.testing.assert_allclose(codipy.grad(outer)(P), slopes(plain, P), rtol=1e-8)
    np.testing.assert_allclose(codipy.hessian(outer)(P), slopes(codipy.grad(plain), P), rtol=1e-7, atol=1e-9)


def test_a_fixed_point_is_that_of_its_iteration():
    def iterate(p, u=1.0):
        for _ in range(300):
            u = math.cos(p * u)
        return u

    implicit = codipy.implicit.fixed_point(lambda u, p: math.cos(p * u), iterate)
    assert codipy.grad(implicit)(1.0) == pytest.approx(codipy.grad(iterate)(1.0), rel=1e-12)
    assert codipy.hessian(implicit)(1.0) == pytest.approx(codipy.hessian(iterate)(1.0), rel=1e-10)


def test_the_steps_of_the_solver_are_not_recorded():
    calls = []

    def solver(p):
        calls.append(type(p))
        return np.sqrt(p)

    f = codipy.implicit.root(lambda u, p: u * u - p, solver)
    np.testing.assert_allclose(codipy.grad(lambda p: np.sum(f(p)))(P), 0.5 / np.sqrt(P))
    assert calls == [np.ndarray]
    assert type(f(P)) is np.ndarray and f(P).tolist() == np.sqrt(P).tolist()


def test_what_depends_on_nothing_is_plain():
    found = []

    def f(x):
        found.append(solution(P))
        return x * found[0][0]

    assert codipy.grad(f)(1.0) == solved(P)[0]
    assert not codipy.active.array.is_active(found[0])


def test_what_is_no_solution_is_refused():
    with pytest.raises(ArithmeticError, match=r"no solution of equations = 0.*tolerance="):
        codipy.grad(lambda p: np.sum(codipy.implicit.root(equations, lambda p: np.ones(2))(p)))(P)
    with pytest.raises(ArithmeticError, match="singular"):
        codipy.grad(codipy.implicit.root(lambda u, p: u**3 - p, lambda p: 0.0))(0.0)
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(codipy.implicit.root(lambda u, p: u - p, lambda p: math.nan))(1.0)
    with pytest.raises(TypeError, match=r"the solver returned the shape \(2,\), and <lambda> of that \(\)"):
        codipy.grad(lambda p: np.sum(codipy.implicit.root(lambda u, p: np.sum(u - p), np.copy)(p)))(P)
    with pytest.raises(TypeError, match="must be a function"):
        codipy.implicit.root(3.0, math.sqrt)
    with pytest.raises(TypeError, match="solver must be a function that returns the solution, got float"):
        codipy.implicit.root(math.sqrt, 3.0)


@pytest.mark.parametrize(("found", "said"), [
    (3, r"got int: return float\(u\)"), (True, "got bool"), (None, "got NoneType: does it return"), ("3", "got str"),
    (3 + 0j, "got complex: solve for the real and for the imaginary part"),
    (np.float32(3), r"got float32: return float\(u\)"),
    (np.array([3, 3]), r"an array of int64: return u.astype\(float\)"), ([1.0, 3], r"got int in solution\[1\]"),
    (np.array([3.0], object), r"an array of object: return u.astype\(float\)"),
])  # fmt: skip
def test_what_a_solver_returns_that_is_no_float_is_named(found, said):
    def newton(p):
        return found

    with pytest.raises(TypeError, match=f"newton, the solver, must return floats.*{said}"):
        codipy.grad(lambda p: p * 1.0 + 0.0 * len(str(codipy.implicit.root(lambda u, p: u, newton)(p))))(9.0)


# ---- Trees, second results, and linear solves without a matrix -------------------------------------------------------
SIZE = 40


def stiff(u, p):
    """A nonlinear chain with fixed ends, whose Jacobian is symmetric and positive definite."""
    left, right = np.concatenate([[0.0], u[:-1]]), np.concatenate([u[1:], [0.0]])
    return 2.0 * u - left - right + u**3 - p


def newton(p):
    u, eye = np.zeros(SIZE), np.eye(SIZE)
    for _ in range(50):
        j = 2.0 * eye - np.eye(SIZE, k=1) - np.eye(SIZE, k=-1) + np.diag(3.0 * u * u)
        u = u - np.linalg.solve(j, stiff(u, p))
    return u


def by_hand(product, right):
    """A solve of the user's: the columns of the matrix, one by one."""
    return np.linalg.solve(np.array([product(e) for e in np.eye(right.size)]).T, right)


LOAD = np.sin(np.arange(SIZE) + 0.5)


@each_strategy
@pytest.mark.parametrize("solve", ["dense", "gmres", "cg", by_hand])
def test_solves_without_a_matrix(strategy, solve):
    displaced = codipy.implicit.root(stiff, newton, solve=solve)

    def energy(p):
        u = displaced(p)
        return np.sum(u * u * p)

    def plain(p):
        u = newton(p)
        return np.sum(u * u * p)

    some = np.arange(0, SIZE, 7)
    step = 1e-5 * np.eye(SIZE)[some]
    expected = [(plain(LOAD + e) - plain(LOAD - e)) / 2e-5 for e in step]
    gradient = codipy.grad(energy, strategy=strategy)(LOAD)
    np.testing.assert_allclose(gradient[some], expected, rtol=1e-7, atol=1e-9)
    along = codipy.jvp(energy, (LOAD,), (LOAD,), strategy=strategy)[1]
    assert along == pytest.approx(np.dot(gradient, LOAD), rel=1e-10)
    twice = codipy.hvp(energy, (LOAD,), (LOAD,), strategy=strategy)[0]
    differences = (codipy.grad(energy)(LOAD * (1.0 + 1e-5)) - codipy.grad(energy)(LOAD * (1.0 - 1e-5))) / 2e-5
    np.testing.assert_allclose(twice, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solve", ["dense", "gmres"])
def test_an_unsymmetric_jacobian_and_variables_around_it(solve):
    a = np.array([[3.0, 1.0, 0.0], [-1.0, 2.0, 0.5], [0.2, 0.0, 4.0]])

    def outer(p):
        q = p * 1.5
        f = codipy.implicit.root(lambda u: a @ u + 0.1 * u**3 - q, lambda: fsolve(
            lambda u: a @ u + 0.1 * u**3 - codipy.value(q), np.ones(3), xtol=1e-13), solve=solve)
        return np.sum(f() ** 2 * q)

    def plain(p):
        u = np.zeros(3)
        for _ in range(30):
            u = u - np.linalg.solve(a + np.diag(0.3 * u * u), a @ u + 0.1 * u**3 - 1.5 * p)
        return np.sum(u**2 * 1.5 * p)

    p = np.array([1.0, -0.5, 2.0])
    np.testing.assert_allclose(codipy.grad(outer)(p), slopes(plain, p), rtol=1e-7)
    np.testing.assert_allclose(codipy.hessian(outer)(p), slopes(codipy.grad(plain), p), rtol=1e-6, atol=1e-8)
    third = codipy.grad(lambda t: codipy.grad(lambda s: codipy.grad(lambda r: outer(p * r))(s))(t))
    h = 1e-4
    second = codipy.grad(codipy.grad(lambda s: plain(p * s)))
    assert third(1.0) == pytest.approx((second(1.0 + h) - second(1.0 - h)) / (2.0 * h), rel=1e-5)


@pytest.mark.parametrize("solve", ["dense", "gmres"])
def test_solutions_of_any_form(solve):
    def f(u, p):
        return {"x": u["x"] ** 2 - p["a"], "y": [u["y"][0] * u["x"][0] - p["b"]]}

    def solver(p):
        x = np.sqrt(p["a"])
        return {"x": x, "y": [float(p["b"] / x[0])]}

    def g(u, p):
        residual = f(u, p)
        return {"x": u["x"] - 0.1 * residual["x"], "y": [u["y"][0] - 0.1 * residual["y"][0]]}

    for found in (codipy.implicit.root(f, solver, solve=solve), codipy.implicit.fixed_point(g, solver, solve=solve)):
        def of(p, found=found):
            u = found(p)
            assert type(u) is dict and type(u["y"]) is list
            return np.sum(u["x"]) * u["y"][0]

        p = {"a": np.array([4.0, 9.0]), "b": 3.0}
        # (sqrt(a0) + sqrt(a1)) b / sqrt(a0)
        gradient = codipy.grad(of)(p)
        np.testing.assert_allclose(gradient["a"], [-0.5 * 3.0 * 3.0 / 8.0, 3.0 / (2.0 * 3.0 * 2.0)], rtol=1e-12)
        assert gradient["b"] == pytest.approx(2.5, rel=1e-12)
    with pytest.raises(TypeError, match="the solver returned a dict, and <lambda> of that a list"):
        solution = codipy.implicit.root(lambda u, p: [u["x"] - p], lambda p: {"x": 1.0 * p})
        codipy.grad(lambda p: np.sum(solution(p)["x"]))(P)


def test_a_second_result_of_the_solver():
    def solver(p):
        return np.sqrt(p), {"steps": 3}

    f = codipy.implicit.root(lambda u, p: u * u - p, solver, has_aux=True)
    gradient, aux = codipy.grad(lambda p: (lambda u, info: (np.sum(u), info))(*f(p)), has_aux=True)(P)
    np.testing.assert_allclose(gradient, 0.5 / np.sqrt(P))
    assert aux == {"steps": 3} and f(P)[1] == {"steps": 3}
    with pytest.raises(TypeError, match="has_aux=True"):
        codipy.implicit.root(lambda u, p: u - p, lambda p: p, has_aux=True)(1.0)


def test_another_form_of_one_type_is_described():
    short = codipy.implicit.root(lambda u, p: {"a": u["a"] - p}, lambda p: {"a": p, "b": p})
    with pytest.raises(TypeError, match=r"a dict with the numbers \['a'\], \['b'\], and <lambda> of that a dict with"):
        codipy.grad(lambda p: short(p)["a"])(1.0)


def test_linear_solves_that_fail_are_refused():
    with pytest.raises(ValueError, match="unknown solve 'lu'"):
        codipy.implicit.root(stiff, newton, solve="lu")
    short = codipy.implicit.root(stiff, newton, solve=lambda product, right: 0.9 * right)
    with pytest.raises(ArithmeticError, match="was not solved by <lambda>: "):
        codipy.grad(lambda p: np.sum(short(p)))(LOAD)
    wrong = codipy.implicit.root(stiff, newton, solve=lambda product, right: right[:3])
    with pytest.raises(TypeError, match="must return a vector of 40"):
        codipy.grad(lambda p: np.sum(wrong(p)))(LOAD)
    flat = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: np.zeros(2), solve="gmres")
    with pytest.raises(ArithmeticError, match="singular"):
        codipy.grad(lambda p: np.sum(flat(p)))(np.zeros(2))


def test_without_scipy(monkeypatch):
    for name in ("scipy.sparse.linalg", "scipy.sparse", "scipy"):
        monkeypatch.setitem(sys.modules, name, None)
    f = codipy.implicit.root(stiff, newton, solve="cg")
    with pytest.raises(ImportError, match=r"needs SciPy for solve='cg'.*solve\(product, right\)"):
        codipy.grad(lambda p: np.sum(f(p)), rebind=False)(LOAD)


@each_strategy
def test_an_expression_of_an_element_waits_until_a_solver_reads_it(strategy):
    t = np.linspace(0.0, 3.0, 5)

    def integral(p):
        curve = p[0] * t
        return quad(lambda q: np.sum(np.sin(q * t) * curve), 0.0, p[1])[0] + np.sum(curve**2)

    def crossing(p):
        curve = np.exp(p[0]) * t + p[1]
        return brentq(lambda z: np.sum(z * t - curve), -50.0, 50.0, xtol=1e-13)

    def slope_of_an_integral(p):
        curve = p[0] * t
        return codipy.grad(lambda z: quad(lambda q: np.sum(q * t * z - z * curve), 0.0, 1.0)[0] ** 2)(p[1])

    def by_hand(p):
        return 2.0 * p[1] * np.sum(t) ** 2 * (0.5 - p[0]) ** 2

    for f, plain in (integral, integral), (crossing, crossing), (slope_of_an_integral, by_hand):
        value, gradient = codipy.value_and_grad(f, strategy=strategy)(P)
        assert value == f(P)
        np.testing.assert_allclose(gradient, slopes(plain, P), rtol=1e-6)


def test_an_expression_of_an_element_that_was_kept_is_its_value_afterwards():
    kept = []

    def f(x):
        kept.append(x[0] * np.arange(3.0))
        return np.sum(x * x)

    codipy.grad(f)(P)
    np.testing.assert_array_equal(codipy.value(np.sin(kept[0])), np.sin(P[0] * np.arange(3.0)))


# ---- Solvers that write to what they get -----------------------------------------------------------------------------
def moves_on(p):
    p += 1.0
    return p / 3.0


def fills(p, work):
    work[:] = p
    return p / 3.0


def fills_by_name(p, *, work):
    work[:] = p
    return p / 3.0


WORK = np.zeros(2)


@pytest.mark.parametrize(("solver", "called"), [
    (moves_on, lambda solution, p: solution(1.0 * p)),
    (fills, lambda solution, p: solution(p, WORK) + WORK),
    (fills, lambda solution, p: solution(p, np.zeros(2))),
    (fills_by_name, lambda solution, p: solution(p, work=WORK) + WORK),
    (lambda p: p, lambda solution, p: solution(1.0 * p)),
    (lambda p: {"u": [p[::-1]]}, lambda solution, p: solution(1.0 * p)["u"][0]),
])  # fmt: skip
def test_a_solver_that_writes_to_its_arguments_or_returns_them_is_refused(solver, called):
    """The plain run goes on with what stands there then."""
    solution = codipy.implicit.root(lambda u, p, *_, **__: 3.0 * u - p, solver)
    assert np.all(np.isfinite(called(solution, P.copy())))
    for _ in range(2):      # the second time the same is written as stands there
        with pytest.raises(ActiveError, match=r"(writes to an array that it was given|returned its argument 0).*copy"):
            codipy.grad(lambda p: np.sum(called(solution, p)))(P)
