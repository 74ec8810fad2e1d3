# SPDX-License-Identifier: Apache-2.0
"""Linear interpolation on regular grids: `scipy.interpolate.RegularGridInterpolator` by values and by points."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _rgi_cython

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision, is_replayed, keep
from codipy.numpy.primitive import Primitive

__all__ = ["FUNCTIONS"]


def _cells(*args):
    return _rgi_cython.find_indices(tuple(map(np.array, args[:-1])), np.array(args[-1]))[0]


_CELLS = decision("scipy.interpolate cells", _cells)


def _find_indices(grid, points):
    """The cells in which points are, and how far in them, from 0 to 1."""
    indices, distances = _rgi_cython.find_indices(*value_tree((grid, points)))
    if not holds_active((grid, points)):
        return indices, distances
    if is_replayed():
        keep(_CELLS, (*grid, points))
    rows = []
    for axis, found in zip(grid, indices):
        low = axis[found]
        step = axis[np.minimum(found + 1, len(axis) - 1)] - low
        is_flat = value_of(step) == 0.0
        rows.append(np.where(is_flat, 0.0, (points[len(rows)] - low) / np.where(is_flat, 1.0, step)))
    return indices, np.stack(rows)


def _corners(indices, distances, shape):
    """The weights of the four corners, and where they are."""
    (i, j), (p, q) = indices, distances
    for di, wi in ((0, 1.0 - p), (1, p)):
        for dj, wj in ((0, 1.0 - q), (1, q)):
            yield wi * wj, np.minimum(i + di, shape[0] - 1), np.minimum(j + dj, shape[1] - 1), (di, wi), (dj, wj)


def _bilinear(indices, grid):
    def vjp(g, out, args, kwargs, argnums):
        values, distances = args
        shape, bars = np.shape(values), []
        for k in argnums:
            parts = list(_corners(indices, distances, shape))
            if k == 0:
                flat = sum(np.bincount(i * shape[1] + j, g * weight, shape[0] * shape[1])
                           for weight, i, j, _, _ in parts)  # fmt: skip
                bars.append(np.reshape(flat, shape))
            else:
                bars.append(np.stack(_slopes(values, parts, g)))
        return bars

    def _slopes(values, parts, g):
        first = second = 0.0
        for _, i, j, (di, wi), (dj, wj) in parts:
            corner = values[i, j]
            first = first + (corner * wj if di else -corner * wj)
            second = second + (corner * wi if dj else -corner * wi)
        return first * g, second * g

    def jvp(tangents, out, args, kwargs):
        values, distances = args
        parts, found = list(_corners(indices, distances, np.shape(values))), 0.0
        if 0 in tangents:
            found = sum(tangents[0][i, j] * weight for weight, i, j, _, _ in parts)
        if 1 in tangents:
            first, second = _slopes(values, parts, 1.0)
            found = found + first * tangents[1][0] + second * tangents[1][1]
        return found

    def forward(values, distances):
        made = np.empty(indices.shape[1])
        return np.array(_rgi_cython.evaluate_linear_2d(np.array(values), indices, np.array(distances), grid, made))

    return Primitive("scipy.interpolate grid", forward, vjp, jvp, linear=(0,))


def _evaluate_linear_2d(values, indices, distances, grid, out):
    if not holds_active((values, distances)):
        plain = value_tree([values, indices, distances, grid])
        return _rgi_cython.evaluate_linear_2d(*(np.array(x) if k in (0, 2) else x for k, x in enumerate(plain)),
                                              np.empty(np.shape(out)))  # fmt: skip
    plain_grid = tuple(np.array(value_of(axis)) for axis in grid)
    return call(_bilinear(np.array(indices), plain_grid), (as_numbers(values), as_numbers(distances)))


FUNCTIONS = {"find_indices": _find_indices, "evaluate_linear_2d": _evaluate_linear_2d}
