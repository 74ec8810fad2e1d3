# SPDX-License-Identifier: Apache-2.0
"""Sparse Jacobians: sweeps in as few directions as a colouring of their pattern has colours, and two to check them."""
from __future__ import annotations

import itertools
import math

import numpy as np

from codipy.active import Real
from codipy.active.adjoints import planes_of, seed_colours
from codipy.patterns.colouring import agree, read_off
from codipy.patterns.pattern import Colouring, Sparsity, csr
from codipy.tools.arguments.forms import map_leaves, rebuild
from codipy.tools.arguments.leaves import shape_of
from codipy.tools.pool import borrow_vector, give_back_vector
from codipy.tools.runs.columns import BYTES, WIDEST

__all__ = ["Compressed", "Sweeps", "in_blocks"]

_TOLERANCE = 1e-13      # relative, by rows: what differs more is looked at
_PART = 0.6180339887
_MOST_ROUNDED = 100.0   # how often the rounding that was seen once may be in what is compared
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

    def matrix(self, sweeps, detect):
        """The matrix of which `sweeps` gives products, by a SciPy array; ``detect()`` gives the pattern here."""
        colouring, shape = self.colouring, sweeps.shape
        if colouring is None or self._grows and colouring.pattern.shape != shape:
            self.colouring = colouring = self._coloured(detect())
        if colouring.pattern.shape != shape:
            rows, columns = colouring.pattern.shape
            raise ValueError(f"the sparsity pattern is {rows} x {columns}, but the result has {shape[0]} numbers and "
                             f"the argument {shape[1]}")
        matrix, wrong = self._compressed(sweeps, colouring)
        if wrong is not None:
            # Rounding, or an element that the pattern has not: the pattern at these arguments tells.
            found = detect()
            missing = colouring.pattern.missing(found)
            if len(missing) and not self._grows:
                raise _missing(missing)
            if len(missing):
                self.colouring = colouring = self._coloured(colouring.pattern | found)
                matrix, wrong = self._compressed(sweeps, colouring)
            if wrong is not None:
                # Nothing is missing, so these are rounded, where terms cancel, or a declared pattern is wrong.
                if self._symmetric and _is_skewed(sweeps, colouring):
                    raise ValueError(
                        "the second derivatives are not symmetric, by more than their rounding seems to be, and "
                        "sparsity= takes each for two: a primitive that the function calls has rules that contradict "
                        "each other, or its pattern leaves out what its rules do not, or the function is another one "
                        "at each call, or all of them are zero but for rounding; hessian(f) without sparsity= gives "
                        "them as they are")
                matrix = _swept_apart(sweeps, colouring, matrix, wrong)
        return matrix

    def _compressed(self, sweeps, colouring):
        """The matrix; and None, or which rows (of a colouring of the rows: columns) disagree with two more sweeps."""
        by_rows, pattern = colouring.by == "rows", colouring.pattern
        if not pattern.shape[by_rows] or not sweeps.is_active:
            return csr(np.zeros(pattern.nnz), pattern), None
        table, first = _table(sweeps, colouring, self._width), colouring.direction()
        ends, indices, count = pattern.indptr, pattern.indices, colouring.count
        data, largest = read_off(table, ends, indices, colouring.colours, colouring.alone(), by_rows)
        products, unused = [(first, table[count])], colouring.unused()
        if agree(ends, indices, data, by_rows, *products[0], _TOLERANCE) and not table[unused].any():
            # Once more, with large columns made small: what is large hides what it shares a row with.
            scaled = colouring.scaled(largest)
            products.append((scaled, sweeps.along(scaled[None], by_rows)[0]))
            if agree(ends, indices, data, by_rows, *products[1], _TOLERANCE):
                return csr(data, pattern), None
        matrix, wrong = csr(data, pattern), np.zeros(pattern.shape[by_rows], bool)
        wrong[unused[1][table[unused] != 0.0]] = True
        across = matrix.T if by_rows else matrix
        with np.errstate(all="ignore"):
            for direction, product in products:
                wrong |= ~(np.abs(across @ direction - product) <= _TOLERANCE * (abs(across) @ direction))
        return matrix, wrong


class Sweeps:
    """Products of the Jacobian of a recording with directions; a context manager that keeps their memory meanwhile.

    Parameters
    ----------
    recording : Recording
    leaves : list
        Of the arguments.

    Attributes
    ----------
    shape : tuple of int
    is_active : bool
        Whether any result depends on an argument.
    width : int
        How many directions one sweep carries.
    """

    def __init__(self, recording, leaves):
        self._recording, self._vectors = recording, {}
        self._inputs = [shape_of(leaf) for leaf in leaves]
        self.shape = sum(map(math.prod, recording.shapes)), sum(map(math.prod, self._inputs))
        self.is_active = any(output is not None for output in recording.outputs)
        self.width = max(1, min(WIDEST, BYTES // (8 * max(recording.tape.identifiers, 1))))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for adjoints in self._vectors.values():
            give_back_vector(adjoints)

    def coloured(self, colouring, start, stop):
        """A row for each colour from `start` on: what the sweep of it gives; that after the last is ``direction()``."""
        count, last = min(stop, colouring.count) - start, colouring.direction() if stop > colouring.count else None

        def seed(adjoints, x, shape, begin, end):
            seed_colours(adjoints, x, colouring.colours[begin:end], start, count,
                         None if last is None else last[begin:end])

        return self._swept(seed, stop - start, colouring.by == "rows")

    def along(self, directions, by_rows):
        """A row for each row of `directions`, which are of the results, if `by_rows`, else of the arguments."""
        width = len(directions)

        def seed(adjoints, x, shape, begin, end):
            numbers = directions[:, begin:end].T.reshape(shape + ((width,) if width > 1 else ()))[()]
            adjoints[x] = adjoints[x] + numbers if by_rows else numbers

        return self._swept(seed, width, by_rows)

    def _swept(self, seed, width, by_rows):
        """Rows that are good until as many are asked for again; ``seed(adjoints, x, shape, begin, end)`` seeds."""
        recording = self._recording
        adjoints = self._vectors.get(width)
        if adjoints is None:
            self._vectors[width] = adjoints = borrow_vector(recording.tape, width)
        adjoints.clear()
        given, found = (recording.inputs, self._inputs), (recording.outputs, recording.shapes)
        if by_rows:
            given, found = found, given
        begin = 0
        for x, shape in zip(*given):
            end = begin + math.prod(shape)
            if x is not None:      # an output may be there twice
                seed(adjoints, x, shape, begin, end)
            begin = end
        (recording.tape.evaluate if by_rows else recording.tape.evaluate_forward)(adjoints=adjoints)
        rows = [_rows(adjoints, x, shape) for x, shape in zip(*found)]
        return rows[0] if len(rows) == 1 else np.concatenate(rows, axis=1)


def _rows(adjoints, x, shape):
    """The numbers of a variable, a row for each direction."""
    rows = None if x is None else planes_of(adjoints, x)
    if rows is not None:
        return rows
    if x is None:
        return np.zeros((adjoints.width, math.prod(shape)))
    return np.ascontiguousarray(np.reshape(adjoints[x], (-1, adjoints.width)).T)


def _table(sweeps, colouring, width):
    """A row for each colour: what the sweep of its direction gives; and one for the direction of the check."""
    count, by_rows = colouring.count + 1, colouring.by == "rows"
    width = min(width or sweeps.width, count)
    if width == count:
        return sweeps.coloured(colouring, 0, count)
    table = np.empty((count, colouring.pattern.shape[by_rows]))
    for start in range(0, count, width):
        stop = min(start + width, count)
        table[start:stop] = sweeps.coloured(colouring, start, stop)
    return table


def _is_skewed(sweeps, colouring):
    """Whether a matrix that is taken for symmetric is not: u H v and v H u differ by more than rounding.

    How much that is, tells what H (u + 0.618 v) differs from H u + 0.618 H v.
    """
    first, second, mixed = directions = _directions(colouring)
    one, other, both = (sweeps.along(direction[None], False)[0].copy() for direction in directions)
    terms = np.concatenate([second * one, -first * other])
    if not np.isfinite(terms).all():
        return False
    rounding = mixed @ np.abs(one + _PART * other - both)
    return bool(abs(terms.sum()) > 1e-6 * np.abs(terms).sum() + _MOST_ROUNDED * rounding)


def _directions(colouring):
    """Two that have nothing in common, and a third that is the first + 0.618 times the second.

    (Not the sum of both: what is rounded to multiples of a number is additive more often than not.)
    """
    first = colouring.direction()
    second = np.roll(first, 1)[::-1]
    return np.stack([first, second, first + _PART * second])


def _swept_apart(sweeps, colouring, matrix, wrong):
    """The matrix with the rows that disagree (columns, of a colouring of the rows) as a sweep of each gives them.

    These are swept the other way, and nothing is read off: so each is what it is in a dense matrix, whatever terms
    cancel in it, and what is outside of the pattern shows. Where such rows are many, only those are swept whose
    products are wrong in the same way in each direction, as rounding is not: what is wrong along a + 0.618 b is the sum
    of what is wrong along each.
    """
    by_rows = colouring.by == "rows"
    across = matrix.T.tocsr() if by_rows else matrix
    lines = np.flatnonzero(wrong)
    if len(lines) > _FEW:
        directions = _directions(colouring)
        with np.errstate(all="ignore"):
            errors = np.stack([sweeps.along(direction[None], by_rows)[0] - across @ direction
                               for direction in directions])
            is_even = np.abs(errors[0] + _PART * errors[1] - errors[2]) < 1e-3 * np.abs(errors).max(axis=0)
        lines = lines[is_even[lines] | ~np.isfinite(errors[:, lines]).all(axis=0)]
    width = min(sweeps.width, max(len(lines), 1))
    for begin in range(0, len(lines), width):
        some = lines[begin:begin + width]
        seeds = np.zeros((len(some), len(wrong)))
        seeds[np.arange(len(some)), some] = 1.0
        for line, exact in zip(some.tolist(), sweeps.along(seeds, not by_rows)):
            here = slice(*across.indptr[line:line + 2])
            _demand_inside(line, exact, across.indices[here], by_rows)
            across.data[here] = exact[across.indices[here]]
    return across.T.tocsr() if by_rows else across


def _demand_inside(line, exact, inside, by_rows):
    """That a row, or a column of a colouring of the rows, has elements only where the pattern has them.

    Outside of it, what a rule computes may be rounded, up to 4 times the machine epsilon of the largest element.
    """
    outside = exact.copy()
    outside[inside] = 0.0
    size = np.abs(exact[np.isfinite(exact)]).max(initial=0.0)
    found = np.flatnonzero(~(np.abs(outside) <= 4.0 * np.finfo(float).eps * size))
    if len(found):
        other = int(found[0])
        raise ValueError(
            f"the derivative (row, column) {(other, line) if by_rows else (line, other)} is {exact[other]}, and the "
            "pattern of what the function computes has none there: the pattern of a codipy.Primitive that it calls "
            "leaves out what its rules do not, or the function is another one at each call")


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
