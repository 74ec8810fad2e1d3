# SPDX-License-Identifier: Apache-2.0
"""Colourings of sparse matrices: columns, or rows, that share no row, or column; and of symmetric ones, stars."""

import numpy as np
from numpy.typing import NDArray

_Ends = NDArray[np.int64]
_Indices = NDArray[np.int32]

def transposed(ends: _Ends, indices: _Indices, columns: int) -> tuple[_Ends, _Indices]: ...
def distance_two(
    ends: _Ends, indices: _Indices, column_ends: _Ends, column_indices: _Indices, order: NDArray[np.int64], most: int
) -> tuple[_Indices, int] | None: ...
def star(ends: _Ends, indices: _Indices, order: NDArray[np.int64]) -> tuple[_Indices, int]: ...
def lone(ends: _Ends, indices: _Indices, colours: _Indices, count: int) -> NDArray[np.bool_]: ...
def weights(largest: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]: ...
def refined(
    ends: _Ends, indices: _Indices, colours: _Indices, words: NDArray[np.ulonglong], parts: int, first: _Indices
) -> tuple[_Ends, _Indices]: ...
def read_off(
    table: NDArray[np.float64],
    ends: _Ends,
    indices: _Indices,
    colours: _Indices,
    alone: NDArray[np.bool_] | None,
    by_rows: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def agree(
    ends: _Ends,
    indices: _Indices,
    data: NDArray[np.float64],
    by_rows: bool,
    direction: NDArray[np.float64],
    product: NDArray[np.float64],
    tolerance: float,
) -> bool: ...
