# SPDX-License-Identifier: Apache-2.0
"""Sparse derivatives of every form of arguments and results, at other points, pickled, inside of recordings."""
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy.errors import UndifferentiableError
from tests.tools.sparse_problems import X, broyden_tridiagonal, chained_rosenbrock

pytest.importorskip("scipy.sparse")


@dataclass
class State:
    u: np.ndarray
    k: float


def of_state(state, scale, other):
    return {"sum": state.u * state.k, "rest": [scale * state.u[0], state.k], "last": np.sum(other) + scale}


def test_forms_of_arguments_and_results():
    args = State(np.array([1.0, 2.0, 3.0]), 2.0), 4.0, [1.0, 2.0]
    for argnums in (0, 1, 2, (0, 2), (2, 0, 1)):
        dense = codipy.jacobian(of_state, argnums)(*args)
        sparse = codipy.jacobian(of_state, argnums, sparsity=True)(*args)
        assert list(sparse) == ["sum", "rest", "last"]
        several = isinstance(argnums, tuple)
        for k, number in enumerate(argnums if several else (argnums,)):
            of = lambda tree, k=k, several=several: tree[k] if several else tree      # noqa: E731
            if number == 0:
                assert isinstance(of(sparse["sum"]), State)
                assert np.array_equal(of(sparse["sum"]).u.toarray(), of(dense["sum"]).u)
                assert np.array_equal(of(sparse["sum"]).k.toarray().ravel(), of(dense["sum"]).k)
                assert np.array_equal(of(sparse["rest"]).u.toarray(), [of(d).u for d in dense["rest"]])
                assert np.array_equal(of(sparse["last"]).u.toarray().ravel(), of(dense["last"]).u)
            elif number == 1:
                assert of(sparse["last"]).toarray().tolist() == [[of(dense["last"])]]
                assert of(sparse["rest"]).toarray().ravel().tolist() == [of(d) for d in dense["rest"]]
            else:
                assert of(sparse["last"]).toarray().tolist() == [of(dense["last"])]
                assert of(sparse["sum"]).toarray().tolist() == [[0.0, 0.0]] * 3


def test_names_keywords_and_second_results():
    def f(a, b, *, c):
        return a * b[:2] * c, {"a": a}

    args, c = (np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])), np.array([1.0, 2.0])
    found, aux = codipy.jacobian(f, argnames=("b", "c"), has_aux=True, sparsity=True)(*args, c=c)
    assert [x.toarray().tolist() for x in found] == [[[1.0, 0.0, 0.0], [0.0, 4.0, 0.0]], [[3.0, 0.0], [0.0, 8.0]]]
    assert aux["a"].tolist() == [1.0, 2.0]
    pattern = codipy.sparsity(f, *args, kwargs={"c": c}, argnames="c", has_aux=True)
    assert np.array_equal(pattern.toarray(), np.eye(2))
    g = lambda x: (np.sum(x**3), "aux")      # noqa: E731
    assert np.array_equal(codipy.hessian_sparsity(g, args[0], has_aux=True).toarray(), np.eye(2))
    found, aux = codipy.hessian(g, has_aux=True, sparsity=True)(args[0])
    assert np.allclose(found.toarray(), np.diag(6.0 * args[0])) and aux == "aux"


def test_single_precision():
    x = np.linspace(0.5, 1.5, 6, dtype=np.float32)
    found = codipy.jacobian(broyden_tridiagonal, sparsity=True)(x)
    assert found.dtype == np.float32
    assert np.array_equal(found.toarray(), codipy.jacobian(broyden_tridiagonal)(x))


def test_numbers_and_nothing():
    assert codipy.jacobian(lambda x: x * x, sparsity=True)(3.0).toarray().tolist() == [[6.0]]
    assert codipy.sparsity(lambda x: 5.0, np.ones(3)).nnz == 0
    assert codipy.jacobian(lambda x: np.ones(2), sparsity=True)(np.ones(3)).toarray().tolist() == [[0.0] * 3] * 2
    assert codipy.sparsity(lambda x: x, np.ones(0)).shape == (0, 0)
    assert codipy.jacobian(lambda x: x * 2.0, sparsity=True)(np.ones(0)).shape == (0, 0)
    assert codipy.hessian_sparsity(lambda x: 5.0, np.ones(3)).nnz == 0
    assert codipy.hessian(lambda x: np.sum(x), sparsity=True)(np.ones(3)).nnz == 0


def test_inside_of_another_recording():
    x = np.linspace(0.5, 1.5, 4)

    def outer(p):
        pattern = codipy.sparsity(lambda x: x * p, x)
        matrix = codipy.jacobian(lambda x: x[1:] * x[:-1], sparsity=True)(x)
        return p * pattern.nnz + matrix.nnz

    assert codipy.grad(outer)(2.0) == 4.0
    with pytest.raises(UndifferentiableError, match="leave out sparsity="):
        codipy.grad(lambda p: p * codipy.jacobian(lambda x: x * p, sparsity=True)(x).sum())(2.0)


def test_drivers_are_pickled():
    driver = codipy.jacobian(broyden_tridiagonal, sparsity=codipy.sparsity(broyden_tridiagonal, X))
    again = pickle.loads(pickle.dumps(driver))
    assert np.array_equal(again(X).toarray(), driver(X).toarray())
    second = codipy.hessian(chained_rosenbrock, sparsity=codipy.hessian_sparsity(chained_rosenbrock, X))
    assert np.array_equal(pickle.loads(pickle.dumps(second))(X).toarray(), second(X).toarray())


def test_results_do_not_share_memory_with_the_pattern():
    driver = codipy.jacobian(broyden_tridiagonal, sparsity=True)
    found = driver(X)
    found.data[:] = 0.0
    found.eliminate_zeros()
    assert driver(X).nnz == driver.colouring.pattern.nnz == 3 * len(X) - 2


def test_wrong_calls():
    with pytest.raises(TypeError, match=r"say sparsity\(f\)\(x\)|must be a function"):
        codipy.sparsity(3.0, X)
    with pytest.raises(TypeError, match="one real number"):
        codipy.hessian_sparsity(lambda x: x, X)
    with pytest.raises(TypeError, match="argnums"):
        codipy.sparsity(lambda x: x, X, argnums=1)


def test_numbers_that_are_computed_beside_arrays_that_are_set_again():
    def f(x):
        a = x[[5, 7, 8], [1, 0, 1]]
        x[::-1, ::3] += np.cos(x[:, 1:])
        y = np.sum(np.sin(a)) + np.sum(np.sin(x))
        return np.sum(y * y)

    x = np.linspace(0.3, 0.9, 18).reshape(9, 2)
    assert (codipy.hessian(f)(x) != 0.0).all() and codipy.hessian_sparsity(f, x).nnz == 18 * 18
