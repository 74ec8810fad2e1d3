# SPDX-License-Identifier: Apache-2.0
"""Loops that rules ask for, where NumPy would need a dozen calls or a copy: on float64 in the order of C."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.floating[Any]]

def first_place(values: _Floats, number: float) -> int: ...
def products_of_others(values: _Floats, factor: float) -> _Floats | None: ...
def interpolated_back(g: _Floats, x: _Floats, xp: _Floats, fp: _Floats) -> _Floats | None: ...
def shares_of_logs(g: _Floats, out: _Floats, a: _Floats, axis: int) -> _Floats | None: ...
