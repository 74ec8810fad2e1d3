# SPDX-License-Identifier: Apache-2.0
# Free runs of identifiers, found by size and by address in O(1), coalesced at once (a two-level segregated fit).

from libc.stdint cimport int32_t, uint64_t

cdef enum:
    EXACT = 32           # runs shorter than this have a bin for each length
    STEPS = 16           # longer ones share: 16 bins per power of two, so a bin's lengths differ by less than 1/16
    BINS = 448           # EXACT + 26 * STEPS: powers of two from 2**5 to 2**30
    WORDS = 7            # BINS / 64; a literal, since a division here compiles under the cdivision directive only
    LOOKS = 8            # runs of one bin that are compared for the best fit: O(1)

# Tables are indexed by identifier and owned by ReuseIdentifiers. A free run [f, f + n) has length[f] =
# length[f + n - 1] = n; every other entry is 0, so a look at either neighbour tells whether to coalesce.
cdef struct FreeBlocks:
    int32_t* length
    int32_t* after               # by a run's first identifier: the next run in its bin, 0: none
    int32_t* before              # ... and the one before
    int32_t heads[BINS]          # first run of each bin, 0: none
    uint64_t filled[WORDS]       # which bins have runs
    Py_ssize_t total             # identifiers in all runs

# Adds the run [first, first + n), coalesced with its free neighbours; `end` is one past the last identifier created.
cdef void give(FreeBlocks* blocks, int32_t first, int32_t n, int32_t end) noexcept nogil
# Takes n identifiers from the low end of the run that fits best (by LOOKS); 0 when no run is long enough.
cdef int32_t take(FreeBlocks* blocks, int32_t n) noexcept nogil
# Takes the run that ends right before `end`, whole: its length, 0 when there is none.
cdef int32_t take_last(FreeBlocks* blocks, int32_t end) noexcept nogil
# Forgets all runs; entries below `end` become 0.
cdef void clear(FreeBlocks* blocks, int32_t end) noexcept nogil
