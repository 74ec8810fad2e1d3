# SPDX-License-Identifier: Apache-2.0
# Array programs, one object for all statements of the same expression.
from libc.stdint cimport uint32_t

from codipy.programs.tiles cimport SecondPlan, ShortPlan, TileProgram
cimport cython


@cython.final
cdef class ArrayProgram:
    cdef TileProgram tiles
    cdef ShortPlan* plan             # of the last sweep over few elements
    cdef SecondPlan* second          # of second order, as long as it lives
    cdef uint32_t active             # operands ...
    cdef uint32_t read               # ... with which a sweep reads these operands' values

    cdef uint32_t needed(self, uint32_t active) noexcept

cdef ArrayProgram intern_tiles(const TileProgram* program)
