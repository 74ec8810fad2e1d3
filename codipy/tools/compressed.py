# SPDX-License-Identifier: Apache-2.0
"""Sparse Jacobians: sweeps in as few directions as a colouring of their pattern has colours, and one to check them."""
from __future__ import annotations

import itertools
import math

import numpy as np

from codipy.active import Real
from codipy.patterns.colouring import read_off
from codipy.patterns.pattern import Colouring, Sparsity, csr
from codipy.tools.leaves import cut, shape_of, stack
from codipy.tools.trees import map_leaves, rebuild

__all__ = ["Compressed", "in_blocks"]

_WIDEST = 16            # directions that one sweep carries
_BYTES = 256 << 20      # what the adjoints of a sweep may take, as far as fewer directions help
_LONG = 256             # elements of an array, on the average
_TOLERANCE = 1e-11      # relative, by rows: what differs more is looked at
_PART = 0.6180339887


class Compressed:
    """How the matrix of a driver is found, for all its calls.

    Parameters
    ----------
    given : True, Sparsity, Colouring, or a matrix
        True: to be found at the first call, and again where a call needs more.
    mode : str
        ``"reverse"``, ``"forward"``, or ``"auto"`` for what needs fewer directions.
    width : int or None
        How many directions a sweep carries.
    symmetric : bool
        Whether it is a Hessian.

    Attributes
    ----------
    colouring : Colouring or None
        That of the last call.
    """

    def __init__(self, given, mode, width, symmetric=False):
        self._by = "star" if symmetric else {"reverse": "rows", "forward": "columns", "auto": "auto"}[mode]
        self._width, self._grows, self._symmetric, self.colouring = width, given is True, symmetric, None
        if isinstance(given, Colouring):
            if self._by not in ("auto", given.by):
                raise ValueError(f"mode={mode!r} and a colouring of the {given.by} contradict each other")
            self.colouring = given
        elif given is not True:
            self.colouring = self._coloured(given if isinstance(given, Sparsity) else Sparsity(given))

    def _coloured(self, pattern):
        if self._symmetric and not pattern.symmetric:
            pattern = Sparsity(pattern, symmetric=True)
        return pattern.colouring(self._by)

    def matrix(self, recording, leaves, detect):
        """The matrix of a recording, by a SciPy array; ``detect()`` gives the pattern at these arguments."""
        shape = sum(map(math.prod, recording.shapes)), sum(math.prod(shape_of(leaf)) for leaf in leaves)
        colouring = self.colouring
        if colouring is None or self._grows and colouring.pattern.shape != shape:
            self.colouring = colouring = self._coloured(detect())
        if colouring.pattern.shape != shape:
            rows, columns = colouring.pattern.shape
            raise ValueError(f"the sparsity pattern is {rows} x {columns}, but the result has {shape[0]} numbers and "
                             f"the argument {shape[1]}")
        matrix, is_right = self._compressed(recording, leaves, colouring)
        if not is_right:
            # Rounding, or an element that the pattern has not: the pattern at these arguments tells.
            found = detect()
            missing = colouring.pattern.missing(found)
            if len(missing) and not self._grows:
                raise _missing(missing)
            if len(missing):
                self.colouring = colouring = self._coloured(colouring.pattern | found)
                matrix, _ = self._compressed(recording, leaves, colouring)
            elif _is_lacking(recording, leaves, colouring, matrix):
                raise ValueError("the pattern that was found lacks derivatives that are not zero: the pattern of a "
                                 "codipy.Primitive that the function calls leaves out what its rules do not, or "
                                 "the function is another one at each call")
        return matrix

    def _compressed(self, recording, leaves, colouring):
        """The matrix, and whether its product with one more direction is what the sweep says."""
        by_rows, pattern = colouring.by == "rows", colouring.pattern
        table = np.zeros((colouring.count + 1, pattern.shape[by_rows]))
        if table.size and any(output is not None for output in recording.outputs):
            _fill(table, recording, [shape_of(leaf) for leaf in leaves], colouring, self._width)
        data, agrees = read_off(table, pattern.indptr, pattern.indices, *colouring.places(), colouring.direction(),
                                by_rows, _TOLERANCE)
        return csr(data, pattern), agrees


def _fill(table, recording, inputs, colouring, width):
    """A row for each colour: what the sweep of its direction gives; and one for the direction of the check."""
    count = len(table)
    width = min(width or _width(recording.tape), count)
    adjoints = recording.tape.new_adjoints(width)
    for start in range(0, count, width):
        seeds = colouring.seeds(start, min(start + width, count), width)
        found = _swept(recording, inputs, colouring.by == "rows", adjoints, seeds)
        if width == 1:
            table[start] = found[0].reshape(-1) if len(found) == 1 and np.ndim(found[0]) else stack(found, 1)[:, 0]
        else:
            table[start:start + width] = stack(found, width)[:, :count - start].T


def _swept(recording, inputs, by_rows, adjoints, seeds):
    """What a sweep gives, leaf by leaf; seeds are columns."""
    adjoints.clear()
    if by_rows:
        return recording.reverse(adjoints, cut(seeds, recording.shapes))
    for x, seed in zip(recording.inputs, cut(seeds, inputs)):
        adjoints[x] = seed
    recording.tape.evaluate_forward(adjoints=adjoints)
    columns = (adjoints.width,) if adjoints.width > 1 else ()
    return [np.zeros(shape + columns) if y is None else adjoints[y]
            for y, shape in zip(recording.outputs, recording.shapes)]


def _is_lacking(recording, leaves, colouring, matrix):
    """Whether the products with a matrix are wrong in the same way in each direction, as rounding is not.

    What is wrong along a + 0.618 b is the sum of what is wrong along each, if elements are missing. (Not along a + b:
    what is rounded to multiples of a number is additive more often than not.)
    """
    first = colouring.direction()
    second = np.roll(first, 1)[::-1]
    by_rows, adjoints = colouring.by == "rows", recording.tape.new_adjoints(1)
    wrong = []
    for direction in (first, second, first + _PART * second):
        found = stack(_swept(recording, [shape_of(leaf) for leaf in leaves], by_rows, adjoints, direction[:, None]), 1)
        with np.errstate(all="ignore"):
            wrong.append(found[:, 0] - (matrix.T if by_rows else matrix) @ direction)
    wrong = np.stack(wrong)[:, np.isfinite(wrong).all(axis=0)]
    size = np.abs(wrong[2]).max(initial=0.0)
    return size > 0.0 and np.abs(wrong[0] + _PART * wrong[1] - wrong[2]).max() < 1e-3 * size


def _width(tape):
    """How many directions a sweep carries: long arrays are swept faster one by one, side by side in memory."""
    identifiers = tape.identifiers
    if identifiers > _LONG * (len(tape.records) + tape.store.streams[-1].items):
        return 1
    return max(1, min(_WIDEST, _BYTES // (8 * max(identifiers, 1))))


def _missing(missing):
    said = ", ".join(f"({row}, {column})" for row, column in missing[:3].tolist())
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return ValueError(
        f"the sparsity pattern lacks derivatives that are not zero here: (row, column) {said}{more}. The function "
        "takes other branches at these arguments than where the pattern was found: join the patterns of several "
        "points, pattern | codipy.sparsity(f, x) (of a Hessian codipy.hessian_sparsity), or say sparsity=True, which "
        "joins them by itself")


# ---- Blocks ----------------------------------------------------------------------------------------------------------
class _Part:
    """Numbers that are one axis of a block: those of a leaf, or of a list of numbers."""

    def __init__(self, size, leaf):
        self.size, self.is_single = size, getattr(leaf, "dtype", None) == np.float32


def _parts(tree, parts):
    """A tree with a part in the place of each leaf, and of each list or tuple of numbers; they are listed too."""
    kind = type(tree)
    if kind is list or kind is tuple:
        if tree and all(map(_is_number, tree)):
            parts.append(_Part(len(tree), None))
            return parts[-1]
        return kind(_parts(branch, parts) for branch in tree)
    if kind is dict:
        return {key: _parts(branch, parts) for key, branch in tree.items()}

    def part(leaf):
        parts.append(_Part(math.prod(shape_of(leaf)), leaf))
        return parts[-1]

    return map_leaves(part, tree)


def _is_number(x):
    return type(x) in (float, Real, int, np.float64) or np.isscalar(x)


def in_blocks(matrix, result, trees, choice):
    """The matrix cut into blocks, in the form of the result, and there of the arguments."""
    rows, columns = [], []
    form, trees = _parts(result, rows), [_parts(tree, columns) for tree in trees]
    row_ends, column_ends = ([0, *itertools.accumulate(part.size for part in parts)] for parts in (rows, columns))
    given = []
    for i in range(len(rows)):
        band = matrix if len(rows) == 1 else matrix[row_ends[i]:row_ends[i + 1]]
        blocks = [band] if len(columns) == 1 else [
            band[:, start:stop] for start, stop in itertools.pairwise(column_ends)]
        blocks = [block.astype(np.float32) if part.is_single else block for block, part in zip(blocks, columns)]
        given.append(choice.give(trees, columns, blocks))
    return rebuild(form, given)
