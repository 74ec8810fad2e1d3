# SPDX-License-Identifier: Apache-2.0
"""The polygamma functions of any order, each the derivative of the one before."""

from __future__ import annotations

import math

import numpy as np

from codipy.active.array import call
from codipy.numpy.primitive import Primitive

__all__ = ["POLYGAMMA"]

# B_2k, k = 1 ..., of the asymptotic series.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def _polygamma(x, order):
    """The derivative of order `order` of digamma: by recurrence and series (Abramowitz and Stegun 6.4.6, 6.4.11)."""
    n, x = int(order), np.asarray(x, np.float64)
    sign, total, large = (-1.0) ** (n + 1), np.zeros(x.shape), x
    with np.errstate(all="ignore"):
        # Up to where the series is exact to the last bits; also from negative numbers, by as many steps as it takes.
        start = 16.0 + n
        low = float(np.min(x, where=np.isfinite(x), initial=start))
        for _ in range(max(0, math.ceil(start - low))):
            small = large < start
            total = np.where(small, total + math.factorial(n) * large ** -(n + 1.0), total)
            large = np.where(small, large + 1.0, large)
        series = math.factorial(n - 1) * large**-n + math.factorial(n) / 2.0 * large ** -(n + 1.0)
        for k, number in enumerate(_BERNOULLI, 1):
            series = series + number * math.factorial(2 * k + n - 1) / math.factorial(2 * k) * large ** -(2.0 * k + n)
        found = sign * (total + series)
        # As the table's: of both sides of a pole, or of that which the sign of zero names.
        pole = np.inf if n % 2 else -np.copysign(np.inf, x - np.rint(x))
        found = np.where((x <= 0) & (x == np.floor(x)) & np.isfinite(x), pole, found)
        found = np.where(x == -np.inf, np.nan, found)
        return np.where(x == np.inf, 0.0, found)[()]


def _vjp(g, out, args, kwargs, argnums):
    x, order = args
    return [g * call(POLYGAMMA, (x, order + 1.0))]


def _jvp(tangents, out, args, kwargs):
    x, order = args
    return tangents[0] * call(POLYGAMMA, (x, order + 1.0))


POLYGAMMA = Primitive("polygamma", _polygamma, _vjp, _jvp)
