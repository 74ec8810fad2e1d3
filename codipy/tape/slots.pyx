# SPDX-License-Identifier: Apache-2.0
"""Which identifiers an argument or a result of a call has, and what vectors hold for them."""
from libc.string cimport memset

from codipy.data.buffer cimport in_order
from codipy.data.plain cimport NUMPY_DIMS, plain_array


cdef tuple shape_of(const Slots* slots):
    return tuple([slots.shape[k] for k in range(slots.ndim)])


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


cdef bint is_nonzero(const double* origin, const Slots* slots, Py_ssize_t width) noexcept:
    return slots.ndim >= 0 and differs(origin + slots.first * width, slots.ndim, slots.shape, slots.strides, width)


cdef bint differs(const double* data, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                  Py_ssize_t width) noexcept:
    cdef Py_ssize_t i
    if ndim == 0:
        return data[0] != 0.0
    for i in range(shape[0]):
        if ndim == 1 and data[i * strides[0] * width] != 0.0:
            return True
        if ndim > 1 and differs(data + i * strides[0] * width, ndim - 1, shape + 1, strides + 1, width):
            return True
    return False


cdef int clear(double* origin, const Slots* slots, Py_ssize_t width) except -1:
    cdef Py_ssize_t size = 1
    cdef int k
    if slots.ndim < 0:
        return 0
    if width > 1 or not in_order(slots.ndim, slots.shape, slots.strides, 1):
        adjoint_view(origin, slots, width)[...] = 0.0
        return 0
    for k in range(slots.ndim):
        size *= slots.shape[k]
    memset(origin + slots.first, 0, size * sizeof(double))
    return 0


cdef int clear_all(double* origin, const Slots* slots, Py_ssize_t width) except -1:
    cdef Py_ssize_t d, size = width
    cdef int k
    if slots.ndim >= 0 and in_order(slots.ndim, slots.shape, slots.strides, 1):
        for k in range(slots.ndim):
            size *= slots.shape[k]
        memset(origin + slots.first * width, 0, size * sizeof(double))
        return 0
    for d in range(width):
        clear(origin + d, slots, width)
    return 0
