# SPDX-License-Identifier: Apache-2.0
"""NumPy picks its loop by how arrays lie in memory, so last bits depend on strides: products get the user's own."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

RNG = np.random.default_rng(5)
N = 37
M, S, B = RNG.normal(size=(N, 2 * N)), RNG.normal(size=(N, N)), RNG.normal(size=(2 * N, 2 * N))
X, A = RNG.normal(size=N), RNG.normal(size=(N, N))

OF_VECTORS = {
    "a column": lambda x: x @ M[:, 1],
    "rows backwards": lambda x: x @ S[::-1],
    "every second column, transposed": lambda x: M[:, ::2].T @ x,
    "every second column": lambda x: M[:, ::2] @ x,
    "every second of both": lambda x: B[::2, ::2] @ x,
    "a diagonal": lambda x: np.diag(S) @ x,
    "Fortran's order": lambda x: np.asfortranarray(S) @ x,
    "dot": lambda x: np.dot(M[:, 1], x),
    "inner": lambda x: np.inner(B[::2, 3], x),
    "tensordot": lambda x: np.tensordot(M[:, ::2], x, 1),
    "einsum": lambda x: np.einsum("ij,j->i", M[:, ::2], x),
    "a stack": lambda x: np.matmul(np.stack([S, M[:, ::2]])[::-1], x),
    "solve": lambda x: np.linalg.solve(B[::2, ::2], x),
}
OF_MATRICES = {
    "every second column": lambda a: a[:, ::2] @ X[::2],
    "transposed": lambda a: a.T @ X,
    "by strided columns": lambda a: a @ M[:, ::2],
    "by columns backwards": lambda a: a @ S[:, ::-1],
    "of strided columns": lambda a: M[:, ::2].T @ a,
    "dot": lambda a: a.T.dot(S[:, ::-1]),
}


@pytest.mark.parametrize("rebind", [False, True])
@pytest.mark.parametrize(("name", "x"), [(n, X) for n in OF_VECTORS] + [(n, A) for n in OF_MATRICES])
def test_the_bits_are_those_of_the_arrays_as_they_lie(name, x, rebind):
    program = (OF_VECTORS if x is X else OF_MATRICES)[name]
    expected = program(x.copy())
    for strategy in STRATEGIES:
        with codipy.Tape(strategy=strategy) as tape:
            found = (codipy.rebind(program) if rebind else program)(tape.register_input(x.copy()))
        assert np.array_equal(codipy.value(found), expected), strategy


def test_what_is_multiplied_may_change_before_the_sweep():
    """The value is computed from the caller's array, the derivative from what it was."""
    matrix = RNG.normal(size=(4, 8))
    strided, before = matrix[:, ::2], matrix[:, ::2].copy()

    def loss(x):
        y = strided @ x
        strided[...] = 0.0
        return np.sum(y)

    assert np.allclose(codipy.grad(loss, rebind=False)(np.ones(4)), before.sum(axis=0), rtol=1e-14)


@pytest.mark.parametrize("x", [
    np.broadcast_to(np.arange(4.0), (3, 4)), np.broadcast_to(np.ones((3, 1, 2)), (3, 4, 2)),
    np.lib.stride_tricks.sliding_window_view(np.arange(8.0), 3),
], ids=["rows", "planes", "windows"])
def test_input_that_shows_a_number_twice_along_several_axes_is_refused(x):
    """Its copy has an order of its own: ``x.ravel("K")`` would give other numbers."""
    with pytest.raises(ValueError, match=r"pass x\.copy\(\)"):
        codipy.grad(lambda x: (x.ravel("K") * np.arange(x.size)).sum())(x)
    assert codipy.grad(lambda x: x.sum())(x.copy()).shape == x.shape


def test_strided_inputs_are_taken():
    base = np.arange(60.0).reshape(3, 4, 5)
    m = base[0]
    for x in m[:, ::2], m[:, ::3], m[:, ::-2], m.T[::2], base[:, ::2, ::2], base[::2].T[1:], base[1:, 1:, 1:]:
        value, gradient = codipy.value_and_grad(lambda x: (x.ravel("K") * np.arange(x.size)).sum())(x)
        assert value == (x.ravel("K") * np.arange(x.size)).sum() == (gradient * x).sum()


def test_input_that_shows_a_number_twice_along_one_axis():
    for x in np.broadcast_to(1.0, 5), np.broadcast_to(np.arange(3.0)[:, None], (3, 1)), np.broadcast_to(1.0, (1, 5)):
        assert (codipy.grad(lambda x: (x * x).sum())(x) == 2 * x).all()


def test_input_that_leaves_out_the_last_column():
    """Two of its rows do not overlap, although a row and a step further are longer than the next row is away."""
    whole = np.arange(40.0).reshape(8, 5)
    for x in whole[:, ::2], whole[::-1, ::-2], whole[:, ::2].T:
        assert (codipy.grad(lambda x: (x * x).sum())(x) == 2 * x).all()
