# SPDX-License-Identifier: Apache-2.0
"""NumPy's universal functions on Reals."""
import numpy as np

from cpython.object cimport PyObject

from codipy.active.expression cimport as_number
from codipy.active.real cimport Real, apply_with_value

from codipy.errors import ActiveError
from codipy.operations import PASSIVE, TABLE



def _names(row):
    return (row.numpy,) if isinstance(row.numpy, str) else tuple(row.numpy or ())


_DIFFERENTIABLE = {name: row for row in TABLE for name in (*_names(row), row.scipy) if name}
_PASSIVE = {name for row in PASSIVE for name in _names(row)}


def call_ufunc(ufunc, str method, tuple inputs, dict options):
    """``Real.__array_ufunc__``: the value is the ufunc's own, the derivative the table's.

    Arrays among the inputs become object arrays of Reals, element by element.

    Raises
    ------
    ActiveError
        For a ufunc that has no row, and for ``out=`` into a plain array.
    """
    name = ufunc.__name__
    if options.get("out") is not None and any(out.dtype != object for out in options["out"] if out is not None):
        raise ActiveError(f"np.{name}: out= is a plain array and would lose the derivative of a Real; leave out= away")
    if method != "__call__" or any(_is_array(x) for x in inputs):
        return getattr(ufunc, method)(*map(_as_object_array, inputs), **options)
    if name in _PASSIVE:
        return ufunc(*map(_value, inputs), **options)
    row = _DIFFERENTIABLE.get(name)
    if row is None or len(inputs) != row.arity:
        if any(isinstance(x, Real) and x.is_active for x in inputs):
            raise ActiveError(f"np.{name} has no derivative in codipy's table of operations: use an operation of "
                              "codipy.math, or take x.value where the derivative is not wanted")
        return ufunc(*map(_value, inputs), **options)
    value = ufunc(*map(_value, inputs), **options)
    cdef PyObject* operands[3]
    cdef double u[3]
    cdef Py_ssize_t k
    for k in range(len(inputs)):
        operands[k] = <PyObject*>inputs[k]
        u[k] = _value(inputs[k])
    return apply_with_value(row.code, row.arity, operands, u, value)


def _is_array(x):
    return isinstance(x, (list, tuple)) or isinstance(x, np.ndarray) and (x.ndim > 0 or x.dtype == object)


def _value(x):
    return (<Real>x).primal if isinstance(x, Real) else x


def _as_object_array(x):
    if not isinstance(x, Real):
        return x
    box = np.empty((), dtype=object)
    box[()] = x
    return box
