# SPDX-License-Identifier: Apache-2.0
"""What SciPy asks of its copy of the array API standard: equations, NumPy's `solve`, and whether arrays are NumPy's."""

from __future__ import annotations

import functools
import sys

import numpy as np
from scipy._lib._array_api import is_numpy

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


@functools.wraps(is_numpy)
def _is_numpy(xp):
    """Of rebound code's NumPy as well: SciPy would take another way, with other bits, for other libraries."""
    return xp is sys.modules.get("codipy.numpy") or is_numpy(xp)


FUNCTIONS = {"solve": _solve, "is_numpy": _is_numpy}
