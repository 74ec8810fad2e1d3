# SPDX-License-Identifier: Apache-2.0
"""Free runs of identifiers, found by size and by address in O(1), coalesced at once (a two-level segregated fit)."""

from libc.string cimport memset

cdef enum:
    LENGTH = 1               # entries of a run that coalesces, from its first
    AFTER = 2
    BEFORE = 3


# Rejected: a balanced tree by size and one by address (exact best fit, but O(log n) with a pointer chase at each
# step, and two nodes per run), and lists per exact length without coalescing (benchmarks/bench_identifiers.py).


cdef int bin_of(int32_t n) noexcept nogil:
    cdef int power = 5
    if n < EXACT:
        return n
    while n >> (power + 1):
        power += 1
    return EXACT + (power - 5) * STEPS + ((n >> (power - 4)) & (STEPS - 1))


cdef int next_filled(FreeBlocks* blocks, int index) noexcept nogil:
    # The first filled bin from `index` on, or -1.
    cdef int word = index >> 6
    cdef uint64_t bits
    if index >= BINS:
        return -1
    bits = blocks.filled[word] >> (index & 63) << (index & 63)
    while bits == 0:
        word += 1
        if word == WORDS:
            return -1
        bits = blocks.filled[word]
    index = word << 6
    while not bits & 1:
        bits >>= 1
        index += 1
    return index


cdef int32_t length_in(const FreeBlocks* blocks, int32_t run, int index) noexcept nogil:
    return index if index < EXACT else number_of(blocks.entries[run + LENGTH])


cdef int32_t after_in(const FreeBlocks* blocks, int32_t run, int index) noexcept nogil:
    return number_of(blocks.entries[run + (0 if index < JOINED else AFTER)])


cdef void insert(FreeBlocks* blocks, int32_t first, int32_t n) noexcept nogil:
    cdef int index = bin_of(n)
    cdef int32_t head = blocks.heads[index], i
    cdef uint32_t* entries = blocks.entries + first
    if n < JOINED:
        entries[0] = free_entry(head)
        for i in range(1, n):
            entries[i] = free_entry(0)      # one may have been the edge of a longer run
        blocks.loose += n
    else:
        entries[0] = entries[n - 1] = free_entry(0x7FFFFFFF)
        entries[LENGTH] = entries[n - 1 - LENGTH] = free_entry(n)
        entries[AFTER] = free_entry(head)
        entries[BEFORE] = free_entry(0)
        if head:
            blocks.entries[head + BEFORE] = free_entry(first)
    blocks.heads[index] = first
    blocks.filled[index >> 6] |= <uint64_t>1 << (index & 63)
    blocks.total += n


cdef void remove(FreeBlocks* blocks, int32_t first, int32_t n) noexcept nogil:
    # A run that does not coalesce knows none before it, and is the first of its bin.
    cdef int index = bin_of(n)
    cdef int32_t after = after_in(blocks, first, index), before = 0
    if n < JOINED:
        blocks.loose -= n
    else:
        before = number_of(blocks.entries[first + BEFORE])
        if after:
            blocks.entries[after + BEFORE] = free_entry(before)
    if before:
        blocks.entries[before + AFTER] = free_entry(after)
    else:
        blocks.heads[index] = after
        if after == 0:
            blocks.filled[index >> 6] &= ~(<uint64_t>1 << (index & 63))
    blocks.total -= n


cdef int32_t best_of(const FreeBlocks* blocks, int index, int32_t n) noexcept nogil:
    cdef int32_t run = blocks.heads[index], best = 0, length, least = 0
    cdef int looks = 0
    if index < EXACT:
        return run
    while run and looks < LOOKS:
        length = length_in(blocks, run, index)
        if length >= n and (best == 0 or length < least):
            best, least = run, length
        run = after_in(blocks, run, index)
        looks += 1
    return best


cdef void give(FreeBlocks* blocks, int32_t first, int32_t n, int32_t end) noexcept nogil:
    cdef int32_t neighbour = first + n
    if neighbour < end and is_edge(blocks.entries[neighbour]):
        n += number_of(blocks.entries[neighbour + LENGTH])
        remove(blocks, neighbour, n - (neighbour - first))
    neighbour = last_run(blocks, first)
    if neighbour > 0:
        first -= neighbour
        n += neighbour
        remove(blocks, first, neighbour)
    insert(blocks, first, n)


cdef int32_t take(FreeBlocks* blocks, int32_t n) noexcept nogil:
    cdef int index = bin_of(n)
    cdef int32_t run = best_of(blocks, index, n), length
    if run == 0:
        index = next_filled(blocks, index + 1)
        if index < 0:
            return 0
        run = best_of(blocks, index, n)
    length = length_in(blocks, run, index)
    remove(blocks, run, length)
    if length > n:
        insert(blocks, run + n, length - n)
    return run


cdef int32_t last_run(const FreeBlocks* blocks, int32_t end) noexcept nogil:
    # Identifier 0 is never free: its entry is no edge.
    if end > 1 and is_edge(blocks.entries[end - 1]):
        return number_of(blocks.entries[end - 1 - LENGTH])
    return 0


cdef void take_last(FreeBlocks* blocks, int32_t end) noexcept nogil:
    cdef int32_t n = last_run(blocks, end)
    if n > 0:
        remove(blocks, end - n, n)


cdef void clear(FreeBlocks* blocks) noexcept nogil:
    memset(blocks.heads, 0, sizeof(blocks.heads))
    memset(blocks.filled, 0, sizeof(blocks.filled))
    blocks.total = 0
    blocks.loose = 0
