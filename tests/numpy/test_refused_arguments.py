# SPDX-License-Identifier: Apache-2.0
"""What NumPy refuses by an error of its own is refused so here, and `except` goes the same way."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

X = np.array([0.7, -0.3, 1.9, 0.4, -1.2, 2.5])

CALLS = {
    "gradient_twice_along": lambda x: np.gradient(x.reshape(2, 3), axis=(0, 0)),
    "gradient_along_none": lambda x: np.gradient(x.reshape(2, 3), axis=2),
    "dot_into_single": lambda x: np.dot(x, x, out=np.zeros((), np.float32)),
    "dot_into_columns": lambda x: np.dot(x[:4].reshape(2, 2), x[2:].reshape(2, 2), out=np.zeros((2, 2)).T),
    "piecewise_of_one": lambda x: np.piecewise(x, [[True]], [lambda t: t * 2.0]),
    "piecewise_of_few": lambda x: np.piecewise(x, [x[:3] > 0.0], [1.0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_numpys(name):
    with pytest.raises((ValueError, IndexError)) as plain:
        CALLS[name](X)
    with pytest.raises(plain.type):
        codipy.vjp(CALLS[name], X)


@pytest.mark.parametrize("name", ["std", "var"])
def test_a_count_that_is_none_is_refused(name):
    function = getattr(np, name)

    def f(x):
        return function(x, where=[1, 1, 1, 0, 1, 0])

    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)], rtol=1e-6, atol=1e-9)
    with pytest.raises(ActiveError, match="truths"):
        codipy.grad(lambda x: function(x, where=[2, 1, 1, 0, 1, 0]))(X)
