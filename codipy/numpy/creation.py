# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays: `*_like` of an Array, and everything with ``like=`` an Array, gives an Array to fill."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, filled, from_ndarray, identifiers, is_active, plain
from codipy.active.arrays.plain import is_writable
from codipy.active.doors import door

from .arguments import bind, call_with, gather_tree, identifier_tree, value_tree

__all__ = ["FUNCTIONS", "MOVEMENT", "PASSIVE", "as_array"]


def _fillable(values):
    """A passive Array to write into, if it can hold what is active."""
    if not isinstance(values, np.ndarray) or values.dtype not in (np.float64, np.float32):
        return values
    if values.base is not None and not isinstance(values.base, np.ndarray):  # somebody else's memory, as of frombuffer
        if is_writable(values):
            return values
        made = Array(values)[...]
        made.flags.writeable = False
        return made
    return from_ndarray(values)


def _like(number):
    """What makes an Array like another with one number everywhere, None: with any."""
    def create(func, args, kwargs):
        if len(args) == 1 and not kwargs and type(args[0]) is Array:
            array = args[0]
            if array.dtype == np.float64 and array.flags.c_contiguous:
                return filled(array.shape, number)
        return _create(func, args, kwargs)

    return create


def as_array(moved):
    """An Array also where nothing is active."""
    return moved if isinstance(moved, Array) else _fillable(moved)


def _create(func, args, kwargs):
    """The function on values, without ``like=``, as an Array."""
    return _fillable(call_with(func, bind(func, args, kwargs), value_tree, without=("like",)))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    """Every element is `fill_value`."""
    values = np.full_like(plain(a), plain(fill_value), dtype, order, subok, shape, **kwargs)
    if not is_active(fill_value):
        return _fillable(values) if isinstance(a, Array) else values
    if values.dtype.kind == "c":
        return door("complexes")().full(np.full_like, a, fill_value, dtype, order, subok, shape, **kwargs)
    return gather_tree(values, np.broadcast_to(identifiers(fill_value), values.shape))


def _full(func, args, kwargs):
    given = bind(func, args, kwargs)
    values = call_with(func, given, value_tree, without=("like",))
    return as_array(gather_tree(values, np.broadcast_to(identifiers(given["fill_value"]), values.shape)))


def _convert(func, args, kwargs):
    """`array(..., like=)` and its kind: what lists and object arrays hold, with its identifiers."""
    given = bind(func, args, kwargs)
    source = next(iter(given))
    values = call_with(func, given, value_tree, without=("like",))
    if values.dtype.kind not in "fO":
        return values
    ids = np.asarray(identifier_tree(given[source]), np.int32)
    return as_array(gather_tree(values, ids.reshape(values.shape)))


def copy(a, order="K", subok=False):
    """A new Array with the same elements."""
    if type(a) is Array:
        return a.copy(order)
    return gather_tree(np.copy(value_tree(a), order), np.asarray(identifier_tree(a), np.int32))


def astype(x, dtype, /, *, copy=True, device=None):
    """As the method."""
    return x.astype(dtype, copy=copy)


def _fromfunction(func, args, kwargs):
    """What the function returns for plain indices is left alone."""
    return call_with(func, bind(func, args, kwargs), lambda tree: tree, without=("like",))


_LIKE = [
    "zeros_like", "ones_like", "empty_like", "zeros", "ones", "empty", "eye", "identity", "tri", "frombuffer",
    "fromfile", "fromiter", "fromstring", "loadtxt", "genfromtxt"
]  # fmt: skip

PASSIVE = dict.fromkeys(_LIKE, _create)
PASSIVE |= {"zeros_like": _like(0.0), "ones_like": _like(1.0), "empty_like": _like(None)}
MOVEMENT = dict.fromkeys(["array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require"], _convert)
MOVEMENT |= {"full": _full, "fromfunction": _fromfunction}
FUNCTIONS = {"full_like": full_like, "copy": copy, "astype": astype}
