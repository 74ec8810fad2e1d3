# SPDX-License-Identifier: Apache-2.0
"""Arrays instead of what an expression of the user's has just made, where nobody else can see it."""
cimport numpy as cnp
from cpython.object cimport PyObject

from codipy.active.arrays.packing cimport with_gaps
from codipy.active.doors import door
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current, is_passive

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(PyObject* o) noexcept

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        Py_ssize_t tp_weaklistoffset
        void* tp_iter
        void* tp_finalize
    TypeObject* Py_TYPE(PyObject* o) noexcept
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept
    PyObject* PyTuple_GET_ITEM(object o, Py_ssize_t i) noexcept


def made(value, /):
    """made(value, /)
    --

    The value of an expression: an Array in the place of a plain one that only this call refers to.

    Parameters
    ----------
    value : object
        What a call, an operation or an index gave, on the interpreter's stack and nowhere else.

    Returns
    -------
    object
        A passive Array with the values, layout and dtype of an array of floats, a ComplexArray of one of complex
        numbers, if a tape records on this thread and nobody has the array or what it is a view of; else `value` itself.
    """
    return array_of(value) if has_references(<PyObject*>value, 1) and records() else value


def made_items(value, /):
    """made_items(value, /)
    --

    What an expression gave and is unpacked at once: if that is a tuple, one in which each item is as `made` gives it.

    Parameters
    ----------
    value : object
        As for `made`.

    Returns
    -------
    object
        A tuple, or `value` itself.
    """
    cdef list items
    cdef Py_ssize_t i
    cdef PyObject* item
    if not isinstance(value, tuple) or Py_REFCNT(<PyObject*>value) != 1 or not records():
        return value
    if Py_TYPE(<PyObject*>value).tp_iter != Py_TYPE(<PyObject*>()).tp_iter:     # a class of the user's, with its own
        return value
    if Py_TYPE(<PyObject*>value).tp_finalize != NULL:      # which sees the items last
        return value
    items = []
    for i in range(len(<tuple>value)):
        item = PyTuple_GET_ITEM(value, i)      # which the tuple has: a reference more would be one too many
        items.append(array_of(<object>item) if has_references(item, 1) else <object>item)
    return tuple(items)


cdef bint records() noexcept:
    return current() != NULL and not is_passive()


cdef bint is_array(PyObject* o) noexcept:
    return o != NULL and PyArray_CheckExact(o)


cdef bint has_references(PyObject* o, Py_ssize_t count) noexcept:
    if Py_REFCNT(o) != count or not PyArray_CheckExact(o):
        return False
    return (<PyObject**>(<char*>o + Py_TYPE(o).tp_weaklistoffset))[0] == NULL


cdef object array_of(object o):
    cdef cnp.ndarray value = o
    cdef PyObject* base = cnp.PyArray_BASE(value)
    cdef int kind = cnp.PyArray_TYPE(value)
    cdef bint is_complex = kind == cnp.NPY_CDOUBLE or kind == cnp.NPY_CFLOAT
    if kind != cnp.NPY_DOUBLE and kind != cnp.NPY_FLOAT and not is_complex:
        return value
    if cnp.PyArray_NDIM(value) + is_complex > MAX_DIMS:      # parts have an axis more
        return value
    if not cnp.PyArray_ISBEHAVED(value):       # read-only, not aligned or of another byte order
        return value
    if is_complex and not (cnp.PyArray_IS_C_CONTIGUOUS(value) or cnp.PyArray_IS_F_CONTIGUOUS(value)):
        return value        # it is copied, in an order of its own
    if base != NULL:
        if not has_references(base, 1):
            return value
        if not cnp.PyArray_CHKFLAGS(<cnp.ndarray>base, cnp.NPY_ARRAY_OWNDATA):
            return value
    elif not cnp.PyArray_CHKFLAGS(value, cnp.NPY_ARRAY_OWNDATA):
        return value
    return door("complexes")().as_complex(value) if is_complex else with_gaps(value)
