# SPDX-License-Identifier: Apache-2.0
"""The tape that people use: it joins recording and sweeps with variables."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from os import PathLike
from typing import Any, Literal, SupportsFloat, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codipy.active.adjoints import Adjoints
from codipy.active.array_type import Array
from codipy.active.optimized import OptimizedTape
from codipy.active.scalar.real import Real
from codipy.tape.base import BaseTape
from codipy.tape.position import TapePosition

class Tape(BaseTape):
    registers: bool
    positions: tuple[TapePosition, ...]
    given: list[tuple[Real | Array, Any]] | None
    def save(
        self, path: str | PathLike[str], *, primitives: Iterable[Any] = (), positions: Iterable[TapePosition] = ()
    ) -> None: ...
    @property
    def inputs(self) -> tuple[Real | Array, ...]: ...
    @property
    def outputs(self) -> tuple[Real | Array, ...]: ...
    def set_active(self) -> None: ...
    def check(self) -> None: ...
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
    @overload
    def new_adjoints(self, width: int = 1, *, record: Literal[False] = False) -> Adjoints: ...
    @overload
    def new_adjoints(self, width: int = 1, *, record: Literal[True]) -> Any: ...
    def nested(self, *inputs: Any) -> AbstractContextManager[tuple[Any, ...]]: ...
    @overload
    def set_primal(self, x: Array, value: ArrayLike) -> None: ...
    @overload
    def set_primal(self, x: Real, value: SupportsFloat) -> None: ...
    @overload
    def get_primal(self, x: Array) -> NDArray[np.float64]: ...
    @overload
    def get_primal(self, x: Real) -> float: ...
    def optimize(
        self,
        inputs: Iterable[Real | Array] | None = None,
        outputs: Iterable[Real | Array] | None = None,
        *,
        dead: bool = True,
        equal: bool = True,
        merge: bool = True,
        renumber: bool = True,
    ) -> OptimizedTape: ...
    def dump(self, limit: int = 10_000) -> str: ...
    def to_graphviz(self, limit: int = 500) -> str: ...
    def to_networkx(self, limit: int = 500) -> Any: ...
