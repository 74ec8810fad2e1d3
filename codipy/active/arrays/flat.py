# SPDX-License-Identifier: Apache-2.0
"""``array.flat``: the elements of an Array in C order."""

import functools

import numpy as np

from codipy.active.arrays.packing import from_nested
from codipy.active.scalar.real import Real

__all__ = ["Flat", "one_number"]

_NUMBERS = (float, int, np.float64, Real)


def one_number(value, write):
    """What is written to one element, without its dimensions.

    Parameters
    ----------
    value : array_like
        Which this NumPy may take for a number, or not: those of before 2.4 take arrays with one element.
    write : callable
        Writes what it is given to an element of a plain array, and so raises NumPy's error.
    """
    is_list = isinstance(value, (list, tuple))
    value = _stacked(value)
    if not np.ndim(value):
        return value
    ones = np.ones(np.shape(value))
    write(ones.tolist() if is_list else ones)
    return np.reshape(value, ())


def _stacked(value):
    """Lists and tuples as an array."""
    if not isinstance(value, (list, tuple)):
        return value
    return from_nested(value)


class Flat:
    """The elements of an Array in C order, to read, to write and to iterate over.

    Iteration goes on where the one before ended, begins again where an element is read or written by its index, and
    gives each element as it is when it is reached.

    Parameters
    ----------
    array : Array
        Written through.
    """

    def __init__(self, array):
        self.array = array
        self._begin()

    def _begin(self):
        self._index, self._items = 0, None

    def __len__(self):
        return self.array.size

    def __iter__(self):
        return self

    def __next__(self):
        if self._items is None:
            array = self.array
            self._items = iter(array) if array.ndim == 1 else map(array.__getitem__, np.ndindex(array.shape))
        element = next(self._items)
        self._index += 1
        return element

    @property
    def index(self):
        """The place of the next element."""
        return self._index

    @property
    def coords(self):
        """The same, along each axis."""
        here = np.empty(self.array.shape, bool).flat
        for _ in range(self._index):
            next(here)
        return here.coords

    @property
    def base(self):
        """The array."""
        return self.array

    def copy(self):
        """As ``ndarray.flat.copy``: an array of one dimension."""
        return self.array.flatten()

    def __getitem__(self, index):
        self._begin()
        flat = self.array.reshape(-1)[index]
        return flat.copy() if isinstance(flat, type(self.array)) else flat

    def __setitem__(self, index, value):
        self._begin()
        if not self.array.flags.writeable:  # before there is an element to look for
            raise ValueError("underlying array is read-only")
        if type(index) is int and type(value) in _NUMBERS and -self.array.size <= index < self.array.size:
            place = []
            for n in reversed(self.array.shape):  # without a table of all places for each element
                index, k = divmod(index, n)
                place.append(k)
            self.array[tuple(reversed(place))] = value
            return
        several = isinstance(index, (slice, list, tuple, np.ndarray)) or index is Ellipsis
        if several:
            value = _stacked(value)
            if np.ndim(value) and not np.size(value):
                return  # NumPy looks at no index then
        where = np.arange(self.array.size)[index]
        if not several:
            value = one_number(value, functools.partial(np.empty(1).flat.__setitem__, 0))
        elif np.ndim(value):  # again from its first element on, where there are too few
            if isinstance(value, type(self.array)) and np.may_share_memory(value, self.array):
                # One after the other, so that what is written is read again.
                for k, place in enumerate(where.reshape(-1)):
                    element = value[np.unravel_index(k % value.size, value.shape)]
                    self.array[np.unravel_index(place, self.array.shape)] = element
                return
            value = value.reshape(-1)[np.arange(where.size) % value.size].reshape(where.shape)
        if not self.array.ndim:
            if where.size:      # the last of several values stays
                self.array[()] = value if not np.ndim(value) else value.reshape(-1)[-1]
            return
        self.array[np.unravel_index(where, self.array.shape)] = value
