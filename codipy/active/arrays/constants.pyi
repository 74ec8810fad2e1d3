# SPDX-License-Identifier: Apache-2.0
"""Plain arrays beside Arrays: copies of what they hold now, one for as long as they hold it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def places_along(size: int, index: NDArray[np.integer[Any]]) -> NDArray[np.intp]: ...
