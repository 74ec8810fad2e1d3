# SPDX-License-Identifier: Apache-2.0
"""What NumPy refuses by an error of its own is refused so here, and `except` goes the same way."""

import numpy as np
import pytest

import codipy

X = np.array([0.7, -0.3, 1.9, 0.4, -1.2, 2.5])

CALLS = {
    "gradient_twice_along": lambda x: np.gradient(x.reshape(2, 3), axis=(0, 0)),
    "gradient_along_none": lambda x: np.gradient(x.reshape(2, 3), axis=2),
    "piecewise_of_one": lambda x: np.piecewise(x, [[True]], [lambda t: t * 2.0]),
    "piecewise_of_few": lambda x: np.piecewise(x, [x[:3] > 0.0], [1.0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_numpys(name):
    with pytest.raises((ValueError, IndexError)) as plain:
        CALLS[name](X)
    with pytest.raises(plain.type):
        codipy.vjp(CALLS[name], X)
