# SPDX-License-Identifier: Apache-2.0
"""Drivers in functions that a solver is handed, closing over variables of the loss, against differences."""

import functools

import numpy as np
import pytest
import scipy
import scipy.integrate as integrate
import scipy.optimize as optimize
import scipy.sparse.linalg as sparse

import codipy
from codipy.active.array import is_active
from codipy.errors import ActiveError, TapeError
from codipy.tape.activity import depth, is_suspended
from tests.strategies import BY_STATEMENT, STRATEGIES, each_pair

START, WEIGHTS = np.array([1.0, 0.5, 0.2]), np.array([1.0, 2.0, 3.0])
EXACT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


class Formulas:
    """Derivatives written by hand: of numbers v**4/4 - x*v, and of a function of three numbers."""

    def slope(self, x):
        return lambda u: u**3 - x

    def bend(self, x):
        return lambda u: 3.0 * u**2

    def gradient(self, x):
        def gradient(u):
            step = u[1:] - u[:-1] * x
            return u**3 + 0.2 * u + np.concatenate([[-x], step]) - np.concatenate([step * x, [0.0]])

        return gradient

    def hessian(self, x):
        def hessian(u):
            inner = np.diag([0.0, 1.0, 1.0]) + np.diag([1.0, 1.0, 0.0]) * x**2
            return np.diag(3.0 * u**2 + 0.2) + inner - x * (np.eye(3, k=1) + np.eye(3, k=-1))

        return hessian

    def product(self, x):
        return lambda u, p: self.hessian(x)(u) @ p

    def forces(self, x):
        return lambda q, p: (p, -x * q**3)

    def jacobian(self, f, known):
        return known


class Drivers(Formulas):
    """The same by codipy."""

    def slope(self, x):
        return codipy.grad(lambda v: v**4 / 4.0 - x * v)

    def bend(self, x):
        return codipy.grad(self.slope(x))

    def gradient(self, x):
        return codipy.grad(energy(x))

    def hessian(self, x):
        return codipy.hessian(energy(x))

    def product(self, x):
        return lambda u, p: codipy.hvp(energy(x), (u,), (p,))[0]

    def forces(self, x):
        by = codipy.grad(lambda q, p: p**2 / 2.0 + x * q**4 / 4.0, (0, 1))

        def forces(q, p):
            by_q, by_p = by(q, p)
            return by_p, -by_q

        return forces

    def jacobian(self, f, known):
        return codipy.jacobian(f)


def energy(x):
    return lambda u: np.sum(u**4) / 4.0 - x * u[0] + 0.5 * np.sum((u[1:] - u[:-1] * x) ** 2) + 0.1 * np.sum(u**2)


def least(d, x, **more):
    return np.sum(optimize.minimize(energy(x), START, jac=d.gradient(x), tol=1e-13, **more).x * WEIGHTS)


def squares(d, x):
    def residuals(u):
        return np.concatenate([u**2 - x, np.array([u[0] * u[1] * x - 1.0, u[2] - x])])

    def known(u):
        return np.vstack([np.diag(2.0 * u), [u[1] * x, u[0] * x, 0.0], [0.0, 0.0, 1.0]])

    return np.sum(optimize.least_squares(residuals, START, jac=d.jacobian(residuals, known), **EXACT).x * WEIGHTS)


def fitted(d, x):
    def known(t, a, b):
        return np.stack([np.exp(-b * t * x), -a * t * x * np.exp(-b * t * x)], axis=1)

    def jac(t, a, b):
        by = d.jacobian(lambda p: p[0] * np.exp(-p[1] * t * x), lambda p: known(t, p[0], p[1]))
        return by(np.array([a, b]))

    t = np.linspace(0.0, 1.0, 7)
    data = 2.0 * np.exp(-t) + 0.01 * np.cos(9.0 * t)
    found, _ = optimize.curve_fit(lambda t, a, b: a * np.exp(-b * t * x), t, data, p0=[1.0, 1.0], jac=jac, **EXACT)
    return found[1]


def held(d, x):
    def bound(u):
        return np.array([u[0] ** 2 * x + u[1]])

    jac = d.jacobian(bound, lambda u: np.array([[2.0 * u[0] * x, 1.0]]))
    constraint = optimize.NonlinearConstraint(bound, -np.inf, 1.0, jac=jac)
    cost = lambda u: (u[0] - 2.0) ** 2 + x * (u[1] - 1.0) ** 2      # noqa: E731
    return np.sum(optimize.minimize(cost, [0.7, 0.3], constraints=constraint, method="SLSQP",
                                    options={"ftol": 1e-15}).x)      # fmt: skip


def asked_of_problem(d, x):
    if type(d) is Formulas:
        return least(d, x, hess=d.hessian(x), method="trust-exact", options={"gtol": 1e-12})
    p = codipy.problem(energy(x), START)
    return np.sum(optimize.minimize(p.fun, START, jac=p.jac, hess=p.hess, method="trust-exact",
                                    options={"gtol": 1e-12}).x * WEIGHTS)      # fmt: skip


def told(d, x):
    seen = []
    return least(d, x, callback=lambda u: seen.append(codipy.value(d.gradient(x)(u))))


def motion(d, x, method, **more):
    rhs = lambda t, y: np.array(d.forces(x)(y[0], y[1]))      # noqa: E731
    return integrate.solve_ivp(rhs, (0.0, 0.4), [1.0, 0.3], method, rtol=1e-9, atol=1e-11, **more).y[0, -1]


def stiff(d, x):
    jac = d.jacobian(lambda y: np.array([y[1], -x * y[0] ** 3]),
                     lambda y: np.array([[0.0, 1.0], [-3.0 * x * y[0] ** 2, 0.0]]))      # fmt: skip
    return motion(Formulas(), x, "Radau", jac=lambda t, y: jac(y))


def met(d, x):
    found = integrate.solve_ivp(lambda t, y: np.array([-y[0]]), (0.0, 3.0), [2.0], rtol=1e-10, atol=1e-12,
                                events=lambda t, y: d.slope(x)(y[0]))      # fmt: skip
    return found.t_events[0][0]


def iterated(d, x):
    slope, u = d.slope(x), 1.5
    for _ in range(60):
        u = u - slope(u) / 12.0
    return u


def implicit(d, x):
    if type(d) is Formulas:
        return iterated(d, x)
    return codipy.implicit.root(d.slope(x), lambda: iterated(d, x))()


def of_point(d, x):
    """The variable is where the derivative is taken, and not only in the function."""
    slope = (lambda u: codipy.jvp(lambda p: p**2 * u**3 / 2.0, (x,), (1.0,))[1]) if type(d) is Drivers else (
        lambda u: x * u**3)      # fmt: skip
    return optimize.brentq(lambda u: slope(u) - 10.0, 0.0, 5.0)


def with_operator(d, x, solver):
    product = d.product(x)
    operator = sparse.LinearOperator((3, 3), matvec=lambda v: product(START, v), dtype=float)
    return np.sum(solver(operator, WEIGHTS, rtol=1e-13)[0])


class Attribute:
    """What is handed over is an object, and its attribute is the variable."""

    def __init__(self, d, x):
        self.d, self.x = d, x

    def __call__(self, u):
        return self.d.slope(self.x)(u)


LOSSES = {
    "brentq": lambda d, x: optimize.brentq(d.slope(x), 0.0, 5.0),
    "brentq args": lambda d, x: optimize.brentq(lambda u, p: d.slope(p)(u), 0.0, 5.0, args=(x,)),
    "brentq object": lambda d, x: optimize.brentq(Attribute(d, x), 0.0, 5.0),
    "brentq method": lambda d, x: optimize.brentq(Attribute(d, x).__call__, 0.0, 5.0),
    "brentq partial": lambda d, x: optimize.brentq(functools.partial(lambda p, u: d.slope(p)(u), x), 0.0, 5.0),
    "bisect": lambda d, x: optimize.bisect(d.slope(x), 0.0, 5.0, xtol=1e-14),
    "ridder": lambda d, x: optimize.ridder(d.slope(x), 0.0, 5.0),
    "toms748": lambda d, x: optimize.toms748(d.slope(x), 0.0, 5.0),
    "newton": lambda d, x: optimize.newton(d.slope(x), 2.0, fprime=d.bend(x)),
    "root_scalar": lambda d, x: optimize.root_scalar(d.slope(x), x0=2.0, fprime=d.bend(x)).root,
    "fixed_point": lambda d, x: optimize.fixed_point(lambda u: 0.3 * np.cos(u) + 0.1 * d.slope(x)(u / 2.0), 0.5),
    "of_point": of_point,
    "minimize": least,
    "minimize hess": lambda d, x: least(d, x, hess=d.hessian(x), method="trust-exact"),
    "minimize hessp": lambda d, x: least(d, x, hessp=d.product(x), method="trust-ncg"),
    "minimize_scalar": lambda d, x: optimize.minimize_scalar(
        lambda u: d.slope(x)(u) ** 2 + (u - 1.0) ** 2, bounds=(0.0, 3.0), method="bounded", options={"xatol": 1e-13}).x,
    "callback": told,
    "held": held,
    "problem": asked_of_problem,
    "fsolve": lambda d, x: np.sum(optimize.fsolve(d.gradient(x), START, fprime=d.hessian(x)) * WEIGHTS),
    "root": lambda d, x: np.sum(optimize.root(d.gradient(x), START, jac=d.hessian(x)).x * WEIGHTS),
    "least_squares": squares,
    "curve_fit": fitted,
    "quad": lambda d, x: integrate.quad(lambda u: d.slope(x)(u) ** 2, 0.0, 1.0)[0],
    "quad itself": lambda d, x: x * integrate.quad(d.slope(x), 0.0, 1.0)[0],
    "quad_vec": lambda d, x: integrate.quad_vec(lambda u: WEIGHTS * d.slope(x)(u) ** 2, 0.0, 1.0)[0].sum(),
    "RK45": lambda d, x: motion(d, x, "RK45"),
    "Radau jac": stiff,
    "events": met,
    "cg": lambda d, x: with_operator(d, x, sparse.cg),
    "gmres": lambda d, x: with_operator(d, x, sparse.gmres),
    "implicit": implicit,
}


def differences(f, x, h):
    return (8.0 * (f(x + h) - f(x - h)) - (f(x + 2.0 * h) - f(x - 2.0 * h))) / (12.0 * h)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    if name == "held" and np.lib.NumpyVersion(scipy.__version__) < "1.16.0":
        pytest.skip("this SciPy's SLSQP ends with a failure")
    loss = LOSSES[name]
    value, slope = codipy.value_and_grad(lambda x: loss(Drivers(), x))(1.3)
    assert value == pytest.approx(loss(Formulas(), 1.3), rel=1e-7)
    assert slope == pytest.approx(differences(lambda x: float(loss(Formulas(), x)), 1.3, 3e-3), rel=2e-5, abs=1e-7)


@pytest.mark.parametrize("name", ["brentq", "minimize hess", "quad", "cg", "implicit"])
def test_second_order(name):
    loss = LOSSES[name]
    exact = codipy.grad(lambda x: loss(Formulas(), x))
    known = differences(exact, 1.3, 1e-2)
    for found in (codipy.hessian(lambda x: loss(Drivers(), x))(1.3),
                  codipy.jvp(codipy.grad(lambda x: loss(Drivers(), x)), (1.3,), (1.0,))[1]):      # fmt: skip
        assert found == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("strategy", [*STRATEGIES, "forward"])
@pytest.mark.parametrize("name", ["brentq", "minimize", "cg"])
def test_strategies(name, strategy):
    loss = LOSSES[name]
    if strategy == "forward":
        slope = codipy.jvp(lambda x: loss(Drivers(), x), (1.3,), (1.0,), strategy=strategy)[1]
    else:
        slope = codipy.grad(lambda x: loss(Drivers(), x), strategy=strategy)(1.3)
    assert slope == pytest.approx(differences(lambda x: float(loss(Formulas(), x)), 1.3, 3e-3), rel=2e-5)


@pytest.mark.parametrize("method", ["LSODA", "odeint"])
@pytest.mark.parametrize("driver", [Formulas(), Drivers()], ids=["formulas", "drivers"])
def test_drivers_are_opened_for_equations_in_the_large(method, driver):
    def loss(d, x):
        slope = d.slope(x)      # a driver that was made outside of the right-hand side
        if method == "odeint":
            return integrate.odeint(lambda y, t: np.array([-slope(y[0])]), [2.0], [0.0, 1.0], rtol=1e-10,
                                    atol=1e-12)[-1, 0]      # fmt: skip
        return integrate.solve_ivp(lambda t, y: np.array([-slope(y[0])]), (0.0, 1.0), [2.0], method, rtol=1e-10,
                                   atol=1e-12).y[0, -1]      # fmt: skip

    known = differences(lambda x: float(loss(Formulas(), x)), 1.3, 3e-3)
    assert codipy.grad(lambda x: loss(driver, x))(1.3) == pytest.approx(known, rel=1e-5)


# ---- Inside of passive(), where solvers run ----

KINDS = {
    "number": lambda p: p[0] * p[1] + p[2],
    "input": lambda p: p,
    "expression": lambda p: p * p + 1.0,
    "view": lambda p: p[::-1],
    "element": lambda p: p[1],
    "written": lambda p: np.concatenate([p[:1] * p[1], [4.0], p[2:]]),
}
DERIVATIVES = {
    "grad": lambda f, v, s, g: codipy.grad(f, strategy=s, granularity=g)(v),
    "floats": lambda f, v, s, g: codipy.grad(lambda u: f(np.array(u)), strategy=s, granularity=g)(v.tolist()),
    "jacobian": lambda f, v, s, g: codipy.jacobian(lambda u: np.array([f(u), f(2.0 * u)]), strategy=s,
                                                   granularity=g)(v),      # fmt: skip
    "jvp": lambda f, v, s, g: codipy.jvp(f, (v,), (WEIGHTS,), strategy=s, granularity=g)[1],
    "forward": lambda f, v, s, g: codipy.jvp(f, (v,), (WEIGHTS,), strategy="forward", granularity=g)[1],
    "hessian": lambda f, v, s, g: codipy.hessian(f, strategy=s, granularity=g)(v),
    "nested": lambda f, v, s, g: codipy.grad(lambda u: np.sum(codipy.grad(f)(u) * WEIGHTS), strategy=s,
                                             granularity=g)(v),      # fmt: skip
}


def formula(c):
    def f(v):
        w = c * v[0]
        return np.sum(v**3) * np.sum(c) + np.sum(np.sin(c) * v[1]) + v[2] * v[0] * np.sum(c * w)

    return f


@each_pair("pair", BY_STATEMENT)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_what_is_held_up_is_a_constant(name, pair):
    for kind, made in KINDS.items():
        _demand_constant(kind, made, DERIVATIVES[name], np.array([0.3, -0.7, 1.1]), pair)


def _demand_constant(kind, made, derivative, v, pair):
    seen, p = [], np.array([1.0, 2.0, 3.0])

    def loss(p):
        c = made(p)
        with codipy.passive():
            found = [derivative(formula(c), v, *pair) for _ in range(2)]      # the second finds it given back
        seen.append((codipy.value(c), found))
        return np.sum(c * np.cos(c))

    slope = codipy.grad(loss)(p)
    np.testing.assert_allclose(slope, codipy.grad(lambda p: np.sum(made(p) * np.cos(made(p))))(p), rtol=1e-13)
    [(constant, found)] = seen
    for each in found:
        assert not is_active(each) and not (isinstance(each, list) and any(map(is_active, each)))
        np.testing.assert_allclose(each, derivative(formula(constant), v, *pair), rtol=1e-12, err_msg=kind)


# ---- Arrays that are written element by element ----

POINT = np.array([1.3, 0.7, 2.1])


def filled(q):
    p = np.zeros(3, q.dtype)
    for i in range(3):
        p[i] = q[i] * q[0]
    return p


def slope_of(d, p):
    """By v of the sum of v**4 / 4 - p * v."""
    if type(d) is Formulas:
        return lambda v: v**3 - p
    return codipy.grad(lambda v: np.sum(v**4) / 4.0 - np.sum(p * v))


OF_ELEMENTS = {
    "root": lambda d, p: np.sum(optimize.root(slope_of(d, p), 2.0 + START, tol=1e-13).x * WEIGHTS),
    "quad": lambda d, p: integrate.quad(lambda u: np.sum(slope_of(d, p)(u * WEIGHTS) ** 2), 0.0, 1.0)[0],
    "RK45": lambda d, p: integrate.solve_ivp(lambda t, y: -slope_of(d, p)(y), (0.0, 0.2), START, rtol=1e-8,
                                             atol=1e-10).y[:, -1] @ WEIGHTS,      # fmt: skip
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_arrays_of_elements(name):
    loss = OF_ELEMENTS[name]
    value, slope = codipy.value_and_grad(lambda q: loss(Drivers(), filled(q)))(POINT)
    assert value == pytest.approx(loss(Formulas(), filled(POINT)), rel=1e-9)
    known = [differences(lambda x, e=e: float(loss(Formulas(), filled(POINT + x * e))), 0.0, 3e-3) for e in np.eye(3)]
    np.testing.assert_allclose(slope, known, rtol=2e-5)


def between_writes(d, q):
    """Drivers read an array before elements are written to, between and afterwards; one of them inside of another."""
    p, total = filled(q), 0.0
    for k in range(3):
        total = total + np.sum(slope_of(d, p)(q) * WEIGHTS) + np.sum(slope_of(d, p)(q * p) ** 2)
        p[k] = p[k] * q[1] + q[2]
        total = total + np.sum(slope_of(d, p)(START) * q) * p[k]
    p[0] = 2.0
    if type(d) is Formulas:
        return total + np.sum(3.0 * q**2 * p * p) + np.sum(p**3)
    inner = codipy.grad(lambda v: np.sum(slope_of(d, p)(v) * p * p) + np.sum(p**2 * v) * 0.0)(q)
    return total + np.sum(inner) + np.sum(p**3)


@pytest.mark.parametrize("strategy", [*STRATEGIES, "forward"])
def test_elements_written_between_drivers(strategy):
    by_complex_step = [between_writes(Formulas(), POINT.astype(complex) + 1e-30j * e).imag / 1e-30 for e in np.eye(3)]
    if strategy == "forward":
        slope = [codipy.jvp(lambda q: between_writes(Drivers(), q), (POINT,), (e,), strategy=strategy)[1]
                 for e in np.eye(3)]      # fmt: skip
    else:
        slope = codipy.grad(lambda q: between_writes(Drivers(), q), strategy=strategy)(POINT)
    np.testing.assert_allclose(slope, by_complex_step, rtol=1e-12)


def test_work_arrays_among_arguments_are_refused_by_name():
    def cubes(u, x, work):
        work[:] = u**3 - x
        return work.copy()

    with pytest.raises(ActiveError, match=r"cubes, which scipy.optimize.root calls, writes to an array.*around it"):
        codipy.grad(lambda x: np.sum(optimize.root(cubes, START, args=(x, np.zeros(3))).x))(2.0)


def test_arguments_are_their_values():
    def loss(x):
        with codipy.passive():
            found = codipy.grad(lambda v: v**3)(x), codipy.jvp(lambda v: v**3, (x,), (x,))[1]
            found = *found, codipy.grad(lambda z: (z * z * x).real)(1.0 + 2.0j)
            assert not any(map(is_active, found))
        seen.append(found)
        return x * found[0]

    seen = []
    assert codipy.grad(loss)(2.0) == 12.0
    assert seen == [(12.0, 24.0, codipy.grad(lambda z: (z * z * 2.0).real)(1.0 + 2.0j))]


def test_what_a_driver_wrote_to_memory_of_the_loss_is_an_error():
    for strategy in STRATEGIES:

        def loss(p):
            q = p * 1.0

            def inner(v):
                q[0] = v * v
                return q[0] * q[2]

            with codipy.passive():
                codipy.grad(inner)(3.0)
            return np.sum(q * q)

        with pytest.raises(TapeError, match="would be lost"):
            codipy.grad(loss, strategy=strategy)(np.array([1.0, 2.0, 3.0]))


def test_tapes_of_the_users_borrow_nothing():
    def loss(x):
        with codipy.passive(), codipy.Tape() as tape:
            return tape.register_input(2.0) * x

    with pytest.raises(TapeError, match="another tape"):
        codipy.grad(loss)(3.0)


def test_recordings_that_are_held_up_do_not_count():
    seen = []

    def inner(v):
        seen.append((depth(), is_suspended()))
        return v * v

    def loss(x):
        seen.append((depth(), is_suspended()))
        with codipy.passive():
            seen.append((depth(), is_suspended()))
            codipy.grad(inner)(2.0)
        codipy.grad(inner)(2.0)
        return x

    codipy.grad(loss)(3.0)
    assert seen == [(1, False), (0, True), (1, False), (2, False)]
    with codipy.passive():
        assert not is_suspended()
