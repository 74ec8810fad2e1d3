# SPDX-License-Identifier: Apache-2.0
"""All derivatives of a recording as one matrix: its rows by sweeps backwards, or its columns by sweeps forwards."""

from __future__ import annotations

import itertools
import math

import numpy as np

from codipy.tools.arguments.leaves import shape_of, stack
from codipy.tools.pool import borrow_vector, give_back_vector
from codipy.tools.runs.recording import Units

__all__ = ["BYTES", "WIDEST", "columns_of", "is_reverse", "matrix_of", "units"]

WIDEST = 16            # directions that one sweep carries ...
_NEAR = 1 << 20         # ... or as many as have adjoints in so many bytes, which a cache holds: sweeps have fixed costs
BYTES = 256 << 20      # what the adjoints of a sweep may take, as far as fewer directions help


def is_reverse(mode, rows, columns):
    """Whether sweeps run backwards, for a result and an argument of so many numbers."""
    return mode == "reverse" or mode == "auto" and rows < columns


def matrix_of(recording, leaves, mode, width):
    """All derivatives: a row for each number of the result, a column for each of the argument."""
    shapes = [shape_of(leaf) for leaf in leaves]
    rows, columns = sum(map(math.prod, recording.shapes)), sum(map(math.prod, shapes))
    if not rows * columns or all(output is None for output in recording.outputs):
        return np.zeros((rows, columns))
    if is_reverse(mode, rows, columns):
        return columns_of(recording, recording.reverse, recording.shapes, rows, columns, width).T
    return columns_of(recording, recording.forward, shapes, columns, rows, width)


def columns_of(recording, sweep, shapes, count, others, width):
    """A column for each of the numbers that are seeded, of the given shapes: as many in each sweep as it carries."""
    bytes_of_one = 8 * recording.tape.identifiers
    width = min(width or max(1, min(max(WIDEST, _NEAR // bytes_of_one), BYTES // bytes_of_one)), count)
    ends = list(itertools.accumulate(map(math.prod, shapes)))
    adjoints = borrow_vector(recording.tape, width)
    if width == count:
        found = stack(sweep(adjoints, units(ends, range(count))), width)
        give_back_vector(adjoints)
        return found
    found = np.empty((count, others))
    for start in range(0, count, width):
        stop = min(start + width, count)
        adjoints.clear()
        found[start:stop] = stack(sweep(adjoints, units(ends, range(start, stop))), width)[:, :stop - start].T
    give_back_vector(adjoints)
    return found.T


def units(ends, numbers):
    """Seeds of the leaves that end there, which are 1 for one of the numbers in each direction."""
    seeds, begin = [], 0
    for end in ends:
        first, last = max(begin, numbers.start), min(end, numbers.stop)
        seeds.append(Units(first - begin, first - numbers.start, last - first) if first < last else None)
        begin = end
    return seeds
