# SPDX-License-Identifier: Apache-2.0
"""Interpolation between scattered points, `griddata`: linear by values, points and sites, nearest by values.

Linear interpolation weighs the values at the corners of the triangle (tetrahedron, ...) that a point is in, which is a
decision of values. Over an edge the slope jumps; there it is that of the side which SciPy evaluates.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _interpnd, _ndgriddata
from scipy.spatial import Delaunay

from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "STANDINS"]


def _coordinates(points, ndim=None):
    """Coordinates of points as SciPy's interpolators take them: an array, or one for each axis."""
    if not holds_active((points,)):
        return _interpnd._ndim_coords_from_arrays(*value_tree((points, ndim)))
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*map(as_numbers, points)), axis=-1)
    points = as_numbers(points)
    if points.ndim == 1:
        return np.reshape(points, (-1, 1) if ndim is None else (-1, ndim))
    return points


def _corners(points, xi, rescale, triangles=None, tolerance=1.0):
    """The numbers of the points at the corners of the triangles that hold some points, -1 where none does.

    Of a tolerance that is not 1, which SciPy has from 1.18 on, Qhull's own is multiplied.
    """
    xi = np.asarray(xi)
    if triangles is None:
        points = np.asarray(points)
        made = _interpnd.LinearNDInterpolator(points, np.zeros(len(points)), rescale=rescale)
        triangles, xi = made.tri, made._scale_x(xi)
    found = triangles.find_simplex(xi, tol=None if tolerance == 1.0 else tolerance * 100.0 * np.finfo(float).eps)
    return np.where((found >= 0)[:, None], triangles.simplices[found], -1)


def _nearest(points, xi, rescale, options, tree_options):
    made = _ndgriddata.NearestNDInterpolator(points, np.arange(float(len(points))), rescale, tree_options)
    return made(xi, **options)


_CORNERS = decision("scipy.interpolate triangles", _corners)
_NEAREST = decision("scipy.interpolate nearest points", _nearest)


class _Scattered:
    """What stands for an interpolator of SciPy: itself where nothing is active."""

    def __init__(self, *args, **kwargs):
        if holds_active((args[2:], kwargs.get("fill_value"))):
            refuse(f"scipy.interpolate.{self._original.__name__}", "fill_value= has no derivative: take np.where on "
                   "the result, or codipy.value(x)")  # fmt: skip
        self._set(self._original(*value_tree(args), **value_tree(kwargs)), *args, **kwargs)

    @classmethod
    def of(cls, made):
        """Of an interpolator that SciPy has made, None where that does not know its points any more."""
        if made.scale is not None or getattr(getattr(made, "tree", None), "boxsize", None) is not None:
            return None
        new = cls.__new__(cls)
        new._made, new._points, new._values, new._triangles = made, made.points, made.values, getattr(made, "tri", None)
        new._rescale, new._tree_options = False, None
        return new

    @property  # type: ignore[misc]
    def __class__(self):
        return self._original

    def _set(self, made, points, values=None, *args, **kwargs):
        is_made = isinstance(points, Delaunay)
        self._made, self._triangles, self._rescale = made, points if is_made else None, made.scale is not None
        self._points = made.points if is_made else _coordinates(points)
        self._values, self._tree_options = values, None

    @property
    def points(self):
        """The sites."""
        return self._points if holds_active((self._points,)) else self._made.points

    @property
    def values(self):
        """The values at the sites."""
        return self._values if holds_active((self._values,)) else self._made.values

    def __getattr__(self, name):
        if name == "_made":  # while it is copied
            raise AttributeError(name)
        return getattr(self._made, name)

    def __call__(self, *args, **kwargs):
        if not holds_active((self._points, self._values, args)):
            return self._made(*value_tree(args), **value_tree(kwargs))
        if np.iscomplexobj(value_of(self._values)):
            raise ActiveError(refusal("interpolation of complex values", "interpolate the real and the imaginary part"))
        values = as_numbers(self._values)
        xi = _coordinates(args if len(args) > 1 else args[0], np.shape(self._made.points)[1])
        flat = np.reshape(xi, (-1, xi.shape[-1]))
        found = self._interpolated(as_numbers(self._points), np.reshape(values, (len(values), -1)), flat, **kwargs)
        return np.reshape(found, (*xi.shape[:-1], *values.shape[1:]))


class LinearNDInterpolator(_Scattered):
    """By values, points and sites."""

    _original = _interpnd.LinearNDInterpolator

    def _interpolated(self, points, values, xi, **options):
        triangles, rescale, fill = self._triangles, self._rescale, self._made.fill_value
        given = points if triangles is None else None, xi, rescale, triangles, *options.values()
        keep(_CORNERS, given)
        corners = _corners(*value_tree(list(given)))
        is_inside = corners[:, 0] >= 0
        own = points[np.where(is_inside[:, None], corners, self._somewhere(corners))]
        last = own[:, -1]
        edges = np.swapaxes(own[:, :-1] - last[:, None], 1, 2)
        weights = np.linalg.solve(edges, (xi - last)[..., None])[..., 0]
        weights = np.concatenate([weights, 1.0 - np.sum(weights, axis=1)[:, None]], axis=1)
        formula = np.where(is_inside[:, None], np.sum(weights[..., None] * values[corners], axis=1), fill)

        def run(points, values, xi):
            made = self._original(points if triangles is None else triangles, values, fill, rescale)
            return made(xi, **options)

        return with_values_of("LinearNDInterpolator", run, (points, values, xi), formula)

    def _somewhere(self, corners):
        """Corners of any triangle, for points that are in none."""
        return (self._made.tri.simplices if self._triangles is None else self._triangles.simplices)[:1]


class NearestNDInterpolator(_Scattered):
    """By values: the nearest site is another only where it jumps."""

    _original = _ndgriddata.NearestNDInterpolator

    def _set(self, made, x, y, rescale=False, tree_options=None):
        super()._set(made, x, y)
        self._tree_options = tree_options

    def _interpolated(self, points, values, xi, **options):
        given = points, xi, self._rescale, value_tree(options), self._tree_options
        keep(_NEAREST, given)
        found = _nearest(*value_tree(list(given)))
        is_found = ~np.isnan(found)
        taken = values[np.where(is_found, found, 0.0).astype(int)]
        return taken if is_found.all() else np.where(is_found[:, None], taken, np.nan)


class CloughTocher2DInterpolator(_Scattered):
    """Refused: SciPy searches for the gradients at the sites by iterations."""

    _original = _interpnd.CloughTocher2DInterpolator

    def _interpolated(self, points, values, xi, **options):
        raise ActiveError(refusal("CloughTocher2DInterpolator, griddata with method='cubic',",
                                  "take RBFInterpolator(points, values), or method='linear'"))  # fmt: skip


FUNCTIONS = {"_ndim_coords_from_arrays": _coordinates}
FUNCTIONS |= {kind.__name__: kind for kind in (LinearNDInterpolator, NearestNDInterpolator, CloughTocher2DInterpolator)}
STANDINS = {kind._original: kind.of for kind in (LinearNDInterpolator, NearestNDInterpolator,
                                                 CloughTocher2DInterpolator)}  # fmt: skip
