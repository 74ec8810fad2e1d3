# SPDX-License-Identifier: Apache-2.0
"""What `scipy.ndimage` takes for values beyond the edges of an array, axis by axis, and the transpose of that."""

from __future__ import annotations

import numpy as np

__all__ = ["CONSTANT", "GRID_CONSTANT", "GRID_WRAP", "MIRROR", "NEAREST", "REFLECT", "WRAP", "extended", "folded"]

NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)  # SciPy's own numbers
_PADDED = {NEAREST: "edge", WRAP: "wrap", GRID_WRAP: "wrap", REFLECT: "symmetric", MIRROR: "reflect"}


def _is_constant(mode):
    return mode not in _PADDED


def extended(x, margins, mode, cval):
    """The array with so many values more before and behind, for each axis.

    Parameters
    ----------
    x : ndarray
    margins : list of tuple of int
    mode : int
    cval : float
        Beyond the edges, where the mode is constant.
    """
    if _is_constant(mode):
        return np.pad(np.asarray(x, np.result_type(x, np.float32)), margins, constant_values=cval)
    return np.pad(x, margins, _PADDED[mode])


def folded(g, margins, mode):
    """The transpose of `extended`: what stands beyond the edges is added to the values that stand there."""
    for axis, (before, behind) in enumerate(margins):
        if not before and not behind:
            continue
        g = np.moveaxis(g, axis, 0)
        n = len(g) - before - behind
        middle = np.array(g[before:before + n])
        if not _is_constant(mode):
            places = np.pad(np.arange(n), (before, behind), _PADDED[mode])
            for part in (slice(0, before), slice(before + n, None)):
                np.add.at(middle, places[part], g[part])
        g = np.moveaxis(middle, 0, axis)
    return g
