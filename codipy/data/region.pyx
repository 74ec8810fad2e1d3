# SPDX-License-Identifier: Apache-2.0
"""The walk over regions: maximal spans of a recording in which every stream of the nest is contiguous."""

cimport cython
from libc.string cimport memcpy

from codipy.data cimport pool
from codipy.data.position cimport Place, Position, compare_places
from codipy.data.stream cimport MAX_FIELDS, Stream
from codipy.errors import CorruptTape, TapeError


cdef inline Py_ssize_t bytes_for(Py_ssize_t depth) noexcept nogil:
    return depth * (sizeof(Span) + 4 * sizeof(Place) + sizeof(void*) + sizeof(Py_ssize_t))


@cython.final
@cython.no_gc
cdef class Regions:
    """Regions(root, start, end)
    --

    The regions between two positions, for one walk forward or in reverse.

    A region ends where any stream of the nest opened a chunk that holds items, and every chunk knows the joint place
    of all streams at that moment. So the bounds are exact for every stream, none is searched for, and both directions
    find the same regions. Empty ones are skipped.

    Parameters
    ----------
    root : Stream
        The outermost stream of the nest.
    start, end : Position
        Positions of this nest, start before end or equal.
    """

    # In two parts, so that regions_between can make one without positions, which are objects: a sweep over a tape of a
    # few statements took a third of its time for them.
    def __cinit__(self, Stream root not None, *_):
        cdef Stream stream = root
        cdef char* memory
        if root.outer != NULL:
            raise TapeError(f"root must be the outermost stream, but {root.name!r} is nested in another")
        self.root = root
        self.depth = root.depth
        memory = <char*>pool.resize(NULL, 0, bytes_for(self.depth))
        self.spans = <Span*>memory
        self.start = <Place*>(self.spans + self.depth)
        self.end = self.start + self.depth
        self.low = self.end + self.depth
        self.high = self.low + self.depth
        self.tables = <Table**>(self.high + self.depth)
        self.chunk = <Py_ssize_t*>(self.tables + self.depth)
        while stream is not None:      # from the beginning, which is all zeros, to the end of the recording
            self.tables[stream.level] = &stream.table
            self.end[stream.level] = stream.place()
            stream = stream.nested

    def __init__(self, Stream root not None, Position start not None, Position end not None):
        self.narrow(start, end)

    cdef int narrow(self, Position start, Position end) except -1:
        """Set the bounds that are not None."""
        self.direction = 0
        if start is not None:
            self.root.check_position(start)
            memcpy(self.start, start.places, self.depth * sizeof(Place))
        if end is not None:
            self.root.check_position(end)
            memcpy(self.end, end.places, self.depth * sizeof(Place))
        if compare_places(self.start, self.end, self.depth) > 0:
            raise TapeError("end lies before start: exchange them")
        return 0

    def __dealloc__(self):
        if self.spans != NULL:
            pool.discard(self.spans, bytes_for(self.depth))

    cdef bint next_forward(self) noexcept nogil:
        cdef Py_ssize_t j, depth = self.depth
        cdef const Place* opened
        cdef const Place* bound
        if self.direction == 0:
            self.direction = 1
            memcpy(self.high, self.start, depth * sizeof(Place))
            for j in range(depth):
                self.chunk[j] = self.start[j].chunk
        memcpy(self.low, self.high, depth * sizeof(Place))
        bound = self.end
        for j in range(depth):
            # Only chunks in which the walk will read something: one opened and not filled bounds nothing.
            while self.chunk[j] < self.end[j].chunk:
                opened = self.tables[j].starts + (self.chunk[j] + 1) * depth
                if compare_places(opened, self.low, depth) > 0:
                    if compare_places(opened, bound, depth) < 0:
                        bound = opened
                    break
                self.chunk[j] += 1
        if compare_places(self.low, bound, depth) >= 0:
            return False
        memcpy(self.high, bound, depth * sizeof(Place))
        self.fill()
        return True

    cdef bint next_reverse(self) noexcept nogil:
        cdef Py_ssize_t j, depth = self.depth
        cdef const Place* opened
        cdef const Place* bound
        if self.direction == 0:
            self.direction = -1
            memcpy(self.low, self.end, depth * sizeof(Place))
            for j in range(depth):
                self.chunk[j] = self.end[j].chunk
        memcpy(self.high, self.low, depth * sizeof(Place))
        bound = self.start
        for j in range(depth):
            while self.chunk[j] > self.start[j].chunk:
                opened = self.tables[j].starts + self.chunk[j] * depth
                if compare_places(opened, self.high, depth) < 0:
                    if compare_places(opened, bound, depth) > 0:
                        bound = opened
                    break
                self.chunk[j] -= 1
        if compare_places(bound, self.high, depth) >= 0:
            return False
        memcpy(self.low, bound, depth * sizeof(Place))
        self.fill()
        return True

    cdef void fill(self) noexcept nogil:
        # A bound in the chunk before is its end, which is this chunk's begin in the other form.
        cdef Py_ssize_t j, k, c
        for j in range(self.depth):
            c = self.chunk[j]
            for k in range(MAX_FIELDS):
                self.spans[j].fields[k] = self.tables[j].chunks[c].fields[k] if c < self.tables[j].count else NULL
            self.spans[j].begin = self.low[j].item if self.low[j].chunk == c else 0
            self.spans[j].end = self.high[j].item if self.high[j].chunk == c else 0

    cdef Py_ssize_t brief(self) noexcept nogil:
        """Items in all streams if they lie in one chunk of each, else -1."""
        cdef Py_ssize_t j, total = 0
        for j in range(self.depth):
            if self.start[j].chunk != self.end[j].chunk:
                return -1
            total += self.end[j].item - self.start[j].item
        return total

    cdef int check(self, const Py_ssize_t* cursors, bint reverse) except -1 nogil:
        cdef Py_ssize_t j, wanted
        for j in range(self.depth):
            wanted = self.spans[j].begin if reverse else self.spans[j].end
            if cursors[j] != wanted:
                with gil:
                    raise CorruptTape(
                        f"a sweep left stream {j} of {self.depth} at item {cursors[j]} of chunk {self.chunk[j]}, "
                        f"but the region {'begins' if reverse else 'ends'} at {wanted}: the streams' counts disagree"
                    )
        return 0

    def check_cursors(self, cursors, bint reverse=False):
        """Check cursors against the current region, as a sweep does at the end of each, for tests."""
        cdef Py_ssize_t j
        cdef Py_ssize_t* raw
        if len(cursors) != self.depth:
            raise ValueError(f"cursors must name {self.depth} items, not {len(cursors)}")
        raw = <Py_ssize_t*>pool.resize(NULL, 0, self.depth * sizeof(Py_ssize_t))
        try:
            for j in range(self.depth):
                raw[j] = cursors[j]
            self.check(raw, reverse)
        finally:
            pool.discard(raw, self.depth * sizeof(Py_ssize_t))

    def forward(self):
        """Yield each region as (chunk, begin, end) per stream, the root first; the nest is locked meanwhile."""
        return self.walk(False)

    def reverse(self):
        """Yield the regions last to first, each as `forward` does."""
        return self.walk(True)

    def walk(self, bint reverse):
        """Yield the regions in one direction; a walk starts anew only on a new object."""
        if self.direction == (1 if reverse else -1):
            raise TapeError("these regions were walked the other way: make new ones")
        self.root.lock()
        try:
            while self.next_reverse() if reverse else self.next_forward():
                yield tuple([(self.chunk[j], self.spans[j].begin, self.spans[j].end) for j in range(self.depth)])
        finally:
            self.root.unlock()


cdef Regions regions_between(Stream root, Position start, Position end):
    cdef Regions regions = Regions.__new__(Regions, root)
    if start is not None or end is not None:
        regions.narrow(start, end)
    return regions
