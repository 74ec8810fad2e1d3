# SPDX-License-Identifier: Apache-2.0
"""scipy.optimize in rebound code: SciPy's solutions, and their derivatives by the implicit function theorem."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.optimize import brentq

import codipy
from codipy.errors import ActiveError, TapeError
from tests.scipy.recorded import demand_no_replay_elsewhere
from tests.strategies import each_strategy

P = np.array([1.2, 0.7, 0.9])
M = np.array([[3.0, 0.4, 0.2], [0.4, 2.0, 0.1], [0.2, 0.1, 4.0]])
EXACT = {"gtol": 1e-13, "xtol": 1e-13, "ftol": 1e-13}


def cubic(z, p):
    return z**3 + z - p


def system(z, p):
    return z**3 + M @ z - p


def quadratic(z, p):
    return np.sum((z - p) ** 2) + z @ M @ z


def both(result):
    """The root that stands beside the object, and in it."""
    return result[0] * result[1].root


CASES = {
    "brentq": lambda p: brentq(lambda z: cubic(z, p[0] * p[1]), 0.0, 2.0),
    "brentq of arguments": lambda p: brentq(cubic, 0, 2, args=(p[0] * p[1],)),
    "brentq, one argument": lambda p: brentq(cubic, 0, 2, p[0]),
    "brentq in full": lambda p: both(brentq(cubic, 0, 2, args=(p[0],), full_output=True)),
    "an active bracket": lambda p: brentq(lambda z: cubic(z, p[0]), p[1] - p[1], p[2] + 2.0),
    "bisect": lambda p: scipy.optimize.bisect(cubic, 0, 2, args=(p[0],), xtol=1e-13),
    "brenth": lambda p: scipy.optimize.brenth(cubic, 0, 2, args=(p[0],)),
    "ridder": lambda p: scipy.optimize.ridder(cubic, 0, 2, args=(p[0],)),
    "toms748": lambda p: scipy.optimize.toms748(lambda z: cubic(z, p[0]), 0, 2),
    "newton": lambda p: scipy.optimize.newton(lambda z: cubic(z, p[0]), 1.0),
    "newton of arrays": lambda p: np.sum(scipy.optimize.newton(lambda z: cubic(z, p), np.ones(3)) * p),
    "root_scalar": lambda p: scipy.optimize.root_scalar(lambda z: cubic(z, p[0]), bracket=(0, 2)).root,
    "root_scalar by slopes": lambda p: scipy.optimize.root_scalar(
        lambda z: cubic(z, p[0]), x0=1.0, fprime=lambda z: 3.0 * z * z + 1.0, method="newton").root,
    "root_scalar of pairs": lambda p: scipy.optimize.root_scalar(
        lambda z: (cubic(z, p[0]), 3.0 * z * z + 1.0), x0=1.0, fprime=True, method="newton").root,
    "root_scalar, secant": lambda p: scipy.optimize.root_scalar(cubic, x0=1.0, x1=1.1, args=(p[0],)).root,
    "root_scalar, halley": lambda p: scipy.optimize.root_scalar(
        cubic, x0=1.0, fprime=lambda z, a: 3.0 * z * z + 1.0, fprime2=lambda z, a: 6.0 * z, args=(p[0],),
        method="halley").root,
    **{f"root_scalar, {method}": lambda p, method=method: scipy.optimize.root_scalar(
        cubic, bracket=(0, 2), args=(p[0],), method=method, xtol=1e-13).root
       for method in ("bisect", "brentq", "brenth", "ridder", "toms748")},
    "minimize_scalar, golden": lambda p: scipy.optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 2 + z**4, method="golden", tol=1e-12).x,
    "fsolve": lambda p: np.sum(scipy.optimize.fsolve(lambda z: system(z, p), np.ones(3)) * p),
    "fsolve of a list": lambda p: np.sum(scipy.optimize.fsolve(
        lambda z: [z[0] * z[1] - p[0], z[0] - z[1] - p[1]], [1.0, 1.0])),
    "fsolve of a number": lambda p: scipy.optimize.fsolve(lambda z: z**2 - p[0], 1.0)[0],
    "root": lambda p: np.sum(scipy.optimize.root(lambda z: system(z, p), np.ones(3)).x),
    "root of arguments": lambda p: np.sum(scipy.optimize.root(system, np.ones(3), args=(p,), method="lm").x),
    "fixed_point": lambda p: np.sum(scipy.optimize.fixed_point(lambda z: np.cos(p * z), np.ones(3), xtol=1e-12)),
    "minimize": lambda p: np.sum(scipy.optimize.minimize(
        lambda z: (quadratic(z, p), 2.0 * (z - p) + 2.0 * M @ z), np.zeros(3), jac=True, tol=1e-12).x),
    "the least value": lambda p: scipy.optimize.minimize(
        lambda z: quadratic(z, p), np.zeros(3), jac=lambda z: 2.0 * (z - p) + 2.0 * M @ z, tol=1e-12).fun,
    "minimize_scalar": lambda p: scipy.optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 4 + (z - p[1]) ** 2, tol=1e-12).x,
    "golden": lambda p: scipy.optimize.golden(lambda z: (z - p[0]) ** 2 + z**4, brack=(0, 0.5, 2), tol=1e-12),
    "golden in full": lambda p: scipy.optimize.golden(lambda z: (z - p[0]) ** 2 + z**4, full_output=True)[1],
    "brent": lambda p: scipy.optimize.brent(lambda z, a: (z - a) ** 2 + z**4, (p[0],), tol=1e-12),
    "fminbound": lambda p: scipy.optimize.fminbound(lambda z: (z - p[0]) ** 2 + z**4, 0.0, 2.0, xtol=1e-12),
    "fminbound in full": lambda p: scipy.optimize.fminbound(lambda z: (z - p[0]) ** 2, 0.0, 2.0, full_output=1)[1],
    "the least value of an array": lambda p: scipy.optimize.minimize(lambda z: (z - p[0]) ** 2 + p[1], 0.0).fun,
    "newton of arrays in full": lambda p: np.sum(
        scipy.optimize.newton(lambda z: cubic(z, p), np.ones(3), full_output=True).root * p),
    "a callback by name": lambda p: np.sum(scipy.optimize.minimize(
        lambda z: quadratic(z, p), np.zeros(3), jac=lambda z: 2.0 * (z - p) + 2.0 * M @ z, tol=1e-12,
        callback=lambda intermediate_result: None).x),
    "bounds in an array": lambda p: np.sum(scipy.optimize.least_squares(
        lambda z: M @ z - p, np.zeros(3), bounds=np.array([[-1.0] * 3, [9.0] * 3]), **EXACT).x),
    "bounds that hold nothing": lambda p: np.sum(scipy.optimize.least_squares(
        lambda z: np.concatenate([M @ z - p, z * p]), np.zeros(3), bounds=(-1.0, [np.inf, 1.0, 0.3]), **EXACT).x),
    "least_squares": lambda p: np.sum(scipy.optimize.least_squares(
        lambda z: np.concatenate([M @ z - p, z * p]), np.zeros(3), **EXACT).x),
    "the least squares": lambda p: scipy.optimize.least_squares(
        lambda z: np.concatenate([M @ z - p, z * p]), np.zeros(3), **EXACT).cost,
}  # fmt: skip


def differences(f, step=1e-3):
    """Of fourth order: solvers stop short of rounding."""
    return np.array([(8 * (f(P + h) - f(P - h)) - (f(P + 2 * h) - f(P - 2 * h))) / (12 * step)
                     for h in step * np.eye(3)])  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name):
    f = CASES[name]
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_second_order(name):
    gradient = codipy.grad(CASES[name])
    found, direction, step = codipy.jacobian(gradient)(P), np.array([0.7, -0.4, 0.9]), 1e-3
    ahead, behind, far, back = (gradient(P + k * step * direction) for k in (1, -1, 2, -2))
    slopes = (8.0 * (ahead - behind) - (far - back)) / (12.0 * step)
    np.testing.assert_allclose(found @ direction, slopes, rtol=1e-4, atol=1e-4)


@each_strategy
def test_each_strategy(strategy):
    for name in ("brentq", "fsolve", "minimize"):
        expected = codipy.grad(CASES[name], strategy="jacobian")(P)
        np.testing.assert_allclose(codipy.grad(CASES[name], strategy=strategy)(P), expected, rtol=1e-10)


def test_the_derivative_is_the_minimums_and_not_that_of_the_steps():
    """A minimiser that stops early has steps whose derivative is far off."""
    def minimum(p):
        return scipy.optimize.minimize(lambda z: quadratic(z, p), np.zeros(3)).x

    np.testing.assert_allclose(codipy.jacobian(minimum)(P), np.linalg.inv(np.eye(3) + M), rtol=1e-9)


def test_what_is_no_solution_raises():
    def stopped(p):
        return scipy.optimize.minimize(lambda z: quadratic(z, p), np.zeros(3), options={"maxiter": 1}).x[0]

    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(stopped)(P)


def squares(z, p):
    return np.sum((z - p) ** 2) + 0.3 * z[0] * z[1]


HELD = {
    "an upper bound": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), bounds=[(0, 0.8)] * 3, tol=1e-12).x,
    "an active bound": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), bounds=[(None, p[1]), (0, None), (p[2] * 1.1, 9)], tol=1e-12).x,
    "a bound of all": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), bounds=scipy.optimize.Bounds(-1.0, p[1] + 0.1), tol=1e-12).x,
    "bounds of each": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), method="SLSQP", tol=1e-12,
        bounds=scipy.optimize.Bounds([-1.0] * 3, [0.7, 2.0, np.inf])).x,
    "TNC": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), method="TNC", bounds=[(0, p[1])] * 3, tol=1e-12).x[:2],
    "least_squares": lambda p: scipy.optimize.least_squares(
        lambda z: M @ z - p * np.array([1.0, 1.0, -1.0]), np.full(3, 0.1), bounds=(0.0, p[2]), **EXACT).x,
    "minimize_scalar": lambda p: scipy.optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 2, bounds=(0, p[1]), options={"xatol": 1e-10}).x * p[2],
    "fminbound": lambda p: scipy.optimize.fminbound(lambda z: (z - p[0]) ** 2 + p[1], p[0] + p[2], 9.0, xtol=1e-10),
    "the least value": lambda p: scipy.optimize.minimize(
        lambda z: squares(z, p), np.zeros(3), bounds=[(0, 0.8)] * 3, tol=1e-12).fun,
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_bounds_that_hold_a_minimum(name):
    f = HELD[name]
    expected = differences(f).T
    np.testing.assert_allclose(codipy.jacobian(f)(P), expected, rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), expected, rtol=1e-5, atol=2e-5)
    np.testing.assert_array_equal(codipy.value_and_grad(lambda p: np.sum(f(p)))(P)[0], np.sum(f(P)))


@pytest.mark.parametrize("held", [
    lambda p: scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3), bounds=[(0, 1.19999)] * 3).x,
    lambda p: scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3),
                                      bounds=scipy.optimize.Bounds([-1.0] * 3, [1.19999, 2.0, np.inf])).x,
    lambda p: scipy.optimize.least_squares(lambda z: z - p, np.zeros(3), bounds=(0, [1.19999, 2, 2]), **EXACT).x,
])  # fmt: skip
def test_a_bound_that_holds_a_minimum_by_little(held):
    np.testing.assert_allclose(codipy.jacobian(held)(P), np.diag([0.0, 1.0, 1.0]), atol=1e-9)


@pytest.mark.parametrize("touched", [
    lambda p: scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3), bounds=[(0, p[0].item())] * 3).x,
    lambda p: scipy.optimize.minimize_scalar(lambda z: (z - p[0]) ** 2, bounds=(p[0].item(), 3.0)).x,
])  # fmt: skip
def test_a_bound_that_touches_a_minimum_has_no_derivative(touched):
    with pytest.raises(ArithmeticError, match="that just touches it"):
        codipy.jacobian(touched)(P)


def test_a_replay_where_other_bounds_hold_raises():
    def f(p):
        return np.sum(scipy.optimize.minimize(lambda z, a: np.sum((z - a) ** 2), np.zeros(3), args=(p,), tol=1e-12,
                                              bounds=[(0, 1.0)] * 3).x * p)  # fmt: skip

    tape = codipy.Tape(strategy="primal")
    with tape:
        p = tape.register_input(P)
        y = tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, P + 0.05)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(P + 0.05)
    tape.set_primal(p, P + 0.2)
    with pytest.raises(TapeError, match="other bounds hold the minimum"):
        tape.evaluate_primal()


@pytest.mark.parametrize("failed", [
    lambda p: scipy.optimize.minimize(lambda z: quadratic(z, p), P / 3.0, options={"maxiter": 0}).x[0],
    lambda p: scipy.optimize.root(lambda z: system(z, p), np.ones(3), options={"maxfev": 2}).x[0],
    lambda p: scipy.optimize.root_scalar(lambda z: cubic(z, p[0]), bracket=(0, 2), maxiter=2).root,
    lambda p: scipy.optimize.brentq(cubic, 0, 2, args=(p[0],), maxiter=2, disp=False),
    lambda p: scipy.optimize.minimize_scalar(lambda z: (z - p[0]) ** 4, options={"maxiter": 2}).x,
    lambda p: scipy.optimize.least_squares(lambda z: np.exp(z) - p, np.zeros(3), max_nfev=1).x[0],
])  # fmt: skip
def test_a_failure_has_no_derivative(failed):
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(failed)(P)


@pytest.mark.parametrize("constraints", [
    {"type": "ineq", "fun": lambda z: 1.19999 - z[0]},
    [{"type": "eq", "fun": lambda z, a: z[0] - a, "args": (1.2,)}],
    scipy.optimize.LinearConstraint(np.eye(3), -np.inf, [1.19999, 5.0, 5.0]),
    [scipy.optimize.NonlinearConstraint(lambda z: z[0] ** 2, -np.inf, 1.43999)],
])  # fmt: skip
def test_a_constraint_that_holds_a_minimum_by_little_holds_it(constraints):
    def f(p):
        return scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3), constraints=constraints,
                                       method="SLSQP", tol=1e-12).x  # fmt: skip

    np.testing.assert_allclose(codipy.jacobian(f)(P), np.diag([0.0, 1.0, 1.0]), atol=1e-4)


def test_a_constraint_that_holds_nothing():
    def f(p):
        kept = [{"type": "ineq", "fun": lambda z: 9.0 * p[0] - z},
                scipy.optimize.LinearConstraint(np.ones((1, 3)), -1.0, 9.0)]  # fmt: skip
        return scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3), constraints=kept).x

    np.testing.assert_allclose(codipy.jacobian(f)(P), np.eye(3), atol=1e-9)


def test_a_minimum_close_to_a_bound_has_its_derivative():
    def f(p):
        return scipy.optimize.minimize(lambda z: np.sum((z - p) ** 2), np.zeros(3), bounds=[(0, 1.20001)] * 3).x

    np.testing.assert_allclose(codipy.jacobian(f)(P), np.eye(3), atol=1e-12)


def demand_right(f, near=1e-6):
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    expected = differences(f)
    np.testing.assert_allclose(gradient, expected, rtol=near, atol=near * np.abs(expected).max())
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), gradient, rtol=1e-9, atol=1e-14)


def fitted(z, p):
    return np.concatenate([M @ z - p, z * p[1], z])


TOLD = {
    "jac of scipy.optimize.minimize": lambda p: scipy.optimize.minimize(quadratic, np.zeros(3), args=(p,)).jac * p,
    "hess_inv of scipy.optimize.minimize": lambda p: np.sum(
        scipy.optimize.minimize(quadratic, np.zeros(3), args=(p,)).hess_inv),
    "hess_inv of scipy.optimize.minimize, an operator": lambda p: scipy.optimize.minimize(
        quadratic, np.zeros(3), args=(p,), method="L-BFGS-B")["hess_inv"].todense(),
    "jac of scipy.optimize.least_squares": lambda p: p @ scipy.optimize.least_squares(fitted, P, args=(p,)).jac[0],
    "grad of scipy.optimize.least_squares": lambda p: -scipy.optimize.least_squares(fitted, P, args=(p,)).grad,
    "optimality of scipy.optimize.least_squares": lambda p: float(
        scipy.optimize.least_squares(fitted, P, args=(p,)).optimality),
    "fjac of scipy.optimize.fsolve": lambda p: abs(scipy.optimize.fsolve(system, P, (p,), full_output=1)[1]["fjac"]),
    "fjac of scipy.optimize.curve_fit": lambda p: scipy.optimize.curve_fit(
        lambda x, a: a * x, P, p, full_output=True)[2]["fjac"] + 1.0,
    "cov_x of scipy.optimize.leastsq": lambda p: scipy.optimize.leastsq(fitted, P, (p,), full_output=1)[1][0],
    "Bopt of scipy.optimize.fmin_bfgs": lambda p: np.ones(3) @ scipy.optimize.fmin_bfgs(
        quadratic, P, args=(p,), full_output=1, disp=0)[3],
}


@pytest.mark.parametrize("name", TOLD)
def test_numbers_of_a_result_that_have_no_derivative_say_so(name):
    with pytest.raises(ActiveError, match=f"{name.split(',')[0]} depends on active values"):
        codipy.grad(lambda p: np.sum(TOLD[name](p)))(P)


def test_a_result_has_what_scipys_has():
    def f(p):
        found = scipy.optimize.least_squares(fitted, P, args=(p,))
        plain = scipy.optimize.least_squares(fitted, P, args=(P,))
        assert isinstance(found, scipy.optimize.OptimizeResult) and found.keys() == plain.keys()
        np.testing.assert_array_equal(found.jac.value, plain.jac)
        np.testing.assert_array_equal(found.active_mask, plain.active_mask)
        assert found.nfev == plain.nfev and "no derivative" in repr(found)
        return found.cost + np.sum(found.fun * p[0])

    assert np.all(np.isfinite(codipy.grad(f)(P)))
    demand_right(lambda p: (lambda found: found.cost + np.sum(found.fun * p[0]))(
        scipy.optimize.least_squares(fitted, P, args=(p,))))


# Solutions of quadratic(z, p), of system(z, p) = 0 and of M z = p: with as many numbers as p.
OLDER = {
    **{name: lambda p, name=name: getattr(scipy.optimize, name)(quadratic, np.zeros(3), args=(p,), disp=0)
       for name in ("fmin", "fmin_powell", "fmin_bfgs", "fmin_cg")},
    "fmin_ncg": lambda p: scipy.optimize.fmin_ncg(quadratic, np.zeros(3), slope, args=(p,), disp=0),
    "fmin_l_bfgs_b": lambda p: scipy.optimize.fmin_l_bfgs_b(quadratic, np.zeros(3), slope, args=(p,))[0],
    "fmin_l_bfgs_b, pairs": lambda p: scipy.optimize.fmin_l_bfgs_b(
        lambda z, p: (quadratic(z, p), slope(z, p)), np.zeros(3), args=(p,), bounds=[(None, 5.0), (-1, 1), (-1, 1)])[0],
    "fmin_tnc": lambda p: scipy.optimize.fmin_tnc(quadratic, np.zeros(3), slope, args=(p,), disp=0)[0],
    "fmin_cobyla": lambda p: scipy.optimize.fmin_cobyla(quadratic, np.zeros(3), [lambda z, p: 9.0 - z @ z], args=(p,),
                                                        rhoend=1e-8),
    "fmin_slsqp": lambda p: scipy.optimize.fmin_slsqp(
        quadratic, np.zeros(3), args=(p,), f_ieqcons=lambda z, p: 9.0 - z * z, iprint=0, acc=1e-12),
    "fmin in full": lambda p: scipy.optimize.fmin(quadratic, np.zeros(3), args=(p,), disp=0, full_output=1)[0],
    "brute": lambda p: scipy.optimize.brute(lambda z: quadratic(z, p), ((-1, 1),) * 3, Ns=4),
    "basinhopping": lambda p: scipy.optimize.basinhopping(
        quadratic, np.zeros(3), niter=2, rng=1, minimizer_kwargs={"args": (p,), "bounds": [(-2, 2)] * 3}).x,
    "differential_evolution": lambda p: scipy.optimize.differential_evolution(
        quadratic, [(-2, 2)] * 3, args=(p,), rng=1).x,
    "differential_evolution of columns": lambda p: scipy.optimize.differential_evolution(
        lambda z: np.sum((z - p[:, None]) ** 2, axis=0) + np.sum(z * (M @ z), axis=0), [(-2, 2)] * 3, rng=1,
        vectorized=True, updating="deferred").x,
    "dual_annealing": lambda p: scipy.optimize.dual_annealing(quadratic, [(-2, 2)] * 3, args=(p,), rng=1, maxiter=5).x,
    "shgo": lambda p: scipy.optimize.shgo(quadratic, [(-2, 2)] * 3, args=(p,)).x,
    "leastsq": lambda p: scipy.optimize.leastsq(lambda z, p: M @ z - p, np.zeros(3), args=(p,))[0],
    "lsq_linear": lambda p: scipy.optimize.lsq_linear(M, p, (-5.0, 5.0)).x,
    **{name: lambda p, name=name: getattr(scipy.optimize, name)(lambda z: M @ z - p, np.zeros(3), f_tol=1e-10)
       for name in ("anderson", "broyden1", "broyden2", "newton_krylov")},
    "diagbroyden": lambda p: scipy.optimize.diagbroyden(lambda z: M @ z - p, np.zeros(3), f_tol=1e-10, alpha=0.3),
    "linearmixing": lambda p: scipy.optimize.linearmixing(lambda z: M @ z - p, np.zeros(3), f_tol=1e-10, alpha=-0.2,
                                                          maxiter=900),
}  # fmt: skip


def slope(z, p):
    return 2.0 * (z - p) + 2.0 * (M @ z)


@pytest.mark.parametrize("name", OLDER)
def test_older_and_global_solvers(name):
    """Equations are linear, so that derivatives are exact wherever the solver stops."""
    of_minimum = np.linalg.inv(np.eye(3) + M)
    expected = of_minimum if name.startswith(("fmin", "brute", "basin", "diff", "dual", "shgo")) else np.linalg.inv(M)
    for mode in ("reverse", "forward"):
        found = codipy.jacobian(OLDER[name], mode=mode)(P)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    values = []
    codipy.grad(lambda p: (values.append(codipy.value(OLDER[name](p))), np.sum(p))[1])(P)
    np.testing.assert_array_equal(values[0], OLDER[name](P))


VALUES = {
    "minimize": lambda p: scipy.optimize.minimize(lambda z: (z[0] - 1.0) ** 2 + p[0] * p[1], [0.0]).fun,
    "minimize_scalar, at a bound": lambda p: scipy.optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 2 * p[1], bounds=(-1.0, 1.0), method="bounded").fun,
    "fmin": lambda p: scipy.optimize.fmin(lambda z: (z[0] - 1.0) ** 2 + p[0] * p[1], [0.0], full_output=1, disp=0)[1],
    "least_squares": lambda p: scipy.optimize.least_squares(lambda z: np.array([z[0] - 1.0, p[0]]), [0.0]).cost,
    "leastsq": lambda p: scipy.optimize.leastsq(
        lambda z: np.array([z[0] - 1.0, p[0]]), [0.0], full_output=1)[2]["fvec"][1],
    "curve_fit, at a bound": lambda p: (lambda found: np.sum(found[2]["fvec"] ** 2) + found[1][0, 0])(
        scipy.optimize.curve_fit(lambda x, a: a * x, P, p * P, bounds=(0.0, 0.1), full_output=True)),
    "lsq_linear, at a bound": lambda p: scipy.optimize.lsq_linear(M[:, :1], p, (-0.1, 0.1)).cost,
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_at_solutions_that_do_not_move(name):
    demand_right(VALUES[name], 1e-5)


CONSTRAINTS = {
    "an equation": lambda p: {"type": "eq", "fun": lambda z: z[0] + z[1] ** 2 - 0.3 * p[0]},
    "by args=": lambda p: {"type": "eq", "fun": lambda z, a: z[0] + z[1] ** 2 - 0.3 * a[0], "args": (p,)},
    "an inequality": lambda p: [{"type": "ineq", "fun": lambda z: 0.2 * p[0] - z[0]}],
    "several": lambda p: [{"type": "ineq", "fun": lambda z: 0.2 - z @ z}, {"type": "ineq", "fun": lambda z: z + 2.0},
                          {"type": "eq", "fun": lambda z: z[0] - z[2] * p[0]}],
    "linear": lambda p: scipy.optimize.LinearConstraint(np.array([[1.0, p[1], 0.0]]), -np.inf, 0.2 * p[0]),
    "nonlinear": lambda p: [scipy.optimize.NonlinearConstraint(lambda z: z[0] ** 2 + z[1] ** 2 * p[1], -1.0, 0.05)],
    "an active end": lambda p: scipy.optimize.NonlinearConstraint(lambda z: z[:2] ** 2, -1.0, [0.05 * p[0], 2.0]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "method"), [
    *((name, "SLSQP") for name in CONSTRAINTS),
    *((name, "COBYLA") for name in ("an equation", "nonlinear")),  # which takes many steps
])
@pytest.mark.skipif(np.lib.NumpyVersion(scipy.__version__) < "1.16.0", reason="SciPy's SLSQP and COBYLA were others")
def test_constraints_that_hold_a_minimum(name, method):
    def f(p, method=method):
        found = scipy.optimize.minimize(quadratic, np.array([0.3, 0.2, 0.1]), args=(p,), method=method, tol=1e-13,
                                        constraints=CONSTRAINTS[name](p), bounds=[(-9.0, 9.0)] * 3)
        return np.sum(found.x * np.array([1.0, 2.0, 3.0])) + found.fun

    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    # What COBYLA finds is rough, which differences enlarge.
    np.testing.assert_allclose(gradient, differences(lambda p: f(p, "SLSQP")), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), gradient, rtol=1e-9)


def test_bounds_and_constraints_together_and_second_derivatives():
    """Two of three numbers are at bounds, so the third one follows from the equation."""
    def f(p):
        return scipy.optimize.minimize(
            quadratic, np.zeros(3), args=(p,), method="SLSQP", tol=1e-13,
            bounds=[(p[1] ** 2, 9.0), (-9.0, 9.0), (0.5, 9.0)],
            constraints={"type": "eq", "fun": lambda z: np.sum(z) - p[0]}).x[1]  # fmt: skip

    np.testing.assert_allclose(codipy.grad(f)(P), [1.0, -2.0 * P[1], 0.0], atol=1e-12)
    np.testing.assert_allclose(codipy.hessian(f)(P), np.diag([0.0, -2.0, 0.0]), atol=1e-12)


def test_a_constraint_that_just_touches_a_minimum_is_refused():
    with pytest.raises(ArithmeticError, match="just touches it"):
        codipy.grad(lambda p: scipy.optimize.minimize(
            lambda z: np.sum((z - p) ** 2), np.zeros(3), method="SLSQP", tol=1e-14,
            constraints={"type": "ineq", "fun": lambda z: P[0] - z[0]}).x[1])(P)


def test_a_minimum_at_a_constraint_is_not_replayed_elsewhere():
    def f(p):
        return scipy.optimize.minimize(quadratic, np.zeros(3), args=(p,), method="SLSQP",
                                       constraints={"type": "eq", "fun": lambda z: z[0] - 0.1}).x[1]

    demand_no_replay_elsewhere(f, P, "which constraints hold")


def test_a_replay_that_meets_a_constraint():
    def f(p):
        return scipy.optimize.minimize(quadratic, np.zeros(3), args=(p,), method="SLSQP",
                                       constraints={"type": "ineq", "fun": lambda z: 1.0 - z[0]}).x[1]

    with codipy.Tape(strategy="primal") as tape:
        p = tape.register_input(P)
        y = tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, P + 0.01)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(P + 0.01)
    tape.set_primal(p, P + 9.0)
    with pytest.raises(TapeError, match="at a constraint"):
        tape.evaluate_primal()


def test_a_system_that_is_singular_but_for_rounding_is_refused():
    def twice(z, p):
        return np.array([z[0] / 7.0 + z[1] / 3.0 - p[0], z[0] / 3.0 + z[1] * 7.0 / 9.0 - p[0] * 7.0 / 3.0])

    for solver in ("root", "least_squares"):
        def f(p, solver=solver):
            return getattr(scipy.optimize, solver)(twice, np.zeros(2), method="lm", args=(p,)).x[0]

        for first in (0.7, 1.1, 2.3):
            with pytest.raises(ArithmeticError, match="singular"):
                codipy.grad(f)(np.array([first]))


def test_a_system_in_odd_units_is_not_taken_for_a_singular_one():
    rows, columns = np.array([1e-20, 1.0, 1e15]), np.array([1e-12, 1.0, 1e9])

    def f(p):
        found = codipy.implicit.root(lambda z, p: rows * (M @ (columns * z) - p),
                                     lambda p: np.linalg.solve(M, p) / columns)(p)
        return np.sum(columns * found)

    np.testing.assert_allclose(codipy.grad(f)(P), np.linalg.solve(M.T, np.ones(3)), rtol=1e-9)


PROGRAMS = {
    "by right-hand sides and costs": lambda p: scipy.optimize.linprog(-p, A_ub=M, b_ub=p + 1.0),
    "by the matrix": lambda p: scipy.optimize.linprog([-1.0, -2.0, -1.0], A_ub=M * p, b_ub=[1.0, 2.0, 1.5]),
    "by bounds": lambda p: scipy.optimize.linprog([-1.0, 1.0, -1.0], A_ub=M[:1], b_ub=[2.0],
                                                  bounds=[(0, None), (p[0] - 1.0, None), (None, 0.1 * p[1])]),
    "by one pair of bounds": lambda p: scipy.optimize.linprog([-1.0, -2.0, -1.0], bounds=(None, p[0])),
    "with equations": lambda p: scipy.optimize.linprog([-1.0, -2.0, 1.0], A_eq=M[:1], b_eq=p[:1], A_ub=M[1:],
                                                       b_ub=p[1:] + 1.0),
    "of a sparse matrix": lambda p: scipy.optimize.linprog(-P, A_ub=scipy.sparse.csr_array(M * p), b_ub=P),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_linear_programs(name):
    def f(p):
        found = PROGRAMS[name](p)
        return np.sum(found.x * np.array([1.0, 2.0, 3.0])) + found.fun + np.sum(found.slack) + np.sum(found.con)

    demand_right(f)


@pytest.mark.parametrize("costs", [[-1.0, -1.0], [-2.0, -1.0], [-1.0, -1.5]])
def test_a_vertex_that_is_not_the_only_one_or_overdetermined_is_refused(costs):
    with pytest.raises(ArithmeticError, match="just touches it|singular"):
        codipy.grad(lambda p: scipy.optimize.linprog(
            costs, A_ub=[[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]], b_ub=[p[0] / 0.6, 3.0, 3.0]).x[0])(P)


@pytest.mark.parametrize("minimum", [
    lambda f: scipy.optimize.minimize(f, [0.5, 0.5]).x, lambda f: scipy.optimize.fmin_bfgs(f, [0.5, 0.5], disp=False),
    lambda f: scipy.optimize.minimize(f, [0.5, 0.5], constraints={"type": "ineq", "fun": lambda z: 1e9 - z[0]}).x])
def test_a_minimiser_that_has_left_the_domain_is_no_constant(minimum):
    def f(p):
        return np.sum(minimum(lambda q: p[0] * np.log(q[1]) + q[0] ** 2 if q[1] > 0.0 else np.nan) ** 2)

    with np.errstate(all="ignore"), pytest.raises(ArithmeticError):
        codipy.grad(f)(P)


@pytest.mark.parametrize("loss", ["soft_l1", "cauchy", "arctan", "huber"])
def test_losses(loss):
    def f(p):
        found = scipy.optimize.least_squares(fitted, P, args=(p,), loss=loss, f_scale=0.3, xtol=1e-14, gtol=1e-14,
                                             ftol=1e-14)
        return found.cost + np.sum(found.x * p)

    demand_right(f, 1e-5)


def test_bounds_of_linear_least_squares():
    def f(p):
        found = scipy.optimize.lsq_linear(M * p[2], p, ([-5.0, p[0] - 1.1, -5.0], [p[1] - 0.6, 5.0, 5.0]))
        assert np.sum(found.active_mask != 0) == 1
        return np.sum(found.x * p) + found.cost + found.fun[2]

    demand_right(f, 1e-5)


def test_a_number_of_the_function_beside_an_array_in_what_is_solved():
    """The solver sees the plain run's bits, so it takes its steps; the exact solution is that of linear equations."""
    n, target = np.arange(6.0), np.cos(np.arange(6.0))

    def fitted(p):
        return scipy.optimize.least_squares(lambda z: z[0] * np.exp(-p[0] * n) + z[1] * p[1] - target, np.ones(2)).x[0]

    def exact(p):
        return np.linalg.lstsq(np.stack([np.exp(-p[0] * n), np.full(6, p[1])], axis=1), target, rcond=None)[0][0]

    value, gradient = codipy.value_and_grad(fitted)(P)
    assert value == fitted(P)
    np.testing.assert_allclose(gradient, differences(exact), rtol=1e-6, atol=1e-7)


def test_nothing_active_is_scipys_own():
    def f(p):
        found = scipy.optimize.root(lambda z: system(z, P), np.ones(3))
        assert found.keys() == scipy.optimize.root(system, np.ones(3), args=(P,)).keys()
        assert type(brentq(cubic, 0, 2, args=(1.0,))) is float
        return np.sum(found.x * p)

    np.testing.assert_array_equal(codipy.grad(f)(P), scipy.optimize.root(system, np.ones(3), args=(P,)).x)


X = np.linspace(0.1, 2.0, 9)


def decay(x, a, b):
    return a * np.exp(-b * x)


def fit(p, **options):
    data = np.exp(-0.8 * X) * p[0] + 0.05 * np.sin(9.0 * X) * p[1]
    options.setdefault("ftol", 1e-14)
    return scipy.optimize.curve_fit(decay, X, data, xtol=1e-14, gtol=1e-14, **options)


COVARIANCE = np.eye(9) + 0.2 * np.ones((9, 9))
FITS = {
    "a fit": lambda p: fit(p)[0],
    "bounds": lambda p: fit(p, bounds=(0.0, [9.0, p[1]]))[0],
    "bounds that hold nothing": lambda p: fit(p, bounds=(0.0, 9.0))[0],
    "errors": lambda p: fit(p, sigma=1.0 + p[2] * X)[0],
    "one error": lambda p: fit(p, sigma=p[2])[0],
    "covariances": lambda p: fit(p, sigma=COVARIANCE * p[2] + np.diag(X))[0],
    "its covariance": lambda p: fit(p)[1],
    "its absolute covariance": lambda p: fit(p, sigma=1.0 + p[2] * X, absolute_sigma=True)[1],
    "in full": lambda p: fit(p, full_output=True)[0] * p[:2],
    "points": lambda p: scipy.optimize.curve_fit(decay, X * p[2], np.exp(-X), [1.0, 1.0], xtol=1e-14)[0],
    "a closure": lambda p: scipy.optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x * p[2]), X, 1.0 / (1.0 + X),
                                                    p0=[1.0, 1.0], xtol=1e-14)[0],
    "nnls": lambda p: scipy.optimize.nnls(M * p[1], p)[0],
    "nnls with a zero": lambda p: scipy.optimize.nnls(M + np.outer(p, p), p * np.array([1.0, -1.0, 1.0]))[0],
    "nnls, the rest": lambda p: scipy.optimize.nnls(np.vstack([M, M * 0.5]), np.concatenate([p, -p * p]))[1],
}  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    f = FITS[name]
    expected = np.moveaxis(differences(f), 0, -1)
    near = 3e-5 * np.abs(expected).max()
    np.testing.assert_allclose(codipy.jacobian(f)(P), expected, rtol=3e-5, atol=near)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), expected, rtol=3e-5, atol=near)
    assert codipy.value_and_grad(lambda p: np.sum(f(p)))(P)[0] == np.sum(f(P))


@pytest.mark.parametrize("name", ["a fit", "bounds", "errors", "its covariance", "nnls", "nnls with a zero"])
def test_second_order_of_fits(name):
    gradient = codipy.grad(lambda p: np.sum(FITS[name](p)))
    expected = differences(gradient)
    near = 1e-4 * np.abs(expected).max()
    np.testing.assert_allclose(codipy.jacobian(gradient)(P), expected, rtol=1e-4, atol=near)


def test_a_number_of_nnls_that_a_bound_touches():
    with pytest.raises(ArithmeticError, match="just touches it"):
        codipy.grad(lambda p: scipy.optimize.nnls(np.eye(3), p - P * np.array([0.0, 1.0, 0.0]))[0][0])(P)


@pytest.mark.parametrize(("name", "solver"), [("a fit", "curve_fit"), ("nnls", "nnls")])
def test_replays_of_fits(name, solver):
    tape = codipy.Tape(strategy="primal")
    with tape:
        p = tape.register_input(P)
        y = tape.register_output(codipy.rebind(FITS[name])(p)[1])
    tape.evaluate_primal()
    assert tape.get_primal(y) == FITS[name](P)[1]
    tape.set_primal(p, P * 1.1)
    with pytest.raises(TapeError, match=f"scipy.optimize.{solver}"):
        tape.evaluate_primal()


def test_what_is_not_differentiated_is_refused():
    for refused in (
        lambda p: scipy.optimize.least_squares(lambda z: z - p, np.zeros(3), loss=lambda z: [z, 1 + 0 * z, 0 * z]).x[0],
        lambda p: scipy.optimize.milp(p).x[0],
        lambda p: scipy.optimize.milp(P, constraints=scipy.optimize.LinearConstraint(M, p)).x[0],
        lambda p: scipy.optimize.linprog(p, integrality=np.ones(3)).x[0],
        lambda p: 1.0 * scipy.optimize.linprog(-P, A_ub=M, b_ub=p).ineqlin.marginals[0],
        lambda p: scipy.optimize.curve_fit(lambda x, a: a * x, P, p, loss="cauchy", method="trf")[0][0],
    ):
        with pytest.raises(ActiveError):
            codipy.grad(refused)(P)


def test_an_assignment_is_that_of_the_costs_and_a_replay_notices_another_one():
    def f(x):
        rows, columns = scipy.optimize.linear_sum_assignment(np.abs(x[:, None] - np.array([0.5, 1.0, 1.5])))
        return np.sum(x[rows] * columns * x[columns])

    x = np.array([0.7, 1.3, 0.4])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)], rtol=1e-7)
    tape = codipy.Tape("primal")
    with tape:
        active = tape.register_input(x)
        y = tape.register_output(codipy.rebind(f)(active))
    tape.set_primal(active, x + 0.01)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(x + 0.01)
    tape.set_primal(active, x[::-1].copy())
    with pytest.raises(TapeError, match="linear_sum_assignment"):
        tape.evaluate_primal()
class Walk:
    stepsize = 0.5

    def __init__(self):
        self.random = np.random.default_rng(1)

    def __call__(self, x):
        return x + self.random.uniform(-self.stepsize, self.stepsize, x.shape)


def test_steps_whose_size_basinhopping_adapts():
    sizes = []

    def f(p):
        walk = Walk()
        found = scipy.optimize.basinhopping(lambda u: (u[0] - p) ** 2 + np.cos(4.0 * u[0]), [1.3], niter=20, interval=5,
                                            take_step=walk, rng=1)
        sizes.append(walk.stepsize)
        return found.x[0]

    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7) and sizes[0] == sizes[1] != Walk.stepsize
    assert gradient == pytest.approx(2.0 / (2.0 - 16.0 * np.cos(4.0 * value)), rel=1e-5)


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_barrier_that_holds_a_minimum_off_its_bounds(goes_on):
    def f(p):
        found = scipy.optimize.minimize(lambda u: 0.5 * (u[0] + 6.0 * p[0]) ** 2, [0.5], bounds=[(-p[1], None)],
                                        method="trust-constr", options={"gtol": 0.0} if goes_on else {})
        return found.x[0]

    if goes_on:
        np.testing.assert_allclose(codipy.grad(f)(P), [0.0, -1.0, 0.0], atol=1e-9)
        return
    assert abs(f(P) + P[1]) > 2e-4
    with pytest.raises(ArithmeticError, match=r"moves it by .*trust-constr may have stopped by gtol.*{'gtol': 0.0}"):
        codipy.grad(f)(P)


def test_a_complex_root_says_what_to_solve_for():
    def f(p):
        return abs(scipy.optimize.newton(lambda z: z**2 + p[0], 0.5 + 1.0j))

    assert f(P) == pytest.approx(np.sqrt(P[0]))
    with pytest.raises(TypeError, match="got complex128: solve for the real and for the imaginary part"):
        codipy.grad(f)(P)

    def parts(u, p):
        z = u[0] + 1.0j * u[1]
        residual = z**2 + p[0]
        return np.stack([residual.real, residual.imag])

    def g(p):
        return np.hypot(*scipy.optimize.fsolve(parts, [0.5, 1.0], args=(p,), xtol=1e-13))

    np.testing.assert_allclose(codipy.grad(g)(P), [0.5 / np.sqrt(P[0]), 0.0, 0.0], rtol=1e-9, atol=1e-12)
