# SPDX-License-Identifier: Apache-2.0
# Shape and strides: which elements of a storage an array shows.
from codipy.data.strided cimport in_order
from codipy.programs.tiles cimport MAX_DIMS

# NumPy allows 64 dimensions; an Array with more than MAX_DIMS is refused.
# Strides count elements, not bytes.
cdef struct View:
    Py_ssize_t offset
    Py_ssize_t size
    int ndim
    Py_ssize_t shape[MAX_DIMS]
    Py_ssize_t strides[MAX_DIMS]


cdef inline void set_contiguous(View* v) noexcept nogil:
    """Size and C-order strides for the shape."""
    cdef Py_ssize_t stride = 1
    cdef int k
    for k in range(v.ndim - 1, -1, -1):
        v.strides[k] = stride
        stride *= v.shape[k]
    v.size = stride
    v.offset = 0


cdef inline bint same_shape(const View* a, const View* b) noexcept nogil:
    cdef int k
    if a.ndim != b.ndim:
        return False
    for k in range(a.ndim):
        if a.shape[k] != b.shape[k]:
            return False
    return True


cdef inline bint same_view(const View* a, const View* b) noexcept nogil:
    cdef int k
    if a.offset != b.offset or not same_shape(a, b):
        return False
    for k in range(a.ndim):
        if a.strides[k] != b.strides[k]:
            return False
    return True


cdef inline bint is_contiguous(const View* v) noexcept nogil:
    return in_order(v.ndim, v.shape, v.strides, 1)


# Shape of the result of an operation on both; 0 where they do not broadcast.
cdef bint broadcast_shape(const View* a, const View* b, View* result) noexcept nogil
# Strides that read `source`, of shape `have`, as if it had the shape of `to`; 0 where it cannot.
cdef bint broadcast_strides(const View* have, const Py_ssize_t* source, const View* to, Py_ssize_t* strides) noexcept nogil
# Whether no two elements of a view are the same; may say no where they are not.
cdef bint is_injective(const View* v) noexcept
cdef tuple shape_tuple(const View* v)
