# SPDX-License-Identifier: Apache-2.0
"""``scipy.spatial`` as `codipy.scipy` and rebound code have it: distances, trees, rotations, and what is refused."""

from __future__ import annotations

import functools

import scipy.spatial

from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.modules import module_for
from codipy.scipy import distances, rotations, trees
from codipy.scipy.calls import refused

__all__ = ["FUNCTIONS", "REFUSED", "STANDINS", "spatial"]

_NUMBERS = "it finds which points are neighbours, by values: give it codipy.value(points), and compute with points["
# What has no derivative of its own, and what to write instead.
REFUSED = {
    "Delaunay": _NUMBERS + "made.simplices]",
    "ConvexHull": _NUMBERS + "made.simplices]",
    "Voronoi": _NUMBERS + "made.ridge_points]",
    "HalfspaceIntersection": "give it codipy.value(halfspaces), and solve for the vertices from halfspaces[made."
                             "dual_facets[k]]",
    "SphericalVoronoi": _NUMBERS + "made._simplices]",
    "geometric_slerp": "take scipy.spatial.transform.Slerp, or write the formula with NumPy",
    "procrustes": "take u, _, vt = np.linalg.svd(a.T @ b) of the centred matrices, and u @ vt",
}


def _class(name, original, instead):
    """SciPy's class, which refuses active points."""

    def __init__(self, *args, **kwargs):
        if holds_active(args) or holds_active(kwargs):
            refuse(f"scipy.spatial.{name}", f"of active points there is no derivative: {instead}")
        original.__init__(self, *value_tree(args), **value_tree(kwargs))

    return type(original)(name, (original,), {"__init__": functools.wraps(original.__init__)(__init__),
                                              "__module__": original.__module__, "__doc__": original.__doc__})


def _standing_for(name, instead):
    original = getattr(scipy.spatial, name)
    if isinstance(original, type):
        return _class(name, original, instead)
    return refused(original, f"scipy.spatial.{name}", instead)


FUNCTIONS = {"distance": distances.distance, "transform": rotations.transform, **trees.FUNCTIONS}
FUNCTIONS |= {name: _standing_for(name, instead) for name, instead in REFUSED.items()}
STANDINS = trees.STANDINS
spatial = module_for(scipy.spatial, FUNCTIONS)
