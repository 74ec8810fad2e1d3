# SPDX-License-Identifier: Apache-2.0
"""Slopes of special functions far out, where the recurrences for them cancel: those of asymptotic series, term by term.

Their terms are operations of NumPy, so that slopes of slopes keep their digits too. Equations are those of the NIST
Digital Library of Mathematical Functions.
"""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.array import plain as value_of

__all__ = ["FUNCTIONS", "psi_rise"]

_TERMS = 30
_FAR = 25.0  # from where on so many terms have all digits: the least is about exp(-2 x)


def _sp():
    return sys.modules["scipy.special"]


def _scaled_slope(sign, v, x, near):
    """Of I (`sign` -1) or K (1) of order `v`, without its exponential: 10.40.1 and 10.40.2; nearer than that `near`."""
    size, order = np.abs(value_of(x)), value_of(v)
    start = np.maximum(_FAR, order * order / 4)
    below = (value_of(x) < 0) & (sign < 0) & (order == np.floor(order))
    far = (size >= start) & np.isfinite(size) & ((value_of(x) > 0) | below)
    if not np.any(far):
        return near
    t, total = np.where(far, np.abs(x), start), 0.0
    for k in range(_TERMS, -1, -1):
        total = k + 0.5 + total * (sign * (4 * v * v - (2 * k + 1) ** 2) / (8 * (k + 1)) / t)
    factor = -np.sqrt(np.pi / 2) if sign > 0 else -1 / np.sqrt(2 * np.pi)
    factor = factor * np.where(below & (order % 2 == 0), -1.0, 1.0)
    return np.where(far, factor * total / (t * np.sqrt(t)), near)


# Of the Airy functions, u(k) and v(k) of 9.7.2.
_U = [1.0]
for _k in range(1, _TERMS + 1):
    _U.append(_U[-1] * (6 * _k - 5) * (6 * _k - 3) * (6 * _k - 1) / (216 * _k * (2 * _k - 1)))
_V = [u * (6 * k + 1) / (1 - 6 * k) for k, u in enumerate(_U)]


def _airye_slope(which, x, near):
    """Of Ai, its slope, Bi and its slope, without their exponentials: 9.7.5 to 9.7.8; nearer than that `near`."""
    far = np.isfinite(value_of(x)) & (value_of(x) >= 12.0)
    if not np.any(far):
        return near
    of_bi, of_slope = which >= 2, which % 2
    t, total = np.where(far, x, 12.0), 0.0
    root = np.sqrt(t)
    step = (1.5 if of_bi else -1.5) / t / root  # 1 / zeta, with the sign of each term
    for k in range(_TERMS, -1, -1):
        power = 0.25 - 1.5 * k if of_slope else -0.25 - 1.5 * k
        total = power * (_V if of_slope else _U)[k] + total * step
    factor = 1 / np.sqrt(np.pi) if of_bi else (-0.5 if of_slope else 0.5) / np.sqrt(np.pi)
    scale = root * np.sqrt(root) if of_slope else t * np.sqrt(root)  # powers of 3/4 and 5/4
    return np.where(far, factor * total / scale, near)


def _scaled_integral_slope(x, w):
    """Of x exp(x) E1(x): 6.12.1."""
    far = value_of(x) >= 50.0
    t, total = np.where(far, x, 50.0), 1.0
    for k in range(40, 0, -1):
        total = 1 - (k + 1) ** 2 / k / t * total
    near = np.where(far, 1.0, x)
    return np.where(far, total / t / t, np.where(far, 0.0, w) * (1 + 1 / near) - 1)


def _share(x):
    """x / (1 + x), far out as what is left of 1, of which the slope does not cancel."""
    far = value_of(x) > 1
    if not np.any(far):
        return x / (1 + x)
    return np.where(far, 1 - 1 / (1 + np.where(far, x, 1.0)), x / (1 + x))


# B(2k) / (2k), for k from 1.
_BERNOULLI = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_SHIFT = 12  # how far the argument is moved up, to where the series has all digits


def psi_rise(x, y):
    """psi(x + y) - psi(x), which cancels where y is small beside x: by 5.5.2, and 5.11.2 term by term."""
    of_series = (np.abs(value_of(y)) < 0.9 * value_of(x)) & np.isfinite(value_of(x))
    direct = _sp().psi(x + y) - _sp().psi(x)
    if not np.any(of_series):
        return direct
    a, d = np.where(of_series, x, 1.0), np.where(of_series, y, 1.0)
    total = sum(d / (a + j) / (a + d + j) for j in range(_SHIFT))
    a = a + _SHIFT
    b, up = a + d, np.log1p(d / a)
    total = total + up + d / a / b / 2
    for k, number in enumerate(_BERNOULLI, 1):
        total = total - number * a ** (-2.0 * k) * np.expm1(-2.0 * k * up)
    return np.where(of_series, total, direct)


FUNCTIONS = {
    "scaled_slope": _scaled_slope,
    "airye_slope": _airye_slope,
    "scaled_integral_slope": _scaled_integral_slope,
    "share": _share,
    "psi_rise": psi_rise,
}
