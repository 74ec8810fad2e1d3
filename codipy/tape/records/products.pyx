# SPDX-License-Identifier: Apache-2.0
"""Products of matrices that are added to adjoints, by loops or by BLAS; the sweeps over a product that was recorded."""
import numpy as np

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset
cimport numpy as cnp

from codipy.data.strided cimport elements_of
from codipy.tape.records.loops cimport loop_add, loop_add_picked, loop_all_finite, loop_single, loop_total
from codipy.tape.records.slots cimport Slots, clear_all

cnp.import_array()

cdef enum:
    FEW_PRODUCTS = 2048          # of single elements, in a product of matrices: below, NumPy takes longer to be called
    FEW_UNITS = 16               # rows of directions, below which it does not pay to ask whether they are units


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


cdef bint repeats(const Slots* slots) noexcept nogil:
    cdef int k
    for k in range(slots.ndim):
        if slots.strides[k] == 0 and slots.shape[k] > 1:
            return True
    return False


cdef bint is_repeated(const Matrix* m, bint is_first) noexcept nogil:
    """Whether all rows of a first factor, or all columns of a second one, are the same."""
    return m.down == 0 and m.rows > 1 if is_first else m.right == 0 and m.columns > 1


cdef double* room_for(const Matrix* g, Py_ssize_t width) except NULL:
    """For the sums of the rows or columns of what flows."""
    cdef double* room = <double*>malloc(max(g.rows, g.columns, 1) * width * sizeof(double))
    if room == NULL:
        raise MemoryError("no memory for the sweep of a product")
    return room


cdef void total(double* to, const Matrix* m, Py_ssize_t width) noexcept nogil:
    """The sums of the columns, `width` numbers for each element."""
    cdef Py_ssize_t i, k, d
    if width == 1 and m.down == 1:
        for k in range(m.columns):
            to[k] = loop_total(m.data + k * m.right, m.rows)
        return
    memset(to, 0, m.columns * width * sizeof(double))
    for i in range(m.rows):
        if width == 1 and m.right == 1:
            loop_add(to, m.data + i * m.down, m.columns)
            continue
        for k in range(m.columns):
            for d in range(width):
                to[k * width + d] += m.data[i * m.down + k * m.right + d]


cdef void take_total(double* room, Matrix* to, Matrix* g, bint is_first, Py_ssize_t width) noexcept nogil:
    """Where all rows of a first factor, or all columns of a second one, are the same: one of them, and the sum of what flows."""
    cdef Matrix rows = to[0] if is_first else turned(to), flow = g[0] if is_first else turned(g)
    total(room, &flow, width)
    rows.rows = flow.rows = 1
    rows.down = rows.columns * rows.right
    flow.data, flow.right, flow.down = room, width, flow.columns * width
    to[0] = rows if is_first else turned(&rows)
    g[0] = flow if is_first else turned(&flow)


# ---- The sweeps over a product ----

cdef bint find_product(const Factors* f, double* origin, Py_ssize_t width, Product* p) except? True:
    """The matrices of a product for a sweep in several directions; False where the operands are something else."""
    cdef const Slots* result = f.slots + f.arguments
    cdef int[2] ndims
    cdef int k, n
    cdef cnp.ndarray array
    if len(<tuple>f.args) != 2:
        return False
    for k in range(2):
        if not cnp.PyArray_Check((<tuple>f.args)[k]):
            return False
        array = (<tuple>f.args)[k]
        ndims[k] = cnp.PyArray_NDIM(array)
        if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(array) or ndims[k] < 1:
            return False
    p.dims = result.ndim - 2 if min(ndims[0], ndims[1]) > 1 else 0
    if not 0 <= p.dims <= MOST_STACKED or not p.dims and max(ndims[0], ndims[1]) > 2:
        return False
    if p.dims and (<object>f.primitive).name != "matmul":
        return False
    for k in range(2):
        array = (<tuple>f.args)[k]
        if ndims[k] > 1:
            stack_of(&p.given[k], <double*>cnp.PyArray_DATA(array), p.dims, ndims[k],
                     <const Py_ssize_t*>cnp.PyArray_DIMS(array), <const Py_ssize_t*>cnp.PyArray_STRIDES(array), sizeof(double))
        elif not matrix_of(array, &p.given[k].matrix, k == 1):
            return False
    flow_of(&p.result, origin, result, p.dims, width, ndims[0] > 1, ndims[1] > 1)
    for k in range(f.arguments):
        n = (<tuple>f.argnums)[k]
        p.is_first[k] = n == 0
        flow_of(&p.flow[k], origin, f.slots + k, p.dims, width, ndims[n] > 1 or n == 1, ndims[n] > 1 or n == 0)
    p.count, p.gemm = elements_of(p.dims, result.shape), NULL
    if p.result.matrix.rows * p.given[0].matrix.columns * p.result.matrix.columns * width > FEW_PRODUCTS:
        p.gemm = gemm_at((<object>f.primitive).gemm)
        return p.gemm != NULL and is_for_blas(&p.given[0].matrix) and is_for_blas(&p.given[1].matrix)
    return True


cdef bint add_product(const Factors* f, double* origin, Py_ssize_t width) noexcept:
    """Add the cotangents of two small matrices or vectors that were multiplied; False where they are something else.

    NumPy takes longer to be called than for these products.
    """
    cdef const Slots* result = f.slots + f.arguments
    cdef const Slots* slots
    cdef Matrix a, b, bar, into
    cdef Py_ssize_t k
    if len(<tuple>f.args) != 2 or not matrix_of((<tuple>f.args)[0], &a, False) or not matrix_of(
            (<tuple>f.args)[1], &b, True):
        return False
    if a.columns != b.rows or a.rows * a.columns * b.columns > FEW_PRODUCTS:
        return False
    bar.data, bar.rows, bar.columns = origin + result.first * width, a.rows, b.columns
    # A vector in front gives no rows, one behind no columns: what is left of the result are the others.
    k = 0
    bar.down = bar.right = 0
    if cnp.PyArray_NDIM(<cnp.ndarray>(<tuple>f.args)[0]) == 2:
        bar.down = result.strides[k] * width
        k += 1
    if cnp.PyArray_NDIM(<cnp.ndarray>(<tuple>f.args)[1]) == 2:
        bar.right = result.strides[k] * width
        k += 1
    if result.ndim != k:
        return False
    for k in range(f.arguments):
        slots = f.slots + k
        into.data, into.down, into.right = origin + slots.first * width, 0, 0
        if (<tuple>f.argnums)[k] == 0:
            into.rows, into.columns = a.rows, a.columns
            if slots.ndim == 2:
                into.down = slots.strides[0] * width
            into.right = slots.strides[slots.ndim - 1] * width
            add_matrix_product(&into, &bar, 0, &b, 1)
        else:
            into.rows, into.columns = b.rows, b.columns
            into.down = slots.strides[0] * width
            if slots.ndim == 2:
                into.right = slots.strides[1] * width
            add_matrix_product(&into, &a, 1, &bar, 0)
    return True


cdef bint add_products(const Factors* f, double* origin, bint clears) except? True:
    """Add the cotangents of large matrices or of stacks of matrices that were multiplied, one pair after the other.

    So what flows back into a pair is in the cache for both of its cotangents, and is cleared there. False where the
    operands are something else.
    """
    cdef const Slots* result = f.slots + f.arguments
    cdef const Slots* slots
    cdef Gemm gemm = NULL
    cdef Stack bar
    cdef Stack[2] given, into
    cdef Matrix g, x, y, to
    cdef Py_ssize_t i, k
    cdef int dims = result.ndim - 2
    cdef double* room = NULL
    cdef cnp.ndarray array
    cdef bint few
    cdef bint[2] is_first
    if len(<tuple>f.args) != 2 or not 0 <= dims <= MOST_STACKED:
        return False
    for k in range(2):
        if not cnp.PyArray_Check((<tuple>f.args)[k]):
            return False
        array = (<tuple>f.args)[k]
        if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(array) or cnp.PyArray_NDIM(array) < 2:
            return False
        stack_of(&given[k], <double*>cnp.PyArray_DATA(array), dims, cnp.PyArray_NDIM(array),
                 <const Py_ssize_t*>cnp.PyArray_DIMS(array), <const Py_ssize_t*>cnp.PyArray_STRIDES(array), sizeof(double))
    if dims and (<object>f.primitive).name != "matmul":         # numpy.dot means something else by it
        return False
    stack_of(&bar, origin + result.first, dims, result.ndim, result.shape, result.strides, 1)
    g, x, y = bar.matrix, given[0].matrix, given[1].matrix
    few = x.rows * x.columns * y.columns <= FEW_PRODUCTS
    if not few:
        gemm = gemm_at((<object>f.primitive).gemm)
        if gemm == NULL or not (is_for_blas(&g) and is_for_blas(&x) and is_for_blas(&y)):
            return False
    for k in range(f.arguments):
        slots = f.slots + k
        is_first[k] = (<tuple>f.argnums)[k] == 0
        stack_of(&into[k], origin + slots.first, dims, slots.ndim, slots.shape, slots.strides, 1)
        if repeats(slots):
            if room == NULL:
                room = room_for(&g, 1)
        elif not few and not is_for_blas(&into[k].matrix):
            free(room)
            return False
    with nogil:
        for i in range(elements_of(dims, result.shape)):
            for k in range(f.arguments):
                g, to = matrix_at(&bar, i, dims, result.shape), matrix_at(&into[k], i, dims, result.shape)
                if room != NULL and is_repeated(&to, is_first[k]):
                    take_total(room, &to, &g, is_first[k], 1)
                if is_first[k]:
                    x, y = g, matrix_at(&given[1], i, dims, result.shape)
                    y = turned(&y)
                else:
                    x, y = matrix_at(&given[0], i, dims, result.shape), g
                    x = turned(&x)
                if few or x.rows * x.columns * y.columns <= FEW_PRODUCTS:
                    add_matrix_product(&to, &x, 0, &y, 0)
                else:
                    add_blas_product(gemm, &to, &x, &y)
            if clears:
                g = matrix_at(&bar, i, dims, result.shape)
                clear_matrix(&g)
    free(room)
    return True


cdef bint pull_product(const Factors* f, double* origin, Py_ssize_t width) except? True:
    """As add_products, in all directions at once. False where that is not what they do one after the other."""
    cdef Product p
    cdef Matrix g, to, plain
    cdef const Py_ssize_t* shape = f.slots[f.arguments].shape
    cdef double* room = NULL
    cdef Py_ssize_t i
    cdef int k
    if not find_product(f, origin, width, &p):
        return False
    if not all_flow(&p, shape, width) and not (is_finite((<tuple>f.args)[0]) and is_finite((<tuple>f.args)[1])):
        return False             # nothing flows from a direction of zeros, even through what is infinite
    for k in range(f.arguments):
        if room == NULL and is_repeated(&p.flow[k].matrix, p.is_first[k]):
            room = room_for(&p.result.matrix, width)
    with nogil:
        for i in range(p.count):
            for k in range(f.arguments):
                g, to = matrix_at(&p.result, i, p.dims, shape), matrix_at(&p.flow[k], i, p.dims, shape)
                if is_repeated(&to, p.is_first[k]):
                    take_total(room, &to, &g, p.is_first[k], width)
                plain = matrix_at(&p.given[p.is_first[k]], i, p.dims, shape)
                if p.is_first[k]:
                    add_by_rows(p.gemm, &to, &plain, &g, width)
                else:
                    plain = turned(&plain)
                    add_by_columns(p.gemm, &to, &plain, &g, width)
    free(room)
    return True


cdef bint push_product(const Factors* f, double* origin, Py_ssize_t width) except? True:
    """The tangents of a product in all directions; False where the operands are something else."""
    cdef Product p
    cdef Matrix dot, to, plain
    cdef const Slots* result = f.slots + f.arguments
    cdef Py_ssize_t i
    cdef int k
    if not find_product(f, origin, width, &p):
        return False
    clear_all(origin, result, width)
    with nogil:
        for i in range(p.count):
            to = matrix_at(&p.result, i, p.dims, result.shape)
            for k in range(f.arguments):
                dot = matrix_at(&p.flow[k], i, p.dims, result.shape)
                plain = matrix_at(&p.given[p.is_first[k]], i, p.dims, result.shape)
                if p.is_first[k]:
                    plain = turned(&plain)
                    add_by_rows(p.gemm, &to, &plain, &dot, width)
                else:
                    add_by_columns(p.gemm, &to, &plain, &dot, width)
    return True


cdef void flow_of(Stack* s, double* origin, const Slots* slots, int dims, Py_ssize_t width, bint rows, bint columns) noexcept:
    """The matrices of adjoints in all directions, steps in numbers; `rows`, `columns`: which of the dimensions there are."""
    cdef int k = slots.ndim - 1, i, d
    s.matrix.data = origin + slots.first * width
    s.matrix.rows = s.matrix.columns = 1
    s.matrix.down = s.matrix.right = 0
    if columns:
        s.matrix.columns, s.matrix.right = slots.shape[k], slots.strides[k] * width
        k -= 1
    if rows:
        s.matrix.rows, s.matrix.down = slots.shape[k], slots.strides[k] * width
        k -= 1
    for d in range(dims):
        i = d - dims + k + 1
        s.steps[d] = slots.strides[i] * width if i >= 0 and slots.shape[i] != 1 else 0


cdef void add_by_rows(Gemm gemm, const Matrix* to, const Matrix* plain, const Matrix* g, Py_ssize_t width) noexcept nogil:
    """Row by row, add `plain` times a row of `g` to that of `to`, whose elements are rows of all directions."""
    cdef Matrix x, y
    cdef Py_ssize_t i
    for i in range(to.rows):
        x.data, x.rows, x.columns, x.down, x.right = to.data + i * to.down, to.columns, width, to.right, 1
        y.data, y.rows, y.columns, y.down, y.right = g.data + i * g.down, g.columns, width, g.right, 1
        if gemm != NULL and is_for_blas(&x) and is_for_blas(&y):
            add_directions(gemm, &x, plain, &y)
        else:
            add_matrix_product(&x, plain, 0, &y, 0)


cdef void add_by_columns(Gemm gemm, const Matrix* to, const Matrix* plain, const Matrix* g, Py_ssize_t width) noexcept nogil:
    """The same column by column; all at once where they lie side by side."""
    cdef Matrix x = to[0], y = g[0]
    if gemm != NULL and to.right == width and g.right == width:
        x.right = y.right = 1
        x.columns, y.columns = to.columns * width, g.columns * width
        if is_for_blas(&x) and is_for_blas(&y):
            add_directions(gemm, &x, plain, &y)
            return
    x, y = turned(to), turned(g)
    add_by_rows(gemm, &x, plain, &y, width)


cdef void add_directions(Gemm gemm, const Matrix* to, const Matrix* x, const Matrix* y) noexcept nogil:
    """Add x times y, whose columns are directions; all three are for BLAS."""
    if not add_units_product(to, x, y):
        add_blas_product(gemm, to, x, y)


cdef bint add_units_product(const Matrix* to, const Matrix* x, const Matrix* y) noexcept nogil:
    """Add x times y if each column of y has one element at most that is not zero; False if one has more.

    Unit directions come that way to the first product of a Jacobian: n*n products instead of n*n*n, and the sums, whose
    other terms are zeros, have the same bits.
    """
    cdef Py_ssize_t i
    cdef int64_t* where
    cdef double* factor
    cdef bint are_single = True
    cdef Matrix rows = x[0] if lies_in_rows(x) else turned(x)
    if to.right != 1 or y.right != 1 or rows.right != 1 or y.rows < FEW_UNITS:
        return False
    where = <int64_t*>calloc(y.columns, sizeof(int64_t) + sizeof(double))
    if where == NULL:
        return False
    factor = <double*>(where + y.columns)
    for i in range(y.rows):
        are_single = loop_single(y.data + i * y.down, i * x.right, y.columns, where, factor)
        if not are_single:
            break
    for i in range(rows.rows):      # what is infinite times zero is a NaN
        if not are_single:
            break
        are_single = loop_all_finite(rows.data + i * rows.down, rows.columns)
    if are_single:
        for i in range(to.rows):
            loop_add_picked(to.data + i * to.down, x.data + i * x.down, where, factor, y.columns)
    free(where)
    return are_single


cdef bint all_flow(const Product* p, const Py_ssize_t* shape, Py_ssize_t width) noexcept:
    """Whether each direction has an adjoint that is not zero."""
    cdef Matrix g
    cdef Py_ssize_t d, i
    cdef bint found
    for d in range(width):
        found = False
        for i in range(p.count):
            g = matrix_at(&p.result, i, p.dims, shape)
            g.data += d
            found = has_nonzero(&g)
            if found:
                break
        if not found:
            return False
    return True


cdef bint has_nonzero(const Matrix* m) noexcept:
    cdef Py_ssize_t i, k
    for i in range(m.rows):
        for k in range(m.columns):
            if m.data[i * m.down + k * m.right] != 0.0:
                return True
    return False


cdef bint is_finite(cnp.ndarray x) except? True:
    return bool(np.isfinite(x).all())
