# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions of NumPy that are not ufuncs and move nothing: sinc, with slope 0 at 0, and i0."""

import numpy as np

from codipy.numpy.rules.building import guarded, primitive
from codipy.numpy.rules.patterns import elementwise

__all__ = ["PRIMITIVES"]

_SINC_SERIES = [(-1) ** k * 2 * k / np.prod(np.arange(1.0, 2 * k + 2)) for k in range(7, 0, -1)]


def _sinc_slope(x):
    """``(cos z - sin(z) / z) / x`` with z = pi x, by its series where that would cancel."""
    z = np.pi * x
    near = np.abs(z) < 0.5
    far = np.where(near, 1.0, z)
    square = np.where(near, z * z, 0.0)
    series = np.zeros(np.shape(x))
    for coefficient in _SINC_SERIES:
        series = series * square + coefficient
    return np.pi * np.where(near, np.where(near, z, 0.0) * series, (np.cos(far) - np.sin(far) / far) / far)


def _i1(x):
    """The modified Bessel function of order 1: its series of positive terms, from 30 on the asymptotic one."""
    size = np.abs(x)
    small = np.where(size < 30.0, size, 0.0)
    quarter = small * small / 4.0
    series = np.ones(np.shape(x))
    for k in range(70, 0, -1):
        series = 1.0 + series * quarter / (k * (k + 1.0))
    large = np.where(size < 30.0, 30.0, size)
    tail = np.ones(np.shape(x))
    for k in range(25, 0, -1):
        tail = 1.0 - tail * (4.0 - (2 * k - 1.0) ** 2) / (k * 8.0 * large)
    # The root of exp(x) twice: exp(x) overflows before I1 does.
    half = np.exp(large / 2.0)
    return np.sign(x) * np.where(size < 30.0, series * small / 2.0, half / np.sqrt(2.0 * np.pi * large) * tail * half)


def _unary(name, f, slope):
    def rule(g, out, x):
        return guarded(g, slope(x))

    return primitive(name, f, {0: rule}, {0: rule}, keep_out=False, pattern=elementwise)


PRIMITIVES = {"sinc": _unary("sinc", np.sinc, _sinc_slope), "i0": _unary("i0", np.i0, _i1)}
