# SPDX-License-Identifier: Apache-2.0
"""Solvers of SciPy for which an Array is no array."""

import numpy as np
import pytest

import codipy

scipy_sparse = pytest.importorskip("scipy.sparse")
scipy_linalg = pytest.importorskip("scipy.sparse.linalg")
solve = scipy_linalg.cg

X = np.array([2.0, 3.0])
N = 10


def matrix():
    return np.diag(np.arange(1.0, N + 1.0))


PASSIVE = {
    "cg": lambda: scipy_linalg.cg(matrix(), np.ones(N))[0],
    "by name": lambda: solve(np.eye(3) * 2.0, np.ones(3))[0],
    "gmres": lambda: scipy_linalg.gmres(matrix(), np.ones(N))[0],
    "lsqr": lambda: scipy_linalg.lsqr(matrix(), b=np.ones(N))[0],
    "eigsh": lambda: scipy_linalg.eigsh(matrix(), k=2, v0=np.ones(N))[0],
    "svds": lambda: scipy_linalg.svds(matrix(), k=2, v0=np.ones(N))[1],
    "operator": lambda: scipy_linalg.aslinearoperator(matrix()).matvec(np.ones(N)),
    "expm": lambda: scipy_linalg.expm(np.eye(3) * 0.5)[0],
    "spsolve": lambda: scipy_linalg.spsolve(scipy_sparse.csc_matrix(matrix()), np.ones(N)),
}


@pytest.mark.parametrize("name", PASSIVE)
def test_with_passive_arrays_they_give_what_they_gave(name):
    def function(x):
        return np.sum(PASSIVE[name]()) * x[0]

    value, gradient = codipy.value_and_grad(function)(X)
    assert value == function(X)
    assert gradient.tolist() == [function(X) / X[0], 0.0]


@pytest.mark.parametrize(
    ("call", "same"),
    [
        (lambda x: scipy_linalg.gmres(matrix() * x[0], np.ones(N))[0],
         lambda x: np.linalg.solve(matrix() * x[0], np.ones(N))),
        (lambda x: scipy_linalg.eigsh(matrix() * x[0], k=2)[0], lambda x: np.linalg.eigh(matrix() * x[0])[0][-2:]),
        (lambda x: scipy_linalg.svds(matrix() * x[0], k=2)[1],
         lambda x: np.linalg.svd(matrix() * x[0], full_matrices=False)[1][:2]),
    ],
)  # fmt: skip
def test_of_active_arrays_they_are_those_of_arrays(call, same):
    value, gradient = codipy.value_and_grad(lambda x: np.sum(call(x)))(X)
    np.testing.assert_allclose(value, np.sum(call(X)), rtol=1e-5)
    expected = codipy.grad(lambda x: np.sum(same(x)))(X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4)
    assert gradient[0] != 0.0
