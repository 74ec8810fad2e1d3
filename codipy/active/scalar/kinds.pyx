# SPDX-License-Identifier: Apache-2.0
"""Which number of the plain run a Real stands for, and what operators do where that is a scalar of NumPy."""
import dis
import numbers
import opcode
import operator

import numpy as np

from libc.math cimport fabs, isfinite
from cpython.float cimport PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject, PyObject_RichCompare, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_DECREF

from codipy.active.core.base_real cimport codipy_new_reference
from codipy.active.scalar.expression cimport as_number, callable_of
from codipy.active.scalar.real cimport Real, apply_with_value, combine_any
from codipy.operations.kernels cimport *
from codipy.programs.program cimport OF_SINGLE
from codipy.tape.activity cimport current, is_passive, thread_slot
from codipy.tape.recorder cimport Recorder

from codipy.active.doors import door
from codipy.active.messages.callers import is_of_library
from codipy.active.scalar.asking import asks
from codipy.errors import ActiveError
from codipy.operations import TABLE

cdef object float32 = np.float32, float64 = np.float64, TRUE = np.True_, FALSE = np.False_
cdef object ndarray = np.ndarray, generic = np.generic

cdef extern from "<float.h>":
    double FLT_MIN, FLT_MAX

cdef extern from "Python.h":
    bint PyType_HasFeature(type t, unsigned long feature) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_SEQUENCE
    void PyType_Modified(PyTypeObject*)


# ---- Kinds and plain values ----

cdef int kind_of(object value) except -1:
    if PyFloat_CheckExact(value):
        return PYTHON
    if type(value) is Real:
        return (<Real>value).kind
    if isinstance(value, (generic, ndarray)):
        return SINGLE if value.dtype.char == "f" else DOUBLE
    return PYTHON


cdef int operand_kind(object o) except -1:
    cdef int boxed
    if type(o) is float64:
        return DOUBLE
    if type(o) is float32:
        return SINGLE
    if PyLong_Check(o) or not isinstance(o, (generic, ndarray)):
        return PYTHON
    letter = o.dtype.char
    boxed = BOXED if isinstance(o, ndarray) or letter not in "efdg" else 0
    if letter in "?bBhH":
        return boxed | SMALL
    return boxed | (SINGLE if letter == "f" else HALF if letter == "e" else LONG if letter == "g" else DOUBLE)


cdef object plain_scalar(Real x):
    if x.kind == PYTHON:
        return x.primal
    return float32(x.primal) if x.kind == SINGLE else float64(x.primal)


cdef object plain_operand(PyObject* x):
    return plain_scalar(<Real>x) if Py_TYPE(<object>x) == <PyTypeObject*>Real else <object>x


cdef Real as_kind(Real x, int kind):
    cdef PyObject* operand = <PyObject*>x
    cdef Real new
    if x.kind == kind:
        return x
    if kind == SINGLE:
        return apply_with_value(OP_SINGLE, 1, &operand, &x.primal, float32(x.primal))
    new = x.__copy__()
    new.kind = kind
    return new


def type_of(Real x not None):
    """The type that the plain run has in the place of a Real.

    Returns
    -------
    type
        float, numpy.float64 or numpy.float32.
    """
    return float if x.kind == PYTHON else float32 if x.kind == SINGLE else float64


def converted(Real x not None, kind):
    """What ``kind(x)`` gives in the plain run, a Real on the same adjoint slot.

    Parameters
    ----------
    x : Real
    kind : type
        float, numpy.float64 or numpy.float32, to which the value is rounded.

    Returns
    -------
    Real
    """
    return as_kind(x, PYTHON if kind is float else SINGLE if kind is float32 else DOUBLE)


cdef extern from "Python.h":
    ctypedef struct PyFrameObject
    PyFrameObject* PyEval_GetFrame()
    PyObject* PyEval_GetBuiltins()
    PyObject* PyEval_GetGlobals()

cdef set _operators = {dis.opmap[name] for name in dis.opmap if name.startswith(("BINARY_", "INPLACE_"))} - {
    dis.opmap.get("BINARY_SUBSCR"), dis.opmap.get("BINARY_SLICE")}


def called_by_operator(int up=0):
    """Whether the Python code that led here is at an operator, and at no call.

    NumPy's scalars and a Real leave ``scalar ** real`` to the ufunc, whose last bit is not that of the operator.

    Parameters
    ----------
    up : int
        How many Python functions lie between.

    Returns
    -------
    bool
    """
    cdef PyObject* borrowed = <PyObject*>PyEval_GetFrame()
    if borrowed == NULL:
        return False
    frame = <object>borrowed
    for _ in range(up):
        frame = frame.f_back
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] in _operators


# Up to Python 3.10 each operator has a code of its own.
cdef set _old_remainders = {dis.opmap[name] for name in ("BINARY_MODULO", "INPLACE_MODULO") if name in dis.opmap}
cdef set _remainders = {(dis.opmap["BINARY_OP"], number) for number, (_, symbol) in enumerate(
    getattr(opcode, "_nb_ops", ())) if symbol in ("%", "%=")}


cdef bint formats() except -1:
    cdef PyObject* borrowed = <PyObject*>PyEval_GetFrame()
    if borrowed == NULL:
        return False
    frame = <object>borrowed
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and ((code[at], code[at + 1]) in _remainders or code[at] in _old_remainders)


# ---- Classes ----

cdef object class_of = None      # what x.__class__ is in rebound code
cdef object plain_class_of = None    # and in that of others
cdef dict _asking = {}           # by the addresses of codes: these, whether they are a library's, and what asks there
cdef frozenset NUMERICAL = frozenset(("codipy", "numpy", "scipy"))


def show_classes(function, plain):
    """Let ``x.__class__`` of Reals and Arrays be ``function(x)`` for rebound code, ``plain(x)`` for what it calls."""
    global class_of, plain_class_of
    class_of, plain_class_of = function, plain


def matched_as_ndarray(kind):
    """Let a sequence pattern, ``case [a, b]:``, take instances of a class if it takes ndarrays: from NumPy 2.5 on."""
    flags = (<PyTypeObject*><PyObject*>ndarray).tp_flags & Py_TPFLAGS_SEQUENCE
    (<PyTypeObject*><PyObject*>kind).tp_flags |= flags
    PyType_Modified(<PyTypeObject*><PyObject*>kind)
    return kind


cdef bint asks_for_class(bint in_library) except -1:
    cdef PyObject* borrowed = <PyObject*>PyEval_GetFrame()
    if borrowed == NULL:
        return False
    frame = <object>borrowed
    code, at = frame.f_code, frame.f_lasti
    entry = _asking.get(<size_t><PyObject*>code)
    if entry is None:
        if len(_asking) > 1000:
            _asking.clear()
        entry = _asking[<size_t><PyObject*>code] = code, is_of_library(code), {}
    _, is_librarys, known = entry
    if in_library and not is_librarys:
        return False
    found = known.get(at)
    if found is None:
        found = known[at] = asks(code, at)
    return found


cdef str module_of_frame():
    """The name of the module whose code runs."""
    name = (<dict>PyEval_GetGlobals()).get("__name__") if PyEval_GetGlobals() != NULL else None
    return name if type(name) is str else ""


cdef class ClassOf:
    """ClassOf()
    --

    The attribute `__class__`: for rebound code that reads it what it is in the plain run, and for Python code of libraries
    that rebound code calls, which ask it by `isinstance`. For all others it is the type.

    Only where the byte code says that it is asked for: `isinstance` in C is told the truth, for whoever calls it, and so is
    Python code of NumPy, SciPy and codipy. But that of `numpy.polynomial`, which no protocol reaches, asks it for arrays,
    and goes on to another value for what is none.
    """
    def __get__(self, x, owner):
        if x is None:
            return type(owner)
        if class_of is not None:
            name = module_of_frame()
            if name.startswith("numpy.polynomial."):
                return class_of(x)
            if "__rebound__" in <object>PyEval_GetBuiltins():
                if asks_for_class(False):
                    return class_of(x)
            elif thread_slot()[4] != NULL and name.partition(".")[0] not in NUMERICAL and asks_for_class(True):
                return plain_class_of(x)
        return <object>Py_TYPE(x)


# ---- Values ----

cdef double numpy_value(int code, int n, double x, double y, double value) except? -1.0:
    if value != value and (x != x or n > 1 and y != y):
        return value                 # warns nobody
    if value == 0.0 and (x == 0.0 or code == OP_MULTIPLY and y == 0.0):
        return value
    function = callable_of(code)
    return function(float64(x)) if n == 1 else function(float64(x), float64(y))


cdef double single_value(int code, int n, PyObject* x, PyObject* y, const double* u) except? -1.0:
    """NumPy's float32 value: what is rounded correctly in double is so once more, by 53 >= 2 * 24 + 2."""
    cdef double value
    if code == OP_ADD or code == OP_SUBTRACT or code == OP_MULTIPLY or code == OP_DIVIDE:
        value = <float>op_value_any(code, u[0], u[1], 0.0)
        if FLT_MIN <= fabs(value) <= FLT_MAX and fabs(u[0]) <= FLT_MAX and fabs(u[1]) <= FLT_MAX:
            return value
    elif n == 1:
        return op_value_any(code, u[0], 0.0, 0.0)        # a sign at most
    function = callable_of(code)
    return function(plain_operand(x)) if n == 1 else function(plain_operand(x), plain_operand(y))


cdef object compare(double x, double y, int op, int kind):
    if kind == SINGLE:
        if not (isfinite(x) and isfinite(y) and fabs(x) <= FLT_MAX and fabs(y) <= FLT_MAX):
            return PyObject_RichCompare(float32(x), float32(y), op)
        x, y = <float>x, <float>y    # as NumPy sees a float of Python beside a float32
    cdef bint result
    if op == 0:
        result = x < y
    elif op == 1:
        result = x <= y
    elif op == 2:
        result = x == y
    elif op == 3:
        result = x != y
    elif op == 4:
        result = x > y
    else:
        result = x >= y
    return TRUE if result else FALSE


# ---- Operators ----

cdef object apply_mixed(int code, int n, PyObject* x, PyObject* y):
    cdef PyObject* operands[2]
    cdef PyObject* active[3]
    cdef double u[3]
    cdef double value
    cdef int kind = 0, k
    cdef bint any_active = False
    operands[0], operands[1] = x, y
    active[1] = active[2] = NULL
    u[1] = u[2] = 0.0
    for k in range(n):
        active[k] = NULL
        if Py_TYPE(<object>operands[k]) == <PyTypeObject*>Real:
            kind |= (<Real>operands[k]).kind
            u[k] = (<Real>operands[k]).primal
            if (<Real>operands[k]).epoch:
                active[k] = operands[k]
                any_active = True
        else:
            as_number(operands[k], u + k)
            if not PyFloat_CheckExact(<object>operands[k]):
                kind |= operand_kind(<object>operands[k])
    if kind & LONG or not kind & (SINGLE | DOUBLE | SMALL):
        if any_active and not is_passive():
            names = " and ".join([type(<object>operands[k]).__name__ for k in range(n)])
            raise ActiveError(f"{TABLE[code].name} of {names}: only float64 and float32 can be differentiated, use "
                              "float()")
        return callable_of(code)(plain_operand(x), plain_operand(y))
    if kind & BOXED:
        return apply_with_value(code, n, operands, u, callable_of(code)(plain_operand(x), plain_operand(y)))
    if kind & DOUBLE or not kind & SINGLE:
        value = op_value_any(code, u[0], u[1], 0.0)
        if not FLT_MIN <= fabs(value) <= FLT_MAX:
            value = numpy_value(code, n, u[0], u[1], value)
        return codipy_new_reference(record(code, n, active, u, value, DOUBLE, 0))
    for k in range(n):
        u[k] = <float>u[k]
    value = single_value(code, n, x, y, u)
    return codipy_new_reference(record(code, n, active, u, value, SINGLE, 0))


cdef bint is_fraction(object o) except -1:
    return (not PyLong_Check(o) and not PyFloat_Check(o) and not isinstance(o, (generic, ndarray))
            and isinstance(o, numbers.Rational))


cdef object as_python(PyObject* x):
    return as_kind(<Real>x, PYTHON) if Py_TYPE(<object>x) == <PyTypeObject*>Real else float(<object>x)


cdef object beside_fraction(int code, PyObject* x, PyObject* y):
    return callable_of(code)(as_python(x), as_python(y))


cdef object apply_to_list(int code, int n, PyObject* x, PyObject* y):
    if n != 2:
        return NotImplemented
    one, other = <object>x, <object>y
    if type(one) is not Real:
        one, other = other, one
    if type(one) is not Real or (<Real>one).kind == PYTHON:
        return NotImplemented
    if not isinstance(other, (list, tuple)):
        return door("operate")(getattr(np, TABLE[code].numpy[0], None), <object>x, <object>y)
    if code == OP_MULTIPLY:                  # which is to repeat the list, says NumPy
        return NotImplemented
    if current() != NULL:
        return door("elementwise")(TABLE[code].name, <object>x, <object>y)
    made = door("from_nested")(other)
    if one is <object>x:
        return callable_of(code)(one, made)
    return callable_of(code)(made, one)


cdef dict UFUNCS = {operator.floordiv: np.floor_divide, divmod: np.divmod}


cdef object plain_operation(object function, PyObject* x, PyObject* y):
    cdef Real one
    if is_of_python(<object>x) or is_of_python(<object>y):
        one = <Real>x if type(<object>x) is Real else <Real>y
        return NotImplemented if one.kind == PYTHON else door("operate")(UFUNCS[function], <object>x, <object>y)
    made = <object>y if type(<object>x) is Real else <object>x
    one = <Real>x if type(<object>x) is Real else <Real>y
    if one.kind != PYTHON and isinstance(made, (list, tuple)):
        made = door("from_nested")(made)         # of variables NumPy would make objects
        x, y = (x, <PyObject*>made) if type(<object>x) is Real else (<PyObject*>made, y)
    try:
        return function(plain_operand(x), plain_operand(y))
    except TypeError:
        return NotImplemented


cdef bint is_of_python(object o) except -1:
    cdef double number
    return (PyType_HasFeature(type(o), Py_TPFLAGS_HEAPTYPE)
            and not isinstance(o, (ndarray, generic, list, tuple, numbers.Number))
            and as_number(<PyObject*>o, &number) != 1)


cdef inline bint keeps_precision(int code) noexcept:
    """Whether the value is exact in float32 where the arguments are."""
    return (code == OP_NEGATIVE or code == OP_POSITIVE or code == OP_IDENTITY or code == OP_ABSOLUTE or code == OP_FABS
            or code == OP_SINGLE or code == OP_MAXIMUM or code == OP_MINIMUM or code == OP_FMAX or code == OP_FMIN
            or code == OP_COPYSIGN)


cdef PyObject* record(int code, int n, PyObject** operands, double* u, double value, int kind, int flags) except NULL:
    cdef Recorder* r = current()
    cdef PyObject* held[3]
    cdef PyObject* one[3]
    cdef PyObject* result = NULL
    cdef double number
    cdef int k
    if r == NULL or not r.keeps_values:
        return combine_any(r, code, n, operands, u, value, kind)
    if kind != SINGLE:
        return combine_any(r, code | flags, n, operands, u, value, kind)
    held[0] = held[1] = held[2] = one[1] = one[2] = NULL
    try:
        for k in range(n):
            if operands[k] != NULL and (<Real>operands[k]).kind != SINGLE and code != OP_SINGLE:
                one[0] = operands[k]
                number = (<Real>operands[k]).primal
                held[k] = operands[k] = combine_any(r, OP_SINGLE, 1, one, &number, u[k], SINGLE)
                if (<Real>operands[k]).epoch == 0:
                    operands[k] = NULL
        if keeps_precision(code):
            return combine_any(r, code, n, operands, u, value, SINGLE)
        if flags:
            return combine_any(r, code | flags | OF_SINGLE, n, operands, u, value, SINGLE)
        number = op_value_any(code, u[0], u[1] if n > 1 else 0.0, u[2] if n > 2 else 0.0)
        result = combine_any(r, code, n, operands, u, number, SINGLE)
        one[0] = result if (<Real>result).epoch else NULL
        return combine_any(r, OP_SINGLE, 1, one, &number, value, SINGLE)
    finally:
        if result != NULL:
            Py_DECREF(<object>result)
        for k in range(n):
            if held[k] != NULL:
                Py_DECREF(<object>held[k])
