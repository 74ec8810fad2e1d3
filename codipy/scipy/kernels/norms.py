# SPDX-License-Identifier: Apache-2.0
"""Norms by which `expm_multiply` chooses how many steps it takes: of plain values, since choices have no derivative."""

from __future__ import annotations

import functools

from scipy.sparse.linalg import _expm_multiply

from codipy.numpy.arguments import value_tree
from codipy.scipy.kernels.whole import plain_matrix

__all__ = ["FUNCTIONS"]


def _of_plain(original):
    @functools.wraps(original)
    def function(A, *args, **kwargs):
        return original(value_tree((plain_matrix(A),))[0], *args, **kwargs)

    return function


FUNCTIONS = {name: _of_plain(getattr(_expm_multiply, name))
             for name in ("_exact_1_norm", "_exact_inf_norm", "_onenormest_matrix_power")}  # fmt: skip
