# SPDX-License-Identifier: Apache-2.0
"""`numpy.pad` in all its modes: copies are movement, statistics and ramps are made axis by axis as NumPy makes them."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array

from .arguments import holds_active, refuse, value_tree
from .differentiable import operand
from .movement import move

__all__ = ["copied", "extended", "filled", "pad"]

_COPIES = ("constant", "edge", "wrap", "reflect", "symmetric", "empty")
_STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


def _pairs(x, ndim):
    """One (before, after) for each axis; one or two numbers stay NumPy's scalars, which decides the dtype of a ramp."""
    if isinstance(x, dict):
        return [x.get(k, x.get(k - ndim, (0, 0))) for k in range(ndim)]
    pairs = np.broadcast_to(x, (ndim, 2))
    return list(map(tuple, pairs)) if np.size(x) < 3 and np.shape(x) != (2, 1) else pairs.tolist()


def _part(a, axis, index):
    place = (*(slice(None) for _ in range(axis)), index, ...)
    return a[place]


def _statistic(a, axis, pad, lengths, function):
    """What stands before and after: a statistic of the first and of the last elements."""
    n = a.shape[axis]
    first, last = (n if length is None else min(int(length), n) for length in lengths)
    for part, width in zip((slice(0, first), slice(n - last, n)), pad):
        one = function(_part(a, axis, part), axis=axis, keepdims=True)
        yield np.broadcast_to(one, tuple(width if k == axis else m for k, m in enumerate(a.shape)))


def _ramp(a, axis, pad, ends):
    """Straight lines from the end values to the outer elements."""
    for end, edge, width, step in zip(ends, (0, -1), pad, (1, -1)):
        ramp = np.linspace(end, _part(a, axis, edge), width, endpoint=False, axis=axis)
        yield _part(ramp, axis, slice(None, None, step)).astype(a.dtype, copy=False)


def _odd(a, axis, pad, skip):
    """Reflected through the outer elements; `skip` of them are not repeated."""
    n = a.shape[axis]
    if max(pad) > n - skip:
        refuse("pad", f"reflect_type='odd' has derivatives up to a width of {n - skip} here: pad in steps")
    before = _part(a, axis, slice(skip, skip + pad[0]))
    after = _part(a, axis, slice(n - skip - pad[1], n - skip))
    for chunk, edge in ((before, slice(0, 1)), (after, slice(n - 1, n))):
        yield 2 * _part(a, axis, edge) - _part(chunk, axis, slice(None, None, -1))


def pad(array, pad_width, mode="constant", **kwargs):
    """As NumPy; a function for `mode` would write into a plain array and is refused."""
    data = copied(mode, kwargs)
    if data:
        return move(np.pad, data, (array, pad_width, filled(mode, kwargs)), kwargs)
    if holds_active(kwargs):
        refuse("pad", "active end values have no derivative: concatenate a np.linspace")
    array = extended(operand(array), pad_width, mode, kwargs)
    return array if isinstance(array, Array) else np.asarray(array)


def copied(mode, kwargs):
    """The arguments of which a mode copies elements, none where it computes what it pads with."""
    if callable(mode):
        refuse("pad", "a function for `mode` writes into a plain array: fill a codipy.Array by slices")
    if mode not in _COPIES or kwargs.get("reflect_type") == "odd":
        return ()
    return ("array", "kwargs") if mode == "constant" else ("array",)  # constant_values may be active


def filled(mode, kwargs):
    """The mode that pads with zeros where NumPy leaves what memory held: among identifiers that would be any slot."""
    return "constant" if isinstance(mode, str) and mode == "empty" and not kwargs else mode


def extended(array, pad_width, mode, kwargs):
    """The array with what a mode computes before and behind it, axis by axis."""
    hollow = np.empty(array.shape, array.dtype)
    np.pad(hollow, value_tree(pad_width), mode, **value_tree(kwargs))  # for NumPy's own complaints
    pads = _pairs(value_tree(pad_width), array.ndim)
    lengths = _pairs_or_none(kwargs.get("stat_length"), array.ndim)
    ends = _pairs(kwargs.get("end_values", 0), array.ndim)
    order = "F" if array.flags.fnc else "C"  # so NumPy lays its result out
    for axis, width in enumerate(pads):
        if mode in _STATISTICS:
            sides = _statistic(array, axis, width, lengths[axis], _STATISTICS[mode])
        elif mode == "linear_ramp":
            sides = _ramp(array, axis, width, ends[axis])
        else:
            sides = _odd(array, axis, width, 1 if mode == "reflect" else 0)
        before, after = sides
        array = np.concatenate((before, array, after), axis)
    return array if array.flags[f"{order}_CONTIGUOUS"] else array.copy(order)


def _pairs_or_none(x, ndim):
    return [(None, None)] * ndim if x is None else _pairs(x, ndim)
