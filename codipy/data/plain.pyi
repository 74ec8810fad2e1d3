# SPDX-License-Identifier: Apache-2.0
"""Plain arrays of doubles over memory of codipy's own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codipy.data.buffer import Buffer

def pooled_array(size: int) -> NDArray[np.float64]: ...
def buffer_of(array: NDArray[Any]) -> Buffer: ...
def array_on(buffer: Buffer, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray[np.float64]: ...
