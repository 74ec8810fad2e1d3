# SPDX-License-Identifier: Apache-2.0
# float32 and float64: which of them a result is.
from cpython.object cimport PyObject

# What an operand says of the result's dtype, by NumPy's rules (NEP 50).
cdef enum Strength:
    WEAK                         # nothing: Python numbers, integers that float32 holds
    HALF                         # float16, if nobody says more
    SINGLE                       # float32 or more
    DOUBLE                       # float64
    UNKNOWN                      # a scalar of NumPy, looked at where that matters

# What an operand of an expression is, before its leaf is made.
cdef struct Source:
    PyObject* array              # an Array, or NULL
    PyObject* real               # an active Real, or NULL
    double number
    Strength strength

# Of a NumPy array or scalar, or another number.
cdef Strength strength_of(x)
cdef Strength strength_of_real(PyObject* x) noexcept
# Whether the dtype is float32, where some operand is.
cdef bint is_single_result(int code, int n, Source* sources, PyObject** operands)
# Whether it is float16, where some operand is and none is float32: no Array has that.
cdef bint is_half_result(int n, Source* sources, PyObject** operands)
# What NumPy's scalar operation gives in float32.
cdef object single_value(int code, int n, const double* values)
# Raises of what has more digits than a float64.
cdef int demand_precision(object x) except -1
cdef int demand_exponent(object x) except -1
# Arrays whose operators mean something else: matrices and masked arrays.
cdef bint is_refused(object x)
