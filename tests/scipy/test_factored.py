# SPDX-License-Identifier: Apache-2.0
"""Equations with a sparse matrix that is passive: splu, spilu, factorized, spsolve, made in the function or before."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

A = sparse.csc_matrix(np.diag(np.arange(2.0, 6.0)) + np.eye(4, k=1) - 0.5 * np.eye(4, k=-2))
LU = linalg.splu(A)
SOLVE = linalg.factorized(A)
POINT = np.array([0.7, -0.4, 0.3, 1.1])


class Implicit:
    def __init__(self):
        self.lu, self.solve_with, self.u = linalg.splu(A), linalg.factorized(A), np.ones(4)
        self.lus = {"a": [linalg.spilu(A)]}

    def step(self, x):
        self.u[:] = self.lu.solve(self.u * x)
        return self.u @ self.lus["a"][0].solve(x)


def in_a_closure():
    lu = linalg.splu(A)
    return lambda x: (lu.solve(x) ** 2).sum()


CASES = {
    "splu inside": lambda x: (linalg.splu(A).solve(x) ** 2).sum(),
    "splu before": lambda x: (LU.solve(x) ** 2).sum(),
    "transposed": lambda x: (LU.solve(x, "T") * LU.solve(x * x, trans="H")).sum(),
    "columns": lambda x: (LU.solve(np.stack([x, x * x], axis=1)) ** 2).sum(),
    "numbers": lambda x: (LU.solve(np.array([x[0], 1.0, x[1], x[2] * x[3]])) ** 2).sum(),
    "spilu": lambda x: (linalg.spilu(A).solve(x) ** 2).sum(),
    "factorized inside": lambda x: (linalg.factorized(A)(x) ** 2).sum(),
    "factorized before": lambda x: (SOLVE(x) ** 2).sum(),
    "spsolve": lambda x: (linalg.spsolve(A, x) ** 2).sum(),
    "spsolve of a column": lambda x: (linalg.spsolve(A, x[:, None] * x[:, None]) ** 2).sum(),
    "spsolve of columns": lambda x: (linalg.spsolve(A, np.stack([x, x * x], axis=1)) ** 2).sum(),
    "closure": in_a_closure(),
    "attribute": lambda x: Implicit().step(x) * x[0],
    "passive": lambda x: (LU.solve(np.ones(4)) * x).sum() * LU.shape[0],
    "filled": lambda x: filled(x),
}


def filled(x):
    u = LU.solve(np.ones(4))
    u[1] = x[0] * x[1]
    return LU.solve(u).sum()


@each_strategy
@pytest.mark.parametrize("name", CASES)
def test_right_hand_sides_are_differentiated(name, strategy):
    f, h = CASES[name], 1e-6
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(POINT)
    assert value == f(POINT)
    expected = [(f(POINT + h * e) - f(POINT - h * e)) / (2 * h) for e in np.eye(4)]
    assert gradient == pytest.approx(expected, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", ["splu before", "spsolve", "spsolve of a column"])
def test_second_derivatives_and_tangents(name):
    f, h = CASES[name], 1e-6
    gradient = codipy.grad(f)
    expected = np.array([(gradient(POINT + h * e) - gradient(POINT - h * e)) / (2 * h) for e in np.eye(4)])
    assert codipy.hessian(f)(POINT) == pytest.approx(expected, abs=1e-8)
    assert codipy.jacobian(gradient)(POINT) == pytest.approx(expected, abs=1e-8)
    assert codipy.jvp(f, (POINT,), (np.ones(4),))[1] == pytest.approx(gradient(POINT).sum())


def test_a_state_that_implicit_steps_fill():
    model, plain = Implicit(), Implicit()
    value, _ = codipy.value_and_grad(model.step)(POINT)
    assert value == plain.step(POINT)
    assert type(model.u) is np.ndarray and np.array_equal(model.u, plain.u)


def test_a_matrix_that_is_written_to_before_the_sweep():
    matrix = A.copy()
    _, pullback = codipy.vjp(lambda x: linalg.spsolve(matrix, x), POINT)
    matrix.data[:] = np.nan
    assert pullback(np.ones(4))[0] == pytest.approx(np.linalg.solve(A.toarray().T, np.ones(4)))


def test_what_has_no_derivative_raises():
    def of_active(x):
        return linalg.splu(np.outer(x, x) + np.eye(4)).solve(np.ones(4)).sum()

    def of_dense(x):
        return linalg.spsolve(A.toarray(), x).sum()

    for f in (of_active, of_dense):
        with pytest.raises(ActiveError):
            codipy.grad(f)(POINT)
