# SPDX-License-Identifier: Apache-2.0
"""Scalar statements of the usual operations on power series: loops over numbers consist of little else.

As objects (`codipy.series.nodes`) their arithmetic takes 4 us an operation to order 5, twenty times as long. The recurrences
are those of `codipy.series.recurrences`. Values are those of the C library; who runs it puts that of the run in their place.
"""
from libc.math cimport NAN, cos, cosh, exp, fabs, isnan, log, pow, sin, sqrt, tanh
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport cython
cimport numpy as cnp

from codipy.operations.kernels cimport (
    OP_ADD, OP_COS, OP_DIVIDE, OP_EXP, OP_IDENTITY, OP_LOG, OP_MULTIPLY, OP_NEGATIVE, OP_POSITIVE, OP_POWER, OP_SIN, OP_SQRT,
    OP_SQUARE, OP_SUBTRACT, OP_TANH)

cnp.import_array()

cdef set KNOWN = {OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_NEGATIVE, OP_POSITIVE, OP_IDENTITY, OP_SQUARE, OP_EXP,
                  OP_LOG, OP_SQRT, OP_SIN, OP_COS, OP_TANH, OP_POWER}


cdef struct Step:
    int code
    int left
    int right


@cython.final
cdef class Usual:
    """Usual(active, steps)
    --

    An expression of arithmetic, powers and the elementary functions that code has most of.

    Parameters
    ----------
    active : sequence of bool
        For each leaf whether it is an argument, and no constant.
    steps : sequence of (int, bool, sequence of int)
        As in `codipy.nested.expressions.Expression`; of codes that `is_usual` accepts.
    """
    cdef Step* steps
    cdef int count, leaves
    cdef tuple active

    def __cinit__(self, active, steps):
        cdef int k
        self.active, self.leaves, self.count = tuple(active), len(active), len(steps)
        self.steps = <Step*>PyMem_Malloc((self.count + 1) * sizeof(Step))
        if self.steps == NULL:
            raise MemoryError("no memory for the steps of an expression")
        for k in range(self.count):
            code, _, sources = steps[k]
            self.steps[k].code, self.steps[k].left = code, sources[0]
            self.steps[k].right = sources[1] if len(sources) > 1 else sources[0]
            for source in sources:
                if not 0 <= source < self.leaves + k:
                    raise ValueError(f"step {k} reads the register {source}")

    def __dealloc__(self):
        PyMem_Free(self.steps)

    def run(self, cnp.ndarray c not None, Py_ssize_t identifier, list arguments not None, list constants not None):
        """Set the coefficients of an identifier.

        Parameters
        ----------
        c : ndarray
            Of shape (order + 1, identifiers), in float64.
        identifier : int
        arguments : list of int
            Identifiers.
        constants : list of float

        Returns
        -------
        bool
            Whether there is no NaN among them; else they are left as they were: it takes the table to know why.
        """
        cdef Py_ssize_t n = cnp.PyArray_DIM(c, 0), down, right, k, i, j, at = 0, used = 0
        cdef char* data = <char*>cnp.PyArray_DATA(c)
        cdef double* registers
        cdef double* to
        cdef const double* x
        cdef bint whole = True
        down, right = cnp.PyArray_STRIDE(c, 0), cnp.PyArray_STRIDE(c, 1)
        if cnp.PyArray_TYPE(c) != cnp.NPY_DOUBLE or cnp.PyArray_NDIM(c) != 2:
            raise TypeError("coefficients must be a matrix of float64")
        registers = <double*>PyMem_Malloc((self.leaves + self.count + 1) * n * sizeof(double) + 1)
        if registers == NULL:
            raise MemoryError(f"no memory for {n} coefficients")
        try:
            for k in range(self.leaves):
                to = registers + k * n
                if self.active[k]:
                    source = arguments[at]
                    at += 1
                    if not 0 <= source < cnp.PyArray_DIM(c, 1):
                        raise IndexError(f"there is no identifier {source}")
                    i = source
                    for j in range(n):
                        to[j] = (<double*>(data + j * down + i * right))[0]
                else:
                    to[0] = constants[used]
                    used += 1
                    for j in range(1, n):
                        to[j] = 0.0
            for k in range(self.count):
                to = registers + (self.leaves + k) * n
                compute(self.steps[k].code, to, registers + self.steps[k].left * n, registers + self.steps[k].right * n,
                        registers + (self.leaves + self.count) * n, n)
            x = registers + (self.leaves + self.count - 1) * n
            for j in range(n):
                whole = whole and not isnan(x[j])
            if not 0 <= identifier < cnp.PyArray_DIM(c, 1):
                raise IndexError(f"there is no identifier {identifier}")
            if whole:
                for j in range(n):
                    (<double*>(data + j * down + identifier * right))[0] = x[j]
            return whole
        finally:
            PyMem_Free(registers)


def is_usual(steps):
    """Whether `Usual` knows all operations of an expression, of which none rounds to float32."""
    return bool(steps) and all([code in KNOWN and not is_single for code, is_single, _ in steps])


cdef inline double pulled(const double* x, const double* p, Py_ssize_t k) noexcept nogil:
    """Coefficient k of w, where w' = p x'."""
    cdef double total = 0.0
    cdef Py_ssize_t j
    for j in range(1, k + 1):
        total += j * x[j] * p[k - j]
    return total / k


cdef void compute(int code, double* w, const double* x, const double* y, double* spare, Py_ssize_t n) noexcept nogil:
    """The coefficients of one operation; `spare` is room for as many. NaN where this does not know them."""
    cdef Py_ssize_t j, k
    cdef double total
    if code == OP_ADD:
        for k in range(n):
            w[k] = x[k] + y[k]
    elif code == OP_SUBTRACT:
        for k in range(n):
            w[k] = x[k] - y[k]
    elif code == OP_MULTIPLY or code == OP_SQUARE:
        for k in range(n):
            total = 0.0
            for j in range(k + 1):
                total += x[j] * y[k - j]
            w[k] = total
    elif code == OP_DIVIDE:
        for k in range(n):
            total = x[k]
            for j in range(1, k + 1):
                total -= y[j] * w[k - j]
            w[k] = total / y[0]
    elif code == OP_EXP:
        w[0] = exp(x[0])
        for k in range(1, n):
            w[k] = pulled(x, w, k)
    elif code == OP_LOG:
        w[0] = log(x[0])
        for k in range(1, n):
            total = x[k]
            for j in range(1, k):
                total -= j * w[j] * x[k - j] / k
            w[k] = total / x[0]
    elif code == OP_SQRT:
        w[0] = sqrt(x[0])
        for k in range(1, n):
            total = x[k]
            for j in range(1, k):
                total -= w[j] * w[k - j]
            w[k] = total / (2.0 * fabs(w[0]))      # of -0.0 as of 0.0
    elif code == OP_SIN or code == OP_COS:      # each with the other one's negative, or itself
        w[0], spare[0] = (sin(x[0]), cos(x[0])) if code == OP_SIN else (cos(x[0]), -sin(x[0]))
        for k in range(1, n):
            w[k], spare[k] = pulled(x, spare, k), -pulled(x, w, k)
    elif code == OP_TANH:
        w[0], spare[0] = tanh(x[0]), 1.0 / (cosh(x[0]) * cosh(x[0]))
        for k in range(1, n):
            w[k] = pulled(x, spare, k)
            total = 0.0
            for j in range(k + 1):
                total -= w[j] * w[k - j]
            spare[k] = total
    elif code == OP_POWER:
        w[0] = pow(x[0], y[0])
        for k in range(1, n):
            total = 0.0
            if y[0] == 2.0:
                for j in range(k + 1):
                    total += x[j] * x[k - j]
            elif x[0] != 0.0 and fabs(w[0]) > 1e-290 and fabs(w[0]) < 1e300:      # as `formulas.is_exact_power`
                for j in range(1, k + 1):
                    total += (y[0] * j - (k - j)) * x[j] * w[k - j]
                total /= k * x[0]
            else:
                total = NAN
            w[k] = total if y[k] == 0.0 else NAN       # of a number as exponent
    elif code == OP_NEGATIVE:
        for k in range(n):
            w[k] = -x[k]
    else:
        memcpy(w, x, n * sizeof(double))
