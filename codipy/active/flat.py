# SPDX-License-Identifier: Apache-2.0
"""``array.flat``: the elements of an Array in C order."""

import numpy as np

__all__ = ["Flat"]


class Flat:
    """The elements of an Array in C order, to read, to write and to iterate over.

    Parameters
    ----------
    array : Array
        Written through.
    """

    def __init__(self, array):
        self.array = array

    def __len__(self):
        return self.array.size

    def __iter__(self):
        return iter(self.array.reshape(-1))

    def __getitem__(self, index):
        flat = self.array.reshape(-1)[index]
        return flat.copy() if isinstance(flat, type(self.array)) else flat

    def __setitem__(self, index, value):
        if not self.array.flags.writeable:  # before there is an element to look for
            raise ValueError("underlying array is read-only")
        several = isinstance(index, (slice, list, tuple, np.ndarray)) or index is Ellipsis
        is_list = isinstance(value, (list, tuple))
        if is_list:
            from codipy.active.array import from_nested

            value = from_nested(value)
        if several and np.ndim(value) and not np.size(value):
            return  # NumPy looks at no index then
        where = np.arange(self.array.size)[index]
        if not several and np.ndim(value):
            ones = np.ones(np.shape(value))
            np.empty(1).flat[0] = ones.tolist() if is_list else ones  # raises, but for an array of one before NumPy 2.4
            value = np.reshape(value, ())
        if several and np.ndim(value):  # again from its first element on, where there are too few
            if isinstance(value, type(self.array)) and np.may_share_memory(value, self.array):
                # One after the other, so that what is written is read again.
                for k, place in enumerate(where.reshape(-1)):
                    element = value[np.unravel_index(k % value.size, value.shape)]
                    self.array[np.unravel_index(place, self.array.shape)] = element
                return
            value = value.reshape(-1)[np.arange(where.size) % value.size].reshape(where.shape)
        self.array[np.unravel_index(where, self.array.shape)] = value
