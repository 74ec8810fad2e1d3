# SPDX-License-Identifier: Apache-2.0
"""Functions and methods of the elementary operations, made from the table: one for each row.

They are built-in functions with the operation code as their `self`, which the interpreter calls as fast as those of
`math`. Rejected: a Python or Cython function for each row, which is a second place to edit, and callable objects,
which the interpreter does not specialise.
"""
import sys
from types import MethodType

import numpy as np

from libc.math cimport isfinite
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_CheckExact, PyFloat_FromDouble
from cpython.long cimport PyLong_AsLong
from cpython.mem cimport PyMem_Malloc
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.ref cimport Py_INCREF

from codipy.active.core.base_array cimport is_array
from codipy.active.scalar.expression cimport callable_of
from codipy.active.scalar.kinds cimport PYTHON
from codipy.active.scalar.real cimport Real, apply1, apply2, apply3
from codipy.operations.kernels cimport op_arity, op_python_value, op_value_any

from codipy.active.doors import door
from codipy.active.scalar.given import number_of
from codipy.active.identified import identifier_of
from codipy.active.scalar.kinds import ClassOf, type_of
from codipy.active.scalar.methods import METHODS
from codipy.operations import BY_NAME, TABLE

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char* ml_name
        void* ml_meth
        int ml_flags
        const char* ml_doc
    ctypedef struct MappingMethods "PyMappingMethods":
        void* mp_subscript
    ctypedef struct ScalarType "PyTypeObject":
        MappingMethods* tp_as_mapping
    int METH_O
    int METH_FASTCALL
    object PyCFunction_NewEx(PyMethodDef* definition, object self, object module)
    void PyType_Modified(PyTypeObject*)
    bint PyType_HasFeature(type t, unsigned long feature) noexcept
    const unsigned long Py_TPFLAGS_HEAPTYPE
    object PyObject_Vectorcall(object function, PyObject* const* arguments, size_t count, PyObject* names)


cdef object call1(PyObject* self, PyObject* x):
    cdef int code = <int>PyLong_AsLong(<object>self)
    cdef double value
    if Py_TYPE(<object>x) == <PyTypeObject*>Real:
        return apply1(code, x)
    if PyFloat_CheckExact(<object>x) and not op_python_value[code]:
        value = op_value_any(code, PyFloat_AS_DOUBLE(<object>x), 0.0, 0.0)
        if isfinite(value):
            return value
    return plain(code, &x, 1)


cdef object call_many(PyObject* self, PyObject* const* arguments, Py_ssize_t count):
    cdef int code = <int>PyLong_AsLong(<object>self)
    cdef PyObject* operands[3]
    cdef Py_ssize_t i
    cdef bint has_real = False
    cdef list converted = None
    if count != op_arity(code):
        raise TypeError(f"{TABLE[code].math_name or TABLE[code].name} expected {op_arity(code)} arguments, got {count}")
    for i in range(count):
        has_real |= Py_TYPE(<object>arguments[i]) == <PyTypeObject*>Real
    if not has_real:
        return plain(code, arguments, count)
    for i in range(count):
        operands[i] = arguments[i]
        if Py_TYPE(<object>arguments[i]) != <PyTypeObject*>Real and not PyFloat_CheckExact(<object>arguments[i]):
            # What `math` takes for a number, with its error for anything else.
            converted = converted or []
            number = number_of(<object>arguments[i])
            if type(number) is not Real:
                number = PyFloat_FromDouble(PyFloat_AsDouble(number))
            converted.append(number)
            operands[i] = <PyObject*>number
    if count == 1:
        return apply1(code, operands[0])
    if count == 2:
        return apply2(code, operands[0], operands[1])
    return apply3(code, operands[0], operands[1], operands[2])


# Functions that take other numbers of arguments than their row: the parameters, and who computes the other cases.
_VARIADIC = {"log": "x, /, *base", "hypot": "*coordinates"}
_others = {}
_loaders = []                # what fills _others, once it is needed


def extend(str name, function):
    """Let `function` compute the calls of ``FUNCTIONS[name]`` with other numbers of arguments than its row has."""
    _others[BY_NAME[name].code] = function


def extend_later(loader):
    """Call `loader` before the first such call: it is to `extend`."""
    _loaders.append(loader)


cdef object call_variadic(PyObject* self, PyObject* const* arguments, Py_ssize_t count):
    cdef int code = <int>PyLong_AsLong(<object>self)
    if count == op_arity(code):
        return call1(self, arguments[0]) if count == 1 else call_many(self, arguments, count)
    while code not in _others and _loaders:
        _loaders.pop()()
    return PyObject_Vectorcall(_others[code], arguments, count, NULL)


cdef object plain(int code, PyObject* const* arguments, Py_ssize_t count):
    """Python's own function on passive arguments: its conversions, values and exceptions."""
    function = callable_of(code)
    cdef double u[3]
    cdef Py_ssize_t i
    for i in range(count):
        if is_array(<object>arguments[i]) or PyType_HasFeature(type(<object>arguments[i]), Py_TPFLAGS_HEAPTYPE):
            numbers = [number_of(<object>x) for x in arguments[:count]]
            if Real in map(type, numbers):
                return FUNCTIONS[TABLE[code].name](*numbers)
            break
    if function is not None:
        return PyObject_Vectorcall(function, arguments, count, NULL)
    u[0] = u[1] = u[2] = 0.0
    for i in range(count):
        u[i] = <object>arguments[i]
    return op_value_any(code, u[0], u[1], u[2])


cdef object make_function(row, str name):
    # Lives as long as the process, as a PyMethodDef must.
    cdef PyMethodDef* definition = <PyMethodDef*>PyMem_Malloc(sizeof(PyMethodDef))
    if definition == NULL:
        raise MemoryError("no memory for the functions of the operations table")
    cdef bint variadic = row.name in _VARIADIC
    parameters = _VARIADIC.get(row.name) or ", ".join("xyz"[:row.arity]) + ", /"
    texts = (name.encode(),
             f"{name}({parameters})\n--\n\nOperation {row.name}: {row.value}; see docs/operations.md.".encode())
    Py_INCREF(texts)
    definition.ml_name, definition.ml_doc = texts[0], texts[1]
    definition.ml_meth = <void*>call_variadic if variadic else <void*>call1 if row.arity == 1 else <void*>call_many
    definition.ml_flags = METH_O if row.arity == 1 and not variadic else METH_FASTCALL
    return PyCFunction_NewEx(definition, row.code, "codipy.math")


cdef class Method:
    """Method(function)
    --

    A function of the table as a method of Real, for NumPy's arrays of objects in code that is not rebuilt.
    """
    cdef readonly object function

    def __cinit__(self, function):
        self.function = function

    def __get__(self, x, owner):
        if x is None:
            return self.function
        if "__rebound__" in sys._getframe().f_builtins:
            self.refuse(x)
        return MethodType(self.function, x)

    cdef int refuse(self, Real x) except -1:
        """Raise in rebound code, where an array of objects is one in the plain run, too, and its floats have no such."""
        name = self.function.__name__
        raise AttributeError(f"'{type_of(x).__name__}' object has no attribute {name!r}", name=name, obj=x)


FUNCTIONS = {row.name: make_function(row, row.math_name or row.name) for row in TABLE}

cdef object subscript(PyObject* x, PyObject* index):
    """``x[()]`` and ``x[None]``, as of a NumPy scalar."""
    if (<Real>x).kind == PYTHON:
        raise TypeError("'float' object is not subscriptable")
    return <object>x if type(<object>index) is tuple and not <object>index else door("array")(<object>x)[<object>index]


# Not by `__getitem__`: Cython would make a sequence of it, too, and NumPy take a Real for a list.
cdef MappingMethods _mapping
_mapping.mp_subscript = <void*>subscript


cdef int _add_methods() except -1:
    methods = <dict>(<PyTypeObject*>Real).tp_dict
    for row in TABLE:
        for name in (row.name, row.math_name, *row.numpy):
            if name and name not in methods:
                methods[name] = Method(FUNCTIONS[row.name])
    methods["rint"] = Method(np.rint)        # passive, but np.rint and np.round call it on object arrays
    methods["__class__"] = ClassOf()
    methods["identifier"] = property(identifier_of, doc=identifier_of.__doc__)
    for name, member in METHODS.items():
        methods.setdefault(name, member)
    (<ScalarType*>Real).tp_as_mapping = &_mapping
    PyType_Modified(<PyTypeObject*>Real)
    return 0

_add_methods()
