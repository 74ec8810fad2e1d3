# SPDX-License-Identifier: Apache-2.0
"""Values by identifier, where a value may be a variable of the enclosing recording; and adjoints or tangents likewise.

Identifiers are linear, and those of an array lie side by side: an array is kept as one axis of its elements, in the
order of their identifiers. A set of identifiers is (first, shape, strides), as in `codipy.tape.contents.reading`.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from codipy.active.array import Array, Real, from_nested, is_active

__all__ = ["Flows", "Slots", "reach"]


def reach(first, shape, strides):
    """The lowest identifier of a set, and one past its highest."""
    if 0 in shape:
        return first, first
    low = first + sum(step * (n - 1) for n, step in zip(shape, strides) if step < 0)
    return low, first + sum(step * (n - 1) for n, step in zip(shape, strides) if step > 0) + 1


def _numbers(first, shape, strides):
    """The identifiers of a set, as an array of its shape."""
    found = np.full(shape, first)
    for axis, (n, step) in enumerate(zip(shape, strides)):
        found = found + (np.arange(n) * step).reshape((n,) + (1,) * (len(shape) - axis - 1))
    return found


def _order(shape, strides):
    """The axes as they lie in memory, the outermost first, if the elements lie side by side; else None."""
    order = sorted(range(len(shape)), key=lambda axis: -strides[axis])
    unit = 1
    for axis in reversed(order):
        if shape[axis] != 1 and strides[axis] != unit:
            return None
        unit *= shape[axis]
    return order


def _is_ordered(order):
    return all(a == b for a, b in enumerate(order))


class Slots:
    """What stands for each identifier: a number, a Real, or an element of an array.

    Attributes
    ----------
    scalars : dict
        By identifier.
    firsts, sizes : list of int
        First identifiers of the arrays, ascending, and their lengths.
    arrays : dict
        The arrays, of one axis, by their number in these lists.
    rewritten : set of int
        First identifiers of the arrays that are set in parts, and perhaps again: who reads them gets copies.
    """

    def __init__(self):
        self.scalars, self.firsts, self.sizes, self.arrays = {}, [], [], {}
        self._ours = set()     # the arrays that nobody else has, by number: they may be written to
        self.rewritten = set()

    def open(self, first, size):
        """Room for an array; its identifiers are larger than all before. Returns its number."""
        self.firsts.append(first)
        self.sizes.append(size)
        return len(self.firsts) - 1

    def number(self, identifier):
        """The number of the array that has this identifier; -1 for that of a scalar."""
        found = bisect_right(self.firsts, identifier) - 1
        return found if found >= 0 and identifier < self.firsts[found] + self.sizes[found] else -1

    # ---- Values ----

    def put(self, where, value):
        """Set some identifiers, each named once: a new array, or a part of one that there is room for."""
        first, shape, strides = where
        low, end = reach(first, shape, strides)
        if low == end:
            return
        number = self.number(low)
        if number < 0:
            number = self.open(low, end - low)
        if not shape:
            self._own(number)[first - self.firsts[number]] = value
            return
        order = _order(shape, strides)
        if order is not None and end - low == self.sizes[number]:
            self.arrays[number] = _flat(value if _is_ordered(order) else np.transpose(value, order))
            self._ours.discard(number)
            return
        whole, low = self._own(number), low - self.firsts[number]
        if order is not None:
            end -= self.firsts[number]
            whole[low:end] = _flat(value if _is_ordered(order) else np.transpose(value, order))
        else:
            whole[_numbers(first, shape, strides) - self.firsts[number]] = value

    def _own(self, number):
        """The array of a number, one that nobody else has and that can hold active elements."""
        if number not in self._ours:
            old = self.arrays.get(number)
            self.arrays[number] = Array(np.zeros(self.sizes[number]) if old is None else old)     # a copy
            self._ours.add(number)
        return self.arrays[number]

    def get(self, where):
        """What stands for some identifiers, as an array of their shape; a scalar where there are no axes."""
        first, shape, strides = where
        if not shape:
            return self.one(first)
        low, end = reach(first, shape, strides)
        if low == end:
            return np.zeros(shape)
        number = self.number(low)
        if end == low + 1:           # repeated
            return np.broadcast_to(_line([self.one(low)]), shape)
        if number < 0 or end > self.firsts[number] + self.sizes[number]:
            return self.several(_numbers(first, shape, strides))
        found = _shown(self.arrays[number], first - self.firsts[number], shape, strides)
        return found.copy() if self.firsts[number] in self.rewritten else found

    def one(self, identifier):
        """What stands for one identifier."""
        number = self.number(identifier)
        return self.scalars[identifier] if number < 0 else self.arrays[number][identifier - self.firsts[number]]

    def several(self, identifiers, constants=()):
        """The same for any identifiers, as an array of their shape; those that are 0 stand for the constants."""
        if identifiers.ndim == 0:
            return self.one(int(identifiers)) if identifiers else np.float64(constants[0])
        flat = identifiers.reshape(-1)
        if flat.size == 0:
            return np.zeros(identifiers.shape)
        constants, used, parts, at = np.asarray(constants, np.float64), 0, [], 0
        goes_on = np.where(flat[:-1] == 0, flat[1:] == 0, np.diff(flat) == 1)
        breaks = np.flatnonzero(~goes_on) + 1
        ends = [*breaks.tolist(), flat.size]
        if len(ends) > 8:
            if flat.min() == flat.max() > 0:
                return np.broadcast_to(_line([self.one(int(flat[0]))]), identifiers.shape).copy()
            found = self._from_one(flat)
            if found is not None:
                return found.reshape(identifiers.shape)
        for end in ends:
            if flat[at] == 0:
                parts.append(constants[used:used + end - at])
                used += end - at
            else:
                parts += self._run(int(flat[at]), end - at)
            at = end
        if not parts:
            return np.zeros(identifiers.shape)
        joined = parts[0] if len(parts) == 1 and np.ndim(parts[0]) else _joined(parts)
        return joined.reshape(identifiers.shape)

    def _from_one(self, flat):
        """Elements of one array, if all are."""
        number = self.number(int(flat.min()))
        if number < 0 or flat.max() >= self.firsts[number] + self.sizes[number]:
            return None
        return self.arrays[number][flat - self.firsts[number]]

    def _run(self, first, count):
        """The parts of an array of `count` identifiers from `first` on."""
        parts = []
        while count:
            number = self.number(first)
            if number < 0:
                parts.append(self.scalars[first])
                n = 1
            else:
                offset = first - self.firsts[number]
                n = min(count, self.sizes[number] - offset)
                part = self.arrays[number][offset:offset + n]
                parts.append(part.copy() if self.firsts[number] in self.rewritten else part)
            first, count = first + n, count - n
        return parts


class _NoScalars(dict):
    def __missing__(self, identifier):
        return 0.0


class _Zeros(dict):
    def __init__(self, sizes):
        self._sizes = sizes

    def __missing__(self, number):
        return np.zeros(self._sizes[number])


class Flows(Slots):
    """Adjoints or tangents: where nothing was added they are zero.

    Parameters
    ----------
    values : Slots
        Whose identifiers they are for.
    """

    def __init__(self, values):
        self.scalars, self.firsts, self.sizes = _NoScalars(), values.firsts, values.sizes
        self.arrays = _Zeros(values.sizes)
        self._ours, self.rewritten = set(), values.rewritten

    def is_zero(self, where):
        """Whether nothing was added for any of some identifiers."""
        low, end = reach(*where)
        while low < end:
            number = self.number(low)
            if number in self.arrays if number >= 0 else low in self.scalars:
                return False
            low = low + 1 if number < 0 else self.firsts[number] + self.sizes[number]
        return True

    def take(self, where):
        """What was added for some identifiers; None where there is nothing."""
        return None if self.is_zero(where) else self.get(where)

    def consume(self, where):
        """The same, where these identifiers may have had another meaning before: that begins with zeros."""
        found = self.take(where)
        if found is not None:
            number = self.number(reach(*where)[0])
            if number >= 0 and self.firsts[number] in self.rewritten:
                self.put(where, np.zeros(where[1]))
        return found

    def add(self, where, bar):
        """Add to what stands for some identifiers; an element that is named more than once gets all its shares."""
        first, shape, strides = where
        if not shape:
            self.add_one(first, bar)
            return
        repeated = tuple(axis for axis, step in enumerate(strides) if step == 0 and shape[axis] > 1)
        if repeated:
            bar = np.sum(np.broadcast_to(bar, shape), axis=repeated)
            kept = [axis for axis in range(len(shape)) if axis not in repeated]
            self.add((first, tuple(shape[axis] for axis in kept), tuple(strides[axis] for axis in kept)), bar)
            return
        low, end = reach(first, shape, strides)
        if low == end:
            return
        if np.shape(bar) != shape:
            bar = np.broadcast_to(bar, shape)
        number = self.number(low)
        if number < 0 or end > self.firsts[number] + self.sizes[number]:
            self.add_several(_numbers(first, shape, strides).reshape(-1), _flat(bar))
            return
        order = _order(shape, strides)
        if order is None:
            self._add_at(number, _numbers(first, shape, strides) - self.firsts[number], bar)
            return
        bar = _flat(bar if _is_ordered(order) else np.transpose(bar, order))
        if end - low == self.sizes[number]:
            self.arrays[number] = self.arrays[number] + bar if number in self.arrays else bar
            self._ours.discard(number)
            return
        self._own(number)[low - self.firsts[number]:end - self.firsts[number]] += bar

    def add_one(self, identifier, bar):
        """The same for one identifier."""
        number = self.number(identifier)
        if number < 0:
            self.scalars[identifier] = self.scalars[identifier] + bar if identifier in self.scalars else bar
            return
        self._own(number)[identifier - self.firsts[number]] += bar

    def add_several(self, identifiers, bar):
        """The same for any, in one axis; what stands at a 0 is dropped."""
        places = np.searchsorted(np.asarray(self.firsts, np.int64), identifiers, side="right") - 1
        firsts, sizes = np.asarray([0, *self.firsts]), np.asarray([0, *self.sizes])
        places = np.where(identifiers < firsts[places + 1] + sizes[places + 1], places, -1)
        for number in np.unique(places).tolist():
            at = np.flatnonzero((places == number) & (identifiers != 0))
            if number < 0:
                different = np.unique(identifiers[at])
                if 4 * different.size < at.size:
                    for identifier in different.tolist():
                        self.add_one(identifier, np.sum(bar[np.flatnonzero(identifiers == identifier)]))
                else:
                    for k in at.tolist():
                        self.add_one(int(identifiers[k]), bar[k])
            elif at.size:
                offsets = identifiers[at] - self.firsts[number]
                part = bar if at.size == identifiers.size else bar[at]
                if at.size == self.sizes[number] and np.array_equal(offsets, np.arange(at.size)):
                    self.add((self.firsts[number], (at.size,), (1,)), part)
                elif np.all(np.diff(offsets) == 1):
                    self._own(number)[int(offsets[0]):int(offsets[-1]) + 1] += part
                else:
                    self._add_at(number, offsets, part)

    def _add_at(self, number, offsets, bar):
        np.add.at(self._own(number), offsets, bar)


def _flat(value):
    """An array in one axis."""
    return value if np.ndim(value) == 1 else np.reshape(value, (-1,))


def _joined(parts):
    if all(type(part) is Real or np.ndim(part) == 0 for part in parts):
        return _line(parts)
    return np.concatenate([part if type(part) is not Real and np.ndim(part) else _line([part]) for part in parts])


def _line(numbers):
    """An array of numbers, among them arrays without axes."""
    is_variable = any(type(number) is Real or is_active(number) for number in numbers)
    return from_nested(numbers) if is_variable else np.array(numbers)


def _shown(flat, offset, shape, strides):
    """A view of an array of one axis; a copy where NumPy has no view without raw memory."""
    repeated = [axis for axis, step in enumerate(strides) if step == 0]
    if repeated and any(shape[axis] > 1 for axis in repeated):
        kept = [axis for axis in range(len(shape)) if axis not in repeated]
        part = _shown(flat, offset, tuple(shape[a] for a in kept), tuple(strides[a] for a in kept))
        ones = tuple(1 if axis in repeated else n for axis, n in enumerate(shape))
        return np.broadcast_to(np.reshape(part, ones), shape)
    order = _order(shape, strides)
    if order is None:
        return flat[_numbers(offset, shape, strides)]
    size = int(np.prod(shape))
    part = flat if size == len(flat) else flat[offset:offset + size]
    if len(shape) == 1:
        return part
    if _is_ordered(order):
        return part.reshape(shape)
    inverse = np.argsort(order)
    return part.reshape([shape[axis] for axis in order]).transpose(inverse)
