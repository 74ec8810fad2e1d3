# SPDX-License-Identifier: Apache-2.0
"""Which elements of the results of NumPy's functions depend on which of an argument, as `Primitive.pattern` says it.

What is said here holds for all values of the arguments: `sort` moves each element of an axis anywhere along it.
"""

import numpy as np

from codipy.numpy.links import Pairs, Same, Scan, Shared
from codipy.numpy.rules.building import axes_of

__all__ = [
    "along", "differences", "elementwise", "lettered", "matrices", "of_dot", "of_inner", "of_matmul", "of_outer",
    "of_vecdot", "reduced", "same", "scanned", "sliding", "solved",
]  # fmt: skip

_MOST = 1 << 24  # single pairs; of more, all is taken to depend on all


def _given(args, kwargs, place, name, default):
    value = args[place] if len(args) > place else kwargs.get(name, default)
    return default if value is np._NoValue else value


def _only(position, link, argnums):
    return [link if k == position else None for k in argnums]


def elementwise(args, kwargs, argnums, shapes):
    """Every operand is broadcast."""
    return [Same()] * len(argnums)


def same(position):
    """One argument has the shape of the result, element by element; the result depends on all of the others."""

    def pattern(args, kwargs, argnums, shapes):
        fits = np.shape(args[position]) == shapes[0]
        return _only(position, Same() if fits else None, argnums)

    return pattern


def along(place, default=-1, name="axis"):
    """All along an axis, or several, which the result has too, perhaps with another length."""

    def pattern(args, kwargs, argnums, shapes):
        ndim = np.ndim(args[0])
        axes = axes_of(ndim, _given(args, kwargs, place, name, default))
        if any(len(shape) != ndim for shape in shapes if shape is not None):
            return [None] * len(argnums)
        return _only(0, Shared((k, k) for k in range(ndim) if k not in axes), argnums)

    return pattern


def reduced(place=1, default=None, name="axis"):
    """The axes are gone, or have length 1."""

    def pattern(args, kwargs, argnums, shapes):
        ndim = np.ndim(args[0])
        axes = axes_of(ndim, _given(args, kwargs, place, name, default))
        kept = [k for k in range(ndim) if k not in axes]
        if shapes[0] == tuple(1 if k in axes else n for k, n in enumerate(np.shape(args[0]))):
            return _only(0, Shared((k, k) for k in kept), argnums)
        if len(shapes[0]) == len(kept):
            return _only(0, Shared((k, i) for i, k in enumerate(kept)), argnums)
        return [None] * len(argnums)

    return pattern


def scanned(place=1, default=None, name="axis"):
    """All up to an element along an axis."""

    def pattern(args, kwargs, argnums, shapes):
        ndim, axis = np.ndim(args[0]), _given(args, kwargs, place, name, default)
        axis = 0 if axis is None and ndim == 1 else axis
        if axis is None or shapes[0] != np.shape(args[0]):
            return [None] * len(argnums)
        return _only(0, Scan(axis % ndim), argnums)

    return pattern


def lettered(inputs, output):
    """For each operand the axes whose letters the result has: those of ``einsum``."""
    return [Shared((own.index(c), output.index(c)) for c in dict.fromkeys(own) if c in output) for own in inputs]


def _of_letters(name):
    def pattern(args, kwargs, argnums, shapes):
        letters = None if kwargs.get("axes") is not None or kwargs.get("axis") is not None else name(args[0], args[1])
        if letters is None or len(letters[1]) != len(shapes[0]):
            return [None] * len(argnums)
        links = lettered(*letters)
        return [links[k] if k < 2 else None for k in argnums]

    return pattern


def _stack(n):
    return "".join(chr(ord("A") + k) for k in range(n - 1, -1, -1))      # from the last one on, as they are broadcast


def _matmul(a, b):
    n, m = np.ndim(a), np.ndim(b)
    left, right = _stack(max(n - 2, 0)), _stack(max(m - 2, 0))
    out = (left if len(left) > len(right) else right) + ("i" if n > 1 else "") + ("j" if m > 1 else "")
    return (left + ("ik" if n > 1 else "k"), right + ("kj" if m > 1 else "k")), out


def _dot(a, b):
    n, m = np.ndim(a), np.ndim(b)
    if not n or not m:
        return None
    left, right = _stack(n - 1), _stack(m - 1).lower()
    second = right if m < 2 else right[:-1] + "-" + right[-1]
    return (left + "-", second if m > 1 else "-"), left + (right if m > 1 else "")


def _inner(a, b):
    left, right = _stack(max(np.ndim(a) - 1, 0)), _stack(max(np.ndim(b) - 1, 0)).lower()
    return ((left + "-", right + "-"), left + right) if np.ndim(a) and np.ndim(b) else None


def _outer(a, b):
    return (("i", "j"), "ij") if np.ndim(a) == np.ndim(b) == 1 else None


def _vecdot(a, b):
    left, right = _stack(np.ndim(a) - 1), _stack(np.ndim(b) - 1)
    return (left + "-", right + "-"), left if len(left) > len(right) else right


of_matmul, of_dot, of_inner, of_outer, of_vecdot = map(_of_letters, (_matmul, _dot, _inner, _outer, _vecdot))


def matrices(args, kwargs, argnums, shapes):
    """Each matrix of a stack by itself."""
    return _only(0, Shared((k, k) for k in range(np.ndim(args[0]) - 2)), argnums)


def solved(args, kwargs, argnums, shapes):
    """Likewise, and each column of the right hand sides."""
    a, b = args[:2]
    n, m, lead = len(shapes[0]), np.ndim(b), np.ndim(a) - 2
    pairs = [(k, n - 2 - lead + k) for k in range(lead)] if m > 1 else [(k, n - 1 - lead + k) for k in range(lead)]
    columns = [(m - 1 - k, n - 1 - k) for k in range(m) if k != 1] if m > 1 else []
    return [Shared(pairs) if k == 0 else Shared(columns) if k == 1 else None for k in argnums]


def differences(args, kwargs, argnums, shapes):
    """Differences of any order: neighbours along an axis."""
    a, axis = args[0], _given(args, kwargs, 2, "axis", -1)
    order = _given(args, kwargs, 1, "n", 1)
    pieces = [_given(args, kwargs, 3, "prepend", None), a, _given(args, kwargs, 4, "append", None)]
    places = {3: 0, 0: 1, 4: 2}
    links = []
    for number in argnums:
        parts = []
        for k, piece in enumerate(pieces):
            if piece is None:
                continue
            numbers = np.arange(np.size(piece)).reshape(np.shape(piece)) if places.get(number) == k else np.full(
                np.shape(piece), -1)
            if np.ndim(piece) == 0:
                numbers = np.broadcast_to(numbers, [1 if i == axis % a.ndim else n for i, n in enumerate(a.shape)])
            parts.append(numbers)
        line = np.moveaxis(np.concatenate(parts, axis), axis, -1)
        length = line.shape[-1] - order
        if length != np.moveaxis(np.empty(shapes[0], bool), axis, -1).shape[-1] or length * (order + 1) > _MOST:
            links.append(None)
            continue
        rows = np.moveaxis(np.arange(int(np.prod(shapes[0], dtype=int))).reshape(shapes[0]), axis, -1)
        columns = np.stack([line[..., k:k + length] for k in range(order + 1)])
        rows = np.broadcast_to(rows, columns.shape)
        links.append(Pairs(rows[columns >= 0], columns[columns >= 0], (np.shape(args[number]), shapes[0])))
    return links


def sliding(is_correlation):
    """Convolutions and correlations: what the shorter one covers of the longer."""

    def pattern(args, kwargs, argnums, shapes):
        a, b = (np.size(x) for x in args[:2])
        mode = _given(args, kwargs, 2, "mode", "valid" if is_correlation else "full")
        if mode not in ("full", "same", "valid") or a * b > _MOST:
            return [None] * len(argnums)
        i, j = (x.ravel() for x in np.indices((a, b)))
        full = i + (b - 1 - j if is_correlation else j)
        start = {"full": 0, "same": (min(a, b) - 1) // 2, "valid": min(a, b) - 1}[mode]
        length = int(np.prod(shapes[0], dtype=int))
        if is_correlation and a < b:      # NumPy turns the result round, and with it the place of its middle
            start = a + b - 1 - start - length
        rows = full - start
        inside = (rows >= 0) & (rows < length)
        return [Pairs(rows[inside], x[inside], (np.shape(args[k]), shapes[0])) if k < 2 else None
                for k, x in ((k, (i, j)[min(k, 1)]) for k in argnums)]

    return pattern
