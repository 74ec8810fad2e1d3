# SPDX-License-Identifier: Apache-2.0
"""Primitives on the tape."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from codipy.tape.record import Record

def first_place(values: NDArray[np.floating[Any]], number: float) -> int: ...

@final
class Call(Record):
    @property
    def bytes_used(self) -> int: ...
    @property
    def kept(self) -> list[Any]: ...
    @property
    def named(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]: ...
