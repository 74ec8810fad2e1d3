# SPDX-License-Identifier: Apache-2.0
# Array programs, one object for all statements of the same expression.
from codipy.programs.tiles cimport TileProgram
cimport cython


@cython.final
cdef class ArrayProgram:
    cdef TileProgram tiles

cdef ArrayProgram intern_tiles(const TileProgram* program)
