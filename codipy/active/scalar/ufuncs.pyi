# SPDX-License-Identifier: Apache-2.0
"""NumPy's universal functions on Reals."""

from typing import Any

import numpy as np

def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any: ...
