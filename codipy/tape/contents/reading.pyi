# SPDX-License-Identifier: Apache-2.0
"""A recording as a list of steps, for those who run it again by other means: `primal` with linear identifiers."""

from typing import Any

from numpy.typing import NDArray

from codipy.tape.base import BaseTape
from codipy.tape.records.record import Record

def steps(tape: BaseTape) -> list[tuple[object, ...]]: ...
def values(tape: BaseTape) -> NDArray[Any]: ...
def step_of(record: Record) -> tuple[object, ...]: ...
