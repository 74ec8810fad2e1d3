# SPDX-License-Identifier: Apache-2.0
# Which elements of a row, be they values or identifiers, a shape with strides shows. Strides count elements, not bytes.


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


cdef inline Py_ssize_t elements_of(int ndim, const Py_ssize_t* shape) noexcept nogil:
    """How many elements are shown."""
    cdef Py_ssize_t size = 1
    cdef int k
    for k in range(ndim):
        size *= shape[k]
    return size


# The one walk over strided elements: `index` begins with zeros, `at` with an offset in each of so many rows. What stands
# still for a whole line leaves the last axis to a loop of its own.
cdef inline bint advance(int ndim, const Py_ssize_t* shape, Py_ssize_t* index, int rows, const Py_ssize_t** strides,
                         Py_ssize_t* at) noexcept nogil:
    """Go to the next element in the order of C; False after the last one, when all is as in the beginning."""
    cdef int k = ndim, row
    while k > 0:
        k -= 1
        index[k] += 1
        for row in range(rows):
            at[row] += strides[row][k]
        if index[k] < shape[k]:
            return True
        for row in range(rows):
            at[row] -= index[k] * strides[row][k]
        index[k] = 0
    return False
