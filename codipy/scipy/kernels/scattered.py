# SPDX-License-Identifier: Apache-2.0
"""Coordinates of points as SciPy's interpolators take them: an array, or one for each axis."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _interpnd

from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree

__all__ = ["FUNCTIONS"]


def _coordinates(points, ndim=None):
    if not holds_active((points,)):
        return _interpnd._ndim_coords_from_arrays(*value_tree((points, ndim)))
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*map(asarray, points)), axis=-1)
    points = asarray(points)
    if points.ndim == 1:
        return np.reshape(points, (-1, 1) if ndim is None else (-1, ndim))
    return points


FUNCTIONS = {"_ndim_coords_from_arrays": _coordinates}
