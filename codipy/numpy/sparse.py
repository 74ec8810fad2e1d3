# SPDX-License-Identifier: Apache-2.0
"""Products of a sparse matrix of SciPy, which is passive, and an Array: linear, with the transpose as the adjoint."""

from __future__ import annotations

import sys
import weakref

import numpy as np

from codipy.active.array import call, is_complex_variable
from codipy.active.doors import door
from codipy.errors import ActiveError

from .arguments import fillable
from .links import Pairs
from .primitive import Primitive

__all__ = ["PRODUCT", "from_left", "from_right", "holds_sparse", "kept", "product", "same", "times"]


def _sparse():
    return sys.modules.get("scipy.sparse")


def _is_sparse(x):
    return _sparse() is not None and _sparse().issparse(x)


def holds_sparse(inputs):
    """Whether one of the inputs is a sparse matrix of SciPy."""
    return any(map(_is_sparse, inputs))


_copies: dict = {}  # by the address of a matrix: a weak reference to it, and its copy
_PARTS = ("data", "indices", "indptr", "coords", "offsets")


def same(a, b):
    """Whether two matrices of one kind have the same values at the same places."""
    parts = [(getattr(a, name), getattr(b, name)) for name in _PARTS if hasattr(a, name)]
    return len(parts) > 1 and all(np.array_equal(x, y) for x, y in parts)


def kept(matrix):
    """A copy of the matrix, one for as long as it does not change: it may be written to before the sweep."""
    key = id(matrix)
    known, copy = _copies.get(key, (None, None))
    if known is None or known() is not matrix or not same(matrix, copy):
        copy = matrix.copy()
        _copies[key] = weakref.ref(matrix, lambda _: _copies.pop(key, None)), copy
    return copy


def _value(x, matrix, is_left):
    return matrix @ x if is_left else np.asarray(x) @ matrix


def _vjp(g, out, args, kwargs, argnums):
    matrix = kwargs["matrix"]
    return [matrix.T @ g if kwargs["is_left"] else np.asarray(g) @ matrix.T]


def _jvp(tangents, out, args, kwargs):
    return _value(tangents[0], **kwargs)


def _pattern(args, kwargs, argnums, shapes):
    """The matrix's elements, for each of the columns, or rows, that it is multiplied by."""
    matrix, is_left = kwargs["matrix"], kwargs["is_left"]
    shape, entries = np.shape(args[0]), matrix.tocoo()
    rows, columns = (entries.row, entries.col) if is_left else (entries.col, entries.row)
    count = 1 if len(shape) == 1 else shape[1] if is_left else shape[0]
    lanes = np.arange(count)[:, None]
    if len(shape) == 1 or is_left:
        return [Pairs(rows * count + lanes, columns * count + lanes, (shape, shapes[0]))]
    return [Pairs(lanes * matrix.shape[1] + rows, lanes * matrix.shape[0] + columns, (shape, shapes[0]))]


PRODUCT = Primitive("sparse matmul", _value, _vjp, _jvp, keep_args=False, keep_out=False, pattern=_pattern)


def _is_rebuilt(x):
    """Whether it is a sparse matrix whose methods take active values, as rebuilt code makes them."""
    return "__codipy_origin__" in vars(type(x))


def product(a, b):
    """``a @ b`` where one of the two is sparse."""
    if _is_rebuilt(a):
        return a.__matmul__(b)
    if _is_rebuilt(b):
        return b.__rmatmul__(a)
    return from_left(kept(a), b) if _is_sparse(a) else from_right(a, kept(b))


def _recorded(x, matrix, is_left):
    options = {"matrix": matrix, "is_left": is_left}
    if is_complex_variable(x) or matrix.dtype.kind == "c":
        return door("complexes")().recorded_as_lifted(PRODUCT, (x,), options)
    return fillable(call(PRODUCT, (x,), options))


def from_left(matrix, x):
    """``matrix @ x`` of a matrix that nobody changes."""
    return _recorded(x, matrix, True)


def from_right(x, matrix):
    """``x @ matrix`` of a matrix that nobody changes."""
    return _recorded(x, matrix, False)


def times(a, b):
    """``a * b`` where one of the two is an Array and the other none of what it knows: for a matrix ``a @ b``."""
    if not holds_sparse((a, b)):
        return NotImplemented
    if _is_rebuilt(a):
        return a.__mul__(b)
    if _is_rebuilt(b):
        return b.__rmul__(a)
    if any(isinstance(x, _sparse().sparray) for x in (a, b)):
        raise ActiveError("a sparse array times an Array, by elements, would be a sparse array of active values: write "
                          "`a.toarray() * x`; the matrix product is `a @ x`")  # fmt: skip
    return product(a, b)
