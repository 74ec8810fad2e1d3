# SPDX-License-Identifier: Apache-2.0
"""The table's values, and what its partials are made of, on active operands: differentiated once more.

The formulas are the texts of `codipy.operations.table`, but those that are bad to differentiate; here stand these, and
the functions that all of them call. Each has the value of its namesake in `codipy.operations.helpers` within rounding,
and slopes of its own, since all are made of operations of the table. Operands are Arrays, Reals
that stand for scalars of NumPy, plain arrays and `numpy.float64`.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from codipy.active.array import Real, call, is_active, plain
from codipy.active.arrays.elementwise_door import elementwise
from codipy.nested.polygamma import POLYGAMMA
from codipy.operations import TABLE

__all__ = ["NAMES", "PARTIALS", "SHORT", "VALUES", "is_exact_power", "is_small_power",
           "rounded"]

# ---- What the texts call ----


def pick(condition, yes, no):
    """C's conditional expression, by elements; what is not chosen gets nothing."""
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    return np.where(condition, yes, no)


def sign(x):
    """-1, 0 or 1: passive."""
    return np.sign(plain(x))


def ratio(x, y):
    """x / y, and 0 where y is 0."""
    zero = plain(y) == 0
    return pick(zero, 0.0, x / pick(zero, 1.0, y))


def difference(x, y):
    """x - y, and 0 where both are the same infinity."""
    same = np.isinf(plain(x)) & (plain(x) == plain(y))
    return pick(same, 0.0, x - y)


def logistic_density(x):
    """The derivative of `expit`: without |x|, which would have no second slope at 0, and exact for small x."""
    far = np.abs(plain(x)) >= 1400.0      # it is 0, and cosh would overflow
    half = 0.5 / np.cosh(0.5 * pick(far, 0.0, x))
    return pick(far, 0.0, half * half)


def unit_gap(x):
    """1 - x**2, exact near -1 and 1, and its slope near 0 and at -1 and 1 too."""
    size = np.abs(plain(x))
    return pick((size < 0.5) | (size == 1), 1.0 - x * x, (1.0 - x) * (1.0 + x))


def unit_excess_root(x):
    """The root of x**2 - 1, of which no factor has an infinite slope that the other one does not pass on at 1."""
    return pick(plain(x) == 1, np.sqrt(2.0 * (x - 1.0)), np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


def _plane(x, y, flat, steep):
    """A function of a point of the plane by the quotient of the smaller coordinate and the larger one; 0 at (0, 0).

    Nothing cancels or overflows in it, and in its slopes, as it does in quotients by hypot(x, y).
    """
    wide = np.abs(plain(x)) > np.abs(plain(y))
    large = pick(wide, x, y)
    origin = plain(large) == 0
    large = pick(origin, 1.0, large)
    quotient = pick(origin, 0.0, pick(wide, y, x) / large)
    return pick(origin, 0.0, pick(wide, flat(quotient, large), steep(quotient, large)))


def expit(x):
    """1 / (1 + exp(-x)), as SciPy's."""
    return _row("expit", x)


def is_exact_power(x, w):
    """Where w / x has the digits of a power of x less by one, given w, a power of x: it is no inf and not subnormal."""
    return (x != 0) & (np.abs(w) > 1e-290) & (np.abs(w) < 1e300)


def is_small_power(x, y, w):
    """Where y * w / x is better to differentiate than y * x**(y - 1): its slopes are finite, and do not cancel."""
    return (np.abs(y) < 0.25) & is_exact_power(x, w) & np.isfinite(y * (w / x) / x)


def power_x(x, y, w):
    """The partial of x**y in x."""
    if type(y) is np.float64 and y in SHORT:
        return SHORT[y](x, w)
    exponent = plain(y)
    if not is_active(y) and np.ndim(exponent) == 0 and float(exponent) in SHORT:
        return SHORT[float(exponent)](x, w)
    slope = pick((exponent == 0) & (plain(x) == 0), 0.0, y * np.power(x, y - 1.0))
    # Of a small exponent the power less by one may have infinite slopes, which the exponent makes finite; of another
    # the slopes of this quotient would cancel.
    small = is_small_power(plain(x), exponent, plain(w))
    return pick(small, y * w / pick(small, x, 1.0), slope) if np.any(small) else slope


SHORT = {
    0.5: lambda x, w: 0.5 / (w + 0.0), 0.0: lambda x, w: 0.0, 1.0: lambda x, w: 1.0, 2.0: lambda x, w: 2.0 * x,
    3.0: lambda x, w: 3.0 * x * x, -1.0: lambda x, w: -w * w,
}  # fmt: skip


def power_y(x, y, w):
    """The partial of x**y in y, 0 where x**y stays 0."""
    base = plain(x)
    zero = (base == 0) | ((plain(w) == 0) & (base > 0))
    slope = pick(zero, 0.0, w * np.log(pick(zero, 1.0, x)))
    lost = zero & (base > 0) & np.isfinite(base)
    if not np.any(lost):
        return slope
    # The power less by one may have digits there, of which the mixed slope is made.
    x = pick(lost, x, 1.0)
    w = np.power(x, pick(lost, y - 1.0, 0.0))
    lost = lost & (plain(w) != 0)
    return pick(lost, w * (x * np.log(x)), slope)


def hypot_x(x, y, w):
    """x / w for w = hypot(x, y), 0 where that is 0."""
    if np.any(np.isinf(plain(x)) & np.isinf(plain(y))):
        return ratio(x, w)      # which is no number there
    return _plane(x, y, lambda q, large: np.sign(plain(large)) / np.sqrt(1.0 + q * q),
                  lambda q, large: np.sign(plain(large)) * q / np.sqrt(1.0 + q * q))


def atan2_x(x, y):
    """y / (x**2 + y**2), 0 where that is 0."""
    return _plane(x, y, lambda q, large: q / (1.0 + q * q) / large, lambda q, large: 1.0 / (1.0 + q * q) / large)


def expm1_slope(x, w):
    """exp(x)."""
    return np.exp(x)


def tanh_slope(x, w):
    """1 - w**2 for w = tanh(x), exact where that cancels."""
    return 4.0 * logistic_density(2.0 * x)


def expit_slope(x, w):
    """w * (1 - w) for w = expit(x), exact where that cancels."""
    return logistic_density(x)


def erf_slope(x):
    """The derivative of erf."""
    return 2.0 / math.sqrt(math.pi) * np.exp(-x * x)


def digamma(x):
    """The derivative of lgamma."""
    return _row("digamma", x)


def trigamma(x):
    """The derivative of digamma."""
    return call(POLYGAMMA, (x, 1.0))


def mantissa_slope(x):
    """The power of two that makes the mantissa of x: passive."""
    return np.ldexp(1.0, -np.frexp(plain(x))[1])


def scale(x, y):
    """x * 2**y for a whole number y, which is passive."""
    return np.ldexp(x, np.asarray(plain(y), np.int64))


def copysign(x, y):
    """|x| with the sign of y: passive in y."""
    return np.copysign(x, plain(y))


def rint(x):
    """The nearest whole number: passive."""
    return np.rint(plain(x))


NAMES = {
    "LN2": math.log(2.0), "LN10": math.log(10.0), "DEGREES": 180.0 / math.pi, "RADIANS": math.pi / 180.0,
    "fabs": np.abs, "slope_cos": np.cos, "slope_sin": np.sin,
    **{name: getattr(np, name) for name in ("cosh", "exp", "hypot", "log", "sinh", "sqrt")},
    **{f.__name__: f for f in (pick, sign, ratio, difference, logistic_density, expit, power_x, power_y, hypot_x,
                               atan2_x, unit_gap, unit_excess_root, expm1_slope, tanh_slope, expit_slope, erf_slope,
                               digamma, trigamma, mantissa_slope, scale, copysign, rint)},
}  # fmt: skip


# ---- The table ----

# Partials whose texts in the table have slopes that cancel, overflow or are none: the same, written for that.
_FOR_SLOPES = {
    "sqrt": ("0.5 / (w + 0.0)",),      # the size of -0.0, without the kink that a size has at 0
    "asin": ("1 / sqrt(unit_gap(x))",), "acos": ("-1 / sqrt(unit_gap(x))",), "atanh": ("1 / unit_gap(x)",),
    "atan": ("atan2_x(x, 1)",),
    "acosh": ("1 / unit_excess_root(x)",), "cbrt": ("1 / w * (1 / w) / 3",),
    "atan2": ("atan2_x(x, y)", "-atan2_x(y, x)"),
}  # fmt: skip
PARTIALS = [_FOR_SLOPES.get(row.name, row.partials) for row in TABLE]


def _row(name, *operands):
    return elementwise(name, *operands)


def _power(x, y):
    return x**y if type(x) is Real or type(y) is Real and np.ndim(x) == 0 else _row("power", x, y)


def rounded(x):
    """x rounded to float32, as a float64 whose slope is 1."""
    return _row("single", x)


def _fused(x, y, z):
    """Rounded twice; the door has no numbers of three."""
    return x * y + z


# By operation code: the value of the operands.
_OTHERS = {"power": _power, "fma": _fused, "scale": scale}
VALUES = [_OTHERS.get(row.name) or functools.partial(_row, row.name) for row in TABLE]
