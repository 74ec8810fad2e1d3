# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues, singular values, least squares of a `LinearOperator` that uses active values, and of active arrays."""

import numpy as np
import pytest
import scipy.sparse.linalg as linalg

import codipy
from codipy.errors import ActiveError, UndifferentiableError
from tests.scipy.recorded import demand_no_replay_elsewhere
from tests.strategies import STRATEGIES

N, M = 12, 15
K = np.arange(N)
P = np.array([0.5, 1.3, 0.7])
V0 = {"v0": np.ones(N)}
B = np.cos(np.arange(M))
FULL = np.random.default_rng(3).normal(size=(M, N)) + 4.0 * np.eye(M, N)
FINE = {"atol": 1e-13, "btol": 1e-13}


def square(p):
    def multiply(v):
        v = v.ravel()
        return v * (2.0 + p[0] * K) - np.roll(v, 1) - np.roll(v, -1) + p[1] * p[2] * v[::-1]

    return linalg.LinearOperator((N, N), multiply, multiply, dtype=float)


def inverse(p, sigma):
    A = np.diag(2.0 + p[0] * K) - np.roll(np.eye(N), 1, 0) - np.roll(np.eye(N), -1, 0) + p[1] * p[2] * np.eye(N)[::-1]
    return linalg.LinearOperator((N, N), lambda v: np.linalg.solve(A - sigma * np.eye(N), v.ravel()), dtype=float)


def tall(p):
    def multiply(v):
        v = v.ravel()
        return np.concatenate([v * (1.0 + p[0] * K), p[1] * p[2] * v[:3]])

    def back(v):
        v = v.ravel()
        return v[:N] * (1.0 + p[0] * K) + np.concatenate([p[1] * p[2] * v[N:], np.zeros(N - 3)])

    return linalg.LinearOperator((M, N), multiply, back, dtype=float)


def full(p):
    return FULL * (1.0 + p[0] * np.outer(np.arange(M), K) / 100) + p[1] * np.eye(M, N)


def free(p):
    return linalg.LinearOperator((M, N), lambda v: full(p) @ v.ravel(), lambda v: full(p).T @ v.ravel(), dtype=float)


def symmetric(p):
    return full(p)[:N] + full(p)[:N].T


FIRST = {
    "eigenvalues": lambda p: linalg.eigsh(square(p), 3, **V0)[0] @ K[1:4],
    "only eigenvalues": lambda p: linalg.eigsh(square(p), 3, return_eigenvectors=False, **V0) @ K[1:4],
    "eigenvectors": lambda p: np.sum(linalg.eigsh(square(p), 2, which="SA", **V0)[1][:, 1] ** 4),
    "singular values": lambda p: linalg.svds(tall(p), 3, **V0)[1] @ K[1:4],
    "only singular values": lambda p: linalg.svds(tall(p), 3, return_singular_vectors=False, **V0) @ K[1:4],
    "singular vectors": lambda p: sum(np.sum(x**4) for x in linalg.svds(free(p), 2, **V0)[::2]),
    "near a number": lambda p: linalg.eigsh(square(p), 2, sigma=2.1, OPinv=inverse(p, 2.1), **V0)[0] @ K[1:3],
    "eigenvalues of an array": lambda p: linalg.eigsh(symmetric(p), 3, **V0)[0] @ K[1:4],
    "singular vectors of an array": lambda p: sum(np.sum(x**4) for x in linalg.svds(full(p), 2, **V0)[::2]),
}
ANY = {
    "lsqr": lambda p: np.sum(linalg.lsqr(tall(p), B * p[0], **FINE)[0] ** 2),
    "damped": lambda p: np.sum(linalg.lsqr(tall(p), B, damp=0.4, **FINE)[0] ** 2),
    "lsmr": lambda p: np.sum(linalg.lsmr(tall(p), B, **FINE)[0] ** 2),
    "norms": lambda p: linalg.lsqr(tall(p), B, damp=0.4, **FINE)[4] + linalg.lsmr(tall(p), B, **FINE)[3],
    "passive operator": lambda p: np.sum(linalg.lsmr(linalg.aslinearoperator(FULL), B * p[1], **FINE)[0] ** 2),
    "lsqr of an array": lambda p: np.sum(linalg.lsqr(full(p), B, **FINE)[0] ** 2),
    "cg of an array": lambda p: np.sum(linalg.cg(full(p).T @ full(p), B[:N], rtol=1e-13)[0] ** 2),
    "preconditioned": lambda p: np.sum(linalg.cg(
        full(p).T @ full(p), B[:N], M=np.diag(1.0 / np.sum(full(p) ** 2, axis=0)), rtol=1e-13)[0] ** 2),
    "columns in memory": lambda p: np.sum(linalg.bicgstab(full(p)[:N].T, B[:N], rtol=1e-13)[0] ** 2),
    "complex array": lambda p: np.sum(np.abs(linalg.gmres(full(p)[:N] + 1j * p[2] * np.eye(N), B[:N], rtol=1e-13)[0])),
}


def differences(f, step=1e-4):
    return np.array([(8 * (f(P + h) - f(P - h)) - (f(P + 2 * h) - f(P - 2 * h))) / (12 * step)
                     for h in step * np.eye(3)])  # fmt: skip


@pytest.mark.parametrize("name", FIRST | ANY)
def test_values_and_derivatives(name):
    f = (FIRST | ANY)[name]
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), gradient, rtol=1e-7, atol=1e-9)
    for strategy in STRATEGIES:
        np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(P), gradient, rtol=1e-9)


class Filling:
    """A product that fills the same array each time, and counts."""

    def __init__(self, multiply, calls):
        self._multiply, self._filled, self._calls = multiply, None, calls

    def __call__(self, v):
        self._calls.append(1)
        product = np.ravel(self._multiply(v))
        if self._filled is None:
            self._filled = np.zeros(len(product))
        self._filled[:] = product
        return self._filled


def filling(A, calls, matvec=True, rmatvec=True):
    forth, back = (Filling(by, calls) if fills else by for by, fills in ((A.matvec, matvec), (A.rmatvec, rmatvec)))
    return linalg.LinearOperator(A.shape, forth, back, dtype=float)


# By an operator and what it is handed.
OF_OPERATORS = {
    "eigsh": (square, lambda A, p: linalg.eigsh(A, 3, **V0)[0] @ K[1:4]),
    "eigsh's vectors": (square, lambda A, p: np.sum(linalg.eigsh(A, 2, which="SA", **V0)[1][:, 1] ** 4)),
    "eigsh's values": (square, lambda A, p: linalg.eigsh(A, 3, return_eigenvectors=False, **V0) @ K[1:4]),
    "lsqr": (tall, lambda A, p: np.sum(linalg.lsqr(A, B * p[0], **FINE)[0] ** 2)),
    "lsmr": (tall, lambda A, p: np.sum(linalg.lsmr(A, B, damp=0.3, **FINE)[0] ** 2)),
    "passive": (lambda p: tall(P), lambda A, p: np.sum(linalg.lsmr(A, B * p[1], **FINE)[0] ** 2)),
    "cg": (lambda p: square(P + 3.0), lambda A, p: np.sum(linalg.cg(A, B[:N] * p[1], rtol=1e-13)[0] ** 2)),
    "constant": (lambda p: square(P), lambda A, p: linalg.eigsh(A, 3, **V0)[0] @ K[1:4] * p[0]),
}
CALLS = []


@pytest.mark.parametrize("name", OF_OPERATORS)
def test_products_that_fill_one_array(name):
    make, solve = OF_OPERATORS[name]

    def f(p, calls):
        return solve(filling(make(p), calls), p) + len(calls)

    value, gradient = codipy.value_and_grad(lambda p: f(p, []))(P)
    assert value == f(P, [])
    np.testing.assert_allclose(gradient, codipy.grad(lambda p: solve(make(p), p))(P), rtol=1e-9)
    before = len(CALLS)
    codipy.grad(lambda p: f(p, CALLS))(P)      # the sweep, too, leaves no calls of its own
    between = len(CALLS)
    f(P, CALLS)
    assert between - before == len(CALLS) - between


def test_products_that_fill_one_array_of_singular_values():
    def f(p, **fills):
        return linalg.svds(filling(tall(p), [], **fills), 3, **V0)[1] @ K[1:4]

    expected = codipy.grad(FIRST["singular values"])(P)
    np.testing.assert_allclose(codipy.grad(lambda p: f(p, matvec=False))(P), expected, rtol=1e-9)
    with pytest.raises(ArithmeticError, match="has not found singular vectors .* return a new array each time"):
        codipy.grad(f)(P)      # nor has it in the plain run


def test_what_are_no_eigenvectors():
    def f(p):
        return linalg.eigsh(linalg.LinearOperator((N, N), lambda v: p[0] * K * v.ravel() + np.roll(v, 1).ravel()), 2,
                            **V0)[0][0]  # fmt: skip

    with pytest.raises(ArithmeticError, match="has not found eigenvectors .* a symmetric matrix"):
        codipy.grad(f)(P)


def test_what_products_keep_is_no_constant():
    def f(p):
        kept = []

        def multiply(v):
            kept[:] = [v[0] * p[0]]
            return p[1] * K * v + np.roll(v, 1) + np.roll(v, -1)

        return linalg.eigsh(linalg.LinearOperator((N, N), multiply, dtype=float), 2, **V0)[0][0] + kept[0]

    with pytest.raises(codipy.errors.TapeError):
        codipy.grad(f)(P)


@pytest.mark.parametrize("name", ["lsqr", "passive operator", "cg of an array"])
def test_second_order(name):
    expected = differences(codipy.grad(ANY[name]))
    np.testing.assert_allclose(codipy.hessian(ANY[name])(P), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["eigenvalues", "only singular values", "singular vectors"])
def test_second_order_is_refused(name):
    with pytest.raises(UndifferentiableError, match="derivatives of first order"):
        codipy.hessian(FIRST[name])(P)


def test_repeated_values_have_no_vectors():
    def f(p, k):
        def multiply(v):
            return v.ravel() * np.where(K < 2, 1.0, K + 3.0) + p[0] * np.roll(v.ravel(), 1) * 0.0 + p[1] * v.ravel() * K

        operator = linalg.LinearOperator((N, N), multiply, dtype=float)
        return linalg.eigsh(operator, 1, which="SA", v0=np.cos(K))[k].ravel()[0]

    at = np.array([0.5, 0.0])
    with pytest.raises(np.linalg.LinAlgError, match="its value is repeated"):
        codipy.grad(lambda p: f(p, 1))(at)


@pytest.mark.parametrize("name", ["eigenvalues", "only singular values", "lsqr", "passive operator"])
def test_a_replay_elsewhere_raises(name):
    demand_no_replay_elsewhere((FIRST | ANY)[name], P, "evaluate_primal.* cannot")


@pytest.mark.parametrize("name", ["lsqr of an array", "cg of an array", "eigenvalues of an array"])
def test_a_replay_of_arrays(name):
    tape, f = codipy.Tape(strategy="primal"), (FIRST | ANY)[name]
    with tape:
        p = tape.register_input(P)
        y = tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, P + 0.1)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(f(P + 0.1), rel=1e-12)


def test_an_operator_with_fewer_rows_says_what_to_write():
    with pytest.raises(ActiveError, match="fewer rows than columns.*damp="):
        codipy.grad(lambda p: np.sum(linalg.lsmr(tall(p).T, B[:N])[0]))(P)
