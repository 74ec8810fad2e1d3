# SPDX-License-Identifier: Apache-2.0
"""Blocks of dead arrays that serve the next array of the same size."""
from libc.stdint cimport int32_t
from libc.string cimport memset
cimport cython


@cython.final
cdef class WaitingBlocks:
    """WaitingBlocks()
    --

    Blocks of identifiers by their size; who took one last gave it last.
    """
    def __cinit__(self):
        self.lists = {}

    cdef int32_t take(self, Py_ssize_t size) except -1:
        cdef Waiting* place = &self.places[size % PLACES]
        cdef list waiting
        if place.size == size and size:
            place.size = 0
            return place.base
        if self.lists:
            waiting = self.lists.get(size)
            if waiting:
                return waiting.pop()
        return 0

    cdef int give(self, int32_t base, Py_ssize_t size) except -1:
        cdef Waiting* place = &self.places[size % PLACES]
        cdef Waiting before = place[0]
        place.size, place.base = size, base
        if before.size:
            try:
                self.lists.setdefault(before.size, []).append(before.base)
            except MemoryError:
                pass             # it serves nobody then; who gives a block back is dying and cannot raise
        return 0

    cdef bint overlaps(self, int32_t first, Py_ssize_t n):
        cdef Py_ssize_t size
        cdef int k
        for k in range(PLACES):
            if self.places[k].size and self.places[k].base < first + n and first < self.places[k].base + self.places[k].size:
                return True
        for size in self.lists:
            for base in self.lists[size]:
                if base < first + n and first < base + size:
                    return True
        return False

    cdef void clear(self) noexcept:
        memset(self.places, 0, sizeof(self.places))
        self.lists.clear()

    def py_give(self, int32_t base, Py_ssize_t size):
        """For tests: a block that waits."""
        self.give(base, size)

    def py_take(self, Py_ssize_t size):
        """For tests: the first identifier of a block that waited, 0 where none did."""
        return self.take(size)

    def py_clear(self):
        """For tests: nothing waits any more."""
        self.clear()
