# SPDX-License-Identifier: Apache-2.0
# Blocks of dead arrays that serve the next array of the same size, where single identifiers are never handed back.
from libc.stdint cimport int32_t
cimport cython

cdef enum:
    PLACES = 64


cdef struct Waiting:
    Py_ssize_t size              # 0: none waits here
    int32_t base


# The last block of a size waits in a place of its own, since a loop gives one and takes one; all others in lists.
@cython.final
cdef class WaitingBlocks:
    cdef Waiting places[PLACES]  # by size modulo PLACES
    cdef dict lists              # {size: [first identifiers]}

    cdef int32_t take(self, Py_ssize_t size) except -1       # the first identifier, or 0 where none of the size waits
    cdef int give(self, int32_t base, Py_ssize_t size) except -1
    cdef bint overlaps(self, int32_t first, Py_ssize_t n)   # whether one of n identifiers waits; slow
    cdef void clear(self) noexcept
