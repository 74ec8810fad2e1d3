# SPDX-License-Identifier: Apache-2.0
"""Spherical Bessel functions of real arguments: SciPy's bits, derivatives of several orders, also at 0."""

import numpy as np
import pytest
import scipy.special as sp

import codipy
from tests.strategies import each_strategy

POINT = np.array([0.4, 1.3, 2.6, 11.0])
KINDS = ("jn", "yn", "in", "kn")


def program(kind, n, derivative=False):
    function = getattr(sp, f"spherical_{kind}")
    return lambda x: np.sum(function(n, x, derivative) * np.array([1.0, -0.6, 0.3, 0.2]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 4])
@each_strategy
def test_values_and_gradients(kind, n, strategy):
    for derivative in (False, True):
        f = program(kind, n, derivative)
        value, gradient = codipy.value_and_grad(f, strategy=strategy)(POINT)
        assert value == f(POINT)
        step = 1e-3 * POINT
        function = getattr(sp, f"spherical_{kind}")
        near, far = (function(n, POINT + k * step, derivative) - function(n, POINT - k * step, derivative)
                     for k in (1, 2))
        expected = (8 * near - far) / (12 * step) * np.array([1.0, -0.6, 0.3, 0.2])
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_equation_that_they_solve(kind):
    """x^2 f'' + 2 x f' + (+-x^2 - n (n + 1)) f = 0, and its derivative."""
    n, sign = 3, -1.0 if kind in ("in", "kn") else 1.0
    function = getattr(sp, f"spherical_{kind}")

    def rest(x):
        slope = codipy.grad(lambda t: function(n, t))
        return (x * x * codipy.grad(slope)(x) + 2.0 * x * slope(x) + (sign * x * x - n * (n + 1)) * function(n, x))

    for x in (0.7, 2.3):
        scale = abs(n * (n + 1) * function(n, x))
        assert abs(rest(x)) <= 1e-12 * scale and abs(codipy.grad(rest)(x)) <= 1e-11 * scale


@pytest.mark.parametrize("n, slopes", [(0, (0.0, -1 / 3)), (1, (1 / 3, 0.0)), (2, (0.0, 2 / 15))])
def test_at_0(n, slopes):
    slope = codipy.grad(lambda x: sp.spherical_jn(n, x))
    assert (slope(0.0), codipy.grad(slope)(0.0)) == pytest.approx(slopes, abs=1e-15)
