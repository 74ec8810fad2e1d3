# SPDX-License-Identifier: Apache-2.0
"""What a profiled recording notes beside the tape."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from codipy.tape.base import BaseTape
from codipy.tape.provenance.spots import Spots

def profiled_by(function: Callable[[BaseTape], object] | None) -> None: ...

class Journal:
    spots: Spots
    def totals(self) -> tuple[NDArray[np.int64], tuple[int, int, int], NDArray[np.float64]]: ...
    def spots_of(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
