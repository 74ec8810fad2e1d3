# SPDX-License-Identifier: Apache-2.0
"""Real arrays seen as complex ones, ``x.view(complex)``: neighbours are the parts of a number."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

POINT = np.arange(1.0, 9.0) / 5


def of_a_matrix(x):
    return np.sum(np.abs(np.exp(x.reshape(2, 4).view(complex))) ** 2 * np.arange(4).reshape(2, 2))


def of_a_result(x):
    return np.sum(np.abs((x * 2.0).view(np.complex128) ** 3))


def written_through(x):
    y = np.zeros(8)
    z = y.view(complex)
    z[1] = x[0] * (1 + 2j)
    z[2:] *= x[1]
    return np.sum(y**2) + y[2] * x[2]


@pytest.mark.parametrize("f", [of_a_matrix, of_a_result, written_through])
@each_strategy
def test_values_and_gradients(f, strategy):
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(POINT)
    assert value == f(POINT)
    expected = [(f(POINT + e) - f(POINT - e)) / 2e-6 for e in np.eye(8) * 1e-6]
    assert gradient == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_what_numpy_refuses():
    def odd(x):
        return abs(x[:3].view(complex)[0])

    def strided(x):
        return abs(x.reshape(2, 4)[:, ::2].view(complex)[0, 0])

    for f in (odd, strided):
        with pytest.raises(ValueError, match="When changing to a larger dtype|last axis must be contiguous"):
            f(POINT)
        with pytest.raises(ValueError, match="When changing to a larger dtype|last axis must be contiguous"):
            codipy.grad(f)(POINT)
    with pytest.raises(TypeError, match="no views of another dtype"):
        codipy.grad(lambda x: x.view(np.int64)[0] * x[0])(POINT)
