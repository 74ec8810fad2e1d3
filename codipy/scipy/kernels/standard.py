# SPDX-License-Identifier: Apache-2.0
"""Equations as the array API standard has them, which SciPy asks of its own copy of that: NumPy's `solve`."""

from __future__ import annotations

import functools

import numpy as np

try:
    from scipy._lib.array_api_compat.numpy import linalg as _linalg
except ImportError:  # from SciPy 1.18 on
    from scipy._external.array_api_compat.numpy import linalg as _linalg

from codipy.numpy.arguments import holds_active, value_tree

__all__ = ["FUNCTIONS"]


@functools.wraps(_linalg.solve)
def _solve(x1, x2, /):
    if holds_active((x1, x2)):
        return np.linalg.solve(x1, x2)
    return _linalg.solve(*value_tree((x1, x2)))


FUNCTIONS = {"solve": _solve}
