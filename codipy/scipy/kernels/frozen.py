# SPDX-License-Identifier: Apache-2.0
"""Copies of the indices of sparse matrices, one for as long as they do not change.

SciPy sorts and sums in place, so what a sweep reads later must be a copy. A time loop multiplies by one matrix a
thousand times, so it must not be a thousand copies.
"""

from __future__ import annotations

import weakref

import numpy as np

__all__ = ["frozen"]

_copies: dict = {}  # by the address of an array: a weak reference to it, and its copy


def frozen(indices):
    """A copy of an array of integers that nobody writes to."""
    key = id(indices)
    known, copy = _copies.get(key, (None, None))
    if known is not None and known() is indices and np.array_equal(indices, copy):
        return copy
    copy = np.array(indices)
    copy.flags.writeable = False
    _copies[key] = weakref.ref(indices, lambda _: _copies.pop(key, None)), copy
    return copy
