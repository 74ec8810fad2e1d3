# SPDX-License-Identifier: Apache-2.0
# Products of matrices that are added to adjoints, by loops or by BLAS.
from libc.stdint cimport int64_t
from cpython.object cimport PyObject

from codipy.tape.records.slots cimport Slots

cdef enum:
    MOST_STACKED = 6             # dimensions before those of the matrices

# Elements of a matrix, or of a vector as one, and the steps between them in numbers.
cdef struct Matrix:
    double* data
    Py_ssize_t rows
    Py_ssize_t columns
    Py_ssize_t down
    Py_ssize_t right

# The first matrix of a stack, and the steps to the others along the dimensions of the result before the last two.
cdef struct Stack:
    Matrix matrix
    Py_ssize_t steps[MOST_STACKED]

# cblas_dgemm for integers of 64 bits.
ctypedef void (*Gemm)(int order, int x_turned, int y_turned, int64_t rows, int64_t columns, int64_t inner, double factor,
                      const double* x, int64_t x_step, const double* y, int64_t y_step, double keep, double* to,
                      int64_t step) noexcept nogil

# Whether x is a matrix or a vector of float64; a vector is one row, or one column.
cdef bint matrix_of(object x, Matrix* m, bint column) noexcept
cdef Matrix turned(const Matrix* m) noexcept nogil
# Add the product of two matrices, either of them transposed.
cdef void add_matrix_product(const Matrix* to, const Matrix* x, bint turned_x, const Matrix* y, bint turned_y) noexcept nogil
# A function that multiplies; NULL where there is none. `address()` is asked once.
cdef Gemm gemm_at(object address) except? NULL
# Whether BLAS takes it: the elements of each row side by side, or those of each column.
cdef bint is_for_blas(const Matrix* m) noexcept nogil
# Add x @ y; all three are for BLAS.
cdef void add_blas_product(Gemm multiply, const Matrix* to, const Matrix* x, const Matrix* y) noexcept nogil
# Whether elements have an identifier in common: they have no stride along some axis.
cdef bint repeats(const Slots* slots) noexcept nogil
# An array of matrices, broadcast to `dims` dimensions of them; `unit` is a stride of 1 number.
cdef void stack_of(Stack* s, double* data, int dims, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides, Py_ssize_t unit) noexcept
# The matrix of that number; `shape` is that of the result.
cdef Matrix matrix_at(const Stack* s, Py_ssize_t number, int dims, const Py_ssize_t* shape) noexcept nogil
cdef void clear_matrix(const Matrix* m) noexcept nogil


# A product of matrices or of stacks of them that was recorded, borrowed from the record: the operands' values, the positions
# of those that are active, and the identifiers of these and, behind them, of the result.
cdef struct Factors:
    PyObject* primitive
    PyObject* args
    PyObject* argnums
    const Slots* slots
    Py_ssize_t arguments


# For a sweep in several directions: the operands' values, flows, which of those are of the first operand; the flow of the
# result; how many products there are. `gemm`: NULL where the matrices are small.
cdef struct Product:
    Stack given[2]
    Stack flow[2]
    Stack result
    bint is_first[2]
    int dims
    Py_ssize_t count
    Gemm gemm

# Back in one direction: of small matrices or vectors; of large ones and of stacks, which clears the result's adjoints if it
# is told to. Back, and forward, in all directions. False where the operands are something else.
cdef bint add_product(const Factors* f, double* origin, Py_ssize_t width) noexcept
cdef bint add_products(const Factors* f, double* origin, bint clears) except? True
cdef bint pull_product(const Factors* f, double* origin, Py_ssize_t width) except? True
cdef bint push_product(const Factors* f, double* origin, Py_ssize_t width) except? True
