# SPDX-License-Identifier: Apache-2.0
"""Functions that give views: on an Array they are its own views, so that writing through them reaches it."""

from __future__ import annotations

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from codipy.active.array import Array

from .arguments import bind
from .movement import move

__all__ = ["FUNCTIONS"]

_ALL = slice(None)


def _along(ndim, axis, index):
    """The index that takes `index` along one axis."""
    return (*(_ALL for _ in range(normalize_axis_index(axis, ndim))), index, ...)


def reshape(a, shape, order="C", copy=None):
    """A view where NumPy's would be one."""
    if copy is False:
        np.reshape(np.lib.stride_tricks.as_strided(np.empty((), a.dtype), a.shape, a.strides), shape, order, copy=False)
    view = a.reshape(shape, order=order)
    return view.copy() if copy else view


def ravel(a, order="C"):
    """A view where NumPy's would be one."""
    return a.reshape(-1, order=order)


def transpose(a, axes=None):
    """All axes reversed, or as `axes` says."""
    return a.transpose(range(a.ndim)[::-1] if axes is None else axes)


def matrix_transpose(x):
    """The last two axes swapped."""
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


def swapaxes(a, axis1, axis2):
    """Two axes swapped."""
    axes = list(range(a.ndim))
    one, two = (normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2))
    axes[one], axes[two] = axes[two], axes[one]
    return a.transpose(axes)


def moveaxis(a, source, destination):
    """Axes moved to new places."""
    source = normalize_axis_tuple(source, a.ndim, "source")
    destination = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    axes = [axis for axis in range(a.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        axes.insert(place, axis)
    return a.transpose(axes)


def rollaxis(a, axis, start=0):
    """One axis moved before another."""
    axis = normalize_axis_index(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise np.exceptions.AxisError(f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}")
    return moveaxis(a, axis, start - (axis < start)) if a.ndim > 1 else a[...]


def expand_dims(a, axis):
    """New axes of length 1."""
    axis = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = a.ndim + len(axis)
    axis = normalize_axis_tuple(axis, ndim)
    index = (*(None if k in axis else _ALL for k in range(ndim)), ...)
    return a[index]


def squeeze(a, axis=None):
    """Without axes of length 1."""
    return a.squeeze(axis)


def flip(m, axis=None):
    """Backwards along axes."""
    axes = range(m.ndim) if axis is None else normalize_axis_tuple(axis, m.ndim)
    index = (*(slice(None, None, -1) if k in axes else _ALL for k in range(m.ndim)), ...)
    return m[index]


def fliplr(m):
    """Backwards along the second axis."""
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return m[:, ::-1]


def flipud(m):
    """Backwards along the first axis."""
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return m[::-1, ...]


def rot90(m, k=1, axes=(0, 1)):
    """Turned by quarters in a plane."""
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (normalize_axis_index(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    if k % 4 == 0:
        return m[...]
    if k % 4 == 2:
        return flip(m, axes)
    return swapaxes(flip(m, second), first, second) if k % 4 == 1 else flip(swapaxes(m, first, second), second)


def array_split(ary, indices_or_sections, axis=0):
    """Parts that are views."""
    length = ary.shape[axis]
    if np.ndim(indices_or_sections):
        ends = [0, *indices_or_sections, length]
    else:
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extras = divmod(length, int(indices_or_sections))
        ends = np.cumsum([0] + extras * [each + 1] + (int(indices_or_sections) - extras) * [each]).tolist()
    return [ary[_along(ary.ndim, axis, slice(*pair))] for pair in zip(ends[:-1], ends[1:])]


def split(ary, indices_or_sections, axis=0):
    """Equal parts that are views."""
    if not np.ndim(indices_or_sections) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def _split_along(name, axis, least):
    def handler(ary, indices_or_sections):
        if ary.ndim < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return split(ary, indices_or_sections, axis if axis < ary.ndim else 0)

    return handler


def unstack(x, axis=0):
    """Slices along an axis."""
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(x[_along(x.ndim, axis, k)] for k in range(x.shape[axis]))


def _atleast(least):
    def one(a):
        if least == 3 and a.ndim in (1, 2):
            return a[None, :, None] if a.ndim == 1 else a[:, :, None]
        return a[(None,) * max(least - a.ndim, 0) + (...,)]

    return one


def _real(val):
    return val[...]


_VIEWS = {
    "reshape": (reshape, "a"),
    "ravel": (ravel, "a"),
    "transpose": (transpose, "a"),
    "matrix_transpose": (matrix_transpose, "x"),
    "linalg.matrix_transpose": (matrix_transpose, "x"),
    "swapaxes": (swapaxes, "a"),
    "moveaxis": (moveaxis, "a"),
    "rollaxis": (rollaxis, "a"),
    "expand_dims": (expand_dims, "a"),
    "squeeze": (squeeze, "a"),
    "flip": (flip, "m"),
    "fliplr": (fliplr, "m"),
    "flipud": (flipud, "m"),
    "rot90": (rot90, "m"),
    "array_split": (array_split, "ary"),
    "split": (split, "ary"),
    "hsplit": (_split_along("hsplit", 1, 1), "ary"),
    "vsplit": (_split_along("vsplit", 0, 2), "ary"),
    "dsplit": (_split_along("dsplit", 2, 3), "ary"),
    "unstack": (unstack, "x"),
    "real": (_real, "val"),
}


def _view(function, name):
    def handler(func, args, kwargs):
        given = bind(func, args, kwargs)
        if type(given.get(name)) is Array:
            return function(**given)
        return move(func, (name,), args, kwargs)  # a Real, or a list with active elements

    return handler


def _atleast_handler(one):
    def handler(func, args, kwargs):
        found = tuple(one(a) if type(a) is Array else move(func, ("arys",), (a,), {}) for a in args)
        return found[0] if len(found) == 1 else found

    return handler


FUNCTIONS = {name: _view(*row) for name, row in _VIEWS.items()}
FUNCTIONS |= {f"atleast_{n}d": _atleast_handler(_atleast(n)) for n in (1, 2, 3)}
