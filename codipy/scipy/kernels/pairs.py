# SPDX-License-Identifier: Apache-2.0
"""Loops over two sparse matrices: the product of matrices, and sums and products of elements.

SciPy finds the values and where they stand. The rules go over the pairs of values that meet: of C = A B, c += a b for
each.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import _sparsetools as loops

from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_variables
from codipy.numpy.links import Pairs
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import numbers
from codipy.scipy.kernels.calls import active_at, on_values, refuse_loss, run_rule, sums_at, with_frozen, write
from codipy.scipy.kernels.places import Blocks, Compressed, Diagonals, located, meetings

__all__ = ["LOOPS"]


def _bilinear(name, forward, triples, count, shape=None):
    """The Primitive of sums of products of values of two arrays.

    Parameters
    ----------
    name : str
    forward : callable
    triples : callable
        ``triples()`` are three arrays of positions, in the result and in both arrays: ``c[m] += a[i] * b[j]``.
    count : int
        How many values the result has.
    shape : tuple, optional
        Of the result.
    """

    def vjp(g, out, args, kwargs, argnums):
        places, pair = triples()
        parts = np.reshape(g, -1)[places]
        bars = []
        for k in argnums:
            other = np.reshape(args[1 - k], -1)[pair[1 - k]]
            size = int(np.prod(np.shape(args[k]), dtype=int))
            bars.append(np.reshape(sums_at(pair[k], parts * other, size), np.shape(args[k])))
        return bars

    def jvp(tangents, out, args, kwargs):
        places, pair = triples()
        found = 0.0
        for k, tangent in tangents.items():
            other = np.reshape(args[1 - k], -1)[pair[1 - k]]
            found = found + sums_at(places, np.reshape(tangent, -1)[pair[k]] * other, count)
        return found if shape is None else np.reshape(found, shape)

    def pattern(args, kwargs, argnums, shapes):
        places, pair = triples()
        return [Pairs(places, pair[k], (np.shape(args[k]), shapes[0])) for k in argnums]

    return Primitive(name, forward, vjp, jvp, keep_out=False, linear=(0, 1), pattern=pattern)


def _matmat(name, structures, values):
    """The product of two matrices; `values` are the places of theirs and of the result's values."""
    original = getattr(loops, name)
    first, second, third = values

    def loop(*args):
        a, b, target = args[first], args[second], args[third]
        if not holds_variables((a, b)):
            return on_values(original, args)
        others, shape, plain = with_frozen(args), np.shape(target), list(args)
        kind = np.dtype(target.dtype)
        plain[first], plain[second], plain[third] = numbers(a), numbers(b), np.zeros(shape, kind)
        original(*plain)
        left, right, result = structures(args)
        count = len(result.rows)

        def forward(x, y):
            given = list(others)
            given[third - 2], given[third - 1] = np.array(others[third - 2]), np.array(others[third - 1])
            given[first], given[second], given[third] = x, y, np.zeros(shape, kind)
            original(*given)
            return given[third][:count]

        def triples():
            i, j = meetings(left.columns, right.rows)
            places = located(left.rows[i].astype(np.int64) * result.shape[1] + right.columns[j], result.keys())
            if np.any(places < 0):
                raise ActiveError("scipy.sparse: the product of two matrices has lost an entry")
            return places, (i, j)

        if count < np.size(target):
            refuse_loss("the product of two sparse matrices")
        write(target[:count], run_rule(_bilinear("sparse matmat", forward, triples, count), (a, b)))
        return None

    return loop


def _compressed(args):
    rows, columns = args[:2]
    inner = int(args[3].max(initial=-1)) + 1
    left = Compressed((rows, inner), args[2], args[3])
    right = Compressed((len(args[5]) - 1, columns), args[5], args[6])
    return left, right, Compressed((rows, columns), args[8], args[9])


def _blocks(args):
    _, n_rows, n_columns, high, wide, inner = args[:6]
    n_inner = len(args[9]) - 1
    left = Blocks((n_rows * high, n_inner * inner), (high, inner), args[6], args[7])
    right = Blocks((n_inner * inner, n_columns * wide), (inner, wide), args[9], args[10])
    return left, right, Blocks((n_rows * high, n_columns * wide), (high, wide), args[12], args[13])


def _of_diagonals(*args):
    """The product of two matrices of diagonals, whose values the loop returns."""
    rows, inner, count, length, offsets, a, columns, count_b, length_b, offsets_b, b = args
    if not holds_variables((a, b)):
        return on_values(loops.dia_matmat, args)
    others = with_frozen(args)

    def forward(x, y):
        return loops.dia_matmat(*others[:5], x, *others[6:10], y)[1]

    found, values = loops.dia_matmat(*others[:5], numbers(a), *others[6:10], numbers(b))
    left, right = Diagonals((rows, inner), offsets, length), Diagonals((inner, columns), offsets_b, length_b)
    result = Diagonals((rows, columns), found, np.size(values) // max(len(found), 1))

    def triples():
        i, j = meetings(np.where(left.inside, left.columns, -1), np.where(right.inside, right.rows, -2))
        return located(left.rows[i].astype(np.int64) * columns + right.columns[j], result.keys()), (i, j)

    return found, run_rule(_bilinear("sparse matmat", forward, triples, np.size(values), np.shape(values)), (a, b))


# ---- By elements -----------------------------------------------------------------------------------------------------
def _elements(name, sign, size):
    """Sums (`sign` is 1), differences (-1) and products (0) of elements; a block has a size where `size` is true.

    SciPy leaves out what is zero.
    """
    original = getattr(loops, name)
    at = 4 if size else 2

    def structure(args, k):
        indptr, indices = args[k], args[k + 1]
        if not size:
            return Compressed(args[:2], indptr, indices)
        rows, columns, high, wide = args[:4]
        return Blocks((rows * high, columns * wide), (high, wide), indptr, indices)

    def loop(*args):
        a, b, target = args[at + 2], args[at + 5], args[-1]
        if not holds_variables((a, b)):
            return on_values(original, args)
        others, shape, room = with_frozen(args), np.shape(target), np.shape(args[-2])
        kind = np.dtype(target.dtype)

        def run(x, y, indptr, indices):
            made = np.zeros(shape, kind)
            original(*others[:at + 2], x, *others[at + 3:at + 5], y, indptr, indices, made)
            return made

        run(numbers(a), numbers(b), args[-3], args[-2])
        left, right, result = structure(args, at), structure(args, at + 3), structure(args, at + 6)
        known, count = (result.indptr, result.indices), len(result.rows)
        places = [located(part.keys(), result.keys()) for part in (left, right)]
        _demand_kept(left, right, a, b, places, is_product=not sign)

        def forward(x, y):
            indptr, indices = np.array(known[0]), np.zeros(room, known[1].dtype)
            made = run(x, y, indptr, indices)
            if not np.array_equal(indptr, known[0]) or not np.array_equal(indices[: indptr[-1]], known[1]):
                raise ActiveError("scipy.sparse: with these values other elements are zero than those that were "
                                  "recorded, and SciPy leaves zeros out: record again")  # fmt: skip
            return made[:count]

        if sign:
            rule = _signed(name, forward, places, (1.0, float(sign)), count)
        else:
            pair = meetings(left.keys(), right.keys())
            met = located(left.keys()[pair[0]], result.keys())
            kept = met >= 0
            rule = _bilinear(f"sparse {name}", forward, lambda: (met[kept], tuple(part[kept] for part in pair)), count)
        write(target[:count], run_rule(rule, (a, b)))
        return None

    return loop


def _signed(name, forward, places, signs, count):
    """The Primitive of a sum or a difference."""

    def vjp(g, out, args, kwargs, argnums):
        bars = []
        for k in argnums:
            kept = np.maximum(places[k], 0)
            bar = np.where(places[k] >= 0, g[kept], 0.0) if count else np.zeros(len(kept))
            bars.append(np.reshape(bar if signs[k] > 0 else -bar, np.shape(args[k])))
        return bars

    def jvp(tangents, out, args, kwargs):
        found = 0.0
        for k, tangent in tangents.items():
            kept = places[k] >= 0
            found = found + signs[k] * sums_at(places[k][kept], np.reshape(tangent, -1)[kept], count)
        return found

    def pattern(args, kwargs, argnums, shapes):
        links = []
        for k in argnums:
            kept = np.nonzero(places[k] >= 0)[0]
            links.append(Pairs(places[k][kept], kept, (np.shape(args[k]), shapes[0])))
        return links

    return Primitive(f"sparse {name}", forward, vjp, jvp, keep_args=False, keep_out=False, pattern=pattern)


def _active_of(x):
    return np.reshape(active_at(x), -1) if holds_variables((x,)) else np.zeros(np.size(x), bool)


def _demand_kept(left, right, a, b, places, is_product):
    """Refuse to lose an element that is zero now and has a derivative."""
    lost = [(part < 0) for part in places]
    if is_product:  # where the other has no element, that is zero whatever the values are
        both = np.intersect1d(left.keys(), right.keys())
        lost = [part & np.isin(matrix.keys(), both) for part, matrix in zip(lost, (left, right))]
        keys = [matrix.keys()[part] for matrix, part in zip((left, right), lost)]
        is_active = any(np.any(_active_of(x)[part]) for x, part in zip((a, b), lost))
        if is_active and len(keys[0]):
            refuse_loss("the product by elements of two sparse matrices")
    elif any(np.any(_active_of(x) & part) for x, part in zip((a, b), lost)):
        refuse_loss("the sum of two sparse matrices")


LOOPS = {
    "csr_matmat": _matmat("csr_matmat", _compressed, (4, 7, 10)),
    "bsr_matmat": _matmat("bsr_matmat", _blocks, (8, 11, 14)),
}
if hasattr(loops, "dia_matmat"):  # SciPy 1.16 has it not
    LOOPS["dia_matmat"] = _of_diagonals
for _size in ("csr", "bsr"):
    for _operation, _sign in (("plus", 1), ("minus", -1), ("elmul", 0)):
        _name = f"{_size}_{_operation}_{_size}"
        LOOPS[_name] = _elements(_name, _sign, _size == "bsr")
