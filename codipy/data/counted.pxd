# SPDX-License-Identifier: Apache-2.0
# What a stream that keeps nothing would have: its items, and its chunks for several sizes at once.
from codipy.data.position cimport Place


# The chunks for one size. `used` is from before the items that the stream's cursor counts.
cdef struct Layout:
    Py_ssize_t fixed        # items per chunk; 0: chunks grow
    Py_ssize_t chunk        # number of the open one
    Py_ssize_t capacity     # items that fit into it; 0: there is none yet
    Py_ssize_t used         # items in it
    Py_ssize_t last         # items in the one before
    Py_ssize_t nbytes       # bytes of it ...
    Py_ssize_t closed       # ... and of those before it


cdef class Counted:
    cdef Layout* layouts            # the stream's own chunk size first
    cdef Py_ssize_t count
    cdef readonly Py_ssize_t items  # from before those that the stream's cursor counts

    # `items` more were pushed.
    cdef void add(self, Py_ssize_t items) noexcept
    # Open a chunk in every layout whose open one has no room for n items; returns for how many there is room in all of them.
    cdef Py_ssize_t open(self, Py_ssize_t n, const Py_ssize_t* sizes, int fields) except -1
    # Where the next item comes, in the layout of the stream's own chunk size; `used` is the cursor's.
    cdef Place place(self, Py_ssize_t used) noexcept
    cdef tuple chunks(self, Py_ssize_t k, Py_ssize_t used)
