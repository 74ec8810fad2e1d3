# SPDX-License-Identifier: Apache-2.0
"""What the families of rules share: a primitive from one rule for each argument, axes of reductions, sparse maps."""

from __future__ import annotations

from functools import reduce

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.primitive import Primitive

__all__ = [
    "Picks", "axes_of", "dense", "from_rows", "guarded", "in_memory", "is_plain", "primitive", "selected", "spread",
    "to_rows", "unbroadcast", "widened",
]  # fmt: skip


def primitive(name, forward, vjps, jvps, *, keep_args=True, keep_out=True, places=None, pattern=None,
              linear=()):
    """Make a primitive of rules for single arguments.

    Parameters
    ----------
    name : str
        Name of the primitive.
    forward : callable
        The value.
    vjps, jvps : dict
        Position of an argument to its rule ``rule(g, out, *args, **kwargs)``: the cotangent of that argument, and its
        contribution to the tangent of the result. Positions that are missing have no derivative: asking is an error.
    keep_args, keep_out, places, pattern, linear
        As in `Primitive`.
    """

    def refuse(position):
        raise ActiveError(f"{name}: no derivative is known with respect to argument {position + 1}")

    def settled(args, kwargs):
        # Rules know `out` as the result; the argument of that name is None or the business of the caller.
        args = [dense(value) if k in vjps else value for k, value in enumerate(args)]
        if kwargs:
            kwargs = {key: value for key, value in kwargs.items() if value is not np._NoValue and key != "out"}
        return args, kwargs

    def vjp(g, out, args, kwargs, argnums):
        args, kwargs = settled(args, kwargs)
        return [vjps[k](g, out, *args, **kwargs) if k in vjps else refuse(k) for k in argnums]

    def jvp(tangents, out, args, kwargs):
        args, kwargs = settled(args, kwargs)
        total = None
        for k, tangent in tangents.items():
            part = jvps[k](tangent, out, *args, **kwargs) if k in jvps else refuse(k)
            if total is None:
                total = part
            elif isinstance(part, tuple):
                total = tuple(x if y is None else y if x is None else x + y for x, y in zip(total, part))
            else:
                total = total + part
        return total

    return Primitive(name, forward, vjp, jvp, keep_args=keep_args, keep_out=keep_out, places=places, pattern=pattern,
                     linear=linear)


def guarded(g, partial):
    """``g * partial``, but 0 where `g` is 0 and the partial is infinite or undefined."""
    share = g * partial
    return np.where(_dropped(share, g == 0), 0.0, share)


def selected(g, partial):
    """``g * partial``, but what was not selected gets nothing: 0 where either is 0, whatever the other is."""
    share = g * partial
    return np.where(_dropped(share, (g == 0) | (partial == 0)), 0.0, share)


def _dropped(share, nothing):
    """Where a product is left out; one of variables, which are zero here and may have a slope, only if it is none."""
    return nothing if is_plain(share) else nothing & np.isnan(share)


def unbroadcast(g, shape):
    """Sum the cotangent `g` of a broadcast array over the axes that were broadcast, down to `shape`."""
    shape = tuple(shape)
    if np.shape(g) == shape:
        return g
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(lead + i for i, n in enumerate(shape) if n == 1 and g.shape[lead + i] != 1)
    return np.reshape(np.sum(g, axis=axes), shape)


_NUMBERS = (float, int, list, range, tuple)


def widened(x):
    """Whole numbers as int64, of which an order less 1 and a negative one are what they say; anything else as it is."""
    if type(x) is bool or isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biu" and x.dtype != np.int64:
        return np.asarray(x, np.int64)[()]
    return x


def dense(a):
    """The array of a number or of a list of them; anything else as it is."""
    return np.asarray(a) if isinstance(a, _NUMBERS) else a


_PLAIN = frozenset({np.ndarray})


def is_plain(*arrays):
    """Whether rules may write into arrays of their own: what they see may be active where derivatives are nested."""
    return _PLAIN.issuperset(map(type, arrays))


def counted(places, weights, size):
    """``np.bincount``, which takes no complex weights."""
    if np.iscomplexobj(weights):
        return np.bincount(places, weights.real, size) + 1j * np.bincount(places, weights.imag, size)
    return np.bincount(places, weights, size)


def axes_of(ndim, axis):
    """The reduced axes, as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(k % ndim for k in axis) if isinstance(axis, (tuple, list)) else (axis % ndim,) if ndim else ()


def spread(g, shape, axis=None, keepdims=False):
    """Broadcast what a reduction over `axis` returned back to the `shape` that was reduced."""
    axes = axes_of(len(shape), axis)
    if not keepdims:
        g = np.reshape(g, tuple(1 if k in axes else n for k, n in enumerate(shape)))
    return np.broadcast_to(g, shape)


def in_memory(f):
    """The axes as they follow each other in memory, in the order that ``np.empty_like`` keeps."""
    hollow = np.lib.stride_tricks.as_strided(np.zeros(()), f.shape, f.strides)  # of which nothing is read
    return [int(k) for k in np.argsort([-s for s in np.empty_like(hollow).strides], kind="stable")]


def to_rows(a, axis):
    """Make the reduced axes one last axis: shape ``(batch..., n)``."""
    axes = axes_of(a.ndim, axis)
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    n = int(np.prod([a.shape[k] for k in axes], dtype=int))
    return np.reshape(np.transpose(a, kept + axes), tuple(a.shape[k] for k in kept) + (n,))


def from_rows(rows, shape, axis):
    """Undo `to_rows` for an array of `shape`."""
    axes = axes_of(len(shape), axis)
    order = tuple(k for k in range(len(shape)) if k not in axes) + axes
    moved = np.reshape(rows, tuple(shape[k] for k in order))
    return np.transpose(moved, tuple(np.argsort(order)) if order else ())


class Picks:
    """A linear map that adds weighted elements: ``out = sum_k weights[k] * a.flat[positions[k]]``.

    Parameters
    ----------
    shape : tuple
        Shape of the argument.
    *terms : tuple
        Pairs ``(positions, weights)``: whole numbers in the shape of the result, weights that broadcast to it.
    """

    def __init__(self, shape, *terms):
        self.shape = tuple(shape)
        self.terms = terms

    def forward(self, tangent):
        """The tangent of the result."""
        flat = np.reshape(tangent, -1)
        if not flat.size:
            return np.zeros(np.shape(self.terms[0][0]))
        return reduce(np.add, [flat[positions] * weights for positions, weights in self.terms])

    def reverse(self, g):
        """The cotangent of the argument."""
        size = int(np.prod(self.shape, dtype=int))
        if not size:
            return np.zeros(self.shape)
        # Flat before they meet: the product of 0-d arrays would be a number, also of active ones.
        flat = np.reshape(g, -1)
        parts = [
            counted(np.reshape(positions, -1), flat * np.reshape(np.broadcast_to(weights, g.shape), -1), size)
            for positions, weights in self.terms
        ]
        return np.reshape(reduce(np.add, parts), self.shape)
