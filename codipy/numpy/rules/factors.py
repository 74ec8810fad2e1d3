# SPDX-License-Identifier: Apache-2.0
"""Solving with a matrix again and again: the LU factors of the last one are remembered."""

from __future__ import annotations

import numpy as np

from codipy.data.buffer import Buffer
from codipy.numpy.rules import lapack

__all__ = ["forget", "import_lapack", "solve", "solve_columns"]

# The last matrix, how it was factorised, and its factors. One entry serves what matters, time steps with one matrix. A
# read-only matrix on memory of codipy's own is known by that memory, which nobody overwrites while it is referred to
# here; any other is kept as a copy and compared bit by bit, since its owner may write to it. So is one in the pages of
# a tape file: when the tape is gone somebody may cut the file, and the system ends who compares what is no longer there
# (SIGBUS). A tuple is replaced whole, so threads never see half of one.
_last: tuple | None = None

LEAST = 64  # rows: below, a call through ctypes and the comparison with the last matrix take longer than factorising


def solve(a, b):
    """``numpy.linalg.solve``, to the last bit; one right-hand side finds the factors that the last call has left."""
    own = lapack.numpys() if _fits(a, b) and len(a) >= LEAST and b.ndim in (1, 2) and len(b) == len(a) else None
    if own is not None:
        x = np.array(b, order="F")
        how = (own, b.size // len(b), own.threads())
        # With more columns LAPACK may solve on several threads now and not then, which may change bits.
        factors = _known(a, how) if b.size == len(b) else None
        if factors is not None:
            own.solve(factors, x)
            return x
        factors = own.factorise_and_solve(a, x)
        if factors is not None:
            _remember(a, how, factors)
            return np.ascontiguousarray(x)
    return np.linalg.solve(a, b)


def solve_columns(a, b, transposed=False):
    """Solve ``a @ x = b`` or ``a.mT @ x = b`` for matrices `b`, also stacked.

    A single float64 matrix goes through remembered factors, of NumPy's own LAPACK or else SciPy's; a small one with
    several columns does not. Which path is taken
    depends on shapes and types only, never on what is remembered, so that results repeat to the last bit.
    """
    # Of several columns OpenBLAS shares the solving with given factors among its threads, of two rows too, and where
    # others use the processors it waits for milliseconds. NumPy's call does all of so small a system on one thread.
    if _fits(a, b) and b.ndim == 2 and (b.shape[1] == 1 or len(a) >= LEAST):
        own = lapack.numpys() if len(a) >= LEAST else None
        x = _by_numpys(own, a, b, transposed) if own is not None else _by_scipys(a, b, transposed)
        if x is not None:
            return x
    return np.linalg.solve(np.matrix_transpose(a) if transposed else a, b)


def _fits(a, b):
    """Whether these are one float64 matrix that is square, and plain columns of float64."""
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and a.ndim == 2
        and a.dtype == b.dtype == np.float64
        and a.shape[0] == a.shape[1]
        and a.size > 0 < b.size
    )


def _by_numpys(own, a, b, transposed):
    """The solution, or None where a pivot is zero."""
    how = (own, b.shape[1], own.threads())
    factors = _known(a, how)
    if factors is None:
        factors = own.factorise_and_solve(a, np.zeros(b.shape, order="F"))
        if factors is None:
            return None
        _remember(a, how, factors)
    x = np.array(b, order="F")
    own.solve(factors, x, transposed)
    return x


def _by_scipys(a, b, transposed):
    """The same without NumPy's LAPACK, and None without SciPy's too."""
    scipys = import_lapack()
    if scipys is None:
        return None
    factors = _known(a, (scipys,))
    if factors is None:
        lu, pivots, info = scipys.dgetrf(a.T)  # of the transpose: in C's order it is in Fortran's as it lies
        if info:
            return None
        factors = lu, pivots
        _remember(a, (scipys,), factors)
    x, info = scipys.dgetrs(*factors, b, trans=0 if transposed else 1)
    assert info == 0
    return x


def import_lapack():
    """SciPy's LAPACK, or None. Who measures a sweep says this before: the import takes 0.1 s and 20 MB."""
    try:
        from scipy.linalg import lapack as scipys  # here, because importing it takes longer than most gradients
    except ImportError:
        return None
    return scipys


def forget():
    """Give the memory of the last matrix and its factors back."""
    global _last
    _last = None


def _remember(a, how, factors):
    global _last
    _last = (a if _is_own(a.base) else a.copy(), how, factors)


def _is_own(memory):
    """Whether nothing but this process can change or end it."""
    return type(memory) is Buffer and (memory.array is None or memory.array.flags.owndata)


def _known(a, how):
    """The factors of a matrix if it was the last one."""
    last = _last
    if last is None or last[1] != how or last[0].shape != a.shape:
        return None
    return last[2] if _is_same(last[0], a) or _has_bits_of(last[0], a) else None


def _has_bits_of(known, a):
    """Whether two matrices are equal to the last bit, also the sign of a zero; most others differ in the first row."""
    return known[0].tobytes() == a[0].tobytes() and np.array_equal(known.view(np.int64), a.view(np.int64))


def _is_same(known, a):
    """Whether two arrays show the same elements of one Buffer."""
    return (
        type(a.base) is Buffer
        and known.base is a.base
        and known.shape == a.shape
        and known.strides == a.strides
        and known.ctypes.data == a.ctypes.data
    )
