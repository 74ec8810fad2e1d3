# SPDX-License-Identifier: Apache-2.0
"""Operators of Arrays and Reals with objects of which NumPy knows nothing: who computes, and with what.

NumPy leaves an operation to the object that asks for it, by ``__array_ufunc__ = None`` or a higher
``__array_priority__``. One that has a method ``__array_ufunc__`` is asked by that, whatever operators it has. Of all
others NumPy takes what is an array in them, as ``__array__`` or a sequence gives it. An object without that it combines
with each element, a float of Python, and the results are an array of objects.
"""

from __future__ import annotations

import numbers
import operator
import types

import numpy as np

from codipy.active.array import Array, Real, from_nested, is_complex_variable
from codipy.active.messages.callers import is_of_library
from codipy.active.scalar.kinds import converted
from codipy.numpy import sparse
from codipy.numpy.allocation import as_numbers, given, holds_movable
from codipy.numpy.arguments import sees_objects

__all__ = ["answers", "compares", "in_place", "operate"]

_NAMES = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv", np.power: "pow", np.remainder: "mod",
    np.floor_divide: "floordiv", np.divmod: "divmod", np.matmul: "matmul",
}  # fmt: skip
_REFLECTED = ("__gt__", "__ge__", "__eq__", "__ne__", "__lt__", "__le__")  # by Python's number of the comparison
_COMPARISONS = (
    (operator.lt, np.less), (operator.le, np.less_equal), (operator.eq, np.equal),
    (operator.ne, np.not_equal), (operator.gt, np.greater), (operator.ge, np.greater_equal),
)  # fmt: skip
_NUMBERS = "fiub"


class _Reflecting:
    def __rdivmod__(self, other):
        return other, other


def _leaves_divmod():
    """Whether a scalar of NumPy leaves `divmod` to the class of the right operand, as it does from NumPy 2.1 on."""
    try:
        divmod(np.float64(1.0), _Reflecting())
    except TypeError:
        return False
    return True


_LEAVES_DIVMOD = _leaves_divmod()


def _asks(x, other):
    """Whether `other` asks NumPy to leave an operation with `x` on its left to it."""
    if hasattr(type(other), "__array_ufunc__"):
        return type(other).__array_ufunc__ is None
    return getattr(other, "__array_priority__", -1e6) > (0.0 if type(x) is Array else -1e6)


def answers(other):
    """Whether an object that is neither number, list nor array has a method ``__array_ufunc__``, which NumPy asks."""
    if isinstance(other, (np.ndarray, np.generic, Array, Real)) or is_complex_variable(other):
        return False
    return getattr(type(other), "__array_ufunc__", None) is not None


def operate(ufunc, x, y):
    """An operator where one operand is a Real or an Array and the other is neither number, list nor array.

    Parameters
    ----------
    ufunc : numpy.ufunc
        What NumPy calls for the operator.
    x, y : object
        The operands.

    Returns
    -------
    object
        NotImplemented where Python is to ask the other operand, or to refuse.
    """
    is_left = type(x) in (Array, Real)
    if is_left and type(y) in (Array, Real):
        return NotImplemented  # a Real on the left: the Array on its right computes
    if sparse.holds_sparse((x, y)):
        return sparse.product(x, y) if ufunc is np.matmul else NotImplemented
    other = y if is_left else x
    name = ("__r{}__" if is_left else "__{}__").format(_NAMES.get(ufunc))
    if isinstance(other, (np.ndarray, np.generic, str, bytes, complex)):
        return NotImplemented
    if is_left and _asks(x, other):
        return NotImplemented
    if answers(other):
        return ufunc(x, y)
    if hasattr(type(other), "__array_ufunc__"):
        return NotImplemented  # an active complex number, or an array of them
    found = _as_array(other)
    if found is None or (found.dtype == object and not hasattr(type(other), name)):
        return NotImplemented
    if found.dtype == object:
        if ufunc is np.divmod and Real in (type(x), type(y)) and (_LEAVES_DIVMOD or not is_left):  # no loop for objects
            return divmod(*(converted(operand, float) if type(operand) is Real else operand for operand in (x, y)))
        x, y = (boxed(x), found) if is_left else (found, boxed(y))
        return ufunc(x, y)
    return ufunc(x, found) if is_left else ufunc(found, y)


def in_place(x, other):
    """What an operator in place of the Array `x` computes with, for an `other` that is neither number, list nor array.

    Parameters
    ----------
    x : Array
        What is written to.
    other : object
        The right operand.

    Returns
    -------
    object
        NotImplemented where Python is to try the operator that makes a new object.

    Raises
    ------
    TypeError
        NumPy's, where the result could be of objects only.
    """
    dtype = np.asarray(other).dtype if isinstance(other, list) else getattr(other, "dtype", None)
    is_complex = isinstance(other, numbers.Complex) and not isinstance(other, numbers.Real)
    if is_complex or getattr(dtype, "kind", None) == "c":
        raise TypeError(f"Cannot cast ufunc output from complex128 to {x.dtype} with casting rule 'same_kind'")
    if isinstance(other, np.ndarray) and other.dtype == object:
        if sees_objects(other):
            raise TypeError(f"Cannot cast ufunc output from objects to {x.dtype} with casting rule 'same_kind'")
        return as_numbers(other)
    if isinstance(other, (np.ndarray, np.generic, str, bytes, complex)):
        return NotImplemented
    if hasattr(type(other), "__array_ufunc__"):
        if type(other).__array_ufunc__ is None:
            raise TypeError(f"operand '{type(other).__name__}' does not support ufuncs (__array_ufunc__=None)")
        return NotImplemented
    if _asks(x, other):
        return NotImplemented
    found = _as_array(other)
    if found is None:
        return NotImplemented
    if found.dtype == object:
        what = f"what an operator with an object of class {type(other).__name__} gives, which is objects,"
        raise TypeError(f"an Array holds numbers: cannot cast {what} to {x.dtype} in place")
    return found


def compares(x, other, op, of_python=False):
    """The comparison number `op` of a Real or an Array, as far as the user's class of `other` has a say in it.

    Parameters
    ----------
    x : Real or Array
        The left operand.
    other : object
        The right one, neither number, list nor array.
    op : int
        As in Python's rich comparisons.
    of_python : bool
        Whether `x` is a Real that stands for a float of Python, which leaves all to the other operand.

    Returns
    -------
    object
        What the comparison gives, NotImplemented where Python is to ask `other`, None where values are compared: an
        installed library, as pytest's approx, gets plain values, and computes nothing with them.
    """
    of_numpy = not of_python and answers(other)
    method = getattr(type(other), "__array_ufunc__" if of_numpy else _REFLECTED[op], None)
    if type(method) is not types.FunctionType or is_of_library(method.__code__):
        return None
    if of_numpy:
        return _COMPARISONS[op][1](x, other)
    if of_python or _asks(x, other):
        return NotImplemented
    found = None if type(x) is Array else _as_array(other)
    if found is None or found.ndim or found.dtype != object:
        return None
    return _COMPARISONS[op][0](x.item(), other)  # of an object without axes NumPy makes nothing, and compares a float


def _as_array(x):
    """An Array or ndarray of numbers, or an ndarray of objects; None for what is neither."""
    found = given(x)
    if found is not x:
        return found
    found = np.asarray(x)
    if found.dtype == object and found.ndim and holds_movable(found):
        return from_nested(found.tolist())
    return found if found.dtype.kind in _NUMBERS or found.dtype == object else None


def boxed(x, order="K"):
    """An ndarray of objects with the elements as NumPy puts them there: floats of Python, or Reals that stand for one.

    Parameters
    ----------
    x : Real or Array
        What is converted.
    order : str
        As NumPy's.

    Returns
    -------
    numpy.ndarray
        Of the same shape.
    """
    if type(x) is Real:
        box = np.empty((), object)
        box[()] = converted(x, float)
        return box
    box = np.empty_like(x.value, object, order=order)
    if x.ndim == 0:
        box[()] = x.item()
        return box
    items = x.reshape(-1).tolist()
    for k, index in enumerate(np.ndindex(x.shape)):
        box[index] = items[k]
    return box


def as_objects(x):
    """What NumPy computes with beside an array of objects: objects of an Array or a Real; anything else unchanged."""
    return boxed(x) if type(x) in (Array, Real) else x
