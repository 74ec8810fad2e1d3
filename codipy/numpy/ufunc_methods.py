# SPDX-License-Identifier: Apache-2.0
"""The methods of ufuncs on active arrays: reduce, accumulate, reduceat, outer, at."""

from __future__ import annotations

import math

import numpy as np

from codipy.active.array import Array, call, from_nested, plain
from codipy.active.arrays.constants import places_along
from codipy.active.arrays.offsets import distinct
from codipy.active.arrays.plain import stand_in
from codipy.tape.records.loops import taken

from . import differentiable, registry
from .arguments import holds_active, refuse, value_tree
from .movement import move
from .primitive import Primitive
from .rules.building import is_plain
from .ufunc_sets import PASSIVE

__all__ = ["accumulate", "at", "in_turn", "outer", "reduce", "reduceat"]

_MISSING = np._NoValue
# The functions that take an active `initial`.
_FUNCTIONS = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
_EXTREMES = {np.maximum, np.minimum, np.fmax, np.fmin}


def _array(x):
    if isinstance(x, Array):
        return x
    return from_nested(x) if holds_active(x) else np.asarray(value_tree(x))


def _known(ufunc, method, args, kwargs):
    """The result where it is passive or has a rule."""
    if ufunc is np.floor_divide:  # a step, but for what is left as it is
        refuse(f"floor_divide.{method}", "its first element is that of the array, with a derivative, and the others "
               "have none: write a loop with the ufunc itself")  # fmt: skip
    if ufunc in PASSIVE:
        return getattr(ufunc, method)(*value_tree(args), **value_tree(kwargs))
    name = f"{ufunc.__name__}.{method}"
    if name not in registry.PRIMITIVES:
        refuse(name, "codipy has no derivative for it: write a loop with the ufunc itself")
    return differentiable.apply(name, args, kwargs)


def reduce(ufunc, array, axis=0, dtype=None, keepdims=False, initial=_MISSING, where=True):
    """Along axis 0 unless told otherwise."""
    given = {"axis": axis, "keepdims": keepdims}
    if dtype is not None and ufunc in _EXTREMES:
        array, dtype = array.astype(dtype, casting="same_kind"), None  # of which elements are then taken
    given |= {} if dtype is None else {"dtype": dtype}
    given |= {} if where is True else {"where": where}
    given |= {} if initial is _MISSING else {"initial": initial}
    if holds_active(initial) and ufunc in _FUNCTIONS:
        return _FUNCTIONS[ufunc](array, **given)
    return _known(ufunc, "reduce", (array,), given)


def accumulate(ufunc, array, axis=0, dtype=None):
    """Running results along one axis."""
    return _known(ufunc, "accumulate", (array,), {"axis": axis} | ({} if dtype is None else {"dtype": dtype}))


def reduceat(ufunc, array, indices, axis=0, dtype=None):
    """Results of segments along one axis."""
    given = {"axis": axis} | ({} if dtype is None else {"dtype": dtype})
    indices = plain(indices)
    if not isinstance(indices, np.ndarray):
        indices = np.array(indices, np.intp)  # of a list NumPy takes any numbers
    return _known(ufunc, "reduceat", (array, indices), given)


def outer(ufunc, a, b, **kwargs):
    """Every element of one with every element of the other."""
    a, b = _array(a), _array(b)
    return ufunc(a[(...,) + (None,) * b.ndim], b, **kwargs)


def _at(ufunc, sign):
    """The Primitive of ``ufunc.at`` by flat places: linear in both, one sum in NumPy's order."""

    def forward(a, places, b):
        flat = np.array(a, order="C").reshape(-1)
        ufunc.at(flat, places, b)
        return flat.reshape(a.shape)

    def vjp(g, out, args, kwargs, argnums):
        return [added(g, args[1]) if k else g for k in argnums]

    def added(g, places):
        found = taken(g, places, sign) if is_plain(g, places) else None
        return sign * np.take(g, places) if found is None else found

    def jvp(tangents, out, args, kwargs):
        if 2 not in tangents:
            return tangents[0]
        a, b = tangents.get(0, np.zeros(np.shape(out))), tangents[2]
        return forward(a, args[1], b) if is_plain(a, b) else call(AT[ufunc], (a, args[1], b))

    return Primitive(f"{ufunc.__name__}.at", forward, vjp, jvp, keep_args=False, keep_out=False)


AT = {np.add: _at(np.add, 1.0), np.subtract: _at(np.subtract, -1.0)}


def _places(shape, index):
    """The flat positions of what an index chooses; of a vector they are not looked up, which would cost all of it."""
    if len(shape) == 1 and isinstance(index, (list, np.ndarray)):
        places = np.asarray(index)
        if places.dtype.kind == "i" and places.ndim:
            return places_along(shape[0], places)
    return np.arange(math.prod(shape)).reshape(shape)[index]


def at(ufunc, a, indices, *b):
    """In place, one after the other where a place comes more than once."""
    if not isinstance(a, Array):
        if holds_active(b):
            refuse(f"{ufunc.__name__}.at", "the array written to is a plain one and would lose the derivative: write "
                   "`a = codipy.Array(a)` first")  # fmt: skip
        return ufunc.at(a, value_tree(indices), *value_tree(b))
    if not a.ndim:
        a, indices = a.reshape(1), np.zeros(np.shape(np.zeros(())[value_tree(indices)]), int)
    places = _places(a.shape, value_tree(indices))
    if not places.size:
        return ufunc.at(stand_in(a), value_tree(indices), *value_tree(b))  # which raises of what has no loop
    b = [_array(x) for x in b]
    b = [x if x.shape == places.shape else move(np.broadcast_to, ("array",), (x, places.shape), {}) for x in b]
    b = [x if x.ndim == 1 else x.reshape(-1) for x in b]
    places = places.reshape(-1)
    if ufunc in AT and 4 * places.size >= a.size and (holds_active(a) or holds_active(b)):
        a[...] = call(AT[ufunc], (a, places, *b))
        return
    if ufunc in AT:
        once, ranks = distinct(places)
        where = once if a.ndim == 1 else np.unravel_index(once, a.shape)
        a[where] = call(AT[ufunc], (a[where], ranks, *b))
        return
    in_turn(ufunc, a, places, b)


def in_turn(ufunc, a, places, b):
    """``ufunc.at`` by flat places and vectors of operands, in rounds.

    Each takes the next occurrence of every place, so that no two of a round meet.
    """
    order = np.argsort(places, kind="stable")
    new = np.append(True, places[order][1:] != places[order][:-1])[: places.size]
    firsts = np.maximum.accumulate(np.where(new, np.arange(places.size), 0)) if places.size else places
    turns = np.empty(places.size, int)
    turns[order] = np.arange(places.size) - firsts
    rounds = [np.flatnonzero(turns == turn) for turn in range(turns.max() + 1 if places.size else 0)]
    operands = [[x[chosen] for x in b] for chosen in rounds]  # before anything is written: they may be views of `a`
    for chosen, given in zip(rounds, operands):
        where = np.unravel_index(places[chosen], a.shape)
        a[where] = ufunc(a[where], *given)
