# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.signal's convolutions and filters on complex arrays."""

from __future__ import annotations

from codipy.complexes.record import rule
from codipy.scipy.kernels import convolutions, recursions, resampling

__all__ = []

for _product in (*convolutions.PRODUCTS, *resampling.PRODUCTS):
    for _primitive in _product.primitives:
        rule(_primitive, "a")
for _primitive, _results in recursions.OF_COMPLEX.items():
    rule(_primitive, _results)
