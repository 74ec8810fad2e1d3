# SPDX-License-Identifier: Apache-2.0
"""What a stream that keeps nothing would have."""
from libc.string cimport memset
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport cython

from codipy.data.chunk cimport chunk_capacity
from codipy.data.position cimport Place


@cython.final
@cython.no_gc
cdef class Counted:
    """Counted(sizes)
    --

    Items and chunks of a stream that keeps nothing, for several sizes of chunks; 0: chunks grow.

    A chunk is opened where the stream itself would open one, as large: an item never leaves the chunk that it was
    reserved in, so the number of items alone does not say how many chunks there are.
    """
    def __cinit__(self, sizes):
        cdef Py_ssize_t k, count = len(sizes)
        self.layouts = <Layout*>PyMem_Malloc(count * sizeof(Layout))
        if self.layouts == NULL:
            raise MemoryError(f"no memory to count the chunks of {count} sizes")
        memset(self.layouts, 0, count * sizeof(Layout))
        for k in range(count):
            self.layouts[k].fixed = sizes[k]
        self.count = count

    def __dealloc__(self):
        PyMem_Free(self.layouts)

    cdef void add(self, Py_ssize_t items) noexcept:
        cdef Py_ssize_t k
        self.items += items
        for k in range(self.count):
            self.layouts[k].used += items

    cdef Py_ssize_t open(self, Py_ssize_t n, const Py_ssize_t* sizes, int fields) except -1:
        cdef Py_ssize_t k, room = -1, capacity, nbytes = 0
        cdef bint follows
        cdef Layout* layout
        for k in range(self.count):
            layout = self.layouts + k
            if n > layout.capacity - layout.used:
                follows = layout.used > 0        # one without items is replaced
                capacity = chunk_capacity(n, layout.chunk + follows, layout.fixed, sizes, fields, &nbytes)
                if follows:
                    layout.chunk += 1
                    layout.closed += layout.nbytes
                    layout.last = layout.used
                layout.capacity, layout.nbytes, layout.used = capacity, nbytes, 0
            if room < 0 or layout.capacity - layout.used < room:
                room = layout.capacity - layout.used
        return room

    cdef Place place(self, Py_ssize_t used) noexcept:
        cdef Place place
        place.chunk, place.item = self.layouts.chunk, self.layouts.used + used
        if place.item == 0 and place.chunk > 0:
            place.chunk -= 1
            place.item = self.layouts.last
        return place

    cdef tuple chunks(self, Py_ssize_t k, Py_ssize_t used):
        """How many there are, how many have items, and their bytes."""
        if not 0 <= k < self.count:
            raise IndexError(f"k must be 0 or more and less than the {self.count} sizes that are counted, not {k}")
        cdef Layout* layout = self.layouts + k
        cdef bint filled = layout.used + used > 0
        return layout.chunk + (layout.capacity > 0), layout.chunk + filled, layout.closed + layout.nbytes
