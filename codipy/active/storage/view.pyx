# SPDX-License-Identifier: Apache-2.0
"""Shape and strides."""


cdef bint broadcast_shape(const View* a, const View* b, View* result) noexcept nogil:
    cdef int k, i, j
    cdef Py_ssize_t n, m
    result.ndim = max(a.ndim, b.ndim)
    for k in range(result.ndim):
        i, j = k - (result.ndim - a.ndim), k - (result.ndim - b.ndim)
        n = a.shape[i] if i >= 0 else 1
        m = b.shape[j] if j >= 0 else 1
        if n != m and n != 1 and m != 1:
            return False
        result.shape[k] = m if n == 1 else n
    set_contiguous(result)
    return True


cdef bint broadcast_strides(const View* have, const Py_ssize_t* source, const View* to,
                            Py_ssize_t* strides) noexcept nogil:
    cdef int k, i
    if have.ndim > to.ndim:
        for k in range(have.ndim - to.ndim):
            if have.shape[k] != 1:
                return False
    for k in range(to.ndim):
        i = k - (to.ndim - have.ndim)
        if i < 0 or (have.shape[i] == 1 and to.shape[k] != 1):
            strides[k] = 0
        elif have.shape[i] != to.shape[k]:
            return False
        else:
            strides[k] = source[i]
    return True


cdef bint is_injective(const View* v) noexcept:
    """Whether no two elements of a view are the same; may say no where they are not."""
    cdef Py_ssize_t smaller = 0
    cdef int k, j
    cdef bint done[MAX_DIMS]
    if v.size == 0 or is_contiguous(v):
        return True
    for k in range(v.ndim):
        done[k] = v.shape[k] <= 1
    while True:
        j = -1
        for k in range(v.ndim):
            if not done[k] and (j < 0 or abs(v.strides[k]) < abs(v.strides[j])):
                j = k
        if j < 0:
            return True
        if abs(v.strides[j]) <= smaller:
            return False
        smaller += abs(v.strides[j]) * (v.shape[j] - 1)
        done[j] = True


cdef tuple shape_tuple(const View* v):
    cdef int k
    return tuple([v.shape[k] for k in range(v.ndim)])
