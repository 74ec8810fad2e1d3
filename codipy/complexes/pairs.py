# SPDX-License-Identifier: Apache-2.0
"""Between plain complex arrays and pairs: arrays of floats whose last axis has the real and the imaginary part.

A pair lies in memory as NumPy's complex number does, so that each is a view of the other.
"""

from __future__ import annotations

import numpy as np

__all__ = ["COMPLEX_OF", "complex_of_pairs", "pairs_of_complex"]

COMPLEX_OF = {np.dtype(np.float64): np.dtype(np.complex128), np.dtype(np.float32): np.dtype(np.complex64)}


def complex_of_pairs(pairs):
    """The complex numbers of an ndarray of pairs, a view where the pairs lie as NumPy's numbers do."""
    kind = COMPLEX_OF[pairs.dtype]
    strides = pairs.strides
    if strides[-1] == pairs.itemsize:
        return pairs.view(kind)[..., 0]
    if not any(strides) and pairs.size:  # one number in the place of all, of which only the shape is asked
        return np.ndarray(pairs.shape[:-1], kind, np.array(pairs[(0,) * pairs.ndim], kind), 0, strides[:-1])
    return np.ascontiguousarray(pairs).view(kind)[..., 0]


def pairs_of_complex(z):
    """The pairs of an ndarray or a number, a view where it is an array of complex128 or complex64."""
    z = np.asarray(z)
    if z.dtype not in (np.complex128, np.complex64):
        z = z.astype(np.complex64 if z.dtype == np.float32 else np.complex128)
    return z[..., None].view(np.float32 if z.dtype == np.complex64 else np.float64)
