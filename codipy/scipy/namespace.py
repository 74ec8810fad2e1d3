# SPDX-License-Identifier: Apache-2.0
"""``import codipy.scipy as scipy``: SciPy's own modules, imported when they are first asked for.

SciPy's ufuncs (`scipy.special`) and what it computes with NumPy's functions find their way from the arrays that they
get; what needs a plain ndarray raises for an active Array.
"""

from __future__ import annotations

import importlib
import sys

from codipy.active.doors import door

# Modules of which some functions are ours.
LATER = {"special": "codipy.scipy.functions", "optimize": "codipy.scipy.solvers",
         "linalg": "codipy.scipy.algebra", "fft": "codipy.scipy.transforms"}
LATER |= {"sparse.linalg": "codipy.scipy.matrices", "sparse.csgraph": "codipy.scipy.graphs"}
LATER |= {"spatial": "codipy.scipy.geometry", "spatial.distance": "codipy.scipy.distances",
          "spatial.transform": "codipy.scipy.rotations"}  # fmt: skip
# Those of which the tools know more: they enter it in LATER when they are imported.
_REBUILT = {"integrate", "interpolate", "ndimage", "optimize", "signal", "sparse", "stats"}


def __getattr__(name):
    if name.startswith("__"):  # asked for by the import system, which must not import SciPy
        raise AttributeError(f"module 'codipy.scipy' has no attribute {name!r}")
    if name in _REBUILT:
        door("rebuilt")()
    value = getattr(importlib.import_module(LATER.get(name, "scipy")), name)
    setattr(sys.modules["codipy.scipy"], name, value)
    return value


def __dir__():
    return dir(importlib.import_module("scipy"))
