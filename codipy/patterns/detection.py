# SPDX-License-Identifier: Apache-2.0
"""From sweeps with 64 seeds to a whole pattern: groups of columns are told apart first, then parts of the groups.

Of a matrix with few elements in each row that takes a few sweeps, not one for every 64 columns: groups that no row has
in common share their seeds. What a row depends on is known exactly at each level, so nothing is guessed.
"""

from __future__ import annotations

import numpy as np

from codipy.patterns.colouring import distance_two, refined, transposed

__all__ = ["detected"]

WORD = 64


def detected(sweep, rows, columns):
    """The pattern of a matrix in compressed rows, sorted.

    Parameters
    ----------
    sweep : callable
        ``sweep(words)`` takes a word for each column and returns one for each row: the bits of all columns of which it
        has an element.
    rows, columns : int
        The shape of the matrix.

    Returns
    -------
    indptr, indices : ndarray
        int64 and int32.
    """
    starts = np.array([0, columns], np.int64)      # one group; every row may depend on it
    ends, indices = np.arange(rows + 1, dtype=np.int64), np.zeros(rows, np.int32)
    if not rows or not columns:
        return np.zeros(rows + 1, np.int64), np.zeros(0, np.int32)
    while True:
        colours, count = _colours(ends, indices, len(starts) - 1)
        parts = max(WORD // count, 4)
        largest = int(np.max(np.diff(starts)))
        parts = min(parts, largest)
        starts, first, bits = _cut(starts, parts, colours)
        ends, indices = refined(ends, indices, colours, _swept(sweep, bits, count * parts), parts, first)
        if len(starts) > columns:
            return _sorted(ends, indices, columns)


def _colours(ends, indices, groups):
    column_ends, column_indices = transposed(ends, indices, groups)
    return distance_two(ends, indices, column_ends, column_indices, np.arange(groups, dtype=np.int64), groups + 1)


def _cut(starts, parts, colours):
    """Each group in at most so many parts: where they begin, the number of each group's first, each column's bit."""
    sizes = np.diff(starts)
    cuts = np.minimum(sizes, parts)
    first = np.cumsum(cuts) - cuts
    group = np.repeat(np.arange(len(cuts)), cuts)
    part = np.arange(len(group)) - first[group]
    begins = starts[:-1][group] + part * sizes[group] // cuts[group]
    new = np.append(begins, starts[-1])
    bits = np.repeat(colours[group].astype(np.int64) * parts + part, np.diff(new))
    return new, first.astype(np.int32), bits


def _swept(sweep, bits, count):
    words = []
    for start in range(0, count, WORD):
        place = bits - start
        inside = (place >= 0) & (place < WORD)
        shifted = np.left_shift(np.uint64(1), np.where(inside, place, 0).astype(np.uint64))
        words.append(sweep(np.where(inside, shifted, np.uint64(0))))
    return np.ascontiguousarray(np.stack(words)).astype(np.ulonglong, copy=False)


def _sorted(ends, indices, columns):
    rows = len(ends) - 1
    return transposed(*transposed(ends, indices, columns), rows)
