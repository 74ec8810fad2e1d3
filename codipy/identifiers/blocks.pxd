# SPDX-License-Identifier: Apache-2.0
# Free runs of identifiers, found by size and by address in O(1), coalesced at once (a two-level segregated fit).

from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef enum:
    JOINED = 6           # runs shorter than this are not coalesced with their neighbours
    EXACT = 32           # runs shorter than this have a bin for each length
    STEPS = 16           # longer ones share: 16 bins per power of two, so a bin's lengths differ by less than 1/16
    BINS = 448           # EXACT + 26 * STEPS: powers of two from 2**5 to 2**30
    WORDS = 7            # BINS / 64; a literal, since a division here compiles under the cdivision directive only
    LOOKS = 8            # runs of one bin that are compared for the best fit: O(1)

# The table that ReuseIdentifiers owns has one entry by identifier: its holders, or, if it is free, the top bit and a
# number of 31 bits, since nobody counts the holders of what is free. A run [f, f + n) keeps there what is known of it:
#
#     n >= JOINED:  EDGE, n, the next run of its bin, the one before, ..., n, EDGE
#     n < JOINED:   the next run of its bin, ...
#
# EDGE is more than any identifier, so a look at either neighbour of a run tells whether to coalesce. What lies further
# inside of a run says nothing. Rejected: tables of lengths and links beside the holders, 12 bytes more an identifier.
cdef struct FreeBlocks:
    uint32_t* entries            # that table
    int32_t heads[BINS]          # first run of each bin, 0: none
    uint64_t filled[WORDS]       # which bins have runs
    Py_ssize_t total             # identifiers in all runs
    Py_ssize_t loose             # ... in those that are not coalesced

cdef inline bint is_free(uint32_t entry) noexcept nogil:
    return entry >> 31

cdef inline uint32_t free_entry(int32_t number) noexcept nogil:
    return <uint32_t>number | <uint32_t>0x80000000

cdef inline int32_t number_of(uint32_t entry) noexcept nogil:
    """What the entry of a free identifier says."""
    return <int32_t>(entry & <uint32_t>0x7FFFFFFF)

cdef inline bint is_edge(uint32_t entry) noexcept nogil:
    return entry == <uint32_t>0xFFFFFFFF

# Adds the run [first, first + n) of free entries; `end` is one past the last identifier created.
cdef void give(FreeBlocks* blocks, int32_t first, int32_t n, int32_t end) noexcept nogil
# The same for a run whose neighbours are in use.
cdef void insert(FreeBlocks* blocks, int32_t first, int32_t n) noexcept nogil
# Takes n identifiers from the low end of the run that fits best (by LOOKS); 0 when no run is long enough.
cdef int32_t take(FreeBlocks* blocks, int32_t n) noexcept nogil
# The length of the run that ends right before `end`, 0 when there is none that coalesces.
cdef int32_t last_run(const FreeBlocks* blocks, int32_t end) noexcept nogil
# Takes that run, whole.
cdef void take_last(FreeBlocks* blocks, int32_t end) noexcept nogil
# Forgets all runs.
cdef void clear(FreeBlocks* blocks) noexcept nogil
# For tests: how long a run of this bin is, and the next one of the bin.
cdef int32_t length_in(const FreeBlocks* blocks, int32_t run, int index) noexcept nogil
cdef int32_t after_in(const FreeBlocks* blocks, int32_t run, int index) noexcept nogil
