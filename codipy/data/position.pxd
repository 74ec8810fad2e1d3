# SPDX-License-Identifier: Apache-2.0
# A joint place in all streams of a nest.

# A place in one stream. Two forms name the end of a full chunk: (c, items of c) and (c + 1, 0). Stored is the
# first, always: it needs no knowledge of whether the next chunk was opened since.
cdef struct Place:
    Py_ssize_t chunk
    Py_ssize_t item

# Compares joint places lexicographically, the root first. Places of one recording never cross (each stream
# only grows), so this is the order of time.
cdef inline int compare_places(const Place* a, const Place* b, Py_ssize_t depth) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(depth):
        if a[j].chunk != b[j].chunk:
            return -1 if a[j].chunk < b[j].chunk else 1
        if a[j].item != b[j].item:
            return -1 if a[j].item < b[j].item else 1
    return 0

cdef class Position:
    cdef Place* places           # one per stream, the root first, in the stored form
    cdef readonly Py_ssize_t depth
    cdef readonly long long nest        # serial of the root stream: never used twice in a process
    cdef readonly long long generation  # rollbacks of the nest before this position was taken

    cdef bint is_beginning(self) noexcept
    cdef int compare(self, Position other) except -2  # -1, 0, 1; TapeError for another nest

# A position with room for `depth` places, all of them (0, 0).
cdef Position new_position(Py_ssize_t depth, long long nest, long long generation)
