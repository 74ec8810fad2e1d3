# SPDX-License-Identifier: Apache-2.0
"""``array.flat`` of complex numbers."""

from codipy.active.arrays.flat import Flat
from codipy.complexes.array import ComplexArray

__all__ = ["ComplexFlat"]


class ComplexFlat(Flat):
    """The elements of a ComplexArray in C order, to read, to write and to iterate over."""

    def __setitem__(self, index, value):
        super().__setitem__(index, ComplexArray(value) if isinstance(value, (list, tuple)) else value)
