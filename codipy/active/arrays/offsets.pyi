# SPDX-License-Identifier: Apache-2.0
"""Where in a storage the elements stand that an index of NumPy's selects."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def distinct(places: NDArray[np.integer[Any]], /) -> tuple[NDArray[np.intp], NDArray[np.intp]]: ...
