# SPDX-License-Identifier: Apache-2.0
# Identifiers that are handed back and used again, one by one or in contiguous blocks.

cimport cython
from libc.stdint cimport int32_t, uint32_t

from codipy.identifiers.blocks cimport FreeBlocks, free_entry, number_of

cdef enum:
    LARGE = 16384            # entries


cdef inline Py_ssize_t larger_table(Py_ssize_t entries) noexcept nogil:
    """Entries of the next table by identifier: twice as many while it is small, an eighth more where memory counts."""
    return entries + (entries if entries < LARGE else entries >> 3)


# Why singles and blocks serve each other (benchmarks/bench_identifiers.py, largest / peak live, median and range of 15
# seeds): where scalar and array phases of equal size alternate, a best fit that keeps them apart, or only cuts singles
# from blocks, needs 1.78 (1.64-2.15), this 1.00 (1.00-1.14). Where both mix at random, all policies that coalesce
# lie within each other's spread (medians 1.05 to 1.11): there the choice of fit does not matter.
@cython.final
cdef class ReuseIdentifiers:
    cdef int32_t next              # every identifier below it was created: 1 <= i < next
    cdef int32_t fresh_end         # assign may create up to here without looking further: the capacity, or 0 while
                                   # there are free blocks, which come first
    cdef int32_t single            # the most recently freed single identifier, whose entry has the one before; 0: none
    cdef uint32_t* uses            # by identifier: variables and pending expressions that hold it, or where it is free
                                   # a link of the list or the run that it is in (blocks.pxd)
    cdef Py_ssize_t capacity       # entries the table has. It exceeds every identifier created, so neither
                                   # giving back nor coalescing ever allocates
    cdef FreeBlocks blocks         # free runs
    cdef Py_ssize_t given          # identifiers of blocks given back since all that is free was coalesced
    cdef readonly Py_ssize_t live  # identifiers in use
    cdef readonly Py_ssize_t peak  # the most that were in use at once since the object was made
    cdef int32_t held              # the largest identifier at the last hold(), 0: none since the reset
    cdef Py_ssize_t countdown      # table growths until the injected failure; negative: none

    # The most recently freed identifier, else a new one; its use count is 1. As with linear ones a stale
    # identifier is found out by the epoch stored beside it, before it gets here.
    cdef inline int32_t assign(self) except -1:
        cdef int32_t identifier = self.single
        if identifier:
            self.single = number_of(self.uses[identifier])
        elif self.next < self.fresh_end:
            identifier = self.next
            self.next += 1
        else:
            identifier = self.assign_slow()
            if identifier < 0:
                return -1
        self.uses[identifier] = 1
        self.live += 1
        if self.live > self.peak:
            self.peak = self.live
        return identifier

    # One more holder of a live identifier.
    cdef inline void retain(self, int32_t identifier) noexcept nogil:
        self.uses[identifier] += 1

    # One holder less; the last one gives the identifier back.
    cdef inline void release(self, int32_t identifier) noexcept nogil:
        self.uses[identifier] -= 1
        if self.uses[identifier] == 0:
            self.uses[identifier] = free_entry(self.single)
            self.single = identifier
            self.live -= 1

    cdef int32_t assign_slow(self) except -1
    cpdef int32_t assign_fresh(self) except -1                 # one that was never used since the last reset
    cpdef int32_t assign_block(self, Py_ssize_t n) except -1   # first of n contiguous ones, uses 1 each; 0 for n = 0
    cpdef int release_block(self, int32_t first, Py_ssize_t n) except -1   # one holder less for each of them
    cpdef int hold(self) noexcept                              # one holder more, until the reset, for all there are
    cpdef int reset(self) except -1                            # all free, the table kept; O(1)
    cpdef int reset_hard(self) except -1                       # all free, the table freed

    cdef int grow(self, Py_ssize_t needed) except -1
    cdef void forget_free(self) noexcept
    cdef int overflow(self, Py_ssize_t n) except -1            # always raises IdentifierOverflow
    cdef void drop(self) noexcept
    cdef void give_run(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cdef int demand_live(self, int32_t identifier) except -1
    cdef list marks(self)
    cdef bint is_worth_a_pass(self, Py_ssize_t n) noexcept
    cdef void consolidate(self) noexcept
    cdef void set_fresh_end(self) noexcept
