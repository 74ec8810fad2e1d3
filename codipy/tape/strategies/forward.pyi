# SPDX-License-Identifier: Apache-2.0
"""The strategy `forward`: nothing is recorded, tangents are computed at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codipy.tape.strategies.strategy import Strategy

TOO_LATE: str

def seed_rows(
    seed: ArrayLike, shape: tuple[int, ...], width: int, number: type[np.inexact] = np.float64
) -> NDArray[np.inexact]: ...

class Forward(Strategy):
    def __new__(cls, *_: object) -> Forward: ...
