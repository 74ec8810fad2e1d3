# SPDX-License-Identifier: Apache-2.0
"""What callbacks of solvers are told: it prints and compares as in the plain run, and is no constant in silence."""

import importlib

import numpy as np
import pytest
import scipy.sparse
from scipy import optimize
from scipy.sparse import linalg

import codipy
from codipy.errors import ActiveError, TapeError

P, START = np.array([1.0, 2.0]), np.zeros(2)
MATRIX = np.array([[4.0, 1.0], [1.0, 3.0]])
WITH_SLOPES = ["CG", "BFGS", "Newton-CG", "L-BFGS-B", "TNC", "SLSQP", "trust-constr", "dogleg", "trust-ncg",
               "trust-exact", "trust-krylov"]  # fmt: skip
KRYLOV = ["bicg", "bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr"]


def distance(u, p):
    return np.sum((u - p) ** 4 + (u - p) ** 2)


def slope(u, p):
    return 4.0 * (u - p) ** 3 + 2.0 * (u - p)


def curvature(u, p):
    return np.diag(12.0 * (u - p) ** 2 + 2.0)


def minimized(method):
    def solved(p, callback):
        options = {"jac": lambda u: slope(u, p)} if method in WITH_SLOPES else {}
        if method.startswith("trust") or method == "dogleg":
            options["hess"] = lambda u: curvature(u, p)
        options |= {"callback": callback, "method": method, "tol": 1e-6}
        return optimize.minimize(lambda u: distance(u, p), START, **options).x

    return solved


def searched(name, **options):
    def solved(p, callback):
        found = getattr(optimize, name)(lambda u: distance(u, p), [(-3.0, 3.1)] * 2, callback=callback, **options)
        return found.x

    return solved


def hopped(p, callback, **options):
    return optimize.basinhopping(lambda u: distance(u, p), START, niter=2, rng=1, callback=callback, **options).x


def accepted(p, callback):
    return hopped(p, None, accept_test=lambda f_new, x_new, f_old, x_old: callback(x_new, f_new) is None)


def inside(p, callback):
    return hopped(p, None, minimizer_kwargs={"callback": callback, "tol": 1e-10})


def fmin(name, *slopes, **options):
    def solved(p, callback):
        given = [lambda u: slope(u, p) for _ in slopes]
        found = getattr(optimize, name)(lambda u: distance(u, p), START, *given, callback=callback, **options)
        return found[0] if isinstance(found, tuple) else found

    return solved


def rooted(name, **options):
    return lambda p, callback: getattr(optimize, name)(lambda u: u**3 + u - p, START, callback=callback, **options)


def root(method):
    return lambda p, callback: optimize.root(lambda u: u**3 + u - p, START, (), method, None, 1e-10, callback).x


def fitted(p, callback):
    times = np.linspace(0.0, 1.0, 7)
    return optimize.curve_fit(lambda t, a, b: np.exp(-a * t) * b, times, np.exp(-p[0] * times) * p[1], p0=[0.5, 0.5],
                              method="trf", callback=callback)[0]  # fmt: skip


def krylov(name, kind):
    options = {"callback_type": "x"} if name == "gmres" else {}

    def solved(p, callback):
        matrix = MATRIX * p[0] if kind == "values" else MATRIX
        if kind == "values":
            matrix = scipy.sparse.csr_array((np.ravel(matrix), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
        if kind == "operator":
            products = [lambda v: MATRIX @ v * p[0]] * 2
            matrix = linalg.LinearOperator((2, 2), *products, dtype=float)
        return getattr(linalg, name)(matrix, p, callback=callback, **options)[0]

    return solved


SOLVERS = {f"minimize {name}": minimized(name) for name in [*WITH_SLOPES, "Nelder-Mead", "Powell"]}
SOLVERS |= {f"root {name}": root(name) for name in ("broyden1", "df-sane", "anderson")}
SOLVERS |= {name: rooted(name, f_tol=1e-10) for name in ("anderson", "broyden1", "broyden2", "diagbroyden")}
SOLVERS |= {name: fmin(name, disp=0) for name in ("fmin", "fmin_bfgs", "fmin_cg", "fmin_powell")}
SOLVERS |= {
    "fmin_ncg": fmin("fmin_ncg", slope, disp=0, avextol=1e-10),
    "fmin_slsqp": fmin("fmin_slsqp", iprint=0, acc=1e-12),
    "fmin_tnc": fmin("fmin_tnc", slope, disp=0),
    "fmin_l_bfgs_b": fmin("fmin_l_bfgs_b", slope),
    "basinhopping": hopped,
    "accept_test": accepted,
    "of the inner solver": inside,
    "differential_evolution": searched("differential_evolution", rng=1, tol=1e-4),
    "dual_annealing": searched("dual_annealing", rng=1, maxiter=20),
    "direct": searched("direct", len_tol=1e-6, vol_tol=1e-30, maxfun=100000),
}
if "callback" in optimize.least_squares.__code__.co_varnames:
    SOLVERS["curve_fit"] = fitted
SOLVERS |= {
    f"{name} {kind}": krylov(name, kind)
    for name in KRYLOV
    for kind in ("right-hand side", "values", "operator")
}


def told_by(solver, p):
    """The solution, the iterates, and what a callback writes of what it is told."""
    kept, lines = [], []

    def callback(x, *more):
        kept.append(x.copy())
        lines.append(f"{x[0]:.12f} {x} {float(np.linalg.norm(x)):.15e} {x[1] > 0.5}")
        lines.extend(repr(each) for each in more if not hasattr(each, "execution_time"))

    return solver(p, callback), kept, lines


def slope_of_sum(name, u):
    """The gradient of the sum of the solution, by hand."""
    if name.endswith(("right-hand side", "values", "operator")):
        fixed = np.linalg.solve(MATRIX, np.ones(2))
        return fixed if name.endswith("side") else fixed - [np.sum(u), 0.0]
    is_root = name.startswith("root") or name in ("anderson", "broyden1", "broyden2", "diagbroyden")
    return 1.0 / (3.0 * u**2 + 1.0) if is_root else np.ones(2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOLVERS)
def test_callbacks_do_as_in_the_plain_run_and_keep_no_constants(name):
    notes = []

    def f(p):
        solution, *told = told_by(SOLVERS[name], p)
        notes.append([np.array(codipy.value(solution)), *told])
        if codipy.value(p) is not p:
            with pytest.raises(TapeError, match="take what the solver returns"):
                np.sum(told[0][-1])
        return np.sum(solution)

    value = f(P)
    found, gradient = codipy.value_and_grad(f)(P)
    assert found == value
    [u, kept, lines], [_, kept_later, lines_later] = notes
    assert kept
    assert lines_later == lines
    np.testing.assert_array_equal([codipy.value(x) for x in kept_later], kept)
    np.testing.assert_allclose(gradient, slope_of_sum(name, u), rtol=1e-4)


def solved(p, callback, of=None):
    target = p if of is None else of
    return optimize.minimize(lambda u: distance(u, target), START, callback=callback, method="BFGS", tol=1e-9)


class Monitor:
    """Stops where iterates no longer move, and keeps how far they have."""

    def __init__(self):
        self.before, self.steps, self.rows, self.count = None, [], np.zeros((50, 2)), 0

    def __call__(self, x):
        if self.before is not None:
            self.steps.append(float(np.linalg.norm(x - self.before)))
        self.before = x.copy()
        self.rows[self.count] = x
        self.count += 1
        if self.steps and self.steps[-1] < 1e-5:
            raise StopIteration


@pytest.mark.parametrize("driver", [codipy.grad, codipy.jacobian, codipy.hessian])
def test_monitors_that_remember_and_stop(driver):
    monitors = []

    def f(p):
        monitors.append(Monitor())
        return np.sum(solved(p, monitors[-1]).x ** 2)

    f(P)
    np.testing.assert_allclose(driver(f)(P), 2.0 * (np.eye(2) if driver is codipy.hessian else P), atol=1e-6)
    plain, one = monitors[0], monitors[1]
    assert [float(step) for step in one.steps] == plain.steps
    np.testing.assert_array_equal(codipy.value(one.rows), plain.rows)


@pytest.mark.parametrize("use", ["rows", "steps"])
def test_what_a_monitor_keeps_is_no_constant(use):
    def f(p):
        monitor = Monitor()
        u = solved(p, monitor).x
        return np.sum(u) * (monitor.rows[0, 0] if use == "rows" else monitor.steps[-1])

    with pytest.raises(TapeError, match=f"`monitor.{use}.*take what the solver returns"):
        codipy.grad(f)(P)


def test_a_solve_that_depends_on_nothing_tells_constants():
    def f(p, of_parameters):
        kept = []
        target = np.array([1.0, 2.0])
        u = solved(p, lambda x: kept.append(np.linalg.norm(x - p if of_parameters else x)), of=target).x
        return np.sum(u * p) * kept[-1] + np.max(np.array(kept)) * p[0]

    value, gradient = codipy.value_and_grad(f)(P, False)
    assert value == f(P, False)
    np.testing.assert_allclose(gradient, [(f(P + step, False) - f(P - step, False)) / 2e-6
                                          for step in 1e-6 * np.eye(2)], rtol=1e-7)  # fmt: skip
    with pytest.raises(TapeError, match="take what the solver returns"):
        codipy.grad(f)(P, True)


def test_a_function_that_reads_parameters_late_is_refused():
    def f(p):
        calls = []

        def late(u):
            calls.append(None)
            return distance(u, P if len(calls) == 1 else p)

        return np.sum(optimize.minimize(late, START, callback=lambda x: None, method="BFGS").x)

    with pytest.raises(ActiveError, match="was given its iterates as constants"):
        codipy.grad(f)(P)


def test_a_start_on_which_iterates_depend():
    def f(p, keep):
        kept = []
        u, _ = linalg.cg(MATRIX, np.ones(2), x0=p, callback=lambda x: kept.append(x.copy()))
        return np.sum(u) * p[0] + (kept[0][0] if keep else 0.0)

    np.testing.assert_allclose(codipy.grad(f)(P, False), [np.sum(np.linalg.solve(MATRIX, np.ones(2))), 0.0])
    with pytest.raises(TapeError, match="take what the solver returns"):
        codipy.grad(f)(P, True)
    with pytest.raises(ArithmeticError, match="were not solved"):
        codipy.grad(lambda p: np.sum(linalg.cg(MATRIX, np.ones(2), x0=p, maxiter=1)[0]))(P)


def test_what_is_written_into_an_iterate_is_what_the_solver_goes_on_with():
    rounded = []

    def f(p):
        def callback(x):
            rounded.append(x)
            x[:] = np.round(x, 1)

        return np.sum(linalg.cg(MATRIX, p, callback=callback)[0])

    value = f(P)
    plain = [x.copy() for x in rounded]
    rounded.clear()
    assert codipy.value_and_grad(f)(P)[0] == value
    np.testing.assert_array_equal([codipy.value(x) for x in rounded], plain)


def test_long_runs_begin_anew(monkeypatch):
    monkeypatch.setattr(importlib.import_module("codipy.implicit.iterates"), "_KEPT", 64)
    lines = []

    def f(p):
        return np.sum(solved(p, lambda x: lines.append(f"{np.linalg.norm(x):.15e}")).x)

    f(P)
    plain = list(lines)
    lines.clear()
    np.testing.assert_allclose(codipy.grad(f)(P), [1.0, 1.0])
    assert lines == plain


def test_errors_that_a_callback_catches_are_raised():
    def f(p):
        found = []

        def callback(x):
            try:
                found.append(x.tobytes())
            except Exception:
                found.append(b"")

        return np.sum(solved(p, callback).x)

    with pytest.raises(ActiveError, match="an error of codipy was caught"):
        codipy.grad(f)(P)
