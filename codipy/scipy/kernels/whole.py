# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices as they are handed to what takes SciPy's own alone: their plain values, and where these stand."""

from __future__ import annotations

import weakref

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from codipy.active.doors import door
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_variables
from codipy.numpy.sparse import same
from codipy.scipy.calls import is_complex, numbers
from codipy.scipy.kernels.places import Blocks, Compressed, Coordinates, Diagonals, Filled
from codipy.tape.activity import passive as paused

__all__ = ["is_active_array", "is_active_matrix", "is_operator", "matrix_of", "parts_of", "plain_copy", "plain_matrix",
           "plain_operator", "structure_of"]  # fmt: skip


def _values(matrix):
    if matrix.format == "dok":
        return list(matrix.values())
    return matrix.data if matrix.format != "lil" else [x for row in matrix.data for x in row]


def is_active_matrix(x):
    """Whether it is a sparse matrix of SciPy with active values."""
    return scipy.sparse.issparse(x) and holds_variables((_values(x),))


def is_active_array(x):
    """Whether it is an array of two axes with active elements, or a list of lists of such."""
    return not is_operator(x) and not scipy.sparse.issparse(x) and holds_variables((x,))


def is_operator(x):
    """Whether it is a `LinearOperator`, SciPy's own or a rebuilt one."""
    return isinstance(x, scipy.sparse.linalg.LinearOperator)


def matrix_of(x):
    """The sparse matrix that `aslinearoperator` was given, if its values are active; everything else as it is."""
    found = getattr(x, "A", None) if is_operator(x) else None
    return found if is_active_matrix(found) else x


def plain_operator(x, may_be_active=False):
    """The operator, whose functions SciPy's loops call with plain arrays.

    If it `may_be_active`, its products are plain numbers whatever its functions use.
    """
    returned = door("returned")(True)

    def passive(multiply):
        def function(vectors):
            if may_be_active:
                with paused():
                    return multiply(vectors)
            own = np.array(vectors)      # SciPy writes to them later
            found = multiply(own)
            if own.tobytes() != vectors.tobytes():      # which is refused
                vectors[...] = own
            if holds_variables((found,)):
                raise ActiveError("scipy.sparse.linalg: a LinearOperator whose functions use active values has no "
                                  "derivative here: give the sparse matrix itself, or where the derivative is not "
                                  "wanted, take codipy.value(x) in its functions")  # fmt: skip
            return found

        return returned.called(function)

    return scipy.sparse.linalg.LinearOperator(x.shape, passive(x.matvec), passive(x.rmatvec), passive(x.matmat),
                                              x.dtype, passive(x.rmatmat))  # fmt: skip


def plain_matrix(x):
    """The sparse matrix with plain values, of SciPy's own class, or such an operator; everything else as it is.

    It shares no index with the matrix: SciPy sorts them in place together with the values, which are copies here.
    """
    origin = vars(type(x)).get("__codipy_origin__")
    if origin is not None and is_operator(x):
        return plain_operator(x)
    if not scipy.sparse.issparse(x):
        return x
    if origin is None and not hasattr(type(getattr(x, "data", None)), "is_active"):
        return x
    kind = type(x) if origin is None else origin
    if x.format in ("dok", "lil"):
        made = kind(x.shape, dtype=x.dtype)
        if x.format == "dok":
            made._dict.update({key: numbers(value) for key, value in x.items()})
        else:
            for k, row in enumerate(x.data):
                made.rows[k], made.data[k] = list(x.rows[k]), [numbers(value) for value in row]
        return made
    made = kind.__new__(kind)
    made.__dict__.update({key: _own(value) for key, value in vars(x).items()})
    return made


def _own(part):
    """A copy of an array of a matrix, of which SciPy sorts some in place."""
    if hasattr(type(part), "is_active"):
        return np.array(part.value)
    return part.copy() if type(part) is np.ndarray else part


_copies: dict = {}  # by the address of a matrix: a weak reference to it, and its copy


def plain_copy(matrix):
    """A copy with plain values of a matrix that is passive, one for as long as it does not change."""
    plain = plain_matrix(matrix)
    known, copy = _copies.get(id(matrix), (None, None))
    if known is None or known() is not matrix or not same(plain, copy):
        key, copy = id(matrix), plain.copy()
        _copies[key] = weakref.ref(matrix, lambda _: _copies.pop(key, None)), copy
    return copy


def parts_of(matrix):
    """Where the values of an active matrix or array stand, and these, in one axis but for diagonals and blocks."""
    if is_active_array(matrix):
        array = matrix if is_complex(matrix) else as_numbers(matrix)
        is_by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        rows = array.T if is_by_columns else array
        return Filled(array.shape, "F" if is_by_columns else "C"), np.reshape(rows, -1).copy()
    matrix = matrix.tocsr() if matrix.format in ("lil", "dok") else matrix
    return structure_of(matrix), matrix.data.copy()


def structure_of(matrix):
    """Where the values in ``matrix.data`` stand."""
    if matrix.format in ("csr", "csc"):
        return Compressed(matrix.shape, matrix.indptr, matrix.indices, matrix.format == "csr")
    if matrix.format == "coo":
        return Coordinates(matrix.shape, matrix.row, matrix.col)
    if matrix.format == "bsr":
        return Blocks(matrix.shape, matrix.blocksize, matrix.indptr, matrix.indices)
    if matrix.format == "dia":
        return Diagonals(matrix.shape, matrix.offsets, matrix.data.shape[1])
    raise TypeError(f"a matrix of the format {matrix.format} has its values in no array: take A.tocsr()")
