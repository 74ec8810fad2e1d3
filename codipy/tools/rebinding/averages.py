# SPDX-License-Identifier: Apache-2.0
"""``statistics`` of rebound code: its values to the last bit, in statements made by hand; what has no rule says so.

Python's functions compute with fractions, without rounding, which no chain of operations repeats. So a replay of the
tape refuses such a statement, as it does for `math.fsum`. Medians and quantiles are Python's own: they sort.
"""

from __future__ import annotations

import functools
import inspect
import math
import statistics as plain

import numpy as np

import codipy.math
from codipy.active import Real
from codipy.active.scalar.given import number_of
from codipy.active.scalar.kinds import converted
from codipy.errors import ActiveError
from codipy.math import _handmade, exp, log, sqrt
from codipy.numpy.arguments import holds_active
from codipy.numpy.lists import standing
from codipy.numpy.modules import module_for

__all__ = ["FUNCTIONS", "statistics"]

# What to write for what has no rule here.
_INSTEAD = {
    "correlation": "np.corrcoef", "kde": "the sum of its kernels", "kde_random": "the sum of its kernels",
    "linear_regression": "np.polyfit", "median_grouped": "np.median", "mode": "np.unique of codipy.value(x)",
    "multimode": "np.unique of codipy.value(x)",
}  # fmt: skip


def _value(x):
    return x.value if type(x) is Real else x


def _floats(x):
    return list(map(float, x)) if isinstance(x, list) else x if x is None else float(x)


def _real(value, arguments, slopes, again=None):
    made = _handmade(float(value), arguments, slopes, again)
    return converted(made, type(value)) if type(value) in (np.float64, np.float32) else made


def _ruled(partials):
    """A function of `statistics` with the partials of its value.

    Parameters
    ----------
    partials : callable
        Takes the value and the plain arguments, and gives a list of slopes for each argument that is data, a slope for
        each that is a number. Its parameters are those of the function.
    """
    original = getattr(plain, partials.__name__)
    bind = inspect.signature(original).bind

    @functools.wraps(original)
    def function(*args, **kwargs):
        given = [list(map(number_of, x)) if np.iterable(x) else x for x in bind(*args, **kwargs).arguments.values()]
        values = [list(map(_value, x)) if isinstance(x, list) else _value(x) for x in given]
        value = original(*values)
        if not holds_active(given):
            return value
        arguments, numbers = [], []
        for x, slope in zip(given, partials(float(value), *map(_floats, values))):
            if x is not None:
                arguments += x if isinstance(x, list) else [x]
                numbers += slope if isinstance(slope, list) else [slope]
        return _real(value, arguments, numbers, lambda *_: _FORMULAS[partials.__name__](*given))

    return function


# ---- The same functions made of operations, for derivatives of derivatives ----


def _mean_formula(data, weights=None):
    if weights is None:
        return sum(data) / len(data)
    return sum(w * x for w, x in zip(weights, data)) / sum(weights)


def _squares(data, center):
    about = _mean_formula(data) if center is None else center
    return sum((x - about) * (x - about) for x in data)


def _covariance_formula(x, y):
    middle = _mean_formula(x), _mean_formula(y)
    return sum((a - middle[0]) * (b - middle[1]) for a, b in zip(x, y)) / (len(x) - 1)


def _root(x):
    return sqrt(x) if x else 0.0 * x


_FORMULAS = {
    "mean": _mean_formula,
    "fmean": _mean_formula,
    "geometric_mean": lambda data: exp(sum(map(log, data)) / len(data)) if all(data) else 0.0 * sum(data),
    "harmonic_mean": lambda data, weights=None: 1.0 / _mean_formula([1.0 / x for x in data], weights),
    "variance": lambda data, xbar=None: _squares(data, xbar) / (len(data) - 1),
    "pvariance": lambda data, mu=None: _squares(data, mu) / len(data),
    "stdev": lambda data, xbar=None: _root(_squares(data, xbar) / (len(data) - 1)),
    "pstdev": lambda data, mu=None: _root(_squares(data, mu) / len(data)),
    "covariance": _covariance_formula,
}


# ---- Partials ----


def mean(value, data):
    return [[1.0 / len(data)] * len(data)]


def fmean(value, data, weights=None):
    if weights is None:
        return mean(value, data)
    total = math.fsum(weights)
    return [w / total for w in weights], [(x - value) / total for x in data]


def geometric_mean(value, data):
    return [[value / (len(data) * x) if x else math.inf for x in data]]


def harmonic_mean(value, data, weights=None):
    sizes = [1.0] * len(data) if weights is None else weights
    total = math.fsum(sizes)
    if not value:
        raise ActiveError("statistics.harmonic_mean has no derivative where a number is 0: take codipy.value(x)")
    ratios = [value / x for x in data]
    return [w / total * r * r for w, r in zip(sizes, ratios)], [(value - value * r) / total for r in ratios]


def _spread(count, data, center):
    """Partials of the sum of squares around `center`, or around the mean, divided by `count`."""
    about = plain.fmean(data) if center is None else center
    slopes = [2.0 * (x - about) / count for x in data]
    return slopes, -math.fsum(slopes)


def variance(value, data, xbar=None):
    return _spread(len(data) - 1, data, xbar)


def pvariance(value, data, mu=None):
    return _spread(len(data), data, mu)


def _of_root(value, slopes):
    """Partials of the root: 0 where it is, as for np.std."""
    factor = 0.5 / value if value else 0.0
    return [factor * slope for slope in slopes[0]], factor * slopes[1]


def stdev(value, data, xbar=None):
    return _of_root(value, variance(value, data, xbar))


def pstdev(value, data, mu=None):
    return _of_root(value, pvariance(value, data, mu))


def covariance(value, x, y):
    middle = plain.fmean(x), plain.fmean(y)
    return [(b - middle[1]) / (len(x) - 1) for b in y], [(a - middle[0]) / (len(x) - 1) for a in x]


def _refusing(name):
    original = getattr(plain, name)

    @functools.wraps(original)
    def function(*args, **kwargs):
        if holds_active(args) or holds_active(kwargs):
            raise ActiveError(f"statistics.{name} of active values would lose their derivative: write "
                              f"{_INSTEAD[name]}, or take codipy.value(x) where no derivative is wanted")  # fmt: skip
        return original(*args, **kwargs)

    return function


_RULES = (mean, fmean, geometric_mean, harmonic_mean, variance, pvariance, stdev, pstdev, covariance)
FUNCTIONS = {rule.__name__: _ruled(rule) for rule in _RULES if hasattr(plain, rule.__name__)}
FUNCTIONS |= {name: _refusing(name) for name in _INSTEAD if hasattr(plain, name)}
FUNCTIONS = standing(plain, FUNCTIONS)
_OF_MATH = {name: getattr(codipy.math, name) for name, value in vars(plain).items()
            if callable(value) and getattr(math, name, None) is value}  # fmt: skip
statistics = module_for(plain, {**_OF_MATH, **FUNCTIONS})
