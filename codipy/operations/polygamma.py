# SPDX-License-Identifier: Apache-2.0
"""digamma and its first two derivatives: polygamma.h in Python, where the sources of the formulas are named."""

import math

import numpy

__all__ = ["digamma", "tetragamma", "trigamma"]

ROOT, ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
TAYLOR = (
    0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652,
    0.10782405069126237, -0.07219956125645471, 0.04880428816414311, -0.03316112647484736,
    0.022597648232218104, -0.01542476490594896, 0.010538791616612175, -0.007204534386356869,
    0.004926781395729853, -0.003369801655439328, 0.002305126326734928, -0.0015769367714301972,
)  # fmt: skip
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


def _series(coefficients, u):
    """u * c[0] + u**2 * c[1] + ..., by Horner's rule."""
    total = 0.0
    for coefficient in reversed(coefficients):
        total = (total + coefficient) * u
    return total


def digamma(x):
    """The derivative of log(gamma(x))."""
    rest = 0.0
    if x <= 0:
        if x == 0:
            return -1 / x
        if x == numpy.rint(x):
            return math.nan
        rest = -math.pi / math.tan(math.pi * (x - numpy.rint(x)))
        x = 1 - x
    if abs(x - ROOT) < 0.15:
        return rest + _series(TAYLOR, (x - ROOT) - ROOT_REST)
    while x < 10:
        rest -= 1 / x
        x += 1
    if not x < math.inf:
        return x
    series = _series([b / (2 * k + 2) for k, b in enumerate(BERNOULLI)], 1 / (x * x))
    return rest + (math.log(x) - 0.5 / x - series)


def trigamma(x):
    """The derivative of digamma."""
    rest, sign = 0.0, 1.0
    if x <= 0:
        u = numpy.sin(math.pi * (x - numpy.rint(x)))
        if u == 0:
            return math.inf
        rest, sign = math.pi / u * (math.pi / u), -1.0
        x = 1 - x
    while x < 10:
        rest += sign / (x * x)
        x += 1
    return rest + sign * ((1 + 0.5 / x + _series(BERNOULLI, 1 / (x * x))) / x)


def tetragamma(x):
    """The derivative of trigamma."""
    rest = 0.0
    if x <= 0:
        u = math.pi / numpy.sin(math.pi * (x - numpy.rint(x)))
        rest = -2 * u * u * u * numpy.cos(math.pi * (x - numpy.rint(x)))
        x = 1 - x
    while x < 10:
        rest -= 2 / (x * x * x)
        x += 1
    return rest - (1 + 1 / x + _series([(2 * k + 3) * b for k, b in enumerate(BERNOULLI)], 1 / (x * x))) / x / x
