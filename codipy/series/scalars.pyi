# SPDX-License-Identifier: Apache-2.0
"""Scalar statements of the usual operations on power series."""

from collections.abc import Sequence
from typing import Any, final

from numpy.typing import NDArray

@final
class Usual:
    def __new__(cls, active: Sequence[bool], steps: Sequence[Any]) -> Usual: ...
    def run(self, c: NDArray[Any], identifier: int, arguments: list[int], constants: list[float]) -> bool: ...

def is_usual(steps: Sequence[Any]) -> bool: ...
