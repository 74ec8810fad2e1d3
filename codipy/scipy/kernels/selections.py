# SPDX-License-Identifier: Apache-2.0
"""Compiled filters of `scipy.ndimage` that take one value of each window: the smallest, the largest, that of a rank.

The derivative goes to the value that was taken, of equal ones to the first in the window. It is looked for when a sweep
asks, so that a recording which is run again takes others.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import _nd_image as _compiled
from scipy.ndimage import _rank_filter_1d as _lines

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import kept
from codipy.scipy.kernels.calls import float_type, on_values, write
from codipy.scipy.kernels.edges import extended

__all__ = ["LINE_LOOPS", "LOOPS"]


def _forward(x, footprint, heights, loop, mode, cval, dtype, origins, axis, rank):
    """The loop of SciPy's; `rank` says also whether it is a minimum."""
    made = np.zeros(x.shape, dtype)
    if loop == "min_or_max_filter1d":
        _compiled.min_or_max_filter1d(x, footprint.size, axis, made, mode, cval, origins[axis], rank)
    elif loop == "min_or_max_filter":
        heights = heights if heights.size else None
        _compiled.min_or_max_filter(x, footprint, heights, made, mode, cval, list(origins), rank)
    elif loop == "lines":
        _lines.rank_filter(x, rank, footprint.size, made, mode, x.dtype.type(cval), origins[0])
    else:
        _compiled.rank_filter(x, rank, footprint, made, mode, cval, list(origins))
    return made


def _places(out, args, kwargs):
    """Where in x each value was taken from, -1 for the constant beyond the edges."""
    x, footprint, heights = (np.asarray(value_of(each)) for each in args)
    out = np.asarray(value_of(out))
    mode, shape = kwargs["mode"], footprint.shape
    margins = [(n // 2 + k, n - n // 2 - 1 - k) for n, k in zip(shape, kwargs["origins"])]
    values = extended(x, margins, mode, kwargs["cval"])
    numbers = extended(np.arange(x.size, dtype=float).reshape(x.shape), margins, mode, -1.0).astype(np.intp)
    places, is_found = np.full(x.shape, -1), np.zeros(x.shape, bool)
    sign = -1.0 if kwargs["rank"] else 1.0  # of heights, which only minima and maxima have
    for offset in np.argwhere(footprint):
        window = tuple(slice(k, k + n) for k, n in zip(offset, x.shape))
        seen = values[window] + sign * heights[tuple(offset)] if heights.size else values[window]
        seen = seen.astype(out.dtype)
        here = ~is_found & ((seen == out) | (np.isnan(seen) & np.isnan(out)))
        places[here] = numbers[window][here]
        is_found |= here
    if not np.all(is_found):
        raise ActiveError(refusal("a filter of scipy.ndimage whose result is none of the values in a window",
                                  "take an output of the type of the image"))  # fmt: skip
    return places.ravel()


def _vjp(g, out, args, kwargs, argnums):
    places = _places(out, args, kwargs)
    taken = np.nonzero(places >= 0)[0]
    shape = np.shape(args[0])
    found = np.bincount(places[taken], np.reshape(g, -1)[taken], int(np.prod(shape)))
    return [np.reshape(found, shape)]


def _jvp(tangents, out, args, kwargs):
    places = _places(out, args, kwargs)
    taken = np.reshape(np.reshape(tangents[0], -1)[np.maximum(places, 0)], np.shape(args[0]))
    return np.where(np.reshape(places >= 0, np.shape(args[0])), taken, 0.0)


_SELECTION = kept(Primitive("scipy.ndimage.rank_filter", _forward, _vjp, _jvp))
_NONE = np.zeros(0)


def _selected(x, footprint, heights, output, loop, mode, cval, origins, axis=0, rank=0):
    if holds_active((heights,)):
        refuse("scipy.ndimage", "by the structure of a morphological filter there is no derivative: say "
               "codipy.value(structure)")  # fmt: skip
    options = {"loop": loop, "mode": int(mode), "cval": float(cval), "dtype": float_type("scipy.ndimage", output),
               "origins": tuple(map(int, origins)), "axis": int(axis), "rank": int(rank)}  # fmt: skip
    footprint = np.array(value_of(footprint), bool)
    heights = _NONE if heights is None else np.array(value_of(heights), float)
    write(output, call(_SELECTION, (as_numbers(x), footprint, heights), options))


def _of_line(x, size, axis, output, mode, cval, origin, minimum):
    if not holds_active((x, output)):
        return on_values(_compiled.min_or_max_filter1d, (x, size, axis, output, mode, cval, origin, minimum))
    along = [1] * x.ndim
    along[axis] = int(size)
    origins = [origin if k == axis else 0 for k in range(x.ndim)]
    return _selected(x, np.ones(along, bool), None, output, "min_or_max_filter1d", mode, cval, origins, axis, minimum)


def _of_window(x, footprint, structure, output, mode, cval, origins, minimum):
    if not holds_active((x, structure, output)):
        args = x, footprint, structure, output, mode, cval, origins, minimum
        return on_values(_compiled.min_or_max_filter, args)
    return _selected(x, footprint, structure, output, "min_or_max_filter", mode, cval, origins, rank=minimum)


def _of_rank(x, rank, footprint, output, mode, cval, origins):
    if not holds_active((x, output)):
        return on_values(_compiled.rank_filter, (x, rank, footprint, output, mode, cval, origins))
    return _selected(x, footprint, None, output, "rank_filter", mode, cval, origins, rank=rank)


def _of_rank_in_lines(x, rank, size, output, mode, cval, origin):
    if not holds_active((x, output)):
        return on_values(_lines.rank_filter, (x, rank, size, output, mode, cval, origin))
    return _selected(x, np.ones(int(size), bool), None, output, "lines", mode, cval, [origin], rank=rank)


LOOPS = {"min_or_max_filter1d": _of_line, "min_or_max_filter": _of_window, "rank_filter": _of_rank}
LINE_LOOPS = {"rank_filter": _of_rank_in_lines}
