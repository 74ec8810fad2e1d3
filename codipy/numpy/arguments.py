# SPDX-License-Identifier: Apache-2.0
"""Trees of arguments as NumPy's functions take them: which hold active values, their values, their identifiers."""

from __future__ import annotations

import inspect
from functools import cache

import numpy as np

from codipy.active.array import Array, Real, gather, identifiers, is_complex_variable, plain, with_gaps
from codipy.active.arrays.elementwise_door import overlap
from codipy.active.arrays.plain import is_writable, stand_in
from codipy.active.doors import door
from codipy.active.messages.callers import asked_by_users, refused_out
from codipy.active.recordings import status
from codipy.errors import ActiveError

__all__ = [
    "PLAIN", "apart", "assign", "bind", "call_with", "check_out", "copied", "each", "fillable", "gather_tree",
    "holds_active", "holds_array", "holds_complex", "holds_objects", "holds_variables", "identifier_tree",
    "is_of_objects", "kept_by", "laid_identifier_tree", "laid_out", "like_objects", "parameters", "rebuilt", "refuse",
    "sees_objects", "value_leaf", "value_tree",
]  # fmt: skip


# Functions that repeat their results along dimensions that only ``out=`` has, as ufuncs do.
_SPREADING = frozenset({
    "clip", "fix", "isneginf", "isposinf", "nanmedian", "nanpercentile", "nanquantile", "outer", "percentile",
    "quantile",
})  # fmt: skip


# Types of most arguments, looked up before the questions that take longer.
_OURS = frozenset({Array, Real})
_COMPLEX = frozenset({np.dtype(np.complex128), np.dtype(np.complex64)})
PLAIN = frozenset({int, float, bool, str, type(None), np.float64, np.int64})
_NO_OBJECTS = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type, range, slice, type(np._NoValue))


def _holds(tree):
    kind = type(tree)
    if kind in _OURS:
        return tree.is_active
    if kind in PLAIN:
        return False
    if isinstance(tree, (list, tuple)):
        return not PLAIN.issuperset(map(type, tree)) and any(map(_holds, tree))
    if isinstance(tree, dict):
        return any(map(_holds, tree.values()))
    if isinstance(tree, np.ndarray):
        return tree.dtype == object and any(map(_holds, tree.flat))
    return False


def holds_active(tree):
    """Whether an active Array or Real is in a tree of lists, tuples, dictionaries and object arrays.

    Inside ``codipy.passive()`` nothing is active.
    """
    return _holds(tree) and not status.in_passive()


def _holds_complex_variables(tree):
    if isinstance(tree, (list, tuple)):
        return any(map(_holds_complex_variables, tree))
    if isinstance(tree, dict):
        return any(map(_holds_complex_variables, tree.values()))
    return is_complex_variable(tree) and tree.is_active


def holds_variables(tree):
    """Whether something active, real or complex, is in a tree; nothing is inside ``codipy.passive()``."""
    return holds_active(tree) or _holds_complex_variables(tree) and not status.in_passive()


def holds_complex(tree):
    """Whether complex numbers, plain ones or variables, are in a tree of lists, tuples and arrays of objects."""
    kind = type(tree)
    if kind in _OURS or kind in PLAIN:
        return False
    if kind in (list, tuple):
        return not PLAIN.issuperset(map(type, tree)) and any(map(holds_complex, tree))
    if kind is np.ndarray and tree.dtype == object:
        return any(map(holds_complex, tree.flat))
    return is_complex_variable(tree) or isinstance(tree, (complex, np.ndarray, np.generic)) and np.iscomplexobj(tree)


def rebuilt(tree, leaf):
    """The same lists, tuples and dictionaries with other leaves."""
    if type(tree) in _OURS:
        return leaf(tree)
    if isinstance(tree, dict):
        return {key: rebuilt(value, leaf) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        leaves = [rebuilt(item, leaf) for item in tree]
        return type(tree)(*leaves) if hasattr(tree, "_fields") else type(tree)(leaves)
    return leaf(tree)


def _unboxed(leaf, x, dtype):
    """An array of objects with something of ours inside: an array of numbers, where all of them are numbers."""
    found = each(leaf, x)
    return found if is_of_objects(x) else found.astype(dtype)


def each(function, x):
    """An array of objects of what a function makes of each element of one, which lies as that does."""
    row = np.empty(x.size, object)
    for k, item in enumerate(x.flat):
        row[k] = function(item)
    made = np.empty_like(x, subok=False)
    made[...] = row.reshape(x.shape)
    return made


def _is_number(x):
    if type(x) is Array:
        return not x.ndim
    return type(x) is Real or isinstance(x, (int, float, np.floating, np.integer, np.bool_))


def is_of_objects(x):
    """Whether x is an array of objects of which one is no number: an array, None, or what the user has made.

    NumPy computes with each element of such an array as it is; it is no array of numbers with more axes.
    """
    return isinstance(x, np.ndarray) and x.dtype == object and not all(map(_is_number, x.flat))


def sees_objects(x):
    """Whether NumPy computes with each element of x as it is, in the plain run, too.

    In code that is not rebuilt, as of a library, an array of objects that are Reals is what NumPy makes of a list of
    them: of the list of numbers in the plain run it makes an array of numbers.
    """
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return False
    return is_of_objects(x) or not _holds(x) or asked_by_users()


def like_objects(value, x):
    """The plain value of a leaf, as an array of objects where NumPy sees one: results are of objects, too."""
    return value.astype(object) if value is not x and sees_objects(x) else value


def _is_object(x):
    if isinstance(x, np.ndarray):
        return is_of_objects(x)
    return not (isinstance(x, _NO_OBJECTS) or is_complex_variable(x)) and np.asarray(x).dtype == object


def holds_objects(tree):
    """Whether objects that are no numbers are among the operands of a function: in an array, in a list or alone."""
    kind = type(tree)
    if kind in _OURS or kind in PLAIN:
        return False
    if isinstance(tree, (list, tuple)):
        return not PLAIN.issuperset(map(type, tree)) and any(map(holds_objects, tree))
    if isinstance(tree, dict):
        return any(map(holds_objects, tree.values()))
    return _is_object(tree)


def value_leaf(x):
    """The plain value of a leaf of a tree."""
    return _unboxed(plain, x, float) if _holds_ours(x) else plain(x)


def _identifiers(x):
    return _unboxed(identifiers, x, np.int32) if _holds_ours(x) else identifiers(x)


def _holds_ours(x):
    return isinstance(x, np.ndarray) and x.dtype == object and not _OURS.isdisjoint(map(type, x.flat))


def value_tree(tree):
    """The tree with plain values; itself where it is a list of numbers or an ndarray of them."""
    kind = type(tree)
    if kind in PLAIN or kind is np.ndarray and tree.dtype != object:
        return tree
    return tree if kind in (list, tuple) and PLAIN.issuperset(map(type, tree)) else rebuilt(tree, value_leaf)


def laid_out(numbers, values):
    """Integers that lie as some values do, on which what ``order="K"`` and ``"A"`` mean depends.

    Parameters
    ----------
    numbers, values : ndarray
        Of one shape. Values that are one in memory have one number.

    Returns
    -------
    ndarray
        Not to be written to: the numbers themselves where the values lie in C order.
    """
    if values.flags.c_contiguous:
        return numbers
    unit = 1 if any(stride % values.itemsize for stride in values.strides) else values.itemsize
    strides = [stride // unit * numbers.itemsize for stride in values.strides]
    reach = [(n - 1) * stride for n, stride in zip(values.shape, strides)]
    first = -sum(step for step in reach if step < 0)
    room = np.empty(first + sum(step for step in reach if step > 0) + numbers.itemsize, np.uint8)
    lying = np.ndarray(values.shape, numbers.dtype, room, first, strides)
    lying[...] = numbers
    lying.flags.writeable = False
    return lying


def _laid_identifiers(x):
    return laid_out(identifiers(x), stand_in(x)) if type(x) is Array else _identifiers(x)


def identifier_tree(tree):
    """The tree with an array of identifiers for each leaf, zeros for plain ones."""
    return rebuilt(tree, _identifiers)


def laid_identifier_tree(tree):
    """The same with identifiers of Arrays that lie as their values do, not to be written to."""
    return rebuilt(tree, _laid_identifiers)


# What a NumPy whose C functions tell no signature lacks.
_SIGNATURES = {
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": ...,
    "where": lambda condition, x=None, y=None, /: ...,
    "dot": lambda a, b, out=None: ...,
    "vdot": lambda a, b, /: ...,
    "inner": lambda a, b, /: ...,
    "bincount": lambda x, /, weights=None, minlength=0: ...,
    "copyto": lambda dst, src, casting="same_kind", where=True: ...,
    "putmask": lambda a, /, mask, values: ...,
    "lexsort": lambda keys, axis=-1: ...,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: ...,
    "array": lambda object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None: ...,
    "asarray": lambda a, dtype=None, order=None, *, device=None, copy=None, like=None: ...,
    "asanyarray": lambda a, dtype=None, order=None, *, device=None, copy=None, like=None: ...,
    "ascontiguousarray": lambda a, dtype=None, *, like=None: ...,
    "asfortranarray": lambda a, dtype=None, *, like=None: ...,
    "arange": lambda start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None: ...,
}


class Parameters:
    """The parameters of a function, read once: `inspect` needs 10 us to bind one call."""

    def __init__(self, func):
        try:
            self.signature = inspect.signature(func)
        except ValueError:
            self.signature = inspect.signature(_SIGNATURES.get(func.__name__, lambda *args, **kwargs: ...))
        self.all = list(self.signature.parameters.values())
        self.variable = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in self.all)
        self.positional = [p.name for p in self.all if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.by_name = {p.name for p in self.all if p.kind != p.POSITIONAL_ONLY}
        self.needed = {p.name for p in self.all if p.default is p.empty}

    def bind(self, args, kwargs):
        """What was given, by name."""
        if not self.variable and len(args) <= len(self.positional) and kwargs.keys() <= self.by_name:
            given = dict(zip(self.positional, args)) | kwargs
            if len(given) == len(args) + len(kwargs) and given.keys() >= self.needed:
                return given
        return self.signature.bind(*args, **kwargs).arguments  # or a TypeError that says what is wrong

    def split(self, given):
        """Positional and keyword arguments of what was given by name."""
        if self.variable:
            bound = inspect.BoundArguments(self.signature, given)
            return bound.args, bound.kwargs
        count = next((k for k, name in enumerate(self.positional) if name not in given), len(self.positional))
        leading = self.positional[:count]
        return [given[name] for name in leading], {key: value for key, value in given.items() if key not in leading}


parameters = cache(Parameters)


def bind(func, args, kwargs):
    """The arguments by NumPy's own names, only those that were given."""
    return parameters(func).bind(args, kwargs)


def call_with(func, given, tree, data=None, without=()):
    """Call `func` with `tree` of the arguments in `data`, with the values of the others, and not with `without`."""
    changed = {
        name: tree(value) if data is None or name in data else value_tree(value)
        for name, value in given.items()
        if name not in without
    }
    args, kwargs = parameters(func).split(changed)
    return func(*args, **kwargs)


def apart(tree):
    """The tree of a product's operands, with plain copies of Arrays that share values only until one is written to.

    NumPy's products ask whether two operands are one array, and add in another order then.
    """
    seen: list = []

    def leaf(x):
        if type(x) is not Array:
            return x
        for y in seen:
            if np.may_share_memory(x.value, y.value) and not overlap(np.may_share_memory, x, y):
                return np.array(x.value)
        seen.append(x)
        return x

    return rebuilt(tree, leaf)


def copied(tree):
    """What a function of the user's returned, as it is now: it may be an array or a list that it fills each time."""
    return rebuilt(tree, _copy)


def _copy(x):
    is_array = type(x) is Array or isinstance(x, np.ndarray) or is_complex_variable(x) and hasattr(x, "copy")
    return x.copy() if is_array else x


def holds_array(tree):
    """Whether an Array, active or not, is in a tree of lists and tuples."""
    if isinstance(tree, (list, tuple)):
        return any(map(holds_array, tree))
    return any(map(holds_array, tree.values())) if isinstance(tree, dict) else type(tree) is Array


def fillable(values):
    """Passive Arrays of float arrays while a tape records, since something active may be written into them later.

    Rejected: plain arrays, which would make it depend on the data whether `y = np.where(c, x, 0.0); y[0] = x[0]` works.
    """
    if isinstance(values, (list, tuple)):
        made = map(fillable, values)
        return type(values)(*made) if hasattr(values, "_fields") else type(values)(made)
    if isinstance(values, np.ndarray) and values.dtype in (np.float64, np.float32) and status.recording() is not None:
        made = with_gaps(values)
        if not is_writable(values):
            made.flags.writeable = False
        return made
    if isinstance(values, np.ndarray) and values.dtype in _COMPLEX and status.recording() is not None:
        return door("complexes")().as_complex(values)
    return values


def gather_tree(values, ids):
    """Movement of results: arrays, or lists, tuples and named tuples of them."""
    if isinstance(values, (list, tuple)):
        moved = [gather_tree(*pair) for pair in zip(values, ids, strict=True)]
        return type(values)(*moved) if hasattr(values, "_fields") else type(values)(moved)
    kind = np.asarray(values).dtype.kind
    if kind != "f":
        if kind == "c" and np.any(ids):
            raise ActiveError("complex elements beside those of an active Array: make that complex, x.astype(complex)")
        if kind == "O" and np.any(ids):
            raise ActiveError("an array of objects would lose the derivatives of the numbers among them: keep numbers "
                              "and other objects in arrays of their own, or all in a list")
        return values
    moved = gather(values, np.array(ids, np.int32, order="C"))
    return fillable(moved) if moved is values else moved


def check_out(shape, out, kept=None):
    """Raise where NumPy would not write a result into ``out=``.

    Parameters
    ----------
    shape : tuple of int
        Of the result.
    out : Array, ComplexArray or ndarray
        What it is to be written into.
    kept : int, optional
        How many of the last dimensions must be the result's, where it is repeated along those in front of them, as
        ufuncs do; by default all, and none may stand in front.

    Raises
    ------
    ValueError
        As NumPy does.
    """
    if kept is None:
        fits = shape == out.shape
    else:
        fits = len(shape) <= len(out.shape) and np.broadcast_shapes(out.shape, shape) == out.shape
        fits = fits and (not kept or shape[-kept:] == out.shape[-kept:])
    if not fits:
        raise ValueError(f"out= has shape {out.shape}, the result has {shape}")


def kept_by(name):
    """What `check_out` is to know of a function of NumPy, by its name below `np.`."""
    return 0 if name in _SPREADING else None


def assign(result, out, kept=None):
    """Honour ``out=``: into an Array by its own assignment, into a plain array only what is passive.

    `kept` is that of `check_out`.
    """
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is None:
        return result
    check_out(np.shape(value_tree(result)), out, kept)
    if not isinstance(out, Array):
        if holds_active(result):
            raise ActiveError(refused_out())
        np.copyto(out, value_tree(result), casting="same_kind")
        return out
    out[...] = result
    return out


def refuse(name, why):
    """Raise the error that names the function and the cure."""
    raise ActiveError(f"{name if name.startswith('scipy.') else 'np.' + name}: {why}")
