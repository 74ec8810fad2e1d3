# SPDX-License-Identifier: Apache-2.0
"""``scipy.spatial.distance`` as `codipy.scipy` and rebound code have it: `cdist`, `pdist` and `squareform`.

Of a metric of the difference the derivative by the one point is the slope there, by the other minus that. Others,
and those with weights, exponents or shapes that are active, are formulas (`codipy.scipy.metrics`).
"""

from __future__ import annotations

import inspect

import numpy as np
import scipy.spatial.distance

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy import metrics
from codipy.scipy.calls import kept, of_active, refused
from codipy.scipy.metrics import FORMULAS, with_scipys_values

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


def _metric(name, metric, out):
    """The metric by its own name."""
    if out is not None:
        refuse(f"scipy.spatial.distance.{name}", "out= of active values is not supported: leave out= away")
    found = _ALIASES.get(metric.lower(), metric) if isinstance(metric, str) else getattr(metric, "__name__", "")
    if found not in METRICS and found not in FORMULAS:
        refuse(f"scipy.spatial.distance.{name}", "of active values the metrics are "
               f"{', '.join(sorted({*METRICS, *FORMULAS}))}: write others with NumPy, of the differences "
               "a[:, None] - b[None]")  # fmt: skip
    return found


def _by_rule(metric, options):
    """Whether a metric has slopes by its points alone, which is less to record than its formula."""
    return metric in METRICS and not options.keys() - {"p"} and not holds_active(options)


def _by_formula(name, metric, points, pairs, options):
    """The formula of a metric between pairs, with SciPy's values."""
    what, original = f"scipy.spatial.distance.{name}", getattr(scipy.spatial.distance, name)
    if metric not in FORMULAS or options.keys() - set(inspect.signature(FORMULAS[metric]).parameters):
        refuse(what, f"{metric!r} has no derivative with {' and '.join(f'{key}=' for key in options)} here: write it "
               "with NumPy, of the differences a[:, None] - b[None]")  # fmt: skip
    options = {key: as_numbers(x) if np.ndim(value_tree(x)) else x for key, x in options.items() if x is not None}
    filled, together = dict(options), points[0] if len(points) == 1 else np.concatenate(points)
    if metric == "seuclidean" and "V" not in options:
        filled["V"] = np.var(together, axis=0, ddof=1)
    if metric == "mahalanobis" and "VI" not in options:
        filled["VI"] = np.transpose(np.linalg.inv(np.cov(np.transpose(together))))

    def forward(*numbers):
        own, given = numbers[:len(points)], dict(zip(options, numbers[len(points):]))
        return original(*own, metric, **given)

    return with_scipys_values(what, forward, [*points, *options.values()], FORMULAS[metric](*pairs, **filled))


@of_active(scipy.spatial.distance.cdist)
def cdist(XA, XB, metric="euclidean", *, out=None, **kwargs):
    """Of active points."""
    metric, points = _metric("cdist", metric, out), (as_numbers(XA), as_numbers(XB))
    if _by_rule(metric, kwargs):
        return call(_CDIST, points, {"metric": metric, **value_tree(kwargs)})
    return _by_formula("cdist", metric, points, (points[0][:, None], points[1][None]), kwargs)


@of_active(scipy.spatial.distance.pdist)
def pdist(X, metric="euclidean", *, out=None, **kwargs):
    """Of active points."""
    metric, points = _metric("pdist", metric, out), as_numbers(X)
    if _by_rule(metric, kwargs):
        return call(_PDIST, (points,), {"metric": metric, **value_tree(kwargs)})
    i, j = _pairs(len(points))
    return _by_formula("pdist", metric, (points,), (points[i], points[j]), kwargs)


@of_active(scipy.spatial.distance.squareform)
def squareform(X, force="no", checks=True):
    """Of active distances."""
    X = as_numbers(X)
    scipy.spatial.distance.squareform(np.array(X.value), force, checks)  # raises what SciPy does
    if X.ndim != 1:
        return X[_pairs(len(X))]
    numbers = scipy.spatial.distance.squareform(np.arange(1, X.size + 1), force, checks)
    return np.append(X, 0.0)[numbers - 1]      # the last one where there is none, on the diagonal


directed_hausdorff = refused(scipy.spatial.distance.directed_hausdorff, "scipy.spatial.distance.directed_hausdorff",
                             "take i and j of codipy.value(u) and codipy.value(v), and np.linalg.norm(u[i] - v[j])")
FUNCTIONS = {**metrics.FUNCTIONS, "cdist": cdist, "directed_hausdorff": directed_hausdorff, "pdist": pdist,
             "squareform": squareform}  # fmt: skip
distance = module_for(scipy.spatial.distance, FUNCTIONS)
