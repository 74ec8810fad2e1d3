# SPDX-License-Identifier: Apache-2.0
"""Functions that move elements where their values say: sets, bounds, zeros at the ends."""

from __future__ import annotations

from functools import partial

import numpy as np

from codipy.active.array import Array, identifiers, is_complex_variable, plain
from codipy.active.doors import door
from codipy.active.messages.dropped import refuse_left_out, runs_poly1d
from codipy.errors import ActiveError

from .arguments import assign, gather_tree, identifier_tree, kept_by, value_tree
from .decisions import decision, keep
from .views import Shown

__all__ = ["FUNCTIONS", "bounds", "keep_clip", "refuse_leading_zeros"]

_MISSING = np._NoValue


def _values(x):
    return np.asarray(value_tree(x))


def _identifiers(x):
    ids = identifier_tree(x)
    return np.asarray(ids, np.int32)


def _first_places(result, pool):
    """Where each element of `result` comes first in `pool`, which has them all."""
    sorter = np.argsort(pool, kind="stable")
    return sorter[np.minimum(np.searchsorted(pool, result, sorter=sorter), max(pool.size - 1, 0))]


def _places_of(pools, *options, function, among=2):
    """Where the elements of the result of a set operation come first in the first or in both of its arguments."""
    values = np.concatenate([_values(pool).ravel() for pool in pools[:among]])
    result = function(*map(_values, pools), *options)
    return _first_places(result, values) if result.size else np.zeros(result.shape, np.intp)


def _common_places(*args):
    return np.intersect1d(*args, return_indices=True)[1:]


def _looked_up(function, pools, *options, among=2):
    """Movement of the result of a set operation: each element from its first place."""
    keep(_SETS[function], (pools, *options))
    values = [_values(pool) for pool in pools]
    result = function(*map(value_tree, pools), *options)      # a number of Python does not change the precision
    ids = np.concatenate([_identifiers(pool).ravel() for pool in pools[:among]])
    places = _places_of(values, *options, function=function, among=among)
    if result.size and not np.array_equal(np.concatenate([x.ravel() for x in values[:among]])[places], result, True):
        raise ActiveError(f"np.{function.__name__}: assume_unique=True of arrays in which numbers come twice gives "
                          "elements that are not those of the first array: leave it away")
    return gather_tree(result, ids[places] if result.size else np.zeros(result.shape, np.int32))


_COMMON = decision("np.intersect1d", _common_places)
_SETS = {function: decision(f"np.{function.__name__}", partial(_places_of, function=function, among=among))
         for function, among in ((np.union1d, 2), (np.setxor1d, 2), (np.setdiff1d, 1))}
_SETS[np.intersect1d] = decision("np.intersect1d of one", partial(_places_of, function=np.intersect1d, among=1))


def union1d(ar1, ar2):
    """Each element from its first place."""
    return _looked_up(np.union1d, (ar1, ar2))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Each element from its first place in the first array."""
    found = np.intersect1d(_values(ar1), _values(ar2), assume_unique, return_indices)
    if return_indices:
        keep(_COMMON, (ar1, ar2, assume_unique))
    moved = _looked_up(np.intersect1d, (ar1, ar2), assume_unique, among=1)
    return (moved, *found[1:]) if return_indices else moved


def setdiff1d(ar1, ar2, assume_unique=False):
    """Each element from its first place."""
    return _looked_up(np.setdiff1d, (ar1, ar2), assume_unique, among=1)


def setxor1d(ar1, ar2, assume_unique=False):
    """Each element from its first place."""
    return _looked_up(np.setxor1d, (ar1, ar2), assume_unique)


def _beyond(current, *bounds):
    """For the lower and the upper bound, where it stands for the element; None without it."""
    found = []
    for limit, beyond in zip(bounds, (np.less, np.greater)):
        if limit is None:
            found.append(None)
            continue
        found.append(beyond(current, limit) | (np.isnan(limit) & ~np.isnan(current)))
        current = np.where(found[-1], limit, current)
    return found


def _clipped(a, low, high):
    found = _beyond(*(x if x is None else np.asarray(x) for x in (a, low, high)))
    return tuple(over for over in found if over is not None)


def keep_clip(a, low, high):
    """What `np.clip` chose is what it chooses in a replay."""
    keep(_CLIP, (a, low, high))


_CLIP = decision("np.clip", _clipped)
_TRIM = decision("np.trim_zeros", np.not_equal)


def bounds(a_min, a_max, low, high):
    """Those of ``clip``, which it takes under two names each.

    Parameters
    ----------
    a_min, a_max, low, high : array_like or None
        `numpy._NoValue` where one was not given.

    Returns
    -------
    tuple
        None where there is no bound.

    Raises
    ------
    ValueError, TypeError
        As NumPy does.
    """
    if a_min is _MISSING and a_max is _MISSING:
        return tuple(None if bound is _MISSING else bound for bound in (low, high))
    if low is not _MISSING or high is not _MISSING:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    if a_min is _MISSING or a_max is _MISSING:
        raise TypeError("clip() missing 1 required positional argument: 'a_min' or 'a_max'")
    return a_min, a_max


def clip(a, a_min=_MISSING, a_max=_MISSING, out=None, *, min=_MISSING, max=_MISSING, **kwargs):
    """On a bound the element passes; beyond it the bound's identifier."""
    a_min, a_max = bounds(a_min, a_max, min, max)
    where = plain(kwargs.pop("where", True))
    values = _values(a) if isinstance(a, (list, tuple)) else plain(a)
    result = np.clip(values, value_tree(a_min), value_tree(a_max), **kwargs)
    keep_clip(a, a_min, a_max)
    ids = np.broadcast_to(_identifiers(a), np.shape(result))
    for bound, over in zip((a_min, a_max), _beyond(values, *(x if x is None else _values(x) for x in (a_min, a_max)))):
        if over is not None:
            ids = np.where(over, _identifiers(bound), ids)
    if where is not True and out is not None:
        result, ids = np.where(where, result, plain(out)), np.where(where, ids, identifiers(out))
    return assign(gather_tree(result, ids), out, kept_by("clip"))


def refuse_leading_zeros(coefficients, kept=0):
    """Refuse leading coefficients that are zero and have a derivative: NumPy leaves them out of a polynomial.

    Parameters
    ----------
    coefficients : Array or list
        Highest power first.
    kept : int
        How many stay where all are zero.
    """
    zeros = np.cumsum(_values(coefficients) != 0, axis=None) == 0
    if (n := min(int(np.sum(zeros)), zeros.size - kept)) > 0:
        refuse_left_out(coefficients[:n] if isinstance(coefficients, (list, tuple)) else [coefficients[:n]])


def trim_zeros(filt, trim="fb", axis=None):
    """A view without the outer zeros."""
    if np.ndim(value_tree(filt)) == 0:
        return filt
    if runs_poly1d():
        refuse_leading_zeros(filt)
    if not is_complex_variable(filt):
        keep(_TRIM, (filt, 0))
    if type(filt) is Array or is_complex_variable(filt):
        shown = Shown() if type(filt) is Array else door("complexes")().Shown()
        more = {} if axis is None else {"axis": axis}
        return shown.view(np.trim_zeros(shown.tree(filt), trim, **more))
    values, ids = _values(filt), _identifiers(filt)
    if values.ndim == 1 and isinstance(filt, (list, tuple)):  # of which NumPy gives a part
        kept = np.trim_zeros(values, trim)
        first = np.flatnonzero(values)[0] if kept.size and "f" in trim.lower() else 0
        return filt[first : first + kept.size]
    more = {} if axis is None else {"axis": axis}
    result = np.trim_zeros(values, trim, **more)
    # the same cut, found on an array that tells its places and is zero where the values are
    corners = np.where(values != 0, 1, 0)
    start = []
    axes = range(values.ndim) if axis is None else {int(k) % values.ndim for k in np.atleast_1d(axis)}
    for k in range(values.ndim):
        others = tuple(j for j in range(values.ndim) if j != k)
        filled = np.flatnonzero(corners.any(others))
        cut = k in axes and "f" in trim.lower()
        start.append((filled[0] if filled.size else 0) if cut else 0)
    return gather_tree(result, ids[tuple(slice(s, s + n) for s, n in zip(start, result.shape))])


FUNCTIONS = {
    function.__name__: function for function in (union1d, intersect1d, setdiff1d, setxor1d, clip, trim_zeros)
}
