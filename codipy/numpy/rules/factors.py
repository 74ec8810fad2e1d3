# SPDX-License-Identifier: Apache-2.0
"""Solving with a matrix again and again: the LU factors of the last one are remembered."""

from __future__ import annotations

import numpy as np

from codipy.data.buffer import Buffer

__all__ = ["solve_columns"]

# The last matrix and the factors of its transpose. NumPy's solve gives no factors away, and SciPy's would
# not give NumPy's values to the last bit, so the forward solve cannot fill this. One entry serves what matters, time
# steps with one matrix. A read-only matrix on memory of codipy's own is known by that memory, which nobody overwrites
# while it is referred to here; any other is kept as a copy and compared by value, since its owner may write to it. A
# tuple is replaced whole, so threads never see half of one.
_last: tuple | None = None


def solve_columns(a, b, transposed=False):
    """Solve ``a @ x = b`` or ``a.mT @ x = b`` for matrices `b`, also stacked.

    A single float64 matrix goes through remembered factors if SciPy is there. Which path is taken depends on shapes and
    types only, never on what is remembered, so that results repeat to the last bit.
    """
    if type(a) is np.ndarray and type(b) is np.ndarray and a.ndim == b.ndim == 2 and a.dtype == b.dtype == np.float64:
        factors = _factorise(a)
        if factors is not None:
            lapack, lu, pivots = factors
            x, info = lapack.dgetrs(lu, pivots, b, trans=0 if transposed else 1)
            assert info == 0
            return x
    return np.linalg.solve(np.matrix_transpose(a) if transposed else a, b)


def _factorise(a):
    """The factors of the transpose of a matrix, or None without SciPy, or where a pivot is zero."""
    global _last
    known = _last
    if known is not None and (_is_same(known[0], a) or np.array_equal(known[0], a)):
        return known[1]
    try:
        from scipy.linalg import lapack  # here, because importing it takes longer than most gradients
    except ImportError:
        return None
    if a.size == 0:
        return None
    lu, pivots, info = lapack.dgetrf(a.T)  # of the transpose: a C-ordered matrix is one in Fortran's order as it lies
    factors = (lapack, lu, pivots) if info == 0 else None
    _last = (a if type(a.base) is Buffer else a.copy(), factors)
    return factors


def _is_same(known, a):
    """Whether two arrays show the same elements of one Buffer."""
    return (
        type(a.base) is Buffer
        and known.base is a.base
        and known.shape == a.shape
        and known.strides == a.strides
        and known.ctypes.data == a.ctypes.data
    )
