# SPDX-License-Identifier: Apache-2.0
# The active scalar: its operators, and what makes Reals of operations.
from libc.stdint cimport int32_t, int64_t
from cpython.object cimport PyObject
cimport cython

from codipy.active.core.base_real cimport BaseReal
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder


@cython.final
cdef class Real(BaseReal):
    pass

# The operations of the table as the functions of `math` do them, on any operands that are real numbers, NotImplemented
# for others: Python's values and exceptions, floats of Python.
cdef object apply1(int code, PyObject* x)
cdef object apply2(int code, PyObject* x, PyObject* y)
cdef object apply3(int code, PyObject* x, PyObject* y, PyObject* z)
# The Real of an operation of which the caller has the value, NumPy's say; its kind is the value's. operands[k] is any
# object, its value u[k].
cdef object apply_with_value(int code, int n, PyObject** operands, const double* u, object value)
# The same where the value is that of NumPy's ufunc, which a replay then asks again.
cdef object apply_with_ufunc(int code, int n, PyObject** operands, const double* u, object value)
# A Real that is on a tape already.
cdef Real new_identified(double value, int64_t epoch, int32_t identifier, int flags, int kind)
# The tape on which a Real has an identifier in force, or an error that says what ("gradient") it has none of.
cdef BaseTape demand_own(Real x, str what)
# An error where sweeps have consumed the adjoint of a Real that has an identifier.
cdef int demand_adjoint(BaseTape tape, AdjointVector adjoints, Real x) except -1
# Set an adjoint.
cdef double* seed_slot(BaseTape tape, AdjointVector adjoints, Real x) except NULL
# `combine` of expression.pxd for any recorder.
cdef PyObject* combine_any(Recorder* r, int code, int n, PyObject** operands, const double* u, double value,
                           int kind) except NULL
