# SPDX-License-Identifier: Apache-2.0
"""Movements of complex elements: the same call on values and on pairs of identifiers, each pair seen as one integer."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from codipy.active.array import Array, Real, gather, identifiers
from codipy.active.arrays.plain import is_view_of, shown_as, stand_in
from codipy.active.messages.callers import refused_out
from codipy.complexes.array import ComplexArray
from codipy.complexes.number import element
from codipy.complexes.pairs import complex_of_pairs, pairs_of_complex
from codipy.complexes.scalar import Complex
from codipy.errors import ActiveError
from codipy.numpy import movement, views
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import (
    bind,
    call_with,
    check_out,
    each,
    fillable,
    is_of_objects,
    laid_identifier_tree,
    laid_out,
    like_objects,
    rebuilt,
    value_leaf,
)
from codipy.numpy.outside import boxed

__all__ = [
    "FUNCTIONS", "as_objects", "assign", "copied", "get_item", "holds", "item",
    "moved", "pair_identifiers", "pairs_for", "plain", "seen",
    "set_item", "value_tree",
]  # fmt: skip

_OURS = (ComplexArray, Complex, Array, Real)


def plain(x):
    """The value of a variable, anything else unchanged."""
    return x.value if type(x) in _OURS else x


def _leaf_value(x):
    if type(x) in _OURS:
        return x.value
    if isinstance(x, np.ndarray) and x.dtype == object and not {ComplexArray, Complex}.isdisjoint(map(type, x.flat)):
        return each(plain, x)
    return value_leaf(x)


def value_tree(tree):
    """The tree with plain values."""
    return rebuilt(tree, _leaf_value)


def holds(tree):
    """Whether something active is in a tree of lists, tuples and dictionaries."""
    if type(tree) in _OURS:
        return tree.is_active
    if isinstance(tree, (list, tuple)):
        return any(map(holds, tree))
    if isinstance(tree, dict):
        return any(map(holds, tree.values()))
    return isinstance(tree, np.ndarray) and tree.dtype == object and any(map(holds, tree.flat))


# ---- identifiers -----------------------------------------------------------------------------------------------------
def _as_integers(pairs):
    return np.ascontiguousarray(pairs, np.int32).view(np.int64)[..., 0]


def pair_identifiers(x):
    """One integer for each element, which has the identifiers of both parts."""
    if type(x) is ComplexArray:
        return laid_out(_as_integers(identifiers(x.pairs)), complex_of_pairs(stand_in(x.pairs)))
    if type(x) is Complex:
        return _as_integers(np.array([identifiers(x.real), identifiers(x.imag)]))
    if type(x) is Array or type(x) is Real:
        real = identifiers(x)
        pairs = _as_integers(np.stack([real, np.zeros_like(real)], axis=-1))
        return laid_out(pairs, stand_in(x)) if type(x) is Array else pairs
    if isinstance(x, np.ndarray) and x.dtype == object:
        pairs = each(pair_identifiers, x)
        return pairs if is_of_objects(x) else pairs.astype(np.int64)
    return np.zeros(np.shape(x), np.int64)


def _own_identifiers(x):
    return laid_identifier_tree(x) if type(x) in (Array, Real) else pair_identifiers(x)


def moved(values, numbers):
    """New elements that are copies: complex values, and an integer for each."""
    pairs = np.array(numbers, np.int64, order="C")[..., None].view(np.int32)
    found = fillable(gather(pairs_of_complex(values), pairs))
    if type(found) is not Array:
        return complex_of_pairs(found)[()]
    return (
        Complex.of_element(found)
        if found.ndim == 1 and not isinstance(values, np.ndarray)
        else ComplexArray.of_pairs(found)
    )


class Shown(views.Shown):
    """The same with stand-ins of ComplexArrays."""

    def _stand_in(self, x):
        if type(x) is Complex:
            return x.value
        if type(x) is not ComplexArray:
            return super()._stand_in(x if type(x) is Array or self.as_they_are else like_objects(_leaf_value(x), x))
        for known, array in self.pairs:
            if array is x:
                return known
        known = complex_of_pairs(stand_in(x.pairs))
        self.pairs.append((known, x))
        return known

    def view(self, leaf):
        """The view of an argument that a result is, or None."""
        for known, z in self.pairs:
            if type(z) is not ComplexArray or not isinstance(leaf, np.ndarray) or not is_view_of(leaf, known):
                continue
            if leaf is known:
                return z
            pairs, base = known[..., None].view(z.pairs.dtype), z if z.base is None else z.base
            if leaf.dtype == known.dtype:
                return ComplexArray.of_pairs(shown_as(z.pairs, pairs, leaf[..., None].view(z.pairs.dtype)), base)
            if leaf.dtype == pairs.dtype:
                return shown_as(z.pairs, pairs, leaf)
            raise ActiveError(f"a ComplexArray has no view of dtype {leaf.dtype}: take codipy.value(z).view(...)")
        return super().view(leaf)

    def _is_new(self, values):
        return isinstance(values, (np.ndarray, np.inexact)) and values.dtype.kind in "fc"

    def _made(self, values, ids):
        if values.dtype.kind != "c":
            return super()._made(values, ids)
        return moved(values, np.zeros(np.shape(values), np.int64) if ids is None else ids())


_VALUES_ONLY = ("out", "dtype", "casting")
_SEPARATE = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "ix_", "meshgrid"}  # each keeps its dtype


def move(func, args, kwargs, data, separate=False):
    """Run a function that moves elements on stand-ins; what is no view of one is new."""
    bound = bind(func, args, kwargs)
    out = bound.pop("out", None)
    shown = Shown(as_they_are=func in movement.SHOWING)
    values = call_with(func, {k: v if k in data else value_tree(v) for k, v in bound.items()}, shown.tree, data)
    leaf = _own_identifiers if separate else pair_identifiers
    ids = None
    if any(holds(bound.get(name)) for name in data):
        if getattr(values, "dtype", None) == np.dtype(object):
            apart = {name: movement.one_by_one(func, name, value) for name, value in bound.items()}
            return assign(call_with(func, apart, lambda tree: rebuilt(tree, as_objects), data), out)
        ids = cache(lambda: call_with(func, bound, lambda tree: rebuilt(tree, leaf), data, _VALUES_ONLY))
    return assign(shown.results(values, ids), out)


def as_objects(x):
    """The objects that NumPy makes of the elements of a variable; anything else unchanged."""
    if type(x) is Complex:
        box = np.empty((), object)
        box[()] = x.stands_for(complex)
        return box
    return x.astype(object) if type(x) is ComplexArray else boxed(x) if type(x) in _OURS else x


FUNCTIONS = {
    name: partial(move, data=tuple(names.split()), separate=name in _SEPARATE)
    for name, names in (movement.DATA | views.DATA).items()
    if name not in ("real", "real_if_close")
}


def assign(result, out, kept=None):
    """Honour ``out=``; `kept` is that of `check_out`."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None:
        return result
    check_out(np.shape(plain(result)), out, kept)
    kind = getattr(plain(result), "dtype", np.dtype(type(plain(result))))
    if not np.can_cast(kind, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast output from {kind!r} to {out.dtype!r} with casting rule 'same_kind'")
    if not isinstance(out, (ComplexArray, Array)):
        if holds(result):
            raise ActiveError(refused_out("ComplexArray"))
        np.copyto(out, plain(result), casting="same_kind")
        return out
    out[...] = result
    return out


# ---- methods ---------------------------------------------------------------------------------------------------------
def seen(z, method):
    """A method that shows the elements of one array otherwise, or copies them."""
    shown = Shown()
    return shown.results(method(shown.tree(z)), lambda: method(pair_identifiers(z)))


def copied(z, order):
    """A copy, laid out as NumPy's."""
    if order != "F" and z.value.flags.c_contiguous:
        return ComplexArray.of_pairs(z.pairs.copy())
    return seen(z, lambda a: a.copy(order))


# ---- elements --------------------------------------------------------------------------------------------------------
def _index(index):
    """The same index for pairs, which have an axis more."""
    index = index if type(index) is tuple else (index,)
    dots = any(k is Ellipsis for k in index)
    return ((*index, slice(None)) if dots else (*index, ..., slice(None))), dots


_WHOLE, _INT = (int, np.integer), frozenset({int})


def _is_element(z, index):
    if type(index) is not tuple:
        index = (index,)
    if len(index) != z.pairs.ndim - 1:
        return False
    return _INT.issuperset(map(type, index)) or all(isinstance(k, _WHOLE) and type(k) is not bool for k in index)


def get_item(z, index):
    """``z[index]``: a view, a copy, or an element."""
    if type(index) is int and z.pairs.ndim == 2:
        return element(z.pairs, (index,))
    if _is_element(z, index):
        return element(z.pairs, index if type(index) is tuple else (index,))
    places, dots = _index(index)
    found = z.pairs[places]
    if found.ndim == 1 and not dots:
        return Complex.of_element(found)
    is_view = found.base is not None
    return ComplexArray.of_pairs(found, (z if z.base is None else z.base) if is_view else None)


def set_item(z, index, value):
    """``z[index] = value``; what is real has the imaginary part 0."""
    if not z.pairs.flags.writeable:
        raise ValueError("assignment destination is read-only")
    if _is_element(z, index) and (
        type(value) in (Complex, Real) or isinstance(value, (float, int, complex, np.number))
    ):
        index = index if type(index) is tuple else (index,)
        real, imag = (*index, 0), (*index, 1)
        z.pairs[real], z.pairs[imag] = value.real, value.imag
        return
    if type(value) is ComplexArray and np.shares_memory(z.pairs, value.pairs):
        row = z.pairs[_index(index)[0]]
        if row.ndim == 2 and np.shares_memory(row, z.pairs):
            # NumPy moves the elements of a row one by one, and may read what it has written: so do both parts.
            row[:, 0], row[:, 1] = value.pairs[..., 0], value.pairs[..., 1]
            return
    z.pairs[_index(index)[0]] = pairs_for(value)


def pairs_for(value):
    """The pairs, active or plain, of what is assigned."""
    if type(value) is ComplexArray:
        return value.pairs
    if type(value) is Complex:
        return Array([value.real, value.imag])
    if type(value) is Real:
        return Array([value, 0.0])
    if type(value) is Array:
        return np.stack([value, np.zeros(value.shape, value.dtype)], axis=-1)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return pairs_for(asarray(value, complex))
    if isinstance(value, (list, tuple)) and holds(value):
        return pairs_for(moved(np.array(value_tree(value), complex), np.array(rebuilt(value, pair_identifiers))))
    return pairs_of_complex(
        np.asarray(value) if np.asarray(value).dtype.kind in "fiubc" else np.asarray(value, complex)
    )


def item(z, args):
    """``z.item(...)``: a Complex that stands for a complex of Python."""
    if not args:
        if z.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return z.reshape(1)[0].stands_for(complex)
    index = args[0] if len(args) == 1 else args
    if type(index) is tuple and len(index) == 1:
        (index,) = index
    if type(index) is not tuple and z.ndim != 1:
        index = tuple(int(k) for k in np.unravel_index(index % z.size if -z.size <= index < 0 else index, z.shape))
    found = z[index]
    return found.stands_for(complex) if type(found) is Complex else found.item()
