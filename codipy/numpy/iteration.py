# SPDX-License-Identifier: Apache-2.0
"""NumPy's classes and objects that loop over elements or join them, which offer no protocol to Arrays."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from codipy.active.array import Array, Real
from codipy.active.doors import door
from codipy.active.recordings import status
from codipy.numpy.allocation import arange, array, asarray, fresh, holds_movable, linspace
from codipy.numpy.arguments import gather_tree, holds_active, identifier_tree, like_objects, refuse, value_leaf
from codipy.numpy.rules.building import in_memory

__all__ = ["broadcast", "c_", "ndenumerate", "nditer", "r_", "vectorize"]


class ndenumerate(np.ndenumerate):
    """``numpy.ndenumerate``: of an Array its elements, as they are when they are reached."""

    def __init__(self, arr):
        self._pairs = None
        if holds_movable(arr):
            arr = asarray(arr)
            self._pairs = ((index, arr[index]) for index in np.ndindex(arr.shape))
        else:
            super().__init__(arr)

    def __next__(self):
        return super().__next__() if self._pairs is None else next(self._pairs)


@functools.wraps(np.nditer, updated=())
def nditer(op, *args, **kwargs):
    # Also where nothing is active yet: what is written through its views of the memory could not be recorded.
    if holds_movable(op):
        refuse("nditer", "it reads and writes memory and would lose the derivative: loop over `np.ndindex(a.shape)` "
                         "with `a[index]`, or take `codipy.value(x)`")  # fmt: skip
    return np.nditer(op, *args, **kwargs)


class _Broadcast:
    """``numpy.broadcast`` of arrays of which one is an Array: its elements are read when they are reached."""

    def __init__(self, operands):
        operands = [asarray(x) if holds_movable(x) else np.asarray(x) for x in operands]
        self.shape = np.broadcast_shapes(*(x.shape for x in operands))
        self.ndim = self.nd = len(self.shape)
        self.size, self.numiter = math.prod(self.shape), len(operands)
        self._seen = [np.broadcast_to(x, self.shape) for x in operands]
        self.reset()

    def reset(self):
        """Begin again."""
        self.index = 0

    @property
    def iters(self):
        return tuple(x.flat for x in self._seen)

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.size:
            raise StopIteration
        place = np.unravel_index(self.index, self.shape) if self.shape else ()
        self.index += 1
        return tuple(x[place] for x in self._seen)


@functools.wraps(np.broadcast, updated=())
def broadcast(*operands):
    return _Broadcast(operands) if any(map(holds_movable, operands)) else np.broadcast(*operands)


class vectorize(np.vectorize):
    """``numpy.vectorize``: while a tape records, the function sees Reals and the results are Arrays."""

    def _vectorize_call(self, func, args):
        if status.recording() is None or not args:
            return super()._vectorize_call(func, args)
        if self.signature is not None:
            if any(map(holds_movable, args)):
                refuse("vectorize", "with signature= it would lose the derivative: loop over the leading dimensions, "
                                    "and join the results with `np.stack`")  # fmt: skip
            return super()._vectorize_call(func, args)
        operands = [asarray(x) if holds_movable(x) else np.asanyarray(x, dtype=object) for x in args]
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        first = None
        if not self.otypes:
            if not all(x.size for x in operands):
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            first = func(*(x.flat[0] for x in _asarrays(args)))  # as NumPy, which asks it for the dtypes
        rows = zip(*(_elements(x, given, shape) for x, given in zip(operands, args)))
        results = [first] if self.cache and first is not None else []
        results += [func(*row) for row in itertools.islice(rows, len(results), None)]
        several = len(self.otypes) > 1 if self.otypes else isinstance(first, tuple)
        columns = list(zip(*results, strict=True)) if several else [results]
        if not results:
            columns = [()] * len(self.otypes)
        firsts = first if type(first) is tuple else (first,)
        types = self.otypes or [np.asarray(_value(part)).dtype for part in firsts]
        made = tuple(_column(column, np.dtype(kind), shape) for column, kind in zip(columns, types, strict=True))
        if not all(x.flags.c_contiguous for x in operands):  # as a ufunc lays out what it makes of them
            order = in_memory(functools.reduce(np.logical_or, (np.empty_like(_value(x), bool) for x in operands)))
            made = tuple(np.transpose(np.transpose(y, order).copy(), np.argsort(order)) for y in made)
        return made if several else made[0]


def _value(x):
    """The numbers of a variable, real or complex; anything else unchanged."""
    return value_leaf(x) if isinstance(x, np.ndarray) else x.value if holds_movable(x) else x


def _asarrays(args):
    return [asarray(x) if holds_movable(x) else np.asarray(x) for x in args]


def _leaves(tree):
    return [leaf for part in tree for leaf in _leaves(part)] if isinstance(tree, (list, tuple)) else [tree]


def _elements(x, given, shape):
    """What NumPy calls the function with: floats of Python of an array, a number as it is, alone or in a list."""
    items = _leaves(given) if holds_movable(given) else [x]
    if any(isinstance(leaf, (np.ndarray, Array)) or np.ndim(leaf) for leaf in items):
        items = x.reshape(-1).tolist()
    if x.shape == shape:
        return items
    return [items[k] for k in np.broadcast_to(np.arange(x.size).reshape(x.shape), shape).flat]


def _column(items, dtype, shape):
    if dtype.kind == "O":
        made = np.empty(len(items), object)
        made[:] = items
        return made.reshape(shape)
    if dtype.kind in "fc" and dtype.char not in "dfDF" and holds_active(items):
        refuse("vectorize", f"otypes={dtype} would lose the derivative: leave it away")
    return array(list(items), dtype).reshape(shape)


class _Joiner:
    """``numpy.r_`` or ``numpy.c_``: the same call on values and on identifiers."""

    def __init__(self, original):
        self._original, self.__doc__ = original, original.__doc__

    def __getattr__(self, name):
        return getattr(self._original, name)

    def __len__(self):
        return 0

    def __getitem__(self, key):
        if status.recording() is None or isinstance(key, str):
            return self._original[key]
        items = [_item(x) for x in (key if isinstance(key, tuple) else (key,))]
        if items and isinstance(items[0], str) and items[0] in ("r", "c") and any(map(holds_movable, items)):
            refuse("r_", "a matrix cannot be active: leave the directive away")
        values = self._original[tuple(like_objects(_value(x), x) for x in items)]
        if not any(map(holds_movable, items)):
            return fresh(values)
        if values.dtype == object:
            return self._original[tuple(map(_objects_of, items))]
        if values.dtype.kind == "c":
            moved, numbers = door("complexes")().moved, door("complexes")().pair_identifiers
        else:
            moved, numbers = gather_tree, _zeros
        return moved(values, self._original[tuple(x if isinstance(x, str) else numbers(x) for x in items)])


def _item(x):
    if isinstance(x, slice):
        step = 1 if x.step is None else x.step
        start = 0 if x.start is None else x.start
        if isinstance(step, complex):
            return linspace(start, x.stop, int(abs(step)))
        return arange(start, x.stop, step)
    return array(x) if isinstance(x, (list, tuple)) else x


def _objects_of(x):
    return np.array(x, object) if type(x) is Real else door("as objects")(x)  # a scalar of NumPy is one there, too


def _zeros(x):
    """The identifiers of an item, zeros where it is plain."""
    return np.asarray(identifier_tree(x), np.int32)


r_, c_ = _Joiner(np.r_), _Joiner(np.c_)
