# SPDX-License-Identifier: Apache-2.0
"""The operators of arrays."""
import numpy as np

from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.assign cimport assign
from codipy.active.elementwise cimport operate
from codipy.active.expression cimport as_number
from codipy.active.real cimport Real
from codipy.active.view cimport same_shape
from codipy.active.views cimport second
from codipy.operations.kernels cimport OP_MULTIPLY, OP_POSITIVE, OP_POWER, OP_RECIPROCAL, OP_SQRT, OP_SQUARE, op_arity

from codipy.active.doors import door


cdef int in_place(int code, Array a, PyObject* other) except -1:
    """1 if done, 0 where the operand is no number or array."""
    cdef PyObject* operands[2]
    cdef Array now = second(a)
    operands[0], operands[1] = <PyObject*>now, other
    result = operate(code, 2, operands)
    now = None
    if result is NotImplemented:
        return 0
    if type(result) is Array and not same_shape(&(<Array>result).geometry, &a.geometry):
        raise ValueError(f"non-broadcastable output operand with shape {a.shape} doesn't match the broadcast shape "
                         f"{result.shape}")
    assign(a, result)
    return 1


cdef int power_code(y, double* exponent) except -2:
    """NumPy's own short cuts for scalar exponents: the operation, or -1."""
    if type(y) is Real or type(y) is Array or as_number(<PyObject*>y, exponent) != 1:
        return -1
    if isinstance(y, np.ndarray) and y.ndim:
        return -1
    if exponent[0] == 2.0:
        return OP_SQUARE
    if exponent[0] == 1.0:
        return OP_POSITIVE
    if exponent[0] == 0.5:
        return OP_SQRT
    if exponent[0] == -1.0:
        return OP_RECIPROCAL
    return -1


cdef object power(PyObject* x, PyObject* y):
    cdef double exponent
    cdef int code = power_code(<object>y, &exponent) if type(<object>x) is Array else -1
    return apply2(OP_POWER, x, y) if code < 0 else apply1(code, x)


cdef object times(PyObject* x, PyObject* y):
    result = apply2(OP_MULTIPLY, x, y)
    return door("times")(<object>x, <object>y) if result is NotImplemented else result


cdef object apply_row(int code, tuple operands):
    cdef PyObject* pointers[3]
    cdef int k, n = op_arity(code)
    if len(operands) != n:
        return NotImplemented
    for k in range(n):
        pointers[k] = <PyObject*>operands[k]
    return operate(code, n, pointers)
