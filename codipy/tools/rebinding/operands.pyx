# SPDX-License-Identifier: Apache-2.0
"""Operators of plain arrays and lists: NumPy looks into no list for active values, and would make objects of them."""
from collections import deque

cimport numpy as cnp
from cpython.object cimport PyObject

from codipy.numpy.allocation import asarray, holds_movable

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_Check(PyObject* o) noexcept

cdef extern from "Python.h":
    bint PyList_Check(PyObject* o) noexcept
    bint PyTuple_Check(PyObject* o) noexcept

cdef enum:
    MULTIPLY = 2
    MATRIX_MULTIPLY = 7
    OTHER = 8

OPERATORS = ("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "MatMult")      # as `ast` names them


cpdef object operate(int operator, left, right):
    """operate(operator, left, right)
    --

    What an operator gives: a list of active values beside a plain array is an Array, as it is an array in the plain run.

    Parameters
    ----------
    operator : int
        Its place in `OPERATORS`.
    left, right : object
        The operands. The call adds no reference to them: temporaries merge as they do without it.

    Returns
    -------
    object
    """
    if is_list(<PyObject*>right) and is_plain(left, operator):
        return result(operator, left, array_of(right))
    if is_list(<PyObject*>left) and is_plain(right, operator):
        return result(operator, array_of(left), right)
    return result(operator, left, right)


cdef bint is_list(PyObject* o) noexcept:
    return PyList_Check(o) or PyTuple_Check(o) or type(<object>o) is deque


def array_of(sequence):
    """array_of(sequence)
    --

    An Array of a list, tuple or deque that holds something active; all else is itself.

    Parameters
    ----------
    sequence : object

    Returns
    -------
    object
    """
    if not is_list(<PyObject*>sequence):
        return sequence
    if type(sequence) is deque:
        items = list(sequence)
        return asarray(items) if holds_movable(items) else sequence
    return asarray(sequence) if holds_movable(sequence) else sequence


cdef bint is_plain(object o, int operator) noexcept:
    """Whether NumPy makes an array of numbers of a list beside it; a list times a scalar is the list, or an error."""
    if PyArray_Check(<PyObject*>o):
        return cnp.PyArray_ISNUMBER(<cnp.ndarray>o) or cnp.PyArray_ISBOOL(<cnp.ndarray>o)
    return operator != MULTIPLY and operator != MATRIX_MULTIPLY and cnp.PyArray_CheckScalar(o)


cdef object result(int operator, object left, object right):
    if operator == 0:
        return left + right
    if operator == 1:
        return left - right
    if operator == MULTIPLY:
        return left * right
    if operator == 3:
        return left / right
    if operator == 4:
        return left // right
    if operator == 5:
        return left % right
    if operator == 6:
        return left ** right
    return left @ right


def divmod_(x, y, /):
    """divmod(x, y, /)
    --

    `divmod`, also of a plain array and a list of active values.
    """
    if is_list(<PyObject*>y) and is_plain(x, OTHER):
        return divmod(x, array_of(y))
    if is_list(<PyObject*>x) and is_plain(y, OTHER):
        return divmod(array_of(x), y)
    return divmod(x, y)


def pow_(base, exp, mod=None):
    """pow(base, exp, mod=None)
    --

    `pow`, also of a plain array and a list of active values.
    """
    return operate(6, base, exp) if mod is None else pow(base, exp, mod)


# Those of `operator`, which `reduce` and `map` are given.

def add(a, b, /):
    """add(a, b, /)
    --

    a + b
    """
    return operate(0, a, b)


def sub(a, b, /):
    """sub(a, b, /)
    --

    a - b
    """
    return operate(1, a, b)


def mul(a, b, /):
    """mul(a, b, /)
    --

    a * b
    """
    return operate(MULTIPLY, a, b)


def truediv(a, b, /):
    """truediv(a, b, /)
    --

    a / b
    """
    return operate(3, a, b)


def floordiv(a, b, /):
    """floordiv(a, b, /)
    --

    a // b
    """
    return operate(4, a, b)


def mod(a, b, /):
    """mod(a, b, /)
    --

    a % b
    """
    return operate(5, a, b)


def power(a, b, /):
    """pow(a, b, /)
    --

    a ** b
    """
    return operate(6, a, b)


def matmul(a, b, /):
    """matmul(a, b, /)
    --

    a @ b
    """
    return operate(MATRIX_MULTIPLY, a, b)
