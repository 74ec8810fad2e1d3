# SPDX-License-Identifier: Apache-2.0
"""The readable twin of `trigonometry.h`: the same sine and cosine for partials, to the last bit."""

import math

from numpy import float64

__all__ = ["slope_cos", "slope_sin"]

# pi / 2 in three parts, the first two of 33 bits, and the polynomials, highest power first.
PARTS = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
SINE = (
    1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
    -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01,
)  # fmt: skip
COSINE = (
    -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
    2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02,
)  # fmt: skip


def _polynomial(coefficients, z):
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = coefficient + z * value
    return value


def _shifted_sine(x, quadrants):
    """sin(x + quadrants * pi / 2)."""
    x = float(x)
    if not abs(x) <= 1e5:
        return math.nan if not math.isfinite(x) else math.cos(x) if quadrants & 1 else math.sin(x)
    n = float(round(x * 6.36619772367581382433e-01))
    quadrant = int(n) + quadrants
    first = x - n * PARTS[0]
    second = first - n * PARTS[1]
    low = n * PARTS[2] - ((first - second) - n * PARTS[1])
    r = second - low
    low = (second - r) - low
    z = r * r
    if quadrant & 1:
        chosen = 1.0 - (0.5 * z - (z * z * _polynomial(COSINE, z) - r * low))
    else:
        chosen = r + (r * z * _polynomial(SINE, z) + low)
    return -chosen if quadrant & 2 else chosen


def slope_sin(x):
    """The sine where it is a partial derivative."""
    return float64(_shifted_sine(x, 0))


def slope_cos(x):
    """The cosine where it is a partial derivative."""
    return float64(_shifted_sine(x, 1))
