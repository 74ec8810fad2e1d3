# SPDX-License-Identifier: Apache-2.0
"""Reductions of complex arrays that have no complex derivative, or that choose: variances, norms, extremes, sorting."""

from __future__ import annotations

import numpy as np

from codipy.complexes.creation import as_complex
from codipy.complexes.elementwise import times
from codipy.complexes.movement import plain
from codipy.complexes.record import rule
from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import axes_of, in_memory, spread

__all__ = ["FUNCTIONS", "RECORDED", "laid_out_as"]


# ---- variances: the mean of the squared distances --------------------------------------------------------------------
def _count(a, axis):
    return int(np.prod([a.shape[k] for k in axes_of(a.ndim, axis)], dtype=int))


def _distances(a, axis):
    return a - np.mean(a, axis=axis, keepdims=True)


def _var_slope(a, axis, ddof):
    return _distances(a, axis) * (2.0 / (_count(a, axis) - ddof))


def _variance(name, forward, slope_of):
    def settled(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **others):
        if any(value is not np._NoValue and not (key == "where" and value is True) for key, value in others.items()):
            refuse(name, "of complex arrays no derivative is known with where=, mean= or correction=: leave them away")
        return a, axis, ddof, keepdims is True

    def vjp(g, out, args, kwargs, argnums):
        a, axis, ddof, keepdims = settled(*args, **kwargs)
        share = slope_of(spread(out, a.shape, axis, keepdims))
        return [times(spread(g, a.shape, axis, keepdims) * share, _var_slope(a, axis, ddof))]

    def jvp(tangents, out, args, kwargs):
        a, axis, ddof, keepdims = settled(*args, **kwargs)
        slope = np.conjugate(_var_slope(a, axis, ddof)) * slope_of(spread(out, a.shape, axis, keepdims))
        return np.sum(times(tangents[0], slope).real, axis=axis, keepdims=keepdims)

    rule(Primitive(name, forward, vjp, jvp), "r", operands=1)


def _half_over(out):
    zero = np.equal(out, 0)
    return np.where(zero, 0.0, 0.5 / np.where(zero, 1.0, out))


_variance("var", np.var, lambda out: 1.0)
_variance("std", np.std, _half_over)


RECORDED = frozenset({"var", "std"})


# ---- extremes and order: complex numbers are compared by their real, then their imaginary parts ----------------------
def _extreme(name, places):
    def extreme(a, axis=None, keepdims=False, **others):
        if others or isinstance(axis, tuple):
            refuse(name, "of complex arrays only axis=, keepdims= and out= are known")
        a = as_complex(a)
        if axis is None:
            found = a.reshape(-1)[int(places(plain(a)))]
            return np.reshape(found, (1,) * a.ndim) if keepdims is True else found
        index = np.expand_dims(places(plain(a), axis), axis)
        found = laid_out_as(a, np.take_along_axis(a, index, axis))
        return found if keepdims is True else np.squeeze(found, axis)[()]

    return extreme


def sort(a, axis=-1, kind=None, order=None, *, stable=None, **options):
    """The elements in order: a movement. NumPy 2.5 has `descending=`."""
    values = plain(a)
    if order is not None:
        np.sort(values[:0], order=order)  # which raises
    if axis is None:
        a, values, axis = a.reshape(-1), values.reshape(-1), -1
    return laid_out_as(a, np.take_along_axis(a, np.argsort(values, axis=axis, stable=True, **options), axis))


def laid_out_as(a, found):
    """The elements, in the order of memory that the axes of `a` have."""
    order = () if a.flags.c_contiguous else in_memory(a)
    if list(order) == sorted(order):
        return found
    return np.transpose(np.transpose(found, order).copy(), np.argsort(order))


def sort_complex(a):
    """The elements in order."""
    return sort(a)


def ptp(a, axis=None, keepdims=False):
    """The largest less the smallest."""
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


_MAX, _MIN = _extreme("max", np.argmax), _extreme("min", np.argmin)
FUNCTIONS = {
    "max": _MAX,
    "amax": _MAX,
    "min": _MIN,
    "amin": _MIN,
    "ptp": ptp,
    "sort": sort,
    "sort_complex": sort_complex,
}
