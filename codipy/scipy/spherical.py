# SPDX-License-Identifier: Apache-2.0
"""``spherical_jn``, ``spherical_yn``, ``spherical_in`` and ``spherical_kn`` of `scipy.special`, and their derivatives.

SciPy has f and f' by an option; the derivative of f' comes from (2n + 1) f_n' = n f_(n-1) -+ (n + 1) f_(n+1), which is
regular at 0. They are Python functions that make arrays of what they get; orders have no derivative.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.active.array import plain
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.elementary import elementwise_primitive
from codipy.scipy.calls import kept, of_active, run

__all__ = ["FUNCTIONS", "PARTIALS", "SLOPE"]

SLOPE = ", its derivative"  # behind the name of a function
_SIGNS = {"jn": (1.0, -1.0), "yn": (1.0, -1.0), "in": (1.0, 1.0), "kn": (-1.0, -1.0)}  # of the two neighbours
PARTIALS: dict = {}  # by z, by the name of a rule
FUNCTIONS: dict = {}


def _enter(kind, below, above):
    name = f"spherical_{kind}"
    original = getattr(scipy.special, name)
    full = f"scipy.special.{name}"

    def slope(n, z):
        return original(n, z, derivative=True)

    def by_z(n, z, w):
        return function(n, z, derivative=True)

    def slope_by_z(n, z, w):
        n = np.asarray(plain(n))
        lower = function(np.maximum(n - 1, 0), z, derivative=True)
        return (below * n * lower + above * (n + 1) * function(n + 1, z, derivative=True)) / (2 * n + 1)

    own = kept(elementwise_primitive(full, original, (None, by_z)))
    own_slope = kept(elementwise_primitive(full + SLOPE, slope, (None, slope_by_z)))
    PARTIALS.update({full: (original, by_z), full + SLOPE: (slope, slope_by_z)})

    @of_active(original)
    def function(n, z, derivative=False):
        if holds_active((n,)):
            refuse(full, "there is no derivative by the order: pass `codipy.value` of it")
        return run(own_slope if derivative else own, (np.asarray(n), as_numbers(z)), {})

    FUNCTIONS[name] = function


for _kind, _signs in _SIGNS.items():
    _enter(_kind, *_signs)
