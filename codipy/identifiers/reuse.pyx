# SPDX-License-Identifier: Apache-2.0
"""Identifiers that are handed back and used again, one by one or in contiguous blocks."""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.string cimport memset

import operator

from codipy.identifiers.blocks cimport (
    BINS, JOINED, FreeBlocks, after_in, clear, free_entry, give, insert, is_edge, is_free, last_run, length_in, number_of, take, take_last)
from codipy.errors import IdentifierOverflow

cdef enum:
    FIRST_CAPACITY = 64
    MOST = 0x7FFFFFFF     # entries of the table: `next` has 32 bits too, so the largest identifier is 2**31 - 2


@cython.final
@cython.no_gc
cdef class ReuseIdentifiers:
    """ReuseIdentifiers()
    --

    Identifiers that are handed back, the most recently freed first, and contiguous blocks of them.

    Every identifier has a use count, since pending expressions hold it beside the variable; it is given back
    when the count falls to 0. Identifier 0 is passive and never handed out. Freed blocks coalesce with their free
    neighbours, but for the shortest; a single identifier is cut from a free block when no single one is stored; and
    when a block finds no room and as many are free, whatever is stored singly or in short blocks is coalesced, in
    one pass over the use counts that a quarter as many releases have paid for.
    """

    def __cinit__(self):
        self.next = 1
        self.countdown = -1

    def __dealloc__(self):
        self.drop()

    cdef int32_t assign_slow(self) except -1:
        cdef int32_t identifier
        if self.blocks.total > 0:
            identifier = take(&self.blocks, 1)
            self.set_fresh_end()
            return identifier
        self.grow(self.next + <Py_ssize_t>1)
        self.next += 1
        return self.next - 1

    cpdef int32_t assign_fresh(self) except -1:
        """Hand out an identifier that was never used since the last reset, with use count 1."""
        if self.next >= self.capacity:
            self.grow(self.next + <Py_ssize_t>1)
        self.next += 1
        self.uses[self.next - 1] = 1
        self.live += 1
        self.peak = max(self.peak, self.live)
        return self.next - 1

    cpdef int32_t assign_block(self, Py_ssize_t n) except -1:
        """Hand out `n` contiguous identifiers, each with use count 1; return the first, the passive 0 for none."""
        cdef int32_t first = 0, last = 0
        cdef Py_ssize_t i
        if n < 0:
            raise ValueError(f"n must be 0 or more, not {n}")
        if n == 0:
            return 0
        if n >= MOST:
            return self.overflow(n)
        first = take(&self.blocks, <int32_t>n)
        if first == 0 and self.is_worth_a_pass(n):
            self.consolidate()
            first = take(&self.blocks, <int32_t>n)
        if first == 0:
            # Of the free run at the end, only what it lacks is created.
            last = last_run(&self.blocks, self.next)
            self.grow(self.next + max(n - last, <Py_ssize_t>0))
            take_last(&self.blocks, self.next)
            first = self.next - last
            if last > n:   # take compares few runs of a bin and can miss this one
                give(&self.blocks, first + <int32_t>n, last - <int32_t>n, self.next)
            else:
                self.next = first + <int32_t>n
        self.set_fresh_end()
        for i in range(n):
            self.uses[first + i] = 1
        self.live += n
        self.peak = max(self.peak, self.live)
        return first

    cpdef int release_block(self, int32_t first, Py_ssize_t n) except -1:
        """Take one holder away from each of `n` identifiers; those that still have one are given back later, singly."""
        cdef Py_ssize_t i, end, run = first
        if n == 0:
            return 0
        if first < 1 or n < 0 or n > self.next - first:
            raise ValueError(f"first and n must name identifiers that were handed out, not {n} from {first}")
        end = first + n
        for i in range(first, end):
            if is_free(self.uses[i]):
                raise ValueError(f"identifier {i} of the block is free already: a block is released once")
        for i in range(first, end):
            if self.uses[i] == 1:
                self.uses[i] = free_entry(0)
            else:
                self.uses[i] -= 1
                self.give_run(run, i)
                run = i + 1
        self.give_run(run, end)
        self.set_fresh_end()
        return 0

    cdef void give_run(self, Py_ssize_t begin, Py_ssize_t end) noexcept:
        if end > begin:
            give(&self.blocks, <int32_t>begin, <int32_t>(end - begin), self.next)
            self.live -= end - begin
            self.given += end - begin

    cpdef int hold(self) noexcept:
        """Keep every identifier that there is, in use or free, from being handed out again before the reset."""
        cdef int32_t i
        for i in range(self.held + 1, self.next):    # those below have been held before
            self.uses[i] = 1 if is_free(self.uses[i]) else self.uses[i] + 1
        self.forget_free()
        self.held = self.next - 1
        self.live = self.next - 1
        self.peak = max(self.peak, self.live)
        return 0

    cpdef int reset(self) except -1:
        """Make every identifier free; the table is kept."""
        self.next = 1
        self.live = 0
        self.held = 0
        self.forget_free()
        return 0

    cpdef int reset_hard(self) except -1:
        """Make every identifier free, and the table's memory too."""
        self.reset()
        self.drop()
        return 0

    cdef void forget_free(self) noexcept:
        self.single = 0
        self.given = 0
        if self.blocks.total > 0:
            clear(&self.blocks)
        self.set_fresh_end()

    # ---- the table

    cdef void drop(self) noexcept:
        PyMem_RawFree(self.uses)
        self.uses = NULL
        memset(&self.blocks, 0, sizeof(FreeBlocks))
        self.capacity = 0
        self.fresh_end = 0

    cdef int grow(self, Py_ssize_t needed) except -1:
        cdef Py_ssize_t capacity = max(larger_table(self.capacity), <Py_ssize_t>FIRST_CAPACITY)
        cdef void* memory = NULL
        if needed <= self.capacity:
            return 0
        if needed > MOST:
            return self.overflow(needed - self.next)
        capacity = min(max(capacity, needed), <Py_ssize_t>MOST)
        if self.countdown != 0:
            memory = PyMem_RawRealloc(self.uses, capacity * sizeof(uint32_t))
        self.countdown -= self.countdown >= 0
        if memory == NULL:
            raise MemoryError(f"no memory for the table of {capacity} identifiers")
        self.uses = self.blocks.entries = <uint32_t*>memory
        self.uses[0] = 1      # as if somebody always held the passive one
        self.capacity = capacity
        self.set_fresh_end()
        return 0

    cdef int overflow(self, Py_ssize_t n) except -1:
        raise IdentifierOverflow(
            f"{n} more identifiers than the {self.next - 1} there are do not fit into 32 bits: record less at once "
            f"(tape.reset, checkpoints) or drop variables that are no longer needed"
        )

    cdef void set_fresh_end(self) noexcept:
        self.fresh_end = 0 if self.blocks.total > 0 else <int32_t>self.capacity

    cdef bint is_worth_a_pass(self, Py_ssize_t n) noexcept:
        # Whether coalescing all that is free can make room for a block, and is paid for.
        cdef Py_ssize_t free = self.next - 1 - self.live, stored = free - self.blocks.total
        return stored + self.blocks.loose > 0 and free >= n and 4 * (self.given + stored) >= self.next

    cdef void consolidate(self) noexcept:
        # One pass in address order finds the maximal runs of what is free.
        cdef int32_t i, run = 1
        self.forget_free()
        for i in range(1, self.next):
            if not is_free(self.uses[i]):
                if i > run:
                    insert(&self.blocks, run, i - run)
                run = i + 1
        if self.next > run:
            insert(&self.blocks, run, self.next - run)

    @property
    def largest(self):
        """The largest identifier created since the last reset, in use or free: what an adjoint vector must hold."""
        return self.next - 1

    @property
    def stored_free(self):
        """Identifiers that wait for reuse, singly or in blocks."""
        return self.next - 1 - self.live

    @property
    def bytes_used(self):
        """Bytes of the table's entries for the identifiers created."""
        return (self.next - 1) * sizeof(uint32_t)

    @property
    def bytes_allocated(self):
        """Bytes of the table."""
        return self.capacity * sizeof(uint32_t)

    def __repr__(self):
        return (f"ReuseIdentifiers(largest={self.largest}, live={self.live}, peak={self.peak}, "
                f"stored_free={self.stored_free})")

    # ---- tests

    def py_assign(self):
        """Hand out one identifier, for tests; C calls `assign`."""
        return self.assign()

    def py_retain(self, int32_t identifier):
        """Add a holder, for tests; C calls `retain`, which does not check."""
        self.demand_live(identifier)
        self.retain(identifier)

    def py_release(self, int32_t identifier):
        """Take a holder away, for tests; C calls `release`, which does not check."""
        self.demand_live(identifier)
        self.release(identifier)

    def uses_of(self, int32_t identifier):
        """Return the use count of an identifier, 0 for a free one."""
        if not 0 < identifier < self.next or is_free(self.uses[identifier]):
            return 0
        return self.uses[identifier]

    cdef int demand_live(self, int32_t identifier) except -1:
        if self.uses_of(identifier) == 0:
            raise ValueError(f"identifier {identifier} is free or was never handed out")
        return 0

    def _set_next(self, int32_t next):
        # For tests: 2**31 identifiers without a table for them. Only reset_hard makes the object whole again.
        self.next = next
        self.capacity = next
        self.fresh_end = next

    def _fail_after(self, n):
        """Let the growth of the table after the next `n` fail with MemoryError, for tests; None switches it off."""
        self.countdown = -1 if n is None else operator.index(n)

    def _check(self):
        """Verify every invariant, in O(largest); raise AssertionError with the state."""
        cdef int32_t i = self.single
        runs, free = self._free_blocks(), []
        while i and len(free) < self.next:
            free.append(i)
            i = number_of(self.uses[i])
        for first, n in runs:
            free.extend(range(first, first + n))
        used = [i for i in range(1, self.next) if self.uses_of(i) != 0]
        joined = [(first, n) for first, n in runs if n >= JOINED]
        problems = [
            name for name, holds in [
                ("every identifier is used or free, and once", sorted(free + used) == list(range(1, self.next))),
                ("live counts the used ones", len(used) == self.live),
                ("peak is the most", self.live <= self.peak),
                ("blocks count their identifiers", self.blocks.total == sum([n for _, n in runs])),
                ("blocks count those that wait for a pass",
                 self.blocks.loose == sum([n for _, n in runs if n < JOINED])),
                ("the table holds every identifier", self.next <= max(self.capacity, 1)),
                ("free blocks come before new identifiers", self.fresh_end == (0 if runs else self.capacity)),
                ("no two free blocks touch", not {a + n for a, n in joined} & {a for a, _ in joined}),
                ("binned runs are the marked ones", self.marks() == sorted(joined)),
            ] if not holds
        ]
        if problems:
            raise AssertionError(f"{self!r}: broken: {'; '.join(problems)}")

    def _free_blocks(self):
        """Return the free blocks as a list of (first, n), bin by bin."""
        cdef int32_t run
        cdef int index
        runs = []
        for index in range(BINS):
            run = self.blocks.heads[index]
            while run and len(runs) < self.next:
                runs.append((run, length_in(&self.blocks, run, index)))
                run = after_in(&self.blocks, run, index)
        return runs

    cdef list marks(self):
        # The runs that coalesce, as somebody finds them who gives a neighbour back.
        cdef int32_t i = 1, n
        found = []
        while i < self.next:
            n = 1
            if is_edge(self.uses[i]):
                n = number_of(self.uses[i + 1])
                found.append((i, n if n == last_run(&self.blocks, i + n) else 0))
            i += max(n, 1)
        return found
