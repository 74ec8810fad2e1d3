# SPDX-License-Identifier: Apache-2.0
"""``KDTree`` of `scipy.spatial`: which points are near is decided by values, how far they are has a derivative.

Numbers of neighbours, and sets and counts of them, are what they are for the values. Two points at one place have a
distance with the slope 0.
"""

from __future__ import annotations

import numpy as np
import scipy.spatial

from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "STANDINS", "KDTree", "cKDTree"]


def _plain_tree(x):
    return x._made if isinstance(x, _Tree) else x


def _asked(kind, data, options, name, args, kwargs):
    """What a tree of some points answers, as arrays of numbers."""
    args = [kind(np.asarray(x[0]), **x[1]) if type(x) is tuple else x for x in args]
    found = getattr(kind(np.asarray(data), **options), name)(*args, **kwargs)
    if name == "query":
        return (found[1],)
    if isinstance(found, set):
        found = sorted(found)
    if isinstance(found, list) or np.asarray(found).dtype == object:
        rows = [np.atleast_1d(row) for row in np.ravel(np.asarray(found, object))]
        return tuple(np.asarray(row) for row in rows) or (np.zeros(0),)
    return (np.asarray(found),)


_IS_ZERO = decision("scipy.spatial steps of 0", lambda steps: steps == 0.0)
_FURTHEST = decision("scipy.spatial furthest axes", lambda steps: np.argmax(np.abs(steps), axis=-1))
_ASKED = decision("scipy.spatial neighbours", _asked)


def _distance(steps, p):
    """Of the last axis, with the slope 0 where there is none."""
    keep(_IS_ZERO, (steps,))
    values = np.abs(value_of(steps))
    if p == np.inf:
        keep(_FURTHEST, (steps,))
        first = np.argmax(values, axis=-1)[..., None]
        return np.take_along_axis(np.abs(steps), first, axis=-1)[..., 0]
    if p == 1:
        return np.sum(np.abs(steps), axis=-1)
    is_zero = ~np.any(values, axis=-1)
    powers = np.abs(steps) if p != 2 else steps
    powers = np.where(values == 0.0, 0.0, np.where(values == 0.0, 1.0, powers) ** p)
    return np.where(is_zero, 0.0, np.where(is_zero, 1.0, np.sum(powers, axis=-1)) ** (1.0 / p))


class _Tree:
    """What stands for a tree of SciPy: itself where nothing is active."""

    def __init__(self, data, *args, **kwargs):
        self._made, self._data = self._original(*value_tree((data, *args)), **value_tree(kwargs)), data
        names = ("leafsize", "compact_nodes", "copy_data", "balanced_tree", "boxsize")
        self._options = {**dict(zip(names, args)), **kwargs}
        if holds_active(data) and self._options.get("boxsize") is not None:
            refuse("scipy.spatial.KDTree", "of active points it has no boxsize=: leave boxsize= out")

    @classmethod
    def of(cls, made):
        """Of a tree that SciPy has made."""
        new = cls.__new__(cls)
        new._made, new._data = made, made.data
        new._options = {"leafsize": made.leafsize, "boxsize": made.boxsize}
        return new

    @property  # type: ignore[misc]
    def __class__(self):
        return self._original

    @property
    def data(self):
        """The points."""
        return self._data if holds_active((self._data,)) else self._made.data

    def __getattr__(self, name):
        if name == "_made":  # while it is copied
            raise AttributeError(name)
        return getattr(self._made, name)

    def _ask(self, name, args, kwargs):
        """Keep what is decided, and answer."""
        if name == "count_neighbors" and holds_active((args[3:4], kwargs.get("weights"))):
            refuse("scipy.spatial.KDTree.count_neighbors", "sums of weights have no derivative here: add up the "
                   "weights of tree.query_ball_point(x, r)")  # fmt: skip
        others = [x._data for x in args if isinstance(x, _Tree)]
        if holds_active((self._data, others, args, kwargs)):
            given = [(x._data, x._options) if isinstance(x, _Tree) else x for x in args]
            keep(_ASKED, (self._original, self._data, self._options, name, given, kwargs))
        return getattr(self._made, name)(*map(_plain_tree, value_tree(list(args))), **value_tree(kwargs))

    def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
        """Distances, with derivatives, and numbers of the nearest points."""
        options = {"k": k, "eps": eps, "p": p, "distance_upper_bound": distance_upper_bound, "workers": workers}
        if holds_active((p,)):
            refuse("scipy.spatial.KDTree.query", "there is no derivative by the exponent p: say codipy.value(p)")
        far, numbers = self._ask("query", [x], options)
        if not holds_active((self._data, x)):
            return far, numbers
        if self._options.get("boxsize") is not None:
            refuse("scipy.spatial.KDTree.query", "of active points there is no distance by boxsize=: leave it out")
        data, x, options = as_numbers(self._data), as_numbers(x), value_tree(options)
        is_there = np.asarray(numbers) < len(data)
        own = data[np.where(is_there, numbers, 0)]
        steps = own - (x if np.ndim(far) == x.ndim - 1 else x[..., None, :])
        formula = np.where(is_there, _distance(steps, options["p"]), np.inf)

        def run(data, x):
            return self._original(data, **self._options).query(x, **options)[0]

        found = with_values_of("scipy.spatial.KDTree.query", run, (data, x), formula)
        return found, numbers

    def sparse_distance_matrix(self, *args, **kwargs):
        """Refused of active points."""
        others = [x._data for x in args if isinstance(x, _Tree)]
        if holds_active((self._data, others, args, kwargs)):
            refuse("scipy.spatial.KDTree.sparse_distance_matrix", "take the numbers of tree.query_pairs(r, "
                   "output_type='ndarray'), and the distances np.linalg.norm(x[i] - x[j], axis=1)")  # fmt: skip
        return self._made.sparse_distance_matrix(*map(_plain_tree, value_tree(list(args))), **value_tree(kwargs))


def _asking(name):
    def method(self, *args, **kwargs):
        return self._ask(name, args, kwargs)

    method.__name__ = name
    method.__doc__ = "As SciPy's: numbers of points, which have no derivative."
    return method


for _name in ("query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors"):
    setattr(_Tree, _name, _asking(_name))


class KDTree(_Tree):
    """As SciPy's."""

    _original = scipy.spatial.KDTree


class cKDTree(_Tree):
    """As SciPy's."""

    _original = scipy.spatial.cKDTree


FUNCTIONS = {"KDTree": KDTree, "cKDTree": cKDTree}
STANDINS = {kind._original: kind.of for kind in (KDTree, cKDTree)}
