# SPDX-License-Identifier: Apache-2.0
"""Arrays that were there before are filled through the views that NumPy's functions give of them."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

M = np.arange(9.0).reshape(3, 3) + np.eye(3)
X = np.array([0.5, 1.2, -0.7])


def product(matrix, x):
    return (matrix @ x).sum() + matrix[1, 1] * matrix[0, 2]


def of_the_diagonal(x):
    own = M.copy()
    np.einsum("ii->i", own)[...] = x
    return product(own, x)


def of_the_diagonal_of_the_modules(x):
    np.einsum("ii->i", M)[1:] = x[1:]
    found = product(M, x)
    M[:] = np.arange(9.0).reshape(3, 3) + np.eye(3)
    return found


def of_parts(x):
    own = M.copy()
    np.real(own)[0] = x
    np.require(own)[1] = x
    np.ascontiguousarray(own)[2, 0] = x[2]
    return product(own, x)


def of_strides(x):
    own = M.copy()
    np.lib.stride_tricks.as_strided(own, (3,), (32,))[...] = x
    return product(own, x)


def of_windows(x):
    own = M.copy()
    np.lib.stride_tricks.sliding_window_view(own, (2, 2), writeable=True)[0, 0] = x[:2]
    return product(own, x)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("f", [of_the_diagonal, of_the_diagonal_of_the_modules, of_parts, of_strides, of_windows])
def test_arrays_are_filled_through_views(f, strategy):
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    assert value == f(X)
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)


class Model:
    def __init__(self):
        self.matrix = M * 1.0

    def apply(self, x):
        return self.matrix.dot(x)


MODEL = Model()


@pytest.mark.parametrize("f", [
    lambda x: M.dot(x) @ x, lambda x: MODEL.apply(x) @ x, lambda x: M.T.dot(x)[0] + M[0].dot(x),
    lambda x: M.dot(x, out=np.empty(3)) @ x, lambda x: M.dot(M.dot(x)) @ x, lambda x: [M][0].dot(x) @ np.eye(3).dot(x),
    lambda x: (lambda dot: dot(x) @ x)(M.dot), lambda x: M.dot(M).dot(x) @ x,
    lambda x: M.sum(initial=x[0]) * x[1], lambda x: M[0].prod(initial=x[2]), lambda x: M.max(0, initial=9 * x[0]) @ x,
    lambda x: MODEL.matrix.min(initial=-9 * x[1]), lambda x: np.ones(3).sum(initial=x[0], where=np.arange(3) > 0),
    lambda x: M.std(mean=x[0]), lambda x: M.var(axis=0, mean=x[None]) @ x, lambda x: x.sum(initial=x[0] * x[1]),
])  # fmt: skip
def test_methods_of_a_plain_array_take_what_is_active(f):
    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)
