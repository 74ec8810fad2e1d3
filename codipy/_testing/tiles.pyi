# SPDX-License-Identifier: Apache-2.0
"""Elementwise array programs over tiles, for Python."""

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

@final
class Call:
    def __init__(
        self, steps: Sequence[tuple[int, ...]], operands: Sequence[NDArray[np.float64]], shape: tuple[int, ...],
        result: NDArray[np.float64] | None = None, single: int = 0,
    ) -> None: ...
    def values(self, out: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def reverse(
        self, adjoints: Sequence[NDArray[np.float64] | None], lhs: NDArray[np.float64], keep: bool = False
    ) -> None: ...
    def tangent(
        self, tangents: Sequence[NDArray[np.float64] | None], lhs: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    def jacobians(self, wanted: Sequence[bool]) -> list[NDArray[np.float64] | None]: ...
    def threads(
        self, adjoints: Sequence[NDArray[np.float64] | None] | None = None, lhs: NDArray[np.float64] | None = None
    ) -> int: ...
    def needed(self, active: int) -> int: ...
