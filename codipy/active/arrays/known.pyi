# SPDX-License-Identifier: Apache-2.0
"""Expressions whose values are known before they are computed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def with_known_values(x: Any, values: NDArray[np.float64]) -> bool: ...
