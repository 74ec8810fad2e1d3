# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.signal's convolutions on complex arrays."""

from __future__ import annotations

from codipy.complexes.record import rule
from codipy.scipy.kernels.convolutions import OF_COMPLEX

__all__ = []

for _product in OF_COMPLEX:
    for _primitive in _product.primitives:
        rule(_primitive, "a")
