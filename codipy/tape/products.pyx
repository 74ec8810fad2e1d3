# SPDX-License-Identifier: Apache-2.0
"""Products of matrices that are added to adjoints, by loops or by BLAS."""
from libc.string cimport memset
cimport numpy as cnp

cnp.import_array()


cdef bint matrix_of(object x, Matrix* m, bint column) noexcept:
    cdef cnp.ndarray array
    if not cnp.PyArray_Check(x) or cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_DOUBLE:
        return False
    array = x
    if not 1 <= cnp.PyArray_NDIM(array) <= 2 or not cnp.PyArray_ISBEHAVED_RO(array):
        return False
    m.data = <double*>cnp.PyArray_DATA(array)
    m.rows, m.columns, m.down, m.right = 1, 1, 0, 0
    if cnp.PyArray_NDIM(array) == 2 or column:
        m.rows, m.down = cnp.PyArray_DIM(array, 0), cnp.PyArray_STRIDE(array, 0) // <Py_ssize_t>sizeof(double)
    if cnp.PyArray_NDIM(array) == 2 or not column:
        m.columns = cnp.PyArray_DIM(array, cnp.PyArray_NDIM(array) - 1)
        m.right = cnp.PyArray_STRIDE(array, cnp.PyArray_NDIM(array) - 1) // <Py_ssize_t>sizeof(double)
    return True


cdef void add_matrix_product(const Matrix* to, const Matrix* x, bint turned_x, const Matrix* y,
                             bint turned_y) noexcept nogil:
    cdef Py_ssize_t x_down = x.right if turned_x else x.down, x_right = x.down if turned_x else x.right
    cdef Py_ssize_t y_down = y.right if turned_y else y.down, y_right = y.down if turned_y else y.right
    cdef Py_ssize_t inner = x.rows if turned_x else x.columns, i, j, k
    cdef const double* left
    cdef const double* right
    cdef double total
    for i in range(to.rows):
        for j in range(to.columns):
            left, right, total = x.data + i * x_down, y.data + j * y_right, 0.0
            for k in range(inner):
                total += left[k * x_right] * right[k * y_down]
            to.data[i * to.down + j * to.right] += total


cdef Matrix turned(const Matrix* m) noexcept nogil:
    cdef Matrix found
    found.data, found.rows, found.columns, found.down, found.right = m.data, m.columns, m.rows, m.right, m.down
    return found


cdef bint lies_in_rows(const Matrix* m) noexcept nogil:
    """Whether each row lies in one piece, and the rows one behind the other."""
    return (m.right == 1 or m.columns == 1) and (m.down >= max(m.columns, 1) or m.rows == 1)


cdef bint is_for_blas(const Matrix* m) noexcept nogil:
    cdef Matrix other = turned(m)
    return lies_in_rows(m) or lies_in_rows(&other)


cdef enum:
    BY_ROWS = 101
    AS_IT_IS = 111
    TURNED = 112

cdef Gemm gemm = NULL
cdef bint sought = False


cdef void add_blas_product(Gemm multiply, const Matrix* to, const Matrix* x, const Matrix* y) noexcept nogil:
    cdef Matrix a = x[0], b = y[0], c = to[0]
    if not lies_in_rows(&c):
        a, b, c = turned(y), turned(x), turned(to)
    cdef bint x_turned = not lies_in_rows(&a), y_turned = not lies_in_rows(&b)
    multiply(BY_ROWS, TURNED if x_turned else AS_IT_IS, TURNED if y_turned else AS_IT_IS, c.rows, c.columns, a.columns, 1.0,
             a.data, max(a.right, a.rows, 1) if x_turned else max(a.down, a.columns, 1),
             b.data, max(b.right, b.rows, 1) if y_turned else max(b.down, b.columns, 1), 1.0,
             c.data, max(c.down, c.columns, 1))


cdef Gemm gemm_at(object address) except? NULL:
    global gemm, sought
    if not sought:
        sought = True
        gemm = multiplies(<Gemm><size_t>address())
    return gemm


cdef Gemm multiplies(Gemm found) noexcept:
    """The function itself, if it multiplies, as an example shows, and adds; else NULL."""
    cdef double[6] x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    cdef double[4] to = [1.0, 1.0, 1.0, 1.0]
    cdef Matrix a, b, c
    if found == NULL:
        return NULL
    a.data, a.rows, a.columns, a.down, a.right = x, 2, 3, 3, 1
    b = turned(&a)
    c.data, c.rows, c.columns, c.down, c.right = to, 2, 2, 1, 2
    add_blas_product(found, &c, &a, &b)
    return found if to[0] == 15.0 and to[1] == 33.0 and to[2] == 33.0 and to[3] == 78.0 else NULL


cdef void stack_of(Stack* s, double* data, int dims, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides,
                   Py_ssize_t unit) noexcept:
    cdef int k, i
    for k in range(dims):
        i = k - dims + ndim - 2
        s.steps[k] = strides[i] // unit if i >= 0 and shape[i] != 1 else 0
    s.matrix.data, s.matrix.rows, s.matrix.columns = data, shape[ndim - 2], shape[ndim - 1]
    s.matrix.down, s.matrix.right = strides[ndim - 2] // unit, strides[ndim - 1] // unit


cdef Matrix matrix_at(const Stack* s, Py_ssize_t number, int dims, const Py_ssize_t* shape) noexcept nogil:
    cdef Matrix found = s.matrix
    cdef int k
    for k in range(dims - 1, -1, -1):
        found.data += number % shape[k] * s.steps[k]
        number //= shape[k]
    return found


cdef void clear_matrix(const Matrix* m) noexcept nogil:
    cdef Matrix rows = m[0] if lies_in_rows(m) else turned(m)
    cdef Py_ssize_t i, k
    if rows.right == 1 and rows.down == rows.columns:
        memset(rows.data, 0, rows.rows * rows.columns * sizeof(double))
        return
    for i in range(rows.rows):
        for k in range(rows.columns):
            rows.data[i * rows.down + k * rows.right] = 0.0
