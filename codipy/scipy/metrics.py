# SPDX-License-Identifier: Apache-2.0
"""Distances between vectors as formulas in NumPy's functions, by vectors, weights, exponents, variances and shapes.

They stand along the last axis. What SciPy computes in Python or in compiled loops gets its values, so that these have
its bits (`codipy.scipy.kernels.exact`).
"""

from __future__ import annotations

import inspect

import numpy as np
import scipy.spatial.distance

from codipy.active.array import is_active
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import refuse, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.scipy.calls import of_active
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FORMULAS", "FUNCTIONS", "with_scipys_values"]


_AT_ZERO = decision("scipy.spatial.distance", lambda x: x == 0.0)      # a replay with zeros elsewhere raises


def _zeros(x):
    """Where there is a zero, whose slope is 0."""
    if is_active(x):
        keep(_AT_ZERO, [x])
    return value_of(x) == 0.0


def _over(x, y):
    is_zero = _zeros(y)
    return np.where(is_zero, 0.0, x / np.where(is_zero, 1.0, y))


def _root(x, power=0.5):
    is_zero = _zeros(x)
    return np.where(is_zero, 0.0, np.where(is_zero, 1.0, x) ** power)


def _summed(x, w):
    return np.sum(x, axis=-1) if w is None else np.sum(x * w, axis=-1)


def _minkowski(u, v, p=2.0, w=None):
    return _root(_summed(_root(np.abs(u - v), p), w), 1.0 / p)


def _cosine(u, v, w=None):
    return 1.0 - _summed(u * v, w) / np.sqrt(_summed(u * u, w) * _summed(v * v, w))


def _correlation(u, v, w=None, centered=True):
    if centered:
        total = u.shape[-1] if w is None else np.sum(w)
        u, v = (x - (_summed(x, w) / total)[..., None] for x in (u, v))
    return _cosine(u, v, w)


def _mahalanobis(u, v, VI):
    return _root(np.sum(((u - v) @ VI) * (u - v), axis=-1))


def _relative(p, q):
    """The terms of relative entropy, 0 where p is."""
    is_zero = _zeros(p)
    p = np.where(is_zero, 1.0, p)
    return np.where(is_zero, 0.0, p * np.log(p / np.where(is_zero, 1.0, q)))


def _jensenshannon(p, q, base=None):
    p, q = (x / np.sum(x, axis=-1)[..., None] for x in (p, q))
    both = np.sum(_relative(p, (p + q) / 2.0) + _relative(q, (p + q) / 2.0), axis=-1)
    return _root(both / 2.0 if base is None else both / np.log(base) / 2.0)


FORMULAS = {
    "braycurtis": lambda u, v, w=None: _summed(np.abs(u - v), w) / _summed(np.abs(u + v), w),
    "canberra": lambda u, v, w=None: _summed(_over(np.abs(u - v), np.abs(u) + np.abs(v)), w),
    "chebyshev": lambda u, v: np.max(np.abs(u - v), axis=-1),
    "cityblock": lambda u, v, w=None: _summed(np.abs(u - v), w),
    "correlation": _correlation,
    "cosine": _cosine,
    "euclidean": lambda u, v, w=None: _root(_summed((u - v) ** 2, w)),
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "seuclidean": lambda u, v, V: _root(np.sum((u - v) ** 2 / V, axis=-1)),
    "sqeuclidean": lambda u, v, w=None: _summed((u - v) ** 2, w),
}


def with_scipys_values(name, forward, args, formula):
    """A formula with the values of a function of SciPy's, which must be its own but for rounding."""
    values = forward(*value_tree(list(args)))
    if not np.allclose(value_of(formula), values, rtol=1e-6, atol=1e-6, equal_nan=True):
        refuse(name, "with these options it has no derivative here: write it with NumPy")
    return with_values_of(name, forward, args, formula)


def _distance(metric):
    original, what = getattr(scipy.spatial.distance, metric), f"scipy.spatial.distance.{metric}"
    signature = inspect.signature(original)

    @of_active(original)
    def distance(*args, **kwargs):
        given = {name: x for name, x in signature.bind(*args, **kwargs).arguments.items() if x is not None}
        if not given.keys() <= {*inspect.signature(FORMULAS[metric]).parameters, *list(signature.parameters)[:2]}:
            refuse(what, "with these options it has no derivative: write it with NumPy, or take `cdist`")
        given = {name: as_numbers(x) if np.ndim(value_tree(x)) else x for name, x in given.items()}
        first, second, *rest = given.values()
        if np.ndim(first) != 1 or np.ndim(second) != 1:
            refuse(what, "it has a derivative between two vectors: take `cdist`")
        formula = FORMULAS[metric](first, second, **dict(zip(list(given)[2:], rest)))
        return with_scipys_values(what, lambda *numbers: original(**dict(zip(given, numbers))), list(given.values()),
                                  formula)  # fmt: skip

    return distance


FUNCTIONS = {metric: _distance(metric) for metric in FORMULAS}
