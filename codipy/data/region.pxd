# SPDX-License-Identifier: Apache-2.0
# The walk over regions: maximal spans of a recording in which every stream of the nest is contiguous.

cimport cython

from codipy.data.position cimport Place, Position
from codipy.data.stream cimport MAX_FIELDS, Stream, Table

# One stream's share of a region: items begin <= i < end of the arrays at `fields`. Valid while the nest is locked.
cdef struct Span:
    char* fields[MAX_FIELDS]
    Py_ssize_t begin
    Py_ssize_t end

@cython.final
cdef class Regions:
    cdef readonly Stream root    # keeps the streams alive; whoever walks holds their lock
    cdef Py_ssize_t depth
    cdef Table** tables          # the streams' tables, borrowed from them, the root first
    cdef Span* spans             # the current region: index 0 is the root, depth - 1 the innermost
    cdef Place* start            # joint places, `depth` each: the first ...
    cdef Place* end              # ... and the last of the walk
    cdef Place* low              # where the current region begins ...
    cdef Place* high             # ... and ends
    cdef Py_ssize_t* chunk       # the chunk each stream's span is in
    cdef int direction           # 0: no region yet, 1: walking forward, -1: in reverse

    # Fill `spans` with the next region; False when there is none. A walk goes one way only.
    cdef bint next_forward(self) noexcept nogil
    cdef bint next_reverse(self) noexcept nogil
    # Raises CorruptTape unless a kernel left its cursors (the root's first) at the region's end, or begin in reverse.
    cdef int check(self, const Py_ssize_t* cursors, bint reverse) except -1 nogil

    # How many items the walk reads in all streams, where it stays in one chunk of each; else -1.
    cdef Py_ssize_t brief(self) noexcept nogil

    cdef int narrow(self, Position start, Position end) except -1
    cdef void fill(self) noexcept nogil

# As Regions(root, start, end), from None, the beginning of the recording, to None, its end.
cdef Regions regions_between(Stream root, Position start, Position end)
