# SPDX-License-Identifier: Apache-2.0
"""FITPACK's loops, called in one way whichever SciPy has them: in Fortran up to 1.17, in C from 1.18 on.

All take and give plain values. Where the two differ, what is here has the arguments and results of the C loops.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _fitpack2 as _classes

try:
    from scipy.interpolate import _dfitpack as compiled
except ImportError:  # from SciPy 1.18 on
    from scipy.interpolate import _fitpack as compiled

__all__ = ["CONTINUED", "GRID_FIT", "INTEGER", "IN_C", "class_fit", "compiled", "curfit", "grid_fit"]

IN_C = not hasattr(compiled, "fpcurf0")
INTEGER = np.dtype(np.int32) if IN_C else compiled.types.intvar.dtype
CONTINUED = _classes._curfit if IN_C else compiled.fpcurf1
GRID_FIT = "_regrid_smth" if IN_C else "regrid_smth"
grid_fit = getattr(_classes if IN_C else compiled, GRID_FIT)


def curfit(task, x, y, w, xb, xe, k, s, t, wrk, iwrk):
    """The fit of `splrep`: how many knots, knots, coefficients, sum of squares, and what it is."""
    if IN_C:
        return compiled.curfit(task, x, y, w, xb, xe, k, s, t, wrk, iwrk)
    n, c, rest, kind = compiled.curfit(task, x, y, w, t, wrk, iwrk, xb, xe, k, s)
    return n, t, c, rest, kind


def class_fit(x, y, k, t, s, **options):
    """The fit of `UnivariateSpline`, or with knots that of `LSQUnivariateSpline`: what its instances hold."""
    if IN_C:
        return _classes._curfit(x, y, k, t=t, s=s, iopt=0 if t is None else -1, **options)
    return compiled.fpcurf0(x, y, k, s=s, **options) if t is None else compiled.fpcurfm1(x, y, k, t, **options)
