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
        where = np.arange(self.array.size)[index]
        self.array[np.unravel_index(where, self.array.shape)] = value
