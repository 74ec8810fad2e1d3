# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.fft on complex arrays, and on real ones whose transform is complex."""

from __future__ import annotations

from codipy.complexes.fft import linear
from codipy.complexes.record import rule
from codipy.scipy.transforms import FUNCTIONS, REAL, REVERSES

__all__ = []

for _name, _reverse in REVERSES.items():
    linear(f"scipy.fft.{_name}", FUNCTIONS[_name], _reverse)

for _primitive in REAL.values():
    rule(_primitive, "a")
