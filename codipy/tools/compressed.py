# SPDX-License-Identifier: Apache-2.0
"""Sparse Jacobians: sweeps in as few directions as a colouring of their pattern has colours, and two to check them."""
from __future__ import annotations

import itertools
import math

import numpy as np

from codipy.active import Real
from codipy.patterns.colouring import read_off
from codipy.patterns.pattern import Colouring, Sparsity, csr
from codipy.tools.leaves import cut, shape_of, stack
from codipy.tools.pool import borrow_vector, give_back_vector
from codipy.tools.trees import map_leaves, rebuild

__all__ = ["Compressed", "in_blocks"]

_WIDEST = 16            # directions that one sweep carries
_BYTES = 256 << 20      # what the adjoints of a sweep may take, as far as fewer directions help
_TOLERANCE = 1e-13      # relative, by rows: what differs more is looked at
_PART = 0.6180339887
_FEW = 64               # rows that are swept one by one without a further question


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
            if symmetric and given.by != "star":
                raise ValueError(f"a Hessian takes a star colouring, pattern.colouring('star') of a symmetric pattern, "
                                 f"and this is one of the {given.by}")
            if given.by == "star" and not symmetric:
                raise ValueError("a star colouring is for Hessians, whose values are symmetric; a Jacobian takes "
                                 "pattern.colouring('columns') or pattern.colouring('rows')")
            if self._by not in ("auto", given.by):
                raise ValueError(f"mode={mode!r} and a colouring of the {given.by} contradict each other")
            self.colouring = given
        elif given is not True:
            if not (isinstance(given, (Sparsity, np.ndarray, list, tuple)) or hasattr(given, "tocsr")):
                raise TypeError("sparsity= takes True, a codipy.Sparsity, a colouring of one, a sparse matrix of SciPy "
                                f"or an array, got {type(given).__name__}")
            self.colouring = self._coloured(given if isinstance(given, Sparsity) else Sparsity(given))

    def _coloured(self, pattern):
        if self._symmetric and not pattern.symmetric:
            pattern = Sparsity(pattern, symmetric=True)
        # Stars need symmetric values, which a Jacobian of symmetric pattern need not have.
        is_plain = pattern.symmetric and not self._symmetric and self._by == "auto"
        return pattern.colouring("columns" if is_plain else self._by)

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
        matrix, wrong = self._compressed(recording, leaves, colouring)
        if wrong is not None:
            # Rounding, or an element that the pattern has not: the pattern at these arguments tells.
            found = detect()
            missing = colouring.pattern.missing(found)
            if len(missing) and not self._grows:
                raise _missing(missing)
            if len(missing):
                self.colouring = colouring = self._coloured(colouring.pattern | found)
                matrix, wrong = self._compressed(recording, leaves, colouring)
            if wrong is not None and _is_lacking(recording, leaves, colouring, matrix, wrong):
                raise ValueError("the matrix that was found is not that of the function's derivatives: the pattern of "
                                 "a codipy.Primitive that the function calls leaves out what its rules do not, "
                                 + ("its second derivatives are not symmetric, " if self._symmetric else "")
                                 + "or the function is another one at each call")
        return matrix

    def _compressed(self, recording, leaves, colouring):
        """The matrix; and None, or which rows (of a colouring of the rows: columns) disagree with two more sweeps."""
        by_rows, pattern = colouring.by == "rows", colouring.pattern
        inputs, is_active = [shape_of(leaf) for leaf in leaves], any(output is not None for output in recording.outputs)
        if not pattern.shape[by_rows] or not is_active:
            return csr(np.zeros(pattern.nnz), pattern), None
        table = _table(recording, inputs, colouring, self._width)
        arrays = pattern.indptr, pattern.indices, *colouring.places()
        data, agrees = read_off(table, *arrays, colouring.direction(), by_rows, _TOLERANCE)
        unused = colouring.unused()
        if agrees and not table.ravel()[unused].any():
            # Once more, with large columns made small: what is large hides what it shares a row with.
            first, scaled = table[-1].copy(), colouring.scaled(data)
            adjoints = borrow_vector(recording.tape, 1)
            table[-1] = stack(_swept(recording, inputs, by_rows, adjoints, scaled[:, None]), 1)[:, 0]
            give_back_vector(adjoints)
            if read_off(table, *arrays, scaled, by_rows, _TOLERANCE)[1]:
                return csr(data, pattern), None
            products = [(colouring.direction(), first), (scaled, table[-1])]
        else:
            products = [(colouring.direction(), table[-1])]
        matrix, wrong = csr(data, pattern), np.zeros(pattern.shape[by_rows], bool)
        wrong[unused[table.ravel()[unused] != 0.0] % len(wrong)] = True
        across = matrix.T if by_rows else matrix
        with np.errstate(all="ignore"):
            for direction, product in products:
                wrong |= ~(np.abs(across @ direction - product) <= _TOLERANCE * (abs(across) @ direction))
        return matrix, wrong


def _table(recording, inputs, colouring, width):
    """A row for each colour: what the sweep of its direction gives; and one for the direction of the check."""
    count, by_rows = colouring.count + 1, colouring.by == "rows"
    width = min(width or _width(recording.tape), count)
    adjoints = borrow_vector(recording.tape, width)
    if width == count > 1:
        found = stack(_swept(recording, inputs, by_rows, adjoints, colouring.seeds(0, count, width)), width)
        give_back_vector(adjoints)
        return np.ascontiguousarray(found.T)
    table = np.zeros((count, colouring.pattern.shape[by_rows]))
    for start in range(0, count, width):
        seeds = colouring.seeds(start, min(start + width, count), width)
        found = _swept(recording, inputs, by_rows, adjoints, seeds)
        if width == 1:
            table[start] = found[0].reshape(-1) if len(found) == 1 and np.ndim(found[0]) else stack(found, 1)[:, 0]
        else:
            table[start:start + width] = stack(found, width)[:, :count - start].T
    give_back_vector(adjoints)
    return table


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


def _is_lacking(recording, leaves, colouring, matrix, wrong):
    """Whether one of the rows that disagree (columns, of a colouring of the rows) is wrong, and not only rounded.

    Such rows are swept one by one, the other way. Where they are many, only those are whose products are wrong in the
    same way in each direction, as rounding is not: what is wrong along a + 0.618 b is the sum of what is wrong along
    each. (Not along a + b: what is rounded to multiples of a number is additive more often than not.)
    """
    first = colouring.direction()
    second = np.roll(first, 1)[::-1]
    by_rows, inputs = colouring.by == "rows", [shape_of(leaf) for leaf in leaves]
    across, pattern = (matrix.T.tocsr(), colouring.pattern.T) if by_rows else (matrix, colouring.pattern)
    directions = np.stack([first, second, first + _PART * second])
    adjoints = recording.tape.new_adjoints(1)
    errors = []
    with np.errstate(all="ignore"):
        for direction in directions:
            found = stack(_swept(recording, inputs, by_rows, adjoints, direction[:, None]), 1)[:, 0]
            errors.append(found - across @ direction)
        errors = np.stack(errors)
        is_even = np.abs(errors[0] + _PART * errors[1] - errors[2]) < 1e-3 * np.abs(errors).max(axis=0)
    lines = np.flatnonzero(wrong)
    if len(lines) > _FEW:
        lines = lines[is_even[lines] | ~np.isfinite(errors[:, lines]).all(axis=0)]
    width = min(_width(recording.tape), max(len(lines), 1))
    adjoints = recording.tape.new_adjoints(width)
    for begin in range(0, len(lines), width):
        some = lines[begin:begin + width]
        seeds = np.zeros((len(wrong), width))
        seeds[some, np.arange(len(some))] = 1.0
        swept = stack(_swept(recording, inputs, not by_rows, adjoints, seeds), width)
        for line, exact in zip(some.tolist(), np.ascontiguousarray(swept.T)):
            inside, kept = np.zeros(len(exact), bool), np.zeros(len(exact))
            inside[pattern.indices[pattern.indptr[line]:pattern.indptr[line + 1]]] = True
            start, stop = across.indptr[line:line + 2]
            kept[across.indices[start:stop]] = across.data[start:stop]
            if _is_wrong(exact, kept, inside, directions, errors[:, line], is_even[line]):
                return True
    return False


def _is_wrong(exact, found, inside, directions, errors, is_even):
    """Of one row, exact and as it was found: whether they differ by more than rounding."""
    is_finite = np.isfinite(exact)
    size = np.abs(exact[is_finite]).max(initial=0.0)
    if not (np.abs(exact[~inside]) <= 4.0 * np.finfo(float).eps * size).all():
        return True
    if not is_finite.all() or not np.isfinite(found).all():
        return not np.array_equal(is_finite, np.isfinite(found)) or (
            np.abs(exact[is_finite] - found[is_finite]).max(initial=0.0) > 1e-8 * size)
    # What is missed shows in each direction as what was found says; two roundings have nothing in common.
    return bool(is_even) and bool((np.abs(directions @ (exact - found) - errors) <= 1e-3 * np.abs(errors)).all()
                                  and np.abs(errors).max() > 0.0)


def _width(tape):
    """How many directions a sweep carries."""
    return max(1, min(_WIDEST, _BYTES // (8 * max(tape.identifiers, 1))))


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
