# SPDX-License-Identifier: Apache-2.0
"""float32 and float64: which of them a result is, and values in float32."""
import numpy as np

from cpython.object cimport PyObject

from codipy.active.core.base_array cimport is_array
from codipy.active.scalar cimport kinds
from codipy.active.scalar.real cimport Real
from codipy.operations.kernels cimport OP_SCALE, op_value_any

from codipy.errors import ActiveError
from codipy.operations import TABLE
from codipy.programs.tiles import ufunc_of

cdef object ndarray = np.ndarray      # looked up once


cdef Strength strength_of(x):
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return WEAK
    return SINGLE if dtype.char == "f" else HALF if dtype.char == "e" else WEAK if dtype.char in "?bBhH" else DOUBLE


cdef Strength strength_of_real(PyObject* x) noexcept:
    cdef int kind = (<Real>x).kind
    return WEAK if kind == kinds.PYTHON else SINGLE if kind == kinds.SINGLE else DOUBLE


cdef bint is_single_result(int code, int n, Source* sources, PyObject** operands):
    """Of ldexp the first operand alone has a say."""
    cdef int k
    cdef bint single = False
    for k in range(1 if code == OP_SCALE else n):
        if sources[k].strength == UNKNOWN:
            sources[k].strength = strength_of(<object>operands[k])
        if sources[k].strength == DOUBLE:
            return False
        single |= sources[k].strength == SINGLE
    return single


cdef bint is_half_result(int n, Source* sources, PyObject** operands):
    cdef int k
    for k in range(n):
        if sources[k].strength == UNKNOWN:
            sources[k].strength = strength_of(<object>operands[k])
        if sources[k].strength == DOUBLE or sources[k].strength == SINGLE:
            return False
    return True


cdef object single_value(int code, int n, const double* values):
    ufunc = ufunc_of(TABLE[code])
    if ufunc is None:
        return np.float32(op_value_any(code, values[0], values[1] if n > 1 else 0.0, values[2] if n > 2 else 0.0))
    if code == OP_SCALE:
        return ufunc(np.float32(values[0]), int(values[1]))
    return ufunc(*[np.float32(values[k]) for k in range(n)])


cdef int demand_precision(object x) except -1:
    """Refuse an array or a number of more digits than a float64, with which NumPy would compute in long doubles."""
    dtype = getattr(x, "dtype", None)
    if dtype is not None and dtype.char in "gG":
        raise ActiveError(f"{dtype} beside what is differentiated gives {dtype}, and only float64 and float32 can be "
                          "differentiated: use astype(float), or float() of a number")
    return 0


cdef int demand_exponent(object x) except -1:
    """Raise NumPy's error of an exponent of ldexp that is no whole number."""
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    dtype = getattr(x, "dtype", None)
    if isinstance(x, float) or type(x) is Real or is_array(x):
        np.ldexp(1.0, 0.5)
    elif dtype is not None and dtype.kind in "fu":
        np.ldexp(1.0, np.zeros((), dtype))
    return 0


cdef bint is_refused(object x):
    """Whether x is of a subclass, as NumPy's results would be too, with what its methods do; those of a memmap are not."""
    return type(x) is not ndarray and isinstance(x, ndarray) and type(x) is not np.memmap
