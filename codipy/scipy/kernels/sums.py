# SPDX-License-Identifier: Apache-2.0
"""Loops that add up the values of a sparse matrix by the places where they stand: values are SciPy's."""

from __future__ import annotations

import numpy as np
from scipy.sparse import _sparsetools as loops

from codipy.numpy.arguments import holds_variables
from codipy.numpy.links import Pairs, Same
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import on_values, run_rule, sums_at, with_frozen, write
from codipy.scipy.kernels.places import Blocks, Compressed, Coordinates, located, meetings

__all__ = ["LOOPS", "added"]


def added(name, forward, operands, given, taken, shape):
    """The sums of the values of an array at `taken` for each place `given` of a result.

    Parameters
    ----------
    name : str
    forward : callable
        Computes the result of plain values of the operands.
    operands : tuple of Array
        The array, and where there is one another of the result's shape, to which is added.
    given, taken : ndarray of int
        Flat positions in the result and in the array, in the order of C; `taken` is None where that is all in order.
    shape : tuple
        Of the result.
    """
    size, source = int(np.prod(shape, dtype=int)), np.shape(operands[0])
    count = int(np.prod(source, dtype=int))

    def adjoint(g):
        parts = np.reshape(g, -1)[given]
        return np.reshape(parts if taken is None else sums_at(taken, parts, count), source)

    def vjp(g, out, args, kwargs, argnums):
        return [g if k else adjoint(g) for k in argnums]

    def jvp(tangents, out, args, kwargs):
        found = tangents.get(1, 0.0)
        if 0 in tangents:
            parts = np.reshape(tangents[0], -1)
            found = found + np.reshape(sums_at(given, parts if taken is None else parts[taken], size), shape)
        return found

    def pattern(args, kwargs, argnums, shapes):
        own = Pairs(given, np.arange(count) if taken is None else taken, (source, shape))
        return [Same() if k else own for k in argnums]

    rule = Primitive(f"sparse {name}", forward, vjp, jvp, keep_args=False, keep_out=False, pattern=pattern)
    return run_rule(rule, operands)


def _adding(name, source, filled, places):
    """A loop that adds to an array, which is zero if SciPy has just made it.

    `places` gives, for the arguments of the loop, the flat positions to which the values go, and those values.
    """
    original = getattr(loops, name)

    def loop(*args):
        x, target = args[source], args[filled]
        if not holds_variables((x,)):
            return on_values(original, args)
        others, shape, kind = with_frozen(args), np.shape(target), np.dtype(target.dtype)
        given, taken = places(args)

        def forward(values, start=None):
            made = np.zeros(shape, kind) if start is None else np.array(start, order="C")
            original(*others[:source], values, *others[source + 1:filled], made, *others[filled + 1:])
            return made

        is_fresh = not holds_variables((target,)) and not np.any(target)
        write(target, added(name, forward, (x,) if is_fresh else (x, target), given, taken, shape))
        return None

    return loop


def _to_dense(args):
    return Compressed(args[:2], args[2], args[3]).keys(), None


def _of_coordinates(args):
    shape, is_fortran = args[:2], args[7]
    matrix = Coordinates(shape[::-1], args[4], args[3]) if is_fortran else Coordinates(shape, args[3], args[4])
    return matrix.keys(), None


def _of_any_axes(args):
    """Where the values of an array of triplets go that has one axis, or more than two."""
    strides, count, axes = np.asarray(args[0], np.int64), args[1], args[2]
    return strides @ np.reshape(np.asarray(args[3], np.int64), (axes, count)), None


def _on_diagonal(matrix, k):
    """Which values stand on a diagonal, and at which of its places."""
    rows, columns = matrix.rows, matrix.columns
    taken = np.nonzero(columns - rows == k)[0]
    return rows[taken] - max(-k, 0), taken


def _diagonal(args):
    matrix = Compressed(args[1:3], args[3], args[4])
    return _on_diagonal(matrix, args[0])


def _diagonal_of_blocks(args):
    k, rows, columns, high, wide = args[:5]
    matrix = Blocks((rows * high, columns * wide), (high, wide), args[5], args[6])
    return _on_diagonal(matrix, k)


def _samples(args):
    """Values at given rows and columns, which may be asked for more than once."""
    high, wide = args[:2]
    matrix = Compressed((high, wide), args[2], args[3])
    rows, columns = np.asarray(args[6], np.int64) % high, np.asarray(args[7], np.int64) % wide
    return meetings(rows * wide + columns, matrix.keys())


def _without_duplicates(*args):
    """Values at equal places are added in place, and the indices are closed up."""
    high, wide, indptr, indices, x = args
    if not holds_variables((x,)):
        return on_values(loops.csr_sum_duplicates, args)
    before = np.array(indptr), np.array(indices)
    keys = Compressed((high, wide), *before).keys()

    def forward(values):
        made, parts = np.array(values), [np.array(part) for part in before]
        loops.csr_sum_duplicates(high, wide, *parts, made)
        return made[: parts[0][-1]]

    loops.csr_sum_duplicates(high, wide, indptr, indices, np.array(x.value))
    count = int(indptr[-1])
    given = located(keys, Compressed((high, wide), indptr, indices).keys())
    x[:count] = added("csr_sum_duplicates", forward, (x,), given, None, (count,))
    return None


LOOPS = {
    "csr_todense": _adding("csr_todense", 4, 5, _to_dense),
    "coo_todense": _adding("coo_todense", 5, 6, _of_coordinates),
    "coo_todense_nd": _adding("coo_todense_nd", 4, 5, _of_any_axes),
    "csr_diagonal": _adding("csr_diagonal", 5, 6, _diagonal),
    "bsr_diagonal": _adding("bsr_diagonal", 7, 8, _diagonal_of_blocks),
    "csr_sample_values": _adding("csr_sample_values", 4, 8, _samples),
    "csr_sum_duplicates": _without_duplicates,
}
