# SPDX-License-Identifier: Apache-2.0
"""External adjoint vectors: several directions in one sweep, or sweeps beside the tape's own."""

from collections.abc import Sequence
from typing import Any, SupportsFloat, final

import numpy as np
from numpy.typing import NDArray

from codipy.active.array_type import Array
from codipy.active.identified import AdjointsAt
from codipy.active.scalar.real import Real
from codipy.active.tape import Tape
from codipy.tape.adjoints import AdjointVector

@final
class Adjoints(AdjointVector):
    def __new__(cls, tape: Tape, width: int) -> Adjoints: ...
    @property
    def tape(self) -> Tape: ...
    # float for a Real and width 1, else a new array
    def __getitem__(self, x: Real | Array, /) -> Any: ...
    def __setitem__(self, x: Real | Array, seed: SupportsFloat | Sequence[Any] | NDArray[Any], /) -> None: ...
    def at(self, identifiers: int | Sequence[Any] | NDArray[Any]) -> AdjointsAt: ...
    def clear(self) -> None: ...

def seed_colours(
    adjoints: Adjoints,
    x: Real | Array,
    colours: NDArray[np.int32],
    first: int,
    count: int,
    last: NDArray[np.float64] | None,
) -> None: ...
def planes_of(adjoints: Adjoints, x: Real | Array) -> NDArray[np.float64] | None: ...
def seed_units(adjoints: Adjoints, x: Real | Array, number: int, direction: int, count: int) -> None: ...
