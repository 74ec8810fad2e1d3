# SPDX-License-Identifier: Apache-2.0
"""Functions that only move elements: the same call on the identifiers is the derivative."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from codipy.active.array import Array, Real, identifiers, plain
from codipy.active.doors import door

from . import views
from .arguments import (
    assign,
    bind,
    call_with,
    copied,
    fillable,
    gather_tree,
    holds_active,
    identifier_tree,
    laid_identifier_tree,
    rebuilt,
    value_tree,
)  # fmt: skip
from .decisions import decision, keep
from .names import of_name
from .views import Shown

__all__ = ["DATA", "FUNCTIONS", "SHOWING", "SPECIAL", "move", "one_by_one", "pieces"]

# What moves, by the names of the arguments; the rest says where to.
DATA = {
    "append": "arr values",
    "block": "arrays",
    "choose": "choices",
    "column_stack": "tup",
    "compress": "a",
    "concatenate": "arrays",
    "delete": "arr",
    "diagflat": "v",
    "dstack": "tup",
    "extract": "arr",
    "fft.fftshift": "x",
    "fft.ifftshift": "x",
    "hstack": "tup",
    "insert": "arr values",
    "repeat": "a",
    "resize": "a",
    "roll": "a",
    "select": "choicelist default",
    "stack": "arrays",
    "take": "a",
    "take_along_axis": "arr",
    "tril": "m",
    "triu": "m",
    "vstack": "tup",
    "where": "x y",
}

# They look at no element, and what they give of an array is elements of it.
SHOWING = frozenset(map(of_name, views.DATA))

# Arguments of which each element is an array.
_SEQUENCES = frozenset({"arrays", "choicelist", "choices", "tup"})

# Arguments that mean something for values only.
_VALUES_ONLY = ("out", "dtype", "casting")


def move(func, data, args, kwargs):
    """Run `func` on stand-ins of the Arrays in the arguments named in `data`.

    What it gives a view of is one; other results are new, and of their elements the same call on the identifiers tells
    where they come from.
    """
    bound = bind(func, args, kwargs)
    out = bound.pop("out", None)
    shown = Shown(as_they_are=func in SHOWING)
    values = call_with(func, bound, shown.tree, data)
    ids = None
    if any(holds_active(bound.get(name)) for name in data):
        if getattr(values, "dtype", None) == np.dtype(object):
            apart = {name: one_by_one(func, name, value) for name, value in bound.items()}
            return assign(call_with(func, apart, partial(_objects, func), data), out)
        ids = cache(lambda: call_with(func, bound, laid_identifier_tree, data, _VALUES_ONLY))
    return assign(shown.results(values, ids), out)


def one_by_one(func, name, value):
    """An argument that is a sequence of arrays as a list: what is in an array NumPy would ask again who computes."""
    is_sequence = name in _SEQUENCES and func is not np.block and isinstance(value, (Array, np.ndarray))
    return list(value) if is_sequence else value


def _objects(func, tree):
    """The same with arrays of Reals, which move as any objects do."""
    def leaf(x):
        if type(x) is Real and func is np.insert:  # which puts the number itself there, not a float of Python
            return np.array(x, object)
        return door("as objects")(x)

    return rebuilt(tree, leaf)


def _move(func, args, kwargs, data):
    return move(func, data, args, kwargs)


def _kinds(x):
    return np.isnan(x), np.isposinf(x), np.isneginf(x)


_KINDS = decision("np.nan_to_num", _kinds)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Where a number stands in for a NaN or an infinity, its identifier does too."""
    keep(_KINDS, (x,))
    values = plain(x)
    result = np.nan_to_num(values, True, *map(plain, (nan, posinf, neginf)))
    ids = np.where(np.isnan(values), identifiers(nan), identifiers(x))
    for fill, which in ((posinf, np.isposinf(values)), (neginf, np.isneginf(values))):
        ids = np.where(which, 0 if fill is None else identifiers(fill), ids)
    moved = gather_tree(result, ids)
    if copy:
        return moved
    assign(moved, x)
    return x if np.ndim(values) else x[()]  # as NumPy does it


def imag(val):
    """The imaginary part of what is real: zeros."""
    return fillable(np.imag(plain(val)))


def pieces(conditions, count, ndim):
    """The conditions of `piecewise` for an argument of `ndim` dimensions, one for each of `count` functions."""
    if np.isscalar(conditions) or not isinstance(conditions[0], (list, np.ndarray)) and ndim:
        conditions = [conditions]
    conditions = list(np.asarray(conditions, bool))
    known = len(conditions)
    if count == known + 1:
        conditions.append(~np.any(conditions, axis=0))
    elif count != known:
        raise ValueError(f"with {known} condition(s), either {known} or {known + 1} functions are expected")
    return conditions


def piecewise(x, condlist, funclist, *args, **kw):
    """Each function sees its elements, as NumPy calls them; what no condition takes is 0."""
    conditions = pieces(value_tree(condlist), len(funclist), np.ndim(plain(x)))
    flat = move(np.reshape, ("a",), (x, (-1,)), {})
    result = np.zeros_like(value_tree(x))
    ids, numbered = np.zeros(result.shape, np.int32), np.arange(result.size).reshape(result.shape)
    parts = []  # kept until the end: an identifier whose owner is gone may be handed out again
    for condition, function in zip(conditions, funclist):
        places = numbered[condition]
        if places.size:
            part = copied(function(flat[places], *args, **kw)) if callable(function) else function
            parts.append(part)
            result[condition], ids[condition] = value_tree(part), identifier_tree(part)
    return gather_tree(result, ids)


FUNCTIONS = {name: partial(_move, data=tuple(names.split())) for name, names in (DATA | views.DATA).items()}
SPECIAL = {function.__name__: function for function in (nan_to_num, imag, piecewise)}
