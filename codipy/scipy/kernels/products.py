# SPDX-License-Identifier: Apache-2.0
"""Loops that multiply a sparse matrix with vectors, or with the columns of a matrix: values are SciPy's.

Of y = A x the derivative by the values is ``y_bar[i] * x[j]`` where A has any, and by x it is that of the transpose.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import _sparsetools as loops

from codipy.numpy.arguments import holds_variables
from codipy.numpy.links import Pairs
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import on_values, run_rule, with_frozen, write
from codipy.scipy.kernels.places import Blocks, Compressed, Coordinates, Diagonals

__all__ = ["LOOPS", "by_values", "multiplied"]


def by_values(structure, left, right, transposed=False):
    """``left[i] * right[j]`` for each value of a matrix, that at (i, j), or at (j, i) where it is transposed."""
    rows, columns = structure.rows, structure.columns
    rows, columns = (columns, rows) if transposed else (rows, columns)
    inside = structure.inside
    if inside is not None:
        rows, columns = np.where(inside, rows, 0), np.where(inside, columns, 0)
    is_vector = np.ndim(left) == 1
    found = left[rows] * right[columns] if is_vector else np.einsum("ij,ij->i", left[rows], right[columns])
    return found if inside is None else np.where(inside, found, 0.0)


def multiplied(structure, data, x, transposed=False):
    """``A @ x``, or ``A.T @ x``, of the values of a matrix and of vectors or columns, plain or active."""
    if holds_variables((data, x)):
        return run_rule(_product(structure, None, transposed), (data, x))
    matrix = structure.matrix(np.asarray(data))
    return (matrix.T if transposed else matrix) @ np.asarray(x)


def _product(structure, forward, transposed=False, lanes=None):
    """The Primitive of a product: of flat arrays where `lanes` says how many columns these have."""

    def columns(x):
        return x if lanes is None else np.reshape(x, (-1, lanes))

    def flat(x):
        return x if lanes is None else np.reshape(x, -1)

    def vjp(g, out, args, kwargs, argnums):
        data, x = args
        bars = []
        for k in argnums:
            if k == 0:
                bar = by_values(structure, columns(g), columns(x), transposed)
            else:
                bar = flat(multiplied(structure, data, columns(g), not transposed))
            bars.append(np.reshape(bar, np.shape(args[k])))
        return bars

    def jvp(tangents, out, args, kwargs):
        data, x = args
        parts = []
        if 0 in tangents:
            parts.append(multiplied(structure, np.reshape(tangents[0], -1), columns(x), transposed))
        if 1 in tangents:
            parts.append(multiplied(structure, data, columns(tangents[1]), transposed))
        return np.reshape(flat(parts[0] if len(parts) == 1 else parts[0] + parts[1]), np.shape(out))

    def pattern(args, kwargs, argnums, shapes):
        rows, cols = structure.rows, structure.columns
        numbers = np.arange(len(rows))
        if structure.inside is not None:
            rows, cols, numbers = (part[structure.inside] for part in (rows, cols, numbers))
        rows, cols = (cols, rows) if transposed else (rows, cols)
        count = lanes or (1 if np.ndim(args[1]) == 1 else np.shape(args[1])[1])
        lane = np.arange(count)[:, None]
        given = rows * count + lane
        taken = [np.broadcast_to(numbers, given.shape), cols * count + lane]
        return [Pairs(given, taken[k], (np.shape(args[k]), shapes[0])) for k in argnums]

    def of_matrix(data, x):
        matrix = structure.matrix(np.asarray(data))
        return (matrix.T if transposed else matrix) @ x

    return Primitive("sparse matmul", forward or of_matrix, vjp, jvp, keep_out=False, linear=(0, 1), pattern=pattern)


def _multiplying(name, values, structure_of, lanes=None):
    """A loop that adds a product to what stands in the result, which SciPy has filled with zeros.

    Parameters
    ----------
    name : str
    values : int
        Which argument has the values of the matrix; the vectors are the last but one, and the last is the result.
    structure_of : callable
        ``structure_of(args)``.
    lanes : int, optional
        Which argument says of how many columns the vectors are, if these are flat.
    """
    original = getattr(loops, name)

    def loop(*args):
        data, x, target = args[values], args[-2], args[-1]
        if not holds_variables((data, x)):
            return on_values(original, args)
        others, shape, kind = with_frozen(args), np.shape(target), np.dtype(target.dtype)
        made_shape = (-1,) if np.ndim(x) == 1 else shape

        def forward(data, x):
            made = np.zeros(shape, kind)
            original(*others[:values], data, *others[values + 1:-2], x, made)
            return made.reshape(made_shape)

        count = None if lanes is None else int(args[lanes])
        write(target, np.reshape(run_rule(_product(structure_of(args), forward, lanes=count), (data, x)), shape))
        return None

    return loop


def _coordinates(args):
    count = int(args[1]) if len(args) == 7 else 1
    rows, columns = args[-5:-3]
    return Coordinates((np.size(args[-1]) // count, np.size(args[-2]) // count), rows, columns)


def _blocks(args):
    (rows, columns), (high, wide) = args[:2], args[-7:-5]
    return Blocks((rows * high, columns * wide), (high, wide), args[-5], args[-4])


def _diagonals(args):
    return Diagonals(args[:2], args[4], args[3])


LOOPS = {
    "csr_matvec": _multiplying("csr_matvec", 4, lambda args: Compressed(args[:2], args[2], args[3])),
    "csc_matvec": _multiplying("csc_matvec", 4, lambda args: Compressed(args[:2], args[2], args[3], False)),
    "csr_matvecs": _multiplying("csr_matvecs", 5, lambda args: Compressed(args[:2], args[3], args[4]), 2),
    "csc_matvecs": _multiplying("csc_matvecs", 5, lambda args: Compressed(args[:2], args[3], args[4], False), 2),
    "coo_matvec": _multiplying("coo_matvec", 3, _coordinates),
    "coo_matmat_dense": _multiplying("coo_matmat_dense", 4, _coordinates, 1),
    "bsr_matvec": _multiplying("bsr_matvec", 6, _blocks),
    "bsr_matvecs": _multiplying("bsr_matvecs", 7, _blocks, 2),
    "dia_matvec": _multiplying("dia_matvec", 5, _diagonals),
}
if hasattr(loops, "dia_matvecs"):  # SciPy 1.16 has it not
    LOOPS["dia_matvecs"] = _multiplying("dia_matvecs", 5, _diagonals)
