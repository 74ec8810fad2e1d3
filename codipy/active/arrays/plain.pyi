# SPDX-License-Identifier: Apache-2.0
"""Between Arrays and plain arrays: the same elements seen as the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codipy.active.array_type import Array

def stand_in(a: Array) -> NDArray[np.floating[Any]]: ...
def is_writable(array: NDArray[Any], /) -> bool: ...
def is_view_of(shown: object, plain: NDArray[np.floating[Any]]) -> bool: ...
def shown_as(a: Array, plain: NDArray[np.floating[Any]], shown: NDArray[np.floating[Any]]) -> Array: ...
