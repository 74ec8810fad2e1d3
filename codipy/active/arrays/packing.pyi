# SPDX-License-Identifier: Apache-2.0
"""Explicit identifiers of arrays, and arrays made from explicit identifiers: movements."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codipy.active.array_type import Array
from codipy.active.scalar.real import Real

def identifiers(x: Array | Real | ArrayLike) -> NDArray[np.int32]: ...
def from_ndarray(values: ArrayLike) -> Array: ...
def with_gaps(values: NDArray[np.floating[Any]]) -> Array: ...

# Array or Real; `values` as they are where nothing is active or nothing records
def gather(values: NDArray[np.float64] | float, identifiers: NDArray[np.int32]) -> Any: ...
def filled(shape: int | tuple[int, ...], number: float | None) -> Array | None: ...

# a list or tuple, nested; a plain array where nothing is active
def from_nested(tree: Any) -> Any: ...

# a list or tuple, nested: only those are looked into
def nested_numbers(tree: Any) -> Array | None: ...
