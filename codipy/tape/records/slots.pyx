# SPDX-License-Identifier: Apache-2.0
"""Which identifiers an argument or a result of a record has, and what vectors hold for them."""
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memset
cimport numpy as cnp

from codipy.data.plain cimport NUMPY_DIMS, plain_array
from codipy.data.strided cimport advance, elements_of, in_order
from codipy.tape.records.loops cimport loop_add

cnp.import_array()

cdef enum:
    FEW = 512                    # elements: below, a loop of ours takes less than a call of NumPy


cdef tuple shape_of(const Slots* slots):
    return tuple([slots.shape[k] for k in range(slots.ndim)])


cdef bint are_all_between(const Slots* slots, int32_t before, int32_t after) noexcept:
    cdef Py_ssize_t size = 1
    cdef int k, found = 0
    while found >= 0:            # the dimension that goes on where those that were found end
        found = -1
        for k in range(slots.ndim):
            if slots.shape[k] > 1 and slots.strides[k] == size:
                found = k
        if found >= 0:
            size *= slots.shape[found]
    return slots.first == before + 1 and size == after - before and size == elements_of(slots.ndim, slots.shape)


cdef object adjoint_view(double* origin, const Slots* slots, Py_ssize_t width):
    return None if slots.ndim < 0 else view_of(origin, slots, width, True)


cdef object view_of(double* origin, const Slots* slots, Py_ssize_t width, bint writable):
    return plain_array(origin + slots.first * width, slots.ndim, slots.shape, slots.strides, width, writable, None)


cdef object directions_of(double* origin, const Slots* slots, Py_ssize_t width):
    cdef Py_ssize_t shape[NUMPY_DIMS]
    cdef Py_ssize_t strides[NUMPY_DIMS]
    cdef int k
    shape[0], strides[0] = width, 1
    for k in range(slots.ndim):
        shape[k + 1], strides[k + 1] = slots.shape[k], slots.strides[k] * width
    return plain_array(origin + slots.first * width, slots.ndim + 1, shape, strides, 1, True, None)


cdef bint is_cleared(const double* origin, const Slots* slots) noexcept:
    """Whether all bits are 0, of what lies in the order of C: asked at the speed of memory, whatever the last axis is."""
    cdef Py_ssize_t n = elements_of(slots.ndim, slots.shape)
    cdef const double* first = origin + slots.first
    if n == 0 or not in_order(slots.ndim, slots.shape, slots.strides, 1):
        return n == 0
    return (<const int64_t*>first)[0] == 0 and memcmp(first, first + 1, (n - 1) * sizeof(double)) == 0


cdef bint is_nonzero(const double* origin, const Slots* slots, Py_ssize_t width) noexcept:
    cdef const Py_ssize_t* rows = slots.strides
    cdef Py_ssize_t index[NUMPY_DIMS]
    cdef Py_ssize_t at = slots.first, i, n, step
    cdef int k, last = slots.ndim - 1
    if slots.ndim <= 0:
        return slots.ndim == 0 and origin[at * width] != 0.0
    if width == 1 and is_cleared(origin, slots):
        return False
    n, step = slots.shape[last], slots.strides[last]
    for k in range(last):
        index[k] = 0
        if slots.shape[k] == 0:
            return False
    while True:
        for i in range(n):
            if origin[(at + i * step) * width] != 0.0:
                return True
        if not advance(last, slots.shape, index, 1, &rows, &at):
            return False


cdef bint add_array(double* origin, const Slots* slots, Py_ssize_t width, object array) except? True:
    cdef cnp.ndarray given
    cdef const Py_ssize_t* rows[2]
    cdef Py_ssize_t index[NUMPY_DIMS]
    cdef Py_ssize_t at[2]
    cdef Py_ssize_t i, n, step, bytes, size
    cdef int k, last = slots.ndim - 1
    cdef double* to
    cdef const char* numbers
    if not cnp.PyArray_Check(array):
        return False
    given = array
    if cnp.PyArray_NDIM(given) != slots.ndim or cnp.PyArray_TYPE(given) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(given):
        return False
    for k in range(slots.ndim):
        if cnp.PyArray_DIM(given, k) != slots.shape[k]:
            return False
    rows[0], rows[1] = slots.strides, <const Py_ssize_t*>cnp.PyArray_STRIDES(given)
    numbers, size = cnp.PyArray_BYTES(given), elements_of(slots.ndim, slots.shape)
    if size >= FEW and (width > 1 or not in_order(slots.ndim, slots.shape, slots.strides, 1) or not in_order(
            slots.ndim, slots.shape, rows[1], sizeof(double))):
        return False             # NumPy finds an order of axes that is quicker
    if size == 0:
        return True
    if size >= FEW:              # in the order of C, both: one row
        loop_add(origin + slots.first, <const double*>numbers, size)
        return True
    at[0], at[1] = slots.first, 0
    if slots.ndim == 0:
        origin[at[0] * width] += (<const double*>numbers)[0]
        return True
    n, step, bytes = slots.shape[last], slots.strides[last] * width, rows[1][last]
    for k in range(last):
        index[k] = 0
    while True:
        to = origin + at[0] * width
        if step == 1 and bytes == sizeof(double):
            loop_add(to, <const double*>(numbers + at[1]), n)
        else:
            for i in range(n):
                to[i * step] += (<const double*>(numbers + at[1] + i * bytes))[0]
        if not advance(last, slots.shape, index, 2, rows, at):
            return True


cdef int clear(double* origin, const Slots* slots, Py_ssize_t width) except -1:
    if slots.ndim < 0:
        return 0
    if width > 1 or not in_order(slots.ndim, slots.shape, slots.strides, 1):
        adjoint_view(origin, slots, width)[...] = 0.0
        return 0
    memset(origin + slots.first, 0, elements_of(slots.ndim, slots.shape) * sizeof(double))
    return 0


cdef int clear_all(double* origin, const Slots* slots, Py_ssize_t width) except -1:
    cdef Py_ssize_t d
    if slots.ndim >= 0 and in_order(slots.ndim, slots.shape, slots.strides, 1):
        memset(origin + slots.first * width, 0, elements_of(slots.ndim, slots.shape) * width * sizeof(double))
        return 0
    for d in range(width):
        clear(origin + d, slots, width)
    return 0
