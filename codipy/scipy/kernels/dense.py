# SPDX-License-Identifier: Apache-2.0
"""What stands for `numpy.matrix` around an Array: sums and dense forms of SciPy's sparse matrices are such.

It has always two axes, `*` is the product of matrices, and a row or a column that is taken out stays one.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import _sputils

from codipy.active.array import Array, is_complex_variable
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.standins import pass_for

__all__ = ["FUNCTIONS", "Matrix", "is_ours"]



def _array(x):
    return x._array if type(x) is Matrix else x


def is_ours(x):
    """Whether it is an Array or a ComplexArray."""
    return type(x) is Array or is_complex_variable(x) and hasattr(type(x), "reshape")


def _shaped(x):
    """A Matrix of what has two axes; everything else as it is."""
    return Matrix(x) if is_ours(x) and x.ndim == 2 else x


class Matrix:
    """An Array of two axes with the operators of `numpy.matrix`.

    Parameters
    ----------
    array : Array
        One of fewer axes becomes a row.
    """

    __array_priority__ = 20.0

    def __init__(self, array):
        self._array = array if array.ndim == 2 else array.reshape(1, -1)

    def __codipy_array__(self, dtype=None):
        return self._array if dtype is None else as_numbers(self._array, dtype)

    def __codipy_value__(self):
        return np.matrix(self._array.value)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if kwargs.get("out") is not None:
            raise ActiveError("numpy.matrix: out= of active values is not supported: take np.asarray(m)")
        return _shaped(getattr(ufunc, method)(*map(_array, inputs), **kwargs))

    def __array_function__(self, function, types, args, kwargs):
        name = function.__name__
        if name == "ravel":  # of a matrix NumPy makes an array then
            return self._array.ravel(*args[1:], **kwargs)
        if args and args[0] is self and name in ("sum", "mean", "max", "min", "reshape", "transpose", "dot", "copy"):
            return getattr(self, "copy" if name == "copy" else name)(*args[1:], **kwargs)
        if name in ("shape", "ndim", "size"):
            return getattr(self, name)
        raise ActiveError(f"np.{name} of a numpy.matrix of active values: take np.asarray(m), an array of two axes")

    def __getattr__(self, name):
        if name.startswith("__") or name not in ("shape", "dtype", "size", "ndim", "tolist", "item", "is_active"):
            raise AttributeError(f"a numpy.matrix of active values has no attribute {name!r}: take np.asarray(m)")
        return getattr(self._array, name)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __repr__(self):
        return "matrix" + repr(self._array)

    # ---- Parts ----

    @property
    def A(self):
        """The Array."""
        return self._array

    @property
    def A1(self):
        """The Array, of one axis."""
        return self._array.ravel()

    @property
    def T(self):
        """The transpose."""
        return self.transpose()

    def getA(self):
        """The Array."""
        return self._array

    def getA1(self):
        """The Array, of one axis."""
        return self._array.ravel()

    def __getitem__(self, key):
        found = self._array[_array(key)]
        if not is_ours(found) or found.ndim == 0:
            return found
        if found.ndim == 2:
            return Matrix(found)
        if found.ndim > 2:
            raise ActiveError("numpy.matrix: an index makes more than two axes: take np.asarray(m)")
        is_column = isinstance(key, tuple) and len(key) > 1 and np.ndim(key[1]) == 0 and not isinstance(key[1], slice)
        return Matrix(found[:, None] if is_column else found[None])

    def __setitem__(self, key, value):
        self._array[key] = _array(value)

    # ---- Shapes and sums ----

    def transpose(self, *axes):
        """The transpose."""
        return Matrix(self._array.transpose(*axes))

    def reshape(self, *shape, **kwargs):
        """Of two axes, or refused."""
        return Matrix(self._array.reshape(*shape, **kwargs))

    def copy(self, order="C"):
        """A copy."""
        return Matrix(self._array.copy(order))

    def astype(self, dtype, *args, **kwargs):
        """The values as another type of floats."""
        return Matrix(self._array.astype(dtype, *args, **kwargs))

    def ravel(self, order="C"):
        """All elements as a row."""
        return Matrix(self._array.ravel(order))

    def flatten(self, order="C"):
        """All elements as a row."""
        return Matrix(self._array.flatten(order))

    def _reduced(self, name, axis, dtype, out):
        options = {} if dtype is None else {"dtype": dtype}
        found = getattr(self._array, name)(axis=axis, keepdims=axis is not None, **options)
        if out is None:
            return _shaped(found)
        out[...] = found
        return out

    def sum(self, axis=None, dtype=None, out=None):
        """Over an axis, which stays with length 1."""
        return self._reduced("sum", axis, dtype, out)

    def mean(self, axis=None, dtype=None, out=None):
        """Over an axis, which stays with length 1."""
        return self._reduced("mean", axis, dtype, out)

    def max(self, axis=None, out=None):
        """Over an axis, which stays with length 1."""
        return self._reduced("max", axis, None, out)

    def min(self, axis=None, out=None):
        """Over an axis, which stays with length 1."""
        return self._reduced("min", axis, None, out)

    # ---- Operators ----

    def dot(self, other):
        """The product of matrices."""
        return _shaped(self._array @ _array(asmatrix(other) if np.ndim(other) == 1 else other))

    def __matmul__(self, other):
        if hasattr(other, "tocsr"):
            return NotImplemented
        return _shaped(self._array @ _array(other))

    def __rmatmul__(self, other):
        return _shaped(as_numbers(other) @ self._array)

    def __mul__(self, other):
        if hasattr(other, "tocsr"):
            return NotImplemented
        return Matrix(self._array * other) if np.ndim(other) == 0 else self.dot(other)

    def __rmul__(self, other):
        if np.ndim(other) == 0:
            return Matrix(other * self._array)
        return _shaped(_array(asmatrix(other)) @ self._array)

    def __add__(self, other):
        return NotImplemented if hasattr(other, "tocsr") else Matrix(self._array + _array(other))

    def __radd__(self, other):
        return Matrix(other + self._array)

    def __sub__(self, other):
        return NotImplemented if hasattr(other, "tocsr") else Matrix(self._array - _array(other))

    def __rsub__(self, other):
        return Matrix(other - self._array)

    def __truediv__(self, other):
        return Matrix(self._array / _array(other))

    def __rtruediv__(self, other):
        return Matrix(other / self._array)

    def __neg__(self):
        return Matrix(-self._array)

    def __pos__(self):
        return Matrix(+self._array)

    def __abs__(self):
        return Matrix(abs(self._array))


def asmatrix(data, dtype=None):
    """``numpy.asmatrix`` of what may be active."""
    if type(data) is Matrix:
        return data
    if is_ours(data):
        return Matrix(data if dtype is None or data.dtype == dtype else data.astype(dtype))
    return _ORIGINAL(data, dtype)


def matrix(data, dtype=None, copy=True):
    """``numpy.matrix`` of what may be active."""
    if type(data) is not Matrix and not is_ours(data):
        return _MATRIX(data, dtype=dtype, copy=copy)
    made = asmatrix(data, dtype)
    return made.copy() if copy else made


pass_for(Matrix, np.matrix, np.ndarray.__new__(np.matrix, (1, 1)))
_ORIGINAL, _MATRIX = _sputils.asmatrix, _sputils.matrix
FUNCTIONS = {"asmatrix": asmatrix, "matrix": matrix}
