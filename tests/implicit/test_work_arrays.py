# SPDX-License-Identifier: Apache-2.0
"""Work arrays that were there before: functions that solvers call fill them, in every place and any number of times."""

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.sparse import linalg

import codipy
from codipy.errors import ActiveError
from tests.implicit.differences import X, difference

TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def demand(f):
    """Value and gradient are those of the plain run, which leaves what the next one finds."""
    value = f(X)
    for _ in range(2):
        found, gradient = codipy.value_and_grad(f)(X)
        assert found == value
        np.testing.assert_allclose(gradient, difference(f), rtol=1e-5, atol=1e-7)


class Slope:
    """A right-hand side that fills what it has."""

    def __init__(self):
        self.work, self.calls, self.rate = np.zeros(2), 0, 1.0

    def __call__(self, t, y):
        return self.filled(t, y, self.rate).copy()

    def filled(self, t, y, rate):
        self.calls += 1
        self.work[0], self.work[1] = -rate * y[0], y[0] - y[1]
        return self.work


WORK, LIST, SLOPE, KEPT = np.zeros(2), [0.0, 0.0], Slope(), {"work": np.zeros(4)}


def filling_a_global_array(t, y, rate):
    WORK[0], WORK[1] = -rate * y[0], y[0] - y[1]
    return WORK


def filling_a_global_list(t, y, rate):
    LIST[0], LIST[1] = -rate * y[0], y[0] - y[1]
    return LIST


def filled(work, y, rate):
    work[0], work[1] = -rate * y[0], y[0] - y[1]
    return work


def handing_it_on(t, y, rate):
    return filled(WORK, y, rate)


# ---- Right-hand sides ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_an_object_that_is_called(method):
    slope = Slope()

    def f(x):
        slope.rate = x[0]
        return integrate.solve_ivp(slope, (0.0, 1.0), x[1:], method, **TIGHT).y[1, -1]

    value = f(X)
    found, gradient = codipy.value_and_grad(f)(X)
    assert found == value
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-4, atol=1e-6)


def test_a_solution_that_asks_once_more_between_the_steps():
    def f(x):
        slope = Slope()
        slope.rate = x[0]
        found = integrate.solve_ivp(slope, (0.0, 1.0), x[1:], "DOP853", dense_output=True, **TIGHT)
        return np.sum(found.sol(0.5)) + found.y[1, -1]

    demand(f)


SLOPES = {"global": filling_a_global_array, "list": filling_a_global_list, "handed on": handing_it_on,
          "attribute": SLOPE.filled}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("by_odeint", [False, True])
def test_a_sweep_that_integrates_anew(name, by_odeint):
    def f(x):
        y, slope = x[1:], SLOPES[name]
        for _ in range(2):      # the second one finds what the first has left
            if by_odeint:
                y = integrate.odeint(slope, y, [0.0, 0.5], (x[0],), tfirst=True, **TIGHT)[-1]
            else:
                y = integrate.solve_ivp(slope, (0.0, 0.5), y, "LSODA", args=(x[0],), **TIGHT).y[:, -1]
        return y[1]

    demand(f)


class Opaque:
    """Nobody sees what it has through a twin, so its functions lead to rebuilt ones while a recording runs."""

    __slots__ = ("slope",)


def decay(t, y, rate):
    return -rate * y if isinstance(y, np.ndarray) else -2.0 * rate * y


OPAQUE = Opaque()
OPAQUE.slope = decay


@pytest.mark.parametrize("by_odeint", [False, True])
def test_a_sweep_takes_the_branches_of_the_plain_run(by_odeint):
    def f(x):
        if by_odeint:
            return integrate.odeint(OPAQUE.slope, x[1:], [0.0, 0.5], (x[0],), tfirst=True, **TIGHT)[-1, 1]
        return integrate.solve_ivp(OPAQUE.slope, (0.0, 0.5), x[1:], "LSODA", args=(x[0],), **TIGHT).y[1, -1]

    demand(f)


# ---- Products --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("solver", ["gmres", "cg"])
def test_products(solver, copies):
    def f(x):
        def product(v):
            WORK[0], WORK[1] = (2.0 + x[0]) * v[0] + 0.1 * v[1], 0.1 * v[0] + 3.0 * v[1]
            return WORK.copy() if copies else WORK

        operator = linalg.LinearOperator((2, 2), matvec=product, dtype=float)
        return np.sum(getattr(linalg, solver)(operator, x[1:], rtol=1e-12)[0])

    demand(f)


# ---- Roots ---------------------------------------------------------------------------------------------------------
def test_a_result_that_has_the_work_array():
    def f(x):
        def residual(u):
            part = KEPT["work"][1:3]      # which SciPy's result has, too
            part[0], part[1] = u[0] + 0.3 * u[1] - x[1], u[1] ** 3 + u[1] * x[0] - x[2]
            return part

        return np.sum(optimize.root(residual, [1.0, 1.0], tol=1e-13).x)

    demand(f)


def test_a_refusal_says_what_to_write_where_the_work_array_is_a_global_one():
    def f(x):
        return integrate.solve_ivp(filling_a_global_array, (0.0, 0.5), x[1:], args=(x[0],)).y[1, -1]

    with pytest.raises(ActiveError, match="return a copy"):
        codipy.grad(f)(X)


# ---- What is in them for the plain run -------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["LSODA", "RK45"])
def test_what_the_first_solver_has_left_decides_in_the_second(method):
    def f(x):
        calls = np.zeros(1)

        def slope(t, y):
            calls[0] += 1.0
            return -(1.0 if calls[0] < 60.0 else 2.0) * x[0] * y

        y = x[1:]
        for _ in range(2):
            y = integrate.solve_ivp(slope, (0.0, 0.5), y, method, rtol=1e-4).y[:, -1]
        return np.sum(y)

    assert codipy.value_and_grad(f)(X)[0] == f(X)


def test_an_array_stays_the_same_object():
    slope = Slope()
    before = slope.work

    def f(x):
        return np.sum(optimize.fsolve(lambda u: slope.filled(0.0, u, x[0]).copy() + x[1:], [1.0, 1.0]))

    demand(f)
    assert slope.work is before


def test_attributes_of_a_function():
    counts = []

    def f(x):
        def residual(u):
            residual.calls += 1
            residual.work[0], residual.work[1] = u[0] + 0.3 * u[1] - x[1], u[1] ** 3 + u[1] * x[0] - x[2]
            return residual.work.copy()

        residual.calls, residual.work = 0, np.zeros(2)
        found = np.sum(optimize.fsolve(residual, [1.0, 1.0], xtol=1e-13))
        counts.append(residual.calls)
        return found

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    assert counts[0] == counts[1]
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)
