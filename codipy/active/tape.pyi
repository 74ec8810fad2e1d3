# SPDX-License-Identifier: Apache-2.0
"""The tape that people use: it joins recording and sweeps with variables."""

from collections.abc import Iterable
from typing import Any, SupportsFloat, overload

from numpy.typing import NDArray

from codipy.active.adjoints import Adjoints
from codipy.active.array_type import Array
from codipy.active.real import Real
from codipy.tape.base import BaseTape

class Tape(BaseTape):
    @overload
    def register_input(self, x: Array | NDArray[Any]) -> Array: ...  # type: ignore[overload-overlap]
    @overload
    def register_input(self, x: Real | SupportsFloat) -> Real: ...
    @overload
    def register_output(self, y: Array) -> Array: ...  # type: ignore[overload-overlap]
    @overload
    def register_output(self, y: Real | SupportsFloat) -> Real: ...
    def push_statement(
        self, value: SupportsFloat, arguments: Iterable[Real | SupportsFloat], jacobians: Iterable[SupportsFloat]
    ) -> Real: ...
    def new_adjoints(self, width: int = 1) -> Adjoints: ...
    def set_primal(self, x: Real, value: SupportsFloat) -> None: ...
    def get_primal(self, x: Real) -> float: ...
