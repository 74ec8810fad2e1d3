# SPDX-License-Identifier: Apache-2.0
# The memory of an array's values, counted by Python: variables, pending expressions and the tape share it; and which
# elements of a row, be they values or identifiers, a shape with strides shows. Strides count elements, not bytes.
from libc.stdint cimport int64_t
cimport cython


# Immutable as soon as it is shared: whoever wants to write, and is not the only holder, writes into a new one. So
# nothing ever needs to be told that what it reads has changed. Every holder has a reference, so Python's reference
# count is the count of holders (owns_buffer in active/storage/storage.pxd).
@cython.final
cdef class Buffer:
    cdef double* data
    cdef readonly Py_ssize_t size        # doubles
    cdef readonly object array           # a NumPy array that owns the memory, or None: it is ours
    cdef public int64_t walk             # the last one that counted what tapes keep: see tape/held.py. Negative: a
                                         # recording that keeps nothing would keep this one, so nobody owns it alone


cdef inline void reach(int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t offset,
                       Py_ssize_t* first, Py_ssize_t* last) noexcept nogil:
    """The first and the last element that are shown; where there is none, the last is the one before the first."""
    cdef int k
    first[0] = last[0] = offset
    for k in range(ndim):
        if shape[k] == 0:
            first[0], last[0] = offset, offset - 1
            return
        if strides[k] < 0:
            first[0] += (shape[k] - 1) * strides[k]
        else:
            last[0] += (shape[k] - 1) * strides[k]


cdef inline bint in_order(int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t unit) noexcept nogil:
    """Whether elements in the order of C lie `unit` after one another."""
    cdef int k
    for k in range(ndim - 1, -1, -1):
        if shape[k] != 1 and strides[k] != unit:
            return False
        unit *= shape[k]
    return True


cdef Buffer new_buffer(Py_ssize_t size)
cdef Buffer wrap_array(object array, double* data, Py_ssize_t size)
