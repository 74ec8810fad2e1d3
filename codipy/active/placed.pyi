# SPDX-License-Identifier: Apache-2.0
"""Variables of a tape that was put together."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from codipy.active.array_type import Array
from codipy.tape.base import BaseTape

_X = TypeVar("_X")

def is_variable(x: object) -> bool: ...
def shown(source: Array, identifiers: NDArray[np.int32]) -> Array | None: ...
def placed(x: _X, tape: BaseTape, identifiers: int | NDArray[np.int32], is_input: bool) -> _X: ...
