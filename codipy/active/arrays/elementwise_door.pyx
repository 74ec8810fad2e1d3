# SPDX-License-Identifier: Apache-2.0
"""The operations of the table by name, on Arrays, for Python code."""
from cpython.object cimport PyObject

from codipy.active.arrays.compute cimport settle
from codipy.active.arrays.elementwise cimport operate
from codipy.active.arrays.plain cimport doubles_of, plain_of
from codipy.active.core.base_array cimport BaseArray, is_array

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


def overlap(function, a, b, *args, **kwargs):
    """``numpy.shares_memory`` or ``may_share_memory`` of what two arguments are views of: their values may be copies.

    Parameters
    ----------
    function : callable
        Which of the two.
    a, b : object
        Arrays among them.
    *args, **kwargs
        Further arguments of `function`.

    Returns
    -------
    bool
        Two Arrays that share values until one of them is written to have no memory in common.
    """
    if is_array(a) and is_array(b):
        settle(<BaseArray>a)
        settle(<BaseArray>b)
        if (<BaseArray>a).storage is not (<BaseArray>b).storage:
            return False
        a, b = doubles_of(<BaseArray>a), doubles_of(<BaseArray>b)
    return function(plain_of(a), plain_of(b), *args, **kwargs)
