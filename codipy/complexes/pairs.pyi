# SPDX-License-Identifier: Apache-2.0
"""Between plain complex arrays and pairs: arrays of floats whose last axis has the real and the imaginary part."""

from typing import Any

import numpy as np

COMPLEX_OF: dict[np.dtype, np.dtype]

def complex_of_pairs(pairs: np.ndarray) -> np.ndarray: ...
def pairs_of_complex(z: Any) -> np.ndarray: ...
