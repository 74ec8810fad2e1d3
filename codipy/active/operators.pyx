# SPDX-License-Identifier: Apache-2.0
"""The operators of arrays."""
import operator
import sys

import numpy as np

from cpython.complex cimport PyComplex_Check
from cpython.object cimport Py_EQ, Py_NE, PyObject, PyObject_RichCompare
from cpython.ref cimport Py_REFCNT

from codipy.active.arrays.assign cimport assign
from codipy.active.arrays.calls cimport call_direct
from codipy.active.arrays.elementwise cimport operate, operate_on
from codipy.active.arrays.plain cimport plain_of
from codipy.active.arrays.precision cimport DOUBLE, demand_precision, strength_of
from codipy.active.arrays.views cimport second
from codipy.active.core.base_array cimport BaseArray, is_array, is_single
from codipy.active.scalar.expression cimport as_number, codipy_is_temporary
from codipy.active.scalar.real cimport Real
from codipy.active.storage.view cimport same_shape
from codipy.operations.kernels cimport (
    OP_MOD, OP_MULTIPLY, OP_POSITIVE, OP_POWER, OP_RECIPROCAL, OP_SQRT, OP_SQUARE, op_arity)

from codipy.active.doors import door
from codipy.active.recordings.recognised import note_equal
from codipy.active.scalar.complexes import combine

from codipy.operations import TABLE


cdef list ufuncs = [getattr(np, row.numpy[0], None) if row.numpy else None for row in TABLE]     # by operation code
cdef object MATMUL = np.matmul   # looked up once
cdef dict UFUNCS = {operator.floordiv: np.floor_divide, operator.matmul: MATMUL, operator.pow: np.power}


cdef object of_complex(int code, PyObject* x, PyObject* y):
    if not (PyComplex_Check(<object>x) or PyComplex_Check(<object>y)):
        return door("operate")(ufuncs[code], <object>x, <object>y) if ufuncs[code] is not None else NotImplemented
    return combine(TABLE[code].name, <object>x, <object>y)


cdef bint is_known(object x) except -1:
    """Whether NumPy's rules for numbers and arrays say what an operator does."""
    cdef double number
    if is_array(x) or type(x) is Real or isinstance(x, (np.ndarray, list, tuple)):
        return True
    return as_number(<PyObject*>x, &number) == 1


cdef object numbers_of(object x):
    """A list as an array of numbers: of variables NumPy would make objects."""
    return door("from_nested")(x) if isinstance(x, (list, tuple)) else x


cdef object floor_divide(PyObject* x, PyObject* y):
    if is_known(<object>x) and is_known(<object>y):
        return plain_of(numbers_of(<object>x)) // plain_of(numbers_of(<object>y))
    return door("operate")(np.floor_divide, <object>x, <object>y)


cdef object both(PyObject* x, PyObject* y):
    if is_known(<object>x) and is_known(<object>y):
        quotient, _ = np.divmod(plain_of(numbers_of(<object>x)), plain_of(numbers_of(<object>y)))
        with np.errstate(all="ignore"):      # it has warned by its own name
            rest = apply2(OP_MOD, x, y)
            plain_of(rest)                   # here, and not when it is asked for
        return quotient, rest
    return door("operate")(np.divmod, <object>x, <object>y)


cdef object matmul(object x, object y):
    cdef int spare
    if is_array(x) and (is_array(y) or type(y) is np.ndarray):
        spare = codipy_is_temporary(<PyObject*>x) | codipy_is_temporary(<PyObject*>y) << 1
        found = call_direct(door("products")[MATMUL], (x, y), spare)     # where NumPy would lead, and back from there
        if found is not NotImplemented:
            return found
    if not is_array(x) or is_known(y):
        return np.matmul(x, y)
    found = door("operate")(np.matmul, x, y)
    return np.matmul(x, y) if found is NotImplemented and not hasattr(type(y), "__rmatmul__") else found


cdef object written(BaseArray a, object function, object other):
    if not is_known(other) and not PyComplex_Check(other):
        if door("answers")(other):
            return UFUNCS[function](a, other, out=a)
        other = door("in_place")(a, other)
        if other is NotImplemented:
            return other
    if function is operator.matmul and not (a.ndim and np.ndim(other) > 1):
        raise ValueError("inplace matrix multiplication requires the first operand to have at least one and the second at "
                         "least two dimensions.")
    result = function(second(a), other)
    if np.shape(result) != a.shape:
        raise ValueError(f"non-broadcastable output operand with shape {a.shape} doesn't match the shape "
                         f"{np.shape(result)} of the result")
    a[...] = result
    return a


cdef object compared(BaseArray a, object other, int op):
    """A comparison, of values; an object that asks for it sees the Array."""
    found = None if is_known(other) else door("compares")(a, other, op)
    if found is None:
        found = PyObject_RichCompare(plain_of(a), plain_of(other), op)
        if (op == Py_EQ or op == Py_NE) and isinstance(found, np.ndarray) and found.size and (
                <bint>found.item(0) == (op == Py_EQ) and np.ndim(plain_of(other))):
            note_equal(found, op == Py_EQ, [a.is_active, is_array(other) and (<BaseArray>other).is_active])
    return found


cdef object in_place(int code, BaseArray a, PyObject* other):
    """The Array, of numbers and arrays; what an operand answers that NumPy asks; NotImplemented of all else."""
    cdef PyObject* operands[2]
    cdef BaseArray now
    if a.readonly:
        raise ValueError("output array is read-only")
    now = second(a)
    operands[0], operands[1] = <PyObject*>now, other
    try:
        result = operate(code, 2, operands)
    except (FloatingPointError, Warning):
        now = None
        with np.errstate(all="ignore"):      # NumPy has written when it raises
            in_place(code, a, other)
        raise
    now = None
    if result is NotImplemented:
        if PyComplex_Check(<object>other):
            raise TypeError(f"Cannot cast ufunc output from complex128 to {a.dtype} with casting rule 'same_kind'")
        if door("answers")(<object>other):
            return ufuncs[code](a, <object>other, out=a)
        found = door("in_place")(a, <object>other)
        return found if found is NotImplemented else in_place(code, a, <PyObject*>found)
    if is_array(result) and not same_shape(&(<BaseArray>result).geometry, &a.geometry):
        raise ValueError(f"non-broadcastable output operand with shape {a.shape} doesn't match the broadcast shape "
                         f"{result.shape}")
    assign(a, result)
    return a


cdef int power_code(y, double* exponent) except -2:
    """NumPy's own short cuts for scalar exponents: the operation, or -1."""
    if type(y) is Real or is_array(y) or as_number(<PyObject*>y, exponent) != 1:
        return -1
    if isinstance(y, np.ndarray) and y.ndim:
        return -1
    demand_precision(y)
    if exponent[0] == 2.0:
        return OP_SQUARE
    if exponent[0] == 1.0:
        return OP_POSITIVE
    if exponent[0] == 0.5:
        return OP_SQRT
    if exponent[0] == -1.0:
        return OP_RECIPROCAL
    return -1


# Up to NumPy 2.2 a scalar exponent of 2, 1, 0, 0.5 or -1 is one of Python to a float32 array, whatever its own type is.
cdef bint exponents_count = (np.ones(1, np.float32) ** np.float64(2.0)).dtype == np.float64
cdef object ZERO = 0.0


cdef object power(PyObject* x, PyObject* y):
    cdef double exponent = 1.0
    cdef int code = power_code(<object>y, &exponent) if is_array(<object>x) else -1
    if exponent == 0.0 and not exponents_count and is_single(<BaseArray>x) and np.ndim(<object>y) == 0:
        y = <PyObject*>ZERO
    if code >= 0 and exponents_count and is_single(<BaseArray>x) and strength_of(<object>y) == DOUBLE:
        wide = (<object>x).astype(np.float64)      # an exponent of float64 makes the result one, short cut or not
        return apply1(code, <PyObject*>wide)
    return apply2(OP_POWER, x, y) if code < 0 else apply1(code, x)


cdef object times(PyObject* x, PyObject* y):
    result = apply2(OP_MULTIPLY, x, y)
    return door("times")(<object>x, <object>y) if result is NotImplemented else result


# By the ufunc itself, not by its name: a ufunc made elsewhere may be called "square" and mean something else.
cdef dict rows = {getattr(np, name): row.code for row in TABLE for name in row.numpy if hasattr(np, name)}
del rows[np.float_power]         # left to the door
cdef bint all_learned = False


cdef object learned(ufunc):
    """The operation code of a ufunc of scipy.special that has a row, from its first call on; else None.

    Rejected: to let the door add it, which is Python and holds the arguments, so that the first call alone would not
    merge with what they wait to compute.
    """
    global all_learned
    special = None if all_learned else sys.modules.get("scipy.special")
    if special is None:
        return None
    all_learned = True
    for row in TABLE:
        if row.scipy and not row.numpy:      # SciPy's cbrt has other last bits than NumPy's, and its own door
            if hasattr(special, row.scipy):
                rows[getattr(special, row.scipy)] = row.code
            else:
                all_learned = False          # it is being imported
    return rows.get(ufunc)

# How often NumPy refers to a temporary operand while it asks an Array for a ufunc: the Array it asks, another one. That is
# NumPy's business, so it is found out by asking; 0 is never met. A hint only, as codipy_is_temporary: a wrong one makes
# an expression be computed twice.
cdef Py_ssize_t asked_count = 0, other_count = 0
cdef list counts = None          # while that is found out


cdef object apply_row(object ufunc, tuple operands, PyObject* asked):
    cdef PyObject* pointers[3]
    cdef bint spare[3]
    cdef int k, n, code
    found = rows.get(ufunc)
    if found is None:
        found = learned(ufunc)
    if found is None:
        found = door("products").get(ufunc)
        # A plain array comes this way in front of an Array. An operator has one reference less than a call has.
        k = len(operands) == 2 and <PyObject*>operands[1] == asked and Py_REFCNT(<object>asked) == asked_count - 1
        return NotImplemented if found is None else call_direct(found, operands, 2 if k else 0)
    code = found
    n = op_arity(code)
    if len(operands) != n:
        return NotImplemented
    for k in range(n):
        pointers[k] = <PyObject*>operands[k]
        spare[k] = Py_REFCNT(<object>pointers[k]) == (asked_count if pointers[k] == asked else other_count)
        if counts is not None:
            counts.append(Py_REFCNT(<object>pointers[k]))
    return operate_on(code, n, pointers, spare)


def learn_temporaries(add_temporaries, add_variables):
    """Find out how often NumPy refers to operands.

    Parameters
    ----------
    add_temporaries, add_variables : callable
        Add two Arrays that nobody else refers to, and two that are somebody's variables: the interpreter's own doing.
    """
    global asked_count, other_count, counts
    counts = []
    add_temporaries()
    add_variables()
    temporary, other, seen, _ = counts
    counts = None
    if temporary < seen:         # where the interpreter lends references, the two cannot be told
        asked_count, other_count = temporary, other
