# SPDX-License-Identifier: Apache-2.0
"""Identifiers that programs outside are told, and the adjoints that they ask for by them."""

from collections.abc import Sequence
from typing import Any, SupportsFloat, final

import numpy as np
from numpy.typing import NDArray

from codipy.active.adjoints import Adjoints
from codipy.active.scalar.real import Real

def identifier_of(x: Real) -> int: ...
@final
class Told: ...

@final
class AdjointsAt:
    def __new__(cls, adjoints: Adjoints, identifiers: int | Sequence[Any] | NDArray[Any]) -> AdjointsAt: ...
    @property
    def adjoints(self) -> Adjoints: ...
    @property
    def identifiers(self) -> NDArray[np.int32]: ...
    # float for one identifier and width 1, else a new array
    @property
    def gradient(self) -> Any: ...
    @gradient.setter
    def gradient(self, seed: SupportsFloat | Sequence[Any] | NDArray[Any]) -> None: ...
    def add(self, seed: SupportsFloat | Sequence[Any] | NDArray[Any]) -> None: ...
