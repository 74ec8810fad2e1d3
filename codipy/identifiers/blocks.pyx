# SPDX-License-Identifier: Apache-2.0
"""Free runs of identifiers, found by size and by address in O(1), coalesced at once (a two-level segregated fit)."""

from libc.string cimport memset

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


cdef void insert(FreeBlocks* blocks, int32_t first, int32_t n) noexcept nogil:
    cdef int index = bin_of(n)
    cdef int32_t head = blocks.heads[index]
    blocks.length[first] = n
    blocks.length[first + n - 1] = n
    blocks.before[first] = 0
    blocks.after[first] = head
    if head:
        blocks.before[head] = first
    blocks.heads[index] = first
    blocks.filled[index >> 6] |= <uint64_t>1 << (index & 63)
    blocks.total += n


cdef void remove(FreeBlocks* blocks, int32_t first) noexcept nogil:
    cdef int32_t n = blocks.length[first], before = blocks.before[first], after = blocks.after[first]
    cdef int index = bin_of(n)
    if after:
        blocks.before[after] = before
    if before:
        blocks.after[before] = after
    else:
        blocks.heads[index] = after
        if after == 0:
            blocks.filled[index >> 6] &= ~(<uint64_t>1 << (index & 63))
    blocks.length[first] = 0
    blocks.length[first + n - 1] = 0
    blocks.total -= n


cdef int32_t best_of(FreeBlocks* blocks, int index, int32_t n) noexcept nogil:
    cdef int32_t run = blocks.heads[index], best = 0
    cdef int looks = 0
    while run and looks < LOOKS:
        if blocks.length[run] >= n and (best == 0 or blocks.length[run] < blocks.length[best]):
            best = run
        run = blocks.after[run]
        looks += 1
    return best


cdef void give(FreeBlocks* blocks, int32_t first, int32_t n, int32_t end) noexcept nogil:
    cdef int32_t neighbour
    if first + n < end and blocks.length[first + n] > 0:
        neighbour = blocks.length[first + n]
        remove(blocks, first + n)
        n += neighbour
    neighbour = blocks.length[first - 1]   # identifier 0 is never free: its entry stays 0
    if neighbour > 0:
        first -= neighbour
        remove(blocks, first)
        n += neighbour
    insert(blocks, first, n)


cdef int32_t take(FreeBlocks* blocks, int32_t n) noexcept nogil:
    cdef int index = bin_of(n)
    cdef int32_t run = best_of(blocks, index, n), rest
    if run == 0:
        index = next_filled(blocks, index + 1)
        if index < 0:
            return 0
        run = best_of(blocks, index, n)
    rest = blocks.length[run] - n
    remove(blocks, run)
    if rest > 0:
        insert(blocks, run + n, rest)
    return run


cdef int32_t take_last(FreeBlocks* blocks, int32_t end) noexcept nogil:
    cdef int32_t n = blocks.length[end - 1]
    if n > 0:
        remove(blocks, end - n)
    return n


cdef void clear(FreeBlocks* blocks, int32_t end) noexcept nogil:
    memset(blocks.length, 0, end * sizeof(int32_t))
    memset(blocks.heads, 0, sizeof(blocks.heads))
    memset(blocks.filled, 0, sizeof(blocks.filled))
    blocks.total = 0
