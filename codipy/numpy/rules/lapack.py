# SPDX-License-Identifier: Apache-2.0
"""LU factors from the LAPACK that NumPy itself calls: its solve gives none away, and these give its very bits."""

from __future__ import annotations

import ctypes
import functools

import numpy as np

__all__ = ["Lapack", "numpys"]


class Lapack:
    """The routines that ``numpy.linalg.solve`` calls, for columns of float64.

    `factorise_and_solve` is one call of the same routine on the same data as NumPy's, and `solve` is what that routine
    does after factorising.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._gesv, self._getrs = library.scipy_dgesv_64_, library.scipy_dgetrs_64_
        self._threads = library.scipy_openblas_get_num_threads64_
        count, array = ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p
        self._gesv.argtypes = [count, count, array, count, array, array, count, count]
        self._getrs.argtypes = [ctypes.c_char_p, count, count, array, count, array, array, count, count]
        self._gesv.restype = self._getrs.restype = None

    def threads(self) -> int:
        """On how many threads factors are computed, which may change their last bits."""
        return int(self._threads())

    def factorise_and_solve(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Overwrite the columns `b`, in Fortran's order, with the solution; None if `a` is singular."""
        lu, pivots = np.array(a, order="F"), np.empty(len(a), np.int64)
        n, columns, info = ctypes.c_int64(len(a)), ctypes.c_int64(b.size // len(b)), ctypes.c_int64(0)
        self._gesv(n, columns, _address(lu), n, _address(pivots), _address(b), n, info)
        return None if info.value else (lu, pivots)

    def solve(self, factors: tuple[np.ndarray, np.ndarray], b: np.ndarray, transposed: bool = False) -> None:
        """Overwrite the columns `b`, in Fortran's order, with the solution."""
        lu, pivots = factors
        n, columns, info = ctypes.c_int64(len(lu)), ctypes.c_int64(b.size // len(b)), ctypes.c_int64(0)
        self._getrs(b"T" if transposed else b"N", n, columns, _address(lu), n, _address(pivots), _address(b), n, info)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@functools.cache
def numpys() -> Lapack | None:
    """NumPy's LAPACK; None where it is not the one of NumPy's wheels, or does not give the bits of NumPy's solve."""
    try:
        from numpy.linalg import _umath_linalg

        lapack = Lapack(ctypes.CDLL(_umath_linalg.__file__))
    except (ImportError, OSError, AttributeError):
        return None
    return lapack if all(_agrees(lapack, n, columns) for n in (2, 7, 33, 130, 260) for columns in (1, 3)) else None


def _agrees(lapack: Lapack, n: int, columns: int) -> bool:
    """Whether both ways to a solution give that of ``numpy.linalg.solve`` to the last bit."""
    a = np.cos(np.arange(n * n, dtype=float)).reshape(n, n) + np.eye(n)
    b = np.sin(np.arange(n * columns, dtype=float)).reshape(n, columns)
    expected = np.linalg.solve(a, b if columns > 1 else b[:, 0]).reshape(n, columns)
    once, again = np.array(b, order="F"), np.array(b, order="F")
    factors = lapack.factorise_and_solve(a, once)
    if factors is None:
        return False
    lapack.solve(factors, again)
    return once.tobytes() == expected.tobytes() and (columns > 1 or again.tobytes() == expected.tobytes())
