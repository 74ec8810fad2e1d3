# SPDX-License-Identifier: Apache-2.0
"""Products of a sparse matrix of SciPy, which is passive, and an Array: linear, with the transpose as the adjoint."""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.array import call

from .primitive import Primitive

__all__ = ["holds_sparse", "product"]


def _is_sparse(x):
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(x)


def holds_sparse(inputs):
    """Whether one of the inputs is a sparse matrix of SciPy."""
    return any(map(_is_sparse, inputs))


def _right(matrix):
    """x -> matrix @ x."""
    transpose = matrix.T
    return Primitive(
        "sparse matmul",
        lambda x: matrix @ x,
        lambda g, out, args, kwargs, argnums: [transpose @ g],
        lambda tangents, out, args, kwargs: matrix @ tangents[0],
        keep_args=False,
        keep_out=False,
    )


def _left(matrix):
    """x -> x @ matrix."""
    transpose = matrix.T
    return Primitive(
        "sparse matmul",
        lambda x: np.asarray(x) @ matrix,
        lambda g, out, args, kwargs, argnums: [np.asarray(g) @ transpose],
        lambda tangents, out, args, kwargs: np.asarray(tangents[0]) @ matrix,
        keep_args=False,
        keep_out=False,
    )


def product(a, b):
    """``a @ b`` where one of the two is sparse."""
    return call(_right(a), (b,)) if _is_sparse(a) else call(_left(b), (a,))
