# SPDX-License-Identifier: Apache-2.0
"""Functions that write into their first argument: recorded if that is an Array, an error if it is a plain array."""

from __future__ import annotations

from functools import partial

import numpy as np

from codipy.active.array import Array, is_complex_variable, plain
from codipy.active.arrays.assign import written_in_turn
from codipy.active.doors import door

from .arguments import holds_complex, holds_variables, rebuilt, refuse, value_tree
from .movement import move

__all__ = ["FUNCTIONS"]


def _target(name, target, sources, cure):
    """Whether `target` is an Array or a ComplexArray; if not, nothing active may go there."""
    if type(target) is Array or is_complex_variable(target):
        if not target.flags.writeable:
            raise ValueError("assignment destination is read-only")
        if type(target) is Array and holds_variables(sources) and any(map(holds_complex, sources)):
            refuse(name, "complex elements into such an array would lose the derivative: make it a codipy.ComplexArray")
        return True
    if holds_variables(sources):
        refuse(name, f"the array written to is a plain one and would lose the derivative: {cure}")
    return False


def _values(tree):
    """Plain values, also of complex variables, of which none is active."""
    return rebuilt(value_tree(tree), lambda x: x.value if is_complex_variable(x) else x)


def _shaped(target, function, values, shape):
    """The values that are written to `target`, an array or a list of them, in another shape."""
    if is_complex_variable(target):
        return function(door("complexes")().as_array(values), shape)
    return move(function, ("a" if function is np.reshape else "array",), (values, shape), {})


def _write_flat(a, places, values):
    """``a.flat[places] = values``, the values repeated as often as needed."""
    values = _shaped(a, np.reshape, values, (-1,))
    count = np.shape(value_tree(values))[0]
    if count and places.size and not a.ndim:
        a[...] = np.take(values, (places.size - 1) % count)  # the last of them stays
    elif count and places.size:
        a[np.unravel_index(places, a.shape)] = np.take(values, np.arange(places.size) % count)


def copyto(dst, src, casting="same_kind", where=True):
    """`src` broadcast into `dst`."""
    cure = "write `dst = codipy.Array(dst)` first; for `np.full(shape, x)` and `np.full_like(plain, x)` write " \
           "`np.broadcast_to(x, shape).copy()`"  # fmt: skip
    if not _target("copyto", dst, [src], cure):
        return np.copyto(dst, _values(src), casting, where=value_tree(where))
    where = value_tree(where)
    if where is True:
        dst[...] = src
        return None
    mask = np.zeros(dst.shape, bool)
    np.copyto(mask, True, where=where)  # as NumPy reads it: numbers of a list are truths, those of an array an error
    dst[mask] = _shaped(dst, np.broadcast_to, src, dst.shape)[mask]


def put(a, ind, v, mode="raise"):
    """Into places of the flat array."""
    if not _target("put", a, [v], "make it a codipy.Array, or write `a = codipy.Array(a); a[ind] = v`"):
        return np.put(a, value_tree(ind), _values(v), mode)
    ind = value_tree(ind)
    if not np.size(value_tree(v)):
        np.put(np.zeros(a.shape), ind, [], mode)  # which writes nothing, and may raise
        return
    ind = np.ravel(ind if isinstance(ind, np.ndarray) else np.array(ind, np.intp))  # of a list NumPy takes any numbers
    if mode == "wrap":
        ind = ind % a.size
    elif mode == "clip":
        ind = np.clip(ind, 0, a.size - 1)
    elif np.any((ind < -a.size) | (ind >= a.size)):
        raise IndexError(f"np.put: an index is out of bounds for size {a.size}")
    _write_flat(a, ind % a.size if a.size else ind, v)


def _places(name, a, mask):
    """Where in the flat array the mask holds, which may have another shape, but not another size."""
    mask = np.asarray(plain(mask))
    if mask.size != a.size:
        raise ValueError(f"{name}: mask and data must be the same size")
    return np.flatnonzero(mask)


def place(arr, mask, vals):
    """The first values, one for each place where the mask holds."""
    if not _target("place", arr, [vals], "make it a codipy.Array, then `arr[mask] = vals` is recorded"):
        return np.place(arr, value_tree(mask), _values(vals))
    places = _places("place", arr, mask)
    if places.size and np.size(value_tree(vals)) == 0:
        raise ValueError("Cannot insert from an empty array!")
    _write_in_turn("place", arr, places, vals, partial(_place, plain(mask)))


def _place(mask, target, source):
    np.place(target, mask, source)


def _write_in_turn(name, a, places, values, write):
    """`_write_flat` of a function that reads the values, which may be elements of the array, while it writes them."""
    if is_complex_variable(values) and np.shares_memory(a, values):
        refuse(name, "the values are elements of the array, and NumPy reads some that it has written: copy them")
    written = written_in_turn(a, values, write) if type(a) is Array and type(values) is Array else None
    _write_flat(a, places, values if written is None else written.reshape(-1)[places])


def putmask(a, mask, values):
    """The values at the same places, repeated if they are fewer."""
    if not _target("putmask", a, [values], "make it a codipy.Array, then `a[mask] = values` is recorded"):
        return np.putmask(a, value_tree(mask), _values(values))
    places = _places("putmask", a, mask)
    values = _shaped(a, np.reshape, values, (-1,))
    count = np.shape(value_tree(values))[0]
    if count and places.size:
        _write_flat(a, places, np.take(values, places % count))


def fill_diagonal(a, val, wrap=False):
    """Along the main diagonal."""
    if not _target("fill_diagonal", a, [val], "make it a codipy.Array, then `np.fill_diagonal(a, val)` is recorded"):
        return np.fill_diagonal(a, value_tree(val), wrap)
    marks = np.zeros(a.shape, bool)
    np.fill_diagonal(marks, True, wrap)
    _write_in_turn("fill_diagonal", a, np.flatnonzero(marks), val, partial(np.fill_diagonal, wrap=wrap))


def put_along_axis(arr, indices, values, axis):
    """Into one place of each slice along an axis."""
    cure = "make it a codipy.Array, then `np.put_along_axis(arr, ...)` is recorded"
    if not _target("put_along_axis", arr, [values], cure):
        return np.put_along_axis(arr, value_tree(indices), _values(values), axis)
    places = np.arange(arr.size).reshape(arr.shape)
    flat = np.take_along_axis(places, plain(indices), axis)
    _write_flat(arr, flat.ravel(), _shaped(arr, np.broadcast_to, values, flat.shape))


FUNCTIONS = {
    function.__name__: function for function in (copyto, put, place, putmask, fill_diagonal, put_along_axis)
}
