# SPDX-License-Identifier: Apache-2.0
"""``scipy.spatial.distance`` as `codipy.scipy` and rebound code have it: `cdist`, `pdist` and `squareform`.

Of a metric of the difference the derivative by the one point is the slope there, by the other minus that.
"""

from __future__ import annotations

import numpy as np
import scipy.spatial.distance

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import kept, of_active, refused

__all__ = ["FUNCTIONS", "METRICS", "distance"]


def _over(x, y):
    """``x / y``, and 0 where y is 0: at distance 0 the slope is 0."""
    is_zero = value_of(y) == 0.0
    return np.where(is_zero, 0.0, x / np.where(is_zero, 1.0, y))


def _furthest(steps, out, options):
    values = np.abs(value_of(steps))
    first = np.arange(values.shape[-1]) == np.argmax(values, axis=-1)[..., None]
    return np.where(first, np.sign(value_of(steps)), 0.0)


def _minkowski(steps, out, options):
    p = options.get("p", 2.0)
    return np.sign(value_of(steps)) * _over(np.abs(steps) ** (p - 1.0), out[..., None] ** (p - 1.0))


# The slopes by the differences, of the last axis, and the distances.
METRICS = {
    "euclidean": lambda steps, out, options: _over(steps, out[..., None]),
    "sqeuclidean": lambda steps, out, options: 2.0 * steps,
    "cityblock": lambda steps, out, options: np.sign(value_of(steps)),
    "chebyshev": _furthest,
    "minkowski": _minkowski,
}
_ALIASES = {alias: info.canonical_name for alias, info in scipy.spatial.distance._METRIC_ALIAS.items()}


def _slopes(steps, out, options):
    return METRICS[options["metric"]](steps, out, options)


def _between(args):
    return args[0][:, None] - args[1][None]


def _cdist_vjp(g, out, args, kwargs, argnums):
    flows = g[..., None] * _slopes(_between(args), out, kwargs)
    return [-np.sum(flows, axis=0) if k else np.sum(flows, axis=1) for k in argnums]


def _cdist_jvp(tangents, out, args, kwargs):
    moved = 0.0
    if 0 in tangents:
        moved = moved + tangents[0][:, None]
    if 1 in tangents:
        moved = moved - tangents[1][None]
    return np.sum(_slopes(_between(args), out, kwargs) * moved, axis=-1)


def _pairs(count):
    return np.triu_indices(count, 1)


def _pdist_vjp(g, out, args, kwargs, argnums):
    rows, columns = np.shape(args[0])
    i, j = _pairs(rows)
    flows = g[:, None] * _slopes(args[0][i] - args[0][j], out, kwargs)
    numbers = np.arange(columns)
    flat = np.concatenate([(i[:, None] * columns + numbers).ravel(), (j[:, None] * columns + numbers).ravel()])
    both = np.concatenate([np.reshape(flows, -1), np.reshape(-flows, -1)])
    return [np.reshape(np.bincount(flat, both, rows * columns), (rows, columns))]


def _pdist_jvp(tangents, out, args, kwargs):
    i, j = _pairs(np.shape(args[0])[0])
    steps, moved = args[0][i] - args[0][j], tangents[0][i] - tangents[0][j]
    return np.sum(_slopes(steps, out, kwargs) * moved, axis=-1)


_CDIST = kept(Primitive("scipy.spatial.cdist", scipy.spatial.distance.cdist, _cdist_vjp, _cdist_jvp))
_PDIST = kept(Primitive("scipy.spatial.pdist", scipy.spatial.distance.pdist, _pdist_vjp, _pdist_jvp))


def _options(name, metric, out, kwargs):
    """The metric by its own name, and its exponent."""
    if out is not None:
        refuse(f"scipy.spatial.distance.{name}", "out= of active values is not supported: leave out= away")
    found = _ALIASES.get(metric.lower(), metric) if isinstance(metric, str) else getattr(metric, "__name__", "")
    if holds_active(kwargs):
        refuse(f"scipy.spatial.distance.{name}", "there is no derivative by the exponent p: say codipy.value(p)")
    if found not in METRICS or kwargs.keys() - {"p"}:
        refuse(f"scipy.spatial.distance.{name}", f"of active values the metrics are {', '.join(METRICS)}, without "
               "weights: write others with NumPy, of the differences a[:, None] - b[None]")  # fmt: skip
    return {"metric": found, **value_tree(kwargs)}


@of_active(scipy.spatial.distance.cdist)
def cdist(XA, XB, metric="euclidean", *, out=None, **kwargs):
    """Of active points."""
    return call(_CDIST, (asarray(XA), asarray(XB)), _options("cdist", metric, out, kwargs))


@of_active(scipy.spatial.distance.pdist)
def pdist(X, metric="euclidean", *, out=None, **kwargs):
    """Of active points."""
    return call(_PDIST, (asarray(X),), _options("pdist", metric, out, kwargs))


@of_active(scipy.spatial.distance.squareform)
def squareform(X, force="no", checks=True):
    """Of active distances."""
    X = asarray(X)
    scipy.spatial.distance.squareform(np.array(X.value), force, checks)  # raises what SciPy does
    if X.ndim != 1:
        return X[_pairs(len(X))]
    numbers = scipy.spatial.distance.squareform(np.arange(1, X.size + 1), force, checks)
    return np.append(X, 0.0)[numbers - 1]      # the last one where there is none, on the diagonal


directed_hausdorff = refused(scipy.spatial.distance.directed_hausdorff, "scipy.spatial.distance.directed_hausdorff",
                             "take i and j of codipy.value(u) and codipy.value(v), and np.linalg.norm(u[i] - v[j])")
FUNCTIONS = {"cdist": cdist, "directed_hausdorff": directed_hausdorff, "pdist": pdist, "squareform": squareform}
distance = module_for(scipy.spatial.distance, FUNCTIONS)
