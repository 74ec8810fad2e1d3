# SPDX-License-Identifier: Apache-2.0
"""A recording of any strategy as a list of entries, one for each statement, for those who look at it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codipy.tape.adjoints import AdjointVector
from codipy.tape.base import BaseTape
from codipy.tape.contents.entry import Entry
from codipy.tape.records.record import Record

def entries(tape: BaseTape) -> list[Entry]: ...
def operands(tape: BaseTape) -> NDArray[np.int64]: ...
def pull(
    tape: BaseTape, record: Record, adjoints: AdjointVector, results: NDArray[Any], bars: NDArray[np.float64]
) -> None: ...
