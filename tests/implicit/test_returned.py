# SPDX-License-Identifier: Apache-2.0
"""Functions that return what they fill, an array or a list, each time that a solver calls them."""

import sys
from functools import partial

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.sparse import linalg

import codipy
from codipy.errors import ActiveError
from codipy.implicit.returned import Returned
from tests.implicit.differences import X, difference

TIGHT = {"rtol": 1e-10, "atol": 1e-11}
GTOL = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


# ---- Right-hand sides of two states, which ODEPACK copies ------------------------------------------------------------
def filled(k):
    slopes = np.zeros(2)

    def slope(t, y):
        slopes[0], slopes[1] = -k * y[0], y[0] - y[1]
        return slopes

    return slope


def part_of_a_work_array(k):
    work = np.zeros(4)

    def slope(t, y):
        work[:2] = y
        work[2], work[3] = -k * work[0], work[0] - work[1]
        return work[2:]

    return slope


def two_in_turn(k):
    works, calls = np.zeros((2, 2)), [0]

    def slope(t, y):
        calls[0] += 1
        slopes = works[calls[0] % 2]
        slopes[0], slopes[1] = -k * y[0], y[0] - y[1]
        return slopes

    return slope


def product_into(k):
    matrix, slopes = np.array([[-1.0, 0.0], [1.0, -1.0]]), np.zeros(2)
    matrix[0, 0] = -k
    return lambda t, y: np.dot(matrix, y, out=slopes)


def by_default(k):
    def slope(t, y, slopes=np.zeros(2)):  # noqa: B008
        slopes[0], slopes[1] = -k * y[0], y[0] - y[1]
        return slopes

    return slope


def filled_list(k):
    slopes = [0.0, 0.0]

    def slope(t, y):
        slopes[0], slopes[1] = -k * y[0], y[0] - y[1]
        return slopes

    return slope


RIGHT_HAND_SIDES = [filled, part_of_a_work_array, two_in_turn, product_into, by_default, filled_list]


def by_odeint(slope, y0):
    return integrate.odeint(slope, y0, [0.0, 0.5, 1.0], tfirst=True, **TIGHT)[-1, 1]


def by_lsoda(slope, y0):
    return integrate.solve_ivp(slope, (0.0, 1.0), y0, method="LSODA", **TIGHT).y[1, -1]


@pytest.mark.parametrize("make", RIGHT_HAND_SIDES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("solve", [by_odeint, by_lsoda], ids=lambda f: f.__name__)
def test_right_hand_sides(solve, make):
    def f(x):
        return solve(make(x[0]), x[1:])

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)
    direction = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(codipy.jvp(f, [X], [direction])[1], gradient @ direction, rtol=1e-5)


# ---- Residuals, which MINPACK copies ---------------------------------------------------------------------------------
@pytest.mark.parametrize("solve", [
    lambda f, start: optimize.fsolve(f, start, xtol=1e-13),
    lambda f, start: optimize.root(f, start, tol=1e-13).x,
], ids=["fsolve", "root"])  # fmt: skip
@pytest.mark.parametrize("is_list", [False, True])
def test_residuals(solve, is_list):
    def f(x):
        residuals = [0.0, 0.0] if is_list else np.zeros(2)

        def residual(u):
            residuals[0] = u[0] + u[1] - x[2]
            residuals[1] = u[0] * u[1] - 0.1 * x[0] * x[1]
            return residuals

        return solve(residual, [1.0, 0.1])[0]

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)


# ---- Solvers that keep what they got: as in the plain run, they find there what was written since --------------------
def test_a_gradient_that_is_filled():
    def f(x):
        slopes = np.zeros(2)

        def value_and_slopes(u):
            slope = x[1] + 0.9
            slopes[0] = 2.0 * (u[0] - x[0]) - 2.0 * slope * (u[1] - slope * u[0])
            slopes[1] = 2.0 * (u[1] - slope * u[0])
            return (u[0] - x[0]) ** 2 + (u[1] - slope * u[0]) ** 2, slopes

        return np.sum(optimize.minimize(value_and_slopes, [0.0, 0.0], jac=True, tol=1e-10).x)

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, [1.9 + X[1], X[0], 0.0], rtol=1e-5, atol=1e-7)


def test_iterates_that_are_filled():
    def f(x):
        work = np.zeros(4)

        def contraction(u):
            work[1:3] = np.cos(u[0]) * x[0], 0.1 * u[1] + x[1]
            return work[1:3]

        return np.sum(optimize.fixed_point(contraction, [0.1, 0.1], xtol=1e-12))

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("solve", [
    lambda f, start: optimize.least_squares(f, start).x,
    lambda f, start: optimize.leastsq(f, start)[0],
], ids=["least_squares", "leastsq"])  # fmt: skip
def test_residuals_of_which_no_differences_are_seen(solve):
    def f(x):
        residuals = np.zeros(3)

        def residual(u):
            residuals[0], residuals[1], residuals[2] = u[0] - x[0], u[1] * u[0] - x[1], u[0] + u[1] - x[2]
            return residuals

        return np.sum(solve(residual, [1.0, 1.0]))

    assert f(X) == 2.0
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_arrays_in_turn_of_which_each_call_fills_all(count):
    def f(x):
        works, calls = [np.zeros(2) for _ in range(count)], [0]

        def contraction(u):      # which may be one of these
            for work in works:
                work[0], work[1] = np.cos(u[0]) * x[0], 0.1 * u[1] + x[1]
            calls[0] += 1
            return works[calls[0] % count]

        return np.sum(optimize.fixed_point(contraction, [0.1, 0.1], xtol=1e-12))

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5, atol=1e-8)


def test_more_arrays_in_turn_than_a_solver_has():
    def f(x):
        works, calls = [np.zeros(9) for _ in range(6)], [0]

        def residual(u):
            calls[0] += 1
            works[calls[0] % 6][:] = (u - np.arange(9) * x[0]) * np.exp(0.1 * u * x[1])
            return works[calls[0] % 6]

        return np.sum(optimize.least_squares(residual, np.full(9, 0.5), max_nfev=30).x)

    assert abs(f(X) - 36.0 * X[0]) > 1.0
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("is_view", [True, False])
def test_an_array_is_written_to_by_the_last_who_has_it(is_view):
    def f(x, solve=lambda residual: optimize.least_squares(residual, [1.0, 2.0]).x):
        kept = []

        def residual(u):
            if kept:
                kept[0][-1] = -9.0      # SciPy has it yet
            made = np.array([u[0] - x[0], u[1] * x[1] - 1.0])
            kept[:] = [made[1:] if is_view else made]
            return made

        return np.sum(solve(residual))

    def two_calls(residual):
        first = residual([1.0, 2.0])
        return first + residual([1.0, 2.0])

    with Returned() as returned:
        assert f(X, two_calls) == f(X, lambda residual: two_calls(returned.called(residual)))
    assert f(X) > 3.2      # far from its solution
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(f)(X)


def test_an_error_has_no_reference_to_what_a_function_returned():
    work = np.zeros(2)

    def filled():
        work[0] += 1.0
        return work

    before = sys.getrefcount(work)
    with Returned() as returned:
        called = returned.called(filled, "it is filled")
        first = called()
        with pytest.raises(ActiveError, match="it is filled") as caught:
            called()
    assert caught.tb is not None and first[0] == 1.0 and sys.getrefcount(work) == before


def test_products_that_are_filled():
    def f(x):
        product = np.zeros(3)

        def multiply(v):
            product[0], product[1] = (2.0 + x[0]) * v[0] + 0.1 * v[1], 0.1 * v[0] + (3.0 + x[1]) * v[1] + 0.2 * v[2]
            product[2] = 0.2 * v[1] + 4.0 * v[2]
            return product

        operator = linalg.LinearOperator((3, 3), matvec=multiply, rmatvec=multiply, dtype=float)
        return np.sum(linalg.bicgstab(operator, x, rtol=1e-10)[0])

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_slopes_that_are_filled_in_turn_while_the_solver_has_them(method, count):
    def f(x, copies=False):
        works, calls = [np.zeros(2) for _ in range(count)], [0]

        def slope(t, y):
            calls[0] += 1
            work = works[calls[0] % count]
            work[0], work[1] = -40.0 * x[0] * (y[0] - np.cos(3.0 * t)), y[0] - y[1] ** 3
            return work.copy() if copies else work

        return integrate.solve_ivp(slope, (0.0, 0.6), x[1:], method, rtol=1e-4, first_step=0.1).y[1, -1]

    assert f(X) != f(X, copies=True)      # some steps are tried twice
    with pytest.raises(ActiveError, match="return a copy"):
        codipy.grad(f)(X)
    assert codipy.value_and_grad(lambda x: f(x, copies=True))(X)[0] == f(X, copies=True)


# ---- Numbers, which are floats of Python's or of NumPy's as SciPy's are ----------------------------------------------
def square(u, p):
    return u * u - p


NUMBERS = {
    "brentq": lambda p: optimize.brentq(square, 0.0, 9.0, (p,)),
    "newton": lambda p: optimize.newton(square, 1.0, args=(p,)),
    "root_scalar": lambda p: optimize.root_scalar(square, (p,), bracket=(0.0, 9.0)).root,
    "a list": lambda p: codipy.implicit.root(lambda u, p: [u[0] * u[0] - p], lambda p: [float(p) ** 0.5])(p)[0],
    "minimize_scalar": lambda p: optimize.minimize_scalar(lambda u, p: (u - p) ** 2 + p, args=(p,)).fun,
    "quad": lambda p: integrate.quad(lambda t: t * p, 0.0, 1.0)[0],
    "dblquad": lambda p: integrate.dblquad(lambda t, s: t * p, 0.0, 1.0, 0.0, 1.0)[0],
    "linprog": lambda p: optimize.linprog([1.0], [[-1.0]], np.array([-1.0]) * p).fun,
    "nnls": lambda p: optimize.nnls(np.array([[1.0], [1.0]]), np.array([1.0, 2.0]) * p)[1],
}


def told_by_type(solved, p):
    u = solved(p)
    return u * p if type(u) is float else u / p


@pytest.mark.parametrize("number", [1.7, np.float64(1.7)], ids=["Python's", "NumPy's"])
@pytest.mark.parametrize("solved", NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_of_the_type_that_the_solver_gives(solved, number):
    found, slope = codipy.value_and_grad(told_by_type, argnums=1)(solved, number)
    assert found == told_by_type(solved, number)
    low, high = (told_by_type(solved, number + step) for step in (-1e-4, 1e-4))
    np.testing.assert_allclose(slope, (high - low) / 2e-4, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("method, role", [("RK45", "events"), ("Radau", "jac"), ("BDF", "events")])
def test_what_another_function_writes_to_a_slope(method, role):
    def f(x):
        kept = []

        def slope(t, y):
            made = np.array([-x[0] * y[0], x[1] * y[0] - y[1]])
            kept[:] = [made[:1]]
            return made

        def writing(t, y):
            kept[0][0] *= 1.5
            return y[0] - 5.0 if role == "events" else np.array([[-x[0], 0.0], [x[1], -1.0]])

        return integrate.solve_ivp(slope, (0.0, 1.0), x[1:], method, **{role: writing}).y[0, -1]

    with pytest.raises(ActiveError, match="return a copy"):
        codipy.grad(f)(X)


# ---- What a solver hands over ----------------------------------------------------------------------------------------
SOLVED = {
    **{method: lambda f, method=method: integrate.solve_ivp(f, (0.0, 1.0), [0.9, 1.1], method, **TIGHT).y[:, -1]
       for method in ("RK45", "DOP853", "Radau", "BDF", "LSODA")},
    "odeint": lambda f: integrate.odeint(f, [0.9, 1.1], [0.0, 1.0], tfirst=True, **TIGHT)[-1],
    "least_squares": lambda f: optimize.least_squares(partial(f, 0.0), [1.0, 1.0], **GTOL).x,
    "root": lambda f: optimize.root(partial(f, 0.0), [1.0, 1.0], tol=1e-12).x,
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVED)
def test_a_state_that_is_clipped_in_place_where_nothing_is_to_be_clipped(name):
    def f(x):
        def slope(t, u):
            np.maximum(u, -50.0, out=u)
            u[u > 60.0] = x[0]
            return np.array([x[1] - u[0] * x[0], 0.5 * u[0] - u[1]])

        return np.sum(SOLVED[name](slope))

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("name", SOLVED)
def test_a_state_that_is_written_to(name):
    def f(x):
        def slope(t, u):
            u[0] = min(u[0], 0.1 * x[1])
            return np.array([x[1] - u[0] * x[0], 0.5 * u[0] - u[1]])

        return np.sum(SOLVED[name](slope))

    with pytest.raises(ActiveError, match=r"writes to an array.*copy\(\)"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("method", ["RK45", "BDF", "Radau", "LSODA"])
def test_an_event_that_writes_to_the_state(method):
    def f(x):
        def event(t, u):
            u[1] = min(u[1], x[2])
            return u[0] - 5.0

        return np.sum(integrate.solve_ivp(lambda t, u: np.array([-x[0] * u[0], u[0] + u[1]]), (0.0, 1.5), [1.0, 1.0],
                                          method, events=event).y[:, -1])  # fmt: skip

    with pytest.raises(ActiveError, match="event writes to an array"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("method", ["RK45", "BDF", "Radau", "LSODA"])
@pytest.mark.parametrize("slope", [lambda t, y: y, lambda t, y: y[::-1], lambda t, y: np.asarray(y).reshape(-1)],
                         ids=["itself", "turned", "reshaped"])  # fmt: skip
def test_slopes_that_are_the_state(method, slope):
    def f(x):
        found = integrate.solve_ivp(slope, (0.0, 1.0), x[1:], method, rtol=1e-7)
        return found.y[0, -1] * x[0] + found.y[1, -1] + found.nfev

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-3)


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres"])
def test_a_preconditioner_that_returns_its_argument(solver):
    def f(x):
        matrix = linalg.LinearOperator((3, 3), matvec=lambda v: (2.0 + x) * v + 0.1 * np.sum(v), dtype=float)
        nothing = linalg.LinearOperator((3, 3), matvec=lambda v: v, dtype=float)
        return np.sum(getattr(linalg, solver)(matrix, x, rtol=1e-12, M=nothing)[0])

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)


def test_a_number_in_an_array_without_axes():
    def f(x):
        held = np.zeros(())

        def cost(u):
            held[...] = (u - x[0]) ** 2 + u**4
            return held

        return optimize.minimize_scalar(cost).x * x[1] + x[2]

    assert f(X) == X[2]      # each value that SciPy compares is the last one
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
@pytest.mark.parametrize("kind", ["count", "random", "array of before"])
def test_slopes_that_are_others_when_they_are_asked_for_again(method, kind):
    def f(x):
        rng, calls, kept = np.random.default_rng(0), [0], []

        def slope(t, u):
            calls[0] += 1
            if kind == "array of before":
                for each in kept[:1]:
                    each[0] = 0.5 * x[0]
                kept[:] = [u] if calls[0] > 6 else []
            factor = {"count": 1.0 + 0.2 * (calls[0] % 2), "random": 1.0 + 0.1 * rng.random()}.get(kind, 1.0)
            return np.array([-x[0] * u[0] * factor, u[0] * x[1] - u[1]])

        return np.sum(integrate.solve_ivp(slope, (0.0, 1.0), [1.0, 1.0], method).y[:, -1])

    with pytest.raises(ActiveError, match="right-hand side|writes to an array"):
        codipy.grad(f)(X)


@pytest.mark.parametrize("solve", [
    lambda residual: optimize.fsolve(residual, [1.0, 1.0]),
    lambda residual: optimize.leastsq(residual, [1.0, 1.0])[0],
    lambda residual: integrate.odeint(lambda u, t: residual(u), [1.0, 1.0], [0.0, 1.0])[-1],
], ids=["fsolve", "leastsq", "odeint"])  # fmt: skip
def test_what_a_function_has_kept_is_there_when_the_solver_has_freed_its_own(solve):
    lasting = []

    def f(x):
        seen = []

        def residual(u):
            seen.append(u)
            return np.array([u[0] - x[0], u[1] * x[1] - 1.0])

        found = np.sum(solve(residual))
        lasting[:] = [type(u) is not np.ndarray or u.flags.owndata for u in seen]
        return found + len(seen)

    assert codipy.value_and_grad(f)(X)[0] == f(X) and not all(lasting)
    codipy.grad(f)(X)
    assert lasting and all(lasting)
class Model:
    """Its slopes are in one array, which whatever is asked of it fills."""

    def __init__(self, x):
        self.x, self.slopes = x, np.zeros(2)

    def look(self, p):
        self.value = (p[0] - self.x[0]) ** 4 + (p[1] - self.x[1]) ** 2
        self.slopes[0], self.slopes[1] = 4.0 * (p[0] - self.x[0]) ** 3, 2.0 * (p[1] - self.x[1])

    def made_least(self, p):
        self.look(p)
        return self.value

    def jac(self, p):
        self.look(p)
        return self.slopes

    def held(self, p):
        self.look(p)
        return p[0] ** 2 + p[1] - self.x[2]


@pytest.mark.parametrize("constraints", [
    lambda f: optimize.NonlinearConstraint(f, 0.0, 0.0), lambda f: [optimize.NonlinearConstraint(f, 0.0, 0.0)],
    lambda f: ({"type": "eq", "fun": f},),
], ids=["an object", "objects in a list", "dicts in a tuple"])  # fmt: skip
def test_slopes_that_a_constraint_fills(constraints):
    def f(x):
        model = Model(x)
        found = optimize.minimize(model.made_least, [0.3, 0.3], jac=model.jac, constraints=constraints(model.held),
                                  method="SLSQP", options={"ftol": 1e-12})
        return found.x[0] ** 2 + found.x[1] * x[0] + found.nfev

    found, gradient = codipy.value_and_grad(f)(X)
    assert found == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-3)


@pytest.mark.parametrize("solve", [
    lambda f: optimize.fsolve(f, [1.0, 0.2], xtol=1e-13),
    lambda f: optimize.least_squares(fun=f, x0=[1.0, 0.2]).x,
    lambda f: integrate.solve_ivp(lambda t, y: f(y), (0.0, 0.3), [0.1, 0.2], "BDF").y[:, -1],
], ids=["fsolve", "least_squares", "BDF"])  # fmt: skip
def test_an_array_that_is_filled_where_nothing_is_recorded(solve):
    def f(x):
        work = np.zeros(2)

        def filled(u):
            work[0], work[1] = u[0] ** 3 + u[1] - 1.9, u[1] ** 3 - u[0] - 0.3
            return work

        with codipy.passive():
            found = solve(filled)
        return found[1] * x[0]

    assert codipy.value_and_grad(f)(X)[0] == f(X)


def test_an_array_that_is_filled_within_the_solver_of_a_root():
    def f(x):
        work = np.zeros(2)

        def residual(u, p):
            work[0], work[1] = u[0] ** 3 + u[1] - p[2], u[1] ** 3 - u[0] + p[1]
            return work

        def solver(p):
            return optimize.fsolve(lambda u: residual(u, p), [1.0, 0.2], xtol=1e-13)

        return codipy.implicit.root(residual, solver)(x)[0] * x[0]

    with pytest.warns(RuntimeWarning, match="not making good progress"), pytest.raises(ArithmeticError, match="no sol"):
        codipy.grad(f)(np.array([0.7, -0.3, 1.9]))


def test_arrays_that_nobody_else_has_are_forgotten():
    kept = []

    def made():
        out = np.zeros(3)
        kept[:] = [out[1:]]
        return out

    with Returned() as returned:
        called = returned.called(made)
        had = [called() for _ in range(20)]
        assert len(had) == 20 and len(returned._known) == 1


def test_a_function_of_odeint_that_writes_to_the_state_is_named():
    def decay(y, t):
        y *= -0.5
        return y

    with pytest.raises(ActiveError, match="^decay writes to an array"):
        codipy.grad(lambda x: integrate.odeint(decay, [x[0]], [0.0, 1.0])[-1, 0])(X)
