# SPDX-License-Identifier: Apache-2.0
"""What `expm_multiply` computes beside products: norms, and the matrix less a multiple of the identity.

By the norms it chooses how many steps it takes: they are of plain values, since choices have no derivative. The
multiple is the mean of the diagonal. Where the diagonal is constant, as of many operators, SciPy leaves out zeros that
are kept here: products are the same to the last bit with them, and have derivatives by them.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np
from scipy.sparse import SparseEfficiencyWarning, issparse
from scipy.sparse.linalg import _expm_multiply

from codipy.numpy.arguments import value_tree
from codipy.scipy.calls import numbers
from codipy.scipy.kernels.whole import is_active_matrix, is_operator, plain_matrix

__all__ = ["FUNCTIONS"]


def _of_plain(original):
    @functools.wraps(original)
    def function(A, *args, **kwargs):
        return original(value_tree((plain_matrix(A),))[0], *args, **kwargs)

    return function


class _Identity:
    """The identity matrix times a factor, which is only taken off a matrix."""

    __array_ufunc__ = None

    def __init__(self, factor=1.0):
        self.factor = factor

    def __rmul__(self, factor):
        return _Identity(factor)

    def __rsub__(self, A):
        compressed = A if A.format in ("csr", "csc") else A.tocsr()
        made = compressed.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SparseEfficiencyWarning)  # of a diagonal that has no places yet
            made.setdiag(made.diagonal() - self.factor)
        # Of nothing but zeros no power would be taken, and none have a derivative: SciPy's difference says so.
        is_kept = compressed.has_canonical_format and np.any(numbers(made.data))
        return made if is_kept else A - self.factor * _identity(A)


def _identity(A):
    places = np.arange(A.shape[0])
    made = type(A.tocoo())((np.ones(A.shape[0], A.dtype), (places, places)), shape=A.shape)
    return made.asformat(A.format)


def _ident_like(A):
    if is_operator(A):
        return A**0
    if not issparse(A):
        return np.eye(A.shape[0], dtype=A.dtype)
    return _Identity() if is_active_matrix(A) and A.format not in ("bsr", "dia") else _identity(A)


FUNCTIONS = {name: _of_plain(getattr(_expm_multiply, name))
             for name in ("_exact_1_norm", "_exact_inf_norm", "_onenormest_matrix_power")}  # fmt: skip
FUNCTIONS["_ident_like"] = _ident_like
