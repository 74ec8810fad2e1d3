# SPDX-License-Identifier: Apache-2.0
"""The operations of the table by name, on Arrays, for Python code."""
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.elementwise cimport operate, settle
from codipy.active.views cimport doubles_of

from codipy.operations import BY_NAME


def elementwise(str name, *operands):
    """One operation of the table on Arrays, Reals, plain arrays and numbers that broadcast.

    Parameters
    ----------
    name : str
        Of a row of the operations table.
    *operands : Array, Real, array_like
        As many as the operation has arguments.

    Returns
    -------
    Array or Real
        Pending: it is computed when its elements are needed.
    """
    cdef PyObject* pointers[3]
    cdef Py_ssize_t k
    row = BY_NAME[name]
    if len(operands) != row.arity:
        raise TypeError(f"{name} takes {row.arity} operands, got {len(operands)}")
    for k in range(len(operands)):
        pointers[k] = <PyObject*>operands[k]
    return operate(row.code, <int>len(operands), pointers)


def memory(x):
    """What an Array is a view of, to ask which elements two Arrays share: its `value` may be a copy.

    Parameters
    ----------
    x : object
        Anything; what is no Array comes back as it is.

    Returns
    -------
    ndarray or object
        float64, also of a float32 Array.
    """
    if type(x) is not Array:
        return x
    settle(<Array>x)
    return doubles_of(<Array>x)
