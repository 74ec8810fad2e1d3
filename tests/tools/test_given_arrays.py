# SPDX-License-Identifier: Apache-2.0
"""Objects of the user's that NumPy takes for arrays, by ``__array__``."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

X = np.array([0.5, 2.0])


class Measured:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Plain:
    """Nothing in it needs to be rebuilt."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


def converted(x):
    return np.sum(np.asarray(Measured(x)) ** 3 + np.array(Plain(x), dtype=np.float64))


def of_reals(x):
    return np.sum(np.asarray(Measured([x[0], x[0] * x[1]])) ** 2)


def written_through(x):
    kept = Plain(x.copy())
    np.asarray(kept)[0] *= 3.0
    return np.sum(kept.values * np.array(kept))


def of_a_class_in_the_function(x):
    class Local:
        def __array__(self, dtype=None, copy=None):
            return x * x

    return np.sum(np.asarray(Local()) * x)


def passive(x):
    return np.sum(np.sin(Measured([1.0, 2.0]))) * x[0] + np.dot(x, Measured(np.ones(2)))


@each_strategy
@pytest.mark.parametrize("f", [converted, of_reals, written_through, of_a_class_in_the_function, passive])
def test_what_the_object_gives_is_differentiated(strategy, f):
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    quotients = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert value == f(X)
    np.testing.assert_allclose(gradient, quotients, rtol=1e-6)


@pytest.mark.parametrize("kept", [Exception, ValueError])
@pytest.mark.parametrize("cls", [Measured, Plain])
def test_a_fallback_is_not_taken_in_silence(kept, cls):
    def f(x):
        try:
            return np.sum(np.sin(cls(x)))
        except kept:
            return 7.0

    with pytest.raises(ActiveError, match="np.asarray"):
        codipy.grad(f)(X)
