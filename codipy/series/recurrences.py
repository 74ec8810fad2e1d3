# SPDX-License-Identifier: Apache-2.0
"""Recurrences of the rows that most code has, for operands that are known: one product of series each.

Each takes coefficients and gives coefficients (Griewank and Walther, "Evaluating Derivatives", 2008, table 13.2). Where
one fails, with a NaN, `codipy.series.nodes.Row` knows what the table says there.
"""

from __future__ import annotations

import numpy as np

from codipy.nested.formulas import VALUES, is_exact_power, logistic_density
from codipy.operations import BY_NAME

__all__ = ["KNOWN"]


def _begun(name, x, *operands):
    """Coefficients of which the first is known: that of the plain run."""
    w = np.empty_like(x)
    w[0] = VALUES[BY_NAME[name].code](x[0], *operands)
    return w


def _slopes(x):
    """j x[j], from j = 1 on."""
    return np.arange(1.0, len(x)).reshape((-1,) + (1,) * (x.ndim - 1)) * x[1:]


def _dot(x, y):
    return np.dot(x, y) if x.ndim == 1 else np.einsum("j...,j...->...", x, y)


def _exp(x):
    w, dx = _begun("exp", x), _slopes(x)
    for k in range(1, len(x)):
        w[k] = _dot(dx[:k], w[k - 1::-1]) / k
    return w


def _log(x):
    w, dw = _begun("log", x), np.empty_like(x)
    for k in range(1, len(x)):
        w[k] = (x[k] - _dot(dw[1:k], x[k - 1:0:-1]) / k) / x[0] if k > 1 else x[1] / x[0]
        dw[k] = k * w[k]
    return w


def _sqrt(x):
    w = _begun("sqrt", x)
    twice = 2.0 * np.abs(w[0])      # of -0.0 as of 0.0
    for k in range(1, len(x)):
        w[k] = (x[k] - _dot(w[1:k], w[k - 1:0:-1]) if k > 1 else x[1]) / twice
    return w


def _sin_and_cos(x):
    s, c, dx = _begun("sin", x), _begun("cos", x), _slopes(x)
    for k in range(1, len(x)):
        s[k], c[k] = _dot(dx[:k], c[k - 1::-1]) / k, -_dot(dx[:k], s[k - 1::-1]) / k
    return s, c


def _tanh(x):
    w, slope, dx = _begun("tanh", x), np.empty_like(x), _slopes(x)
    slope[0] = 4.0 * logistic_density(2.0 * x[0])      # 1 - w**2 cancels
    for k in range(1, len(x)):
        w[k] = _dot(dx[:k], slope[k - 1::-1]) / k
        slope[k] = -_dot(w[:k + 1], w[k::-1])
    return w


def _power(x, exponent):
    """Of a number as exponent; None where the value has lost the digits that its slopes are made of."""
    w = _begun("power", x, exponent)
    if exponent == 2.0:
        for k in range(1, len(x)):
            w[k] = _dot(x[:k + 1], x[k::-1])
        return w
    if not np.all(is_exact_power(x[0], w[0])):
        return None
    for k in range(1, len(x)):
        j = np.arange(1.0, k + 1.0)
        weights = (exponent * j - (k - j)).reshape((k,) + (1,) * (x.ndim - 1))
        w[k] = _dot(weights * x[1:k + 1], w[k - 1::-1]) / (k * x[0])
    return w


# By operation code: what of an operand gives the series, or those of several rows.
_ALONE = {"exp": _exp, "log": _log, "sqrt": _sqrt, "tanh": _tanh}
KNOWN: dict = {BY_NAME[name].code: (f, None) for name, f in _ALONE.items()}
KNOWN |= {BY_NAME[name].code: (_sin_and_cos, place) for place, name in enumerate(("sin", "cos"))}
KNOWN[BY_NAME["power"].code] = _power, None
