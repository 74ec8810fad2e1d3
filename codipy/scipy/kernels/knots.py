# SPDX-License-Identifier: Apache-2.0
"""B-splines in NumPy's functions: derivatives by knots, points and coefficients, of any order.

On the piece between two knots a spline is a polynomial of its k + 1 coefficients there, by C. de Boor's recursion ("A
practical guide to splines", 1978, chapter X). Which piece a point is on is a decision of values.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain as value_of
from codipy.numpy.arguments import holds_active
from codipy.numpy.decisions import decision, keep
from codipy.scipy.rules.solving import solve_banded

__all__ = ["coefficients_of_integral", "fitted", "integral", "matrix", "pieces", "polynomial", "spline"]


def _pieces(t, k, x):
    low, high = np.searchsorted(t, t[k], "right") - 1, np.searchsorted(t, t[-k - 1], "left") - 1
    return np.clip(np.searchsorted(t, x, "right") - 1, low, high)


_PIECES = decision("scipy.interpolate pieces of a spline", _pieces)


def pieces(t, k, x):
    """The number of the knot before each point; of the first or the last piece beyond them."""
    if holds_active((t, x)):
        keep(_PIECES, (t, k, x))
    return _pieces(np.asarray(value_of(t)), k, np.asarray(value_of(x)))


def polynomial(t, k, parts, x, order, left):
    """What a spline, or a derivative of it, is at points of given pieces.

    Parameters
    ----------
    t : Array or ndarray
    k : int
    parts : list
        The k + 1 coefficients of each point's piece.
    x : Array or ndarray
    order : int
        Of the derivative.
    left : ndarray of int
        `pieces` of the points.
    """
    if order > k:
        return 0.0 * parts[0] * x
    parts = list(parts)
    for step in range(1, k + 1):
        for j in range(k, step - 1, -1):
            low, high = t[left + (j - k)], t[left + (j + 1 - step)]
            if step <= order:
                parts[j] = (parts[j] - parts[j - 1]) * (k - step + 1) / (high - low)
            else:
                share = (x - low) / (high - low)
                parts[j] = (1.0 - share) * parts[j - 1] + share * parts[j]
    return parts[k]


def spline(t, k, c, x, order=0):
    """Values at the points of splines, of shape (points, curves), beyond the knots too."""
    left = pieces(t, k, x)
    return polynomial(t, k, [c[left - k + j] for j in range(k + 1)], x[:, None], order, left[:, None])


def matrix(t, k, x, left, order=0):
    """The k + 1 basis functions that are not zero on each point's piece, of shape (points, k + 1)."""
    unit = np.eye(k + 1)
    return polynomial(t, k, [unit[j][None] for j in range(k + 1)], x[:, None], order, left[:, None])


def coefficients_of_integral(t, k, c):
    """Knots and coefficients of the antiderivative that is zero at the first knot, of degree k + 1."""
    count = len(t) - k - 1
    steps = np.reshape(t[k + 1:] - t[:count], (-1,) + (1,) * (c.ndim - 1))
    sums = np.cumsum(c[:count] * steps, axis=0) / (k + 1.0)
    return np.concatenate([t[:1], t, t[-1:]]), np.concatenate([np.zeros((1, *c.shape[1:])), sums])


def integral(t, k, c, a, b):
    """Of splines from a to b, which are zero beyond the knots."""
    t_of, c_of = coefficients_of_integral(t, k, c)
    ends = np.clip(np.stack([a, b]), t[k], t[-k - 1])
    both = spline(t_of, k + 1, c_of, ends)
    return both[1] - both[0]


def fitted(t, k, x, y, w=None):
    """The coefficients of splines through values of shape (points, curves); nearest in the squares of many points."""
    count, left = len(t) - k - 1, pieces(t, k, x)
    rows = matrix(t, k, x, left)
    columns = (left - k)[:, None] + np.arange(k + 1)
    numbers = np.arange(np.size(rows)).reshape(np.shape(rows))
    if len(left) == count:
        bands = np.full((2 * k + 1, count), np.size(rows))
        bands[k + np.arange(count)[:, None] - columns, columns] = numbers
        return solve_banded((k, k), np.append(rows, 0.0)[bands], y)
    flat = np.full((len(left), count), np.size(rows))
    np.put_along_axis(flat, columns, numbers, axis=1)
    whole = np.append(rows, 0.0)[flat]
    weights = 1.0 if w is None else w[:, None]
    return np.linalg.lstsq(weights * whole, weights * y, rcond=None)[0]


def tensor(knots, degrees, c, points, orders):
    """Products of B-splines along several axes, of shape (..., curves).

    Parameters
    ----------
    knots, degrees : sequence
        For each axis.
    c : Array or ndarray
        Coefficients, of one axis for each and one for the curves.
    points : sequence of Array or ndarray
        For each axis; they are broadcast.
    orders : sequence of int
        Of the derivatives by each axis.
    """
    lefts = [pieces(t, k, x) for t, k, x in zip(knots, degrees, points)]

    def along(axis, places):
        if axis == len(lefts):
            return c[tuple(places)]
        t, k, left = knots[axis], degrees[axis], lefts[axis]
        parts = [along(axis + 1, [*places, left - k + j]) for j in range(k + 1)]
        return polynomial(t, k, parts, points[axis][..., None], orders[axis], left[..., None])

    return along(0, [])
