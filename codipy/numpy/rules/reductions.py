# SPDX-License-Identifier: Apache-2.0
"""Sums, products, means and variances: NumPy's value in NumPy's order, a broadcast as the adjoint.

Conventions: `prod` is exact at zeros (products of all other elements, never a quotient); `std` of equal values has
derivative 0; the nan functions give 0 to the elements they skip.
"""

import numpy as np

from codipy.active.array import Array, plain
from codipy.numpy.rules import patterns
from codipy.numpy.rules.building import (
    axes_of,
    dense,
    from_rows,
    guarded,
    is_plain,
    primitive,
    spread,
    to_rows,
    unbroadcast,
)
from codipy.tape.records.loops import products_of_others

__all__ = ["COMPOSITES", "PRIMITIVES"]


def _masked(a, where):
    return a if where is True else np.where(where, a, 0.0)


def _sum_vjp(g, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=0, where=True):
    return _masked(spread(g, a.shape, axis, keepdims), where)


def _sum_jvp(t, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=0, where=True):
    return np.sum(t, axis=axis, keepdims=keepdims, where=where)


def _initial_vjp(g, out, *args, **kwargs):
    return np.sum(g)


def _initial_jvp(t, out, *args, **kwargs):
    return np.broadcast_to(t, np.shape(out))


def _count(a, axis, where):
    """How many elements each result is made of."""
    if where is True:
        return np.prod([a.shape[k] for k in axes_of(a.ndim, axis)], dtype=int)
    return np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True)


def _mean_vjp(g, out, a, axis=None, dtype=None, out_=None, keepdims=False, where=True):
    if where is True:
        return spread(g / _count(a, axis, where), a.shape, axis, keepdims)
    return _masked(spread(g, a.shape, axis, keepdims) / _count(a, axis, where), where)


def _mean_jvp(t, out, a, axis=None, dtype=None, out_=None, keepdims=False, where=True):
    return np.mean(t, axis=axis, keepdims=keepdims, where=where)


def _present(a, where):
    return np.logical_and(~np.isnan(a), where)


def _skipping(rule):
    """The rule of a function that skips NaN, from the rule of the one that does not."""

    def skipping(g, out, a, *args, where=True, **kwargs):
        return rule(g, out, a, *args, where=_present(a, where), **kwargs)

    return skipping


def _others(a, axis, initial, where):
    """For every element the product of all others, `initial` included: products before times products behind."""
    rows = to_rows(a if where is True else np.where(where, a, 1.0), axis)
    one = np.ones(rows.shape[:-1] + (1,))
    before = np.cumprod(np.concatenate((one * initial, rows[..., :-1]), -1), -1)
    behind = np.flip(np.cumprod(np.concatenate((one, np.flip(rows, -1)[..., :-1]), -1), -1), -1)
    others = (before * behind)[..., : rows.shape[-1]]
    if np.isnan(plain(others)).any():
        others = _zero_beside_zeros(others, rows, initial)
    return from_rows(others, a.shape, axis)


def _zero_beside_zeros(others, rows, initial):
    """Finite factors with a zero have the product 0, also where those behind it overflow before they meet it."""
    zeros = plain(rows) == 0
    finite = np.isfinite(plain(rows)).all(-1, keepdims=True) & np.isfinite(plain(initial))
    beside = np.sum(zeros, -1, keepdims=True) - zeros + (plain(initial) == 0)
    return np.where(np.isnan(plain(others)) & finite & (beside > 0), 0.0, others)


def _prod_vjp(g, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=1.0, where=True):
    if axis is None and where is True and type(initial) is float and is_plain(g, a):
        found = products_of_others(a, initial)
        if found is not None:
            bar = float(np.reshape(g, ()))
            return np.multiply(found, bar, found) if bar else np.zeros(a.shape)
    return _masked(guarded(spread(g, a.shape, axis, keepdims), _others(a, axis, initial, where)), where)


def _prod_jvp(t, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=1.0, where=True):
    return np.sum(guarded(t, _others(a, axis, initial, where)), axis=axis, keepdims=keepdims, where=where)


def _prod_initial_vjp(g, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=1.0, where=True):
    return np.sum(guarded(g, np.prod(a, axis=axis, keepdims=keepdims, where=where)))


def _prod_initial_jvp(t, out, a, axis=None, dtype=None, out_=None, keepdims=False, initial=1.0, where=True):
    return t * np.prod(a, axis=axis, keepdims=keepdims, where=where)


def _deviations(factor, a, axis, ddof, where, mean, correction):
    """`factor` times twice the distances to the mean over the degrees of freedom."""
    ddof = ddof if correction is None else correction
    count = _count(a, axis, where)
    if mean is None:
        mean = np.sum(_masked(a, where), axis=axis, keepdims=True) / count
    factor = factor * (2.0 / np.maximum(count - ddof, 0))
    # Finite means are those of finite elements: then no zero meets an infinity.
    product = factor * (a - mean) if np.all(np.isfinite(mean)) else guarded(factor, a - mean)
    return _masked(product, where)


def _var_vjp(
    g, out, a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    return _deviations(spread(g, a.shape, axis, keepdims), a, axis, ddof, where, mean, correction)


def _var_jvp(
    t, out, a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    return np.sum(_deviations(t, a, axis, ddof, where, mean, correction), axis=axis, keepdims=keepdims)


def _half_inverse(
    out, a, axis=None, dtype=None, out_=None, ddof=0, keepdims=False, where=True, mean=None, correction=None
):
    """``0.5 / out``, and 0 among equal values, whose deviation need not be 0 because their mean is rounded."""
    still = out == 0
    if mean is None:
        high = np.max(a, axis=axis, keepdims=keepdims, initial=-np.inf, where=where)
        low = np.min(a, axis=axis, keepdims=keepdims, initial=np.inf, where=where)
        still = still | (high == low)
    return np.where(still, 0.0, 0.5 / np.where(still, 1.0, out))


def _std_vjp(g, out, *args, **kwargs):
    return _var_vjp(g * _half_inverse(out, *args, **kwargs), out, *args, **kwargs)


def _std_jvp(t, out, *args, **kwargs):
    return _var_jvp(t, out, *args, **kwargs) * _half_inverse(out, *args, **kwargs)


# ---- variances about a mean that is given, and active: (a, mean) by position


def _about_mean(name, function, vjp, jvp):
    """The primitive of values and the mean that their distances are taken to: it moves against them."""

    def value(a, mean, **kwargs):
        return function(a, mean=mean, **kwargs)

    def values_vjp(g, out, a, mean, **kwargs):
        return vjp(g, out, a, mean=mean, **kwargs)

    def values_jvp(t, out, a, mean, **kwargs):
        return jvp(t, out, a, mean=mean, **kwargs)

    def mean_vjp(g, out, a, mean, **kwargs):
        return unbroadcast(-vjp(g, out, a, mean=mean, **kwargs), np.shape(mean))

    def mean_jvp(t, out, a, mean, **kwargs):
        return -jvp(np.broadcast_to(t, a.shape), out, a, mean=mean, **kwargs)

    return primitive(f"{name}.about", value, {0: values_vjp, 1: mean_vjp}, {0: values_jvp, 1: mean_jvp})


def _average_weights(a, axis, weights):
    """The weights, shaped to broadcast against `a` as `numpy.average` does."""
    weights = dense(weights)
    if weights.shape == a.shape:
        return weights
    axes = axes_of(a.ndim, axis)
    turned = np.transpose(weights, tuple(np.argsort(axes)))
    return np.reshape(turned, tuple(n if k in axes else 1 for k, n in enumerate(a.shape)))


def _average_vjp_a(g, out, a, axis=None, weights=None, returned=False, keepdims=False):
    g = spread(g[0] if returned else g, a.shape, axis, keepdims)
    if weights is None:
        return g / _count(a, axis, True)
    w = _average_weights(a, axis, weights)
    return g * w / np.sum(w, axis=axes_of(a.ndim, axis), keepdims=True)


def _average_jvp_a(t, out, a, axis=None, weights=None, returned=False, keepdims=False):
    if weights is None:
        tangent = np.mean(t, axis=axis, keepdims=keepdims)
    else:
        w = _average_weights(a, axis, weights)
        axes = axes_of(a.ndim, axis)
        tangent = np.sum(t * w / np.sum(w, axis=axes, keepdims=True), axis=axes, keepdims=keepdims)
    return (tangent, np.zeros(np.shape(tangent))) if returned else tangent


def _average_slope(out, a, axis, weights, returned, keepdims):
    """The change of the average with each weight, in the shape of `a`."""
    w = _average_weights(a, axis, weights)
    average = out[0] if returned else out
    total = np.sum(w, axis=axes_of(a.ndim, axis), keepdims=True)
    return (a - spread(average, a.shape, axis, keepdims)) / total


def _average_vjp_weights(g, out, a, axis=None, weights=None, returned=False, keepdims=False):
    slope = _average_slope(out, a, axis, weights, returned, keepdims)
    g, g_total = g if returned else (g, None)
    full = spread(g, a.shape, axis, keepdims) * slope
    if g_total is not None:
        full = full + spread(g_total, a.shape, axis, keepdims)
    if weights.shape == a.shape:
        return full
    axes = axes_of(a.ndim, axis)
    kept = tuple(k for k in range(a.ndim) if k not in axes)
    reduced = np.sum(full, axis=kept)
    return np.transpose(reduced, tuple(np.argsort(np.argsort(axes))))


def _average_jvp_weights(t, out, a, axis=None, weights=None, returned=False, keepdims=False):
    slope = _average_slope(out, a, axis, weights, returned, keepdims)
    t = np.broadcast_to(_average_weights(a, axis, t), a.shape)
    axes = axes_of(a.ndim, axis)
    tangent = np.sum(t * slope, axis=axes, keepdims=keepdims)
    return (tangent, np.sum(t, axis=axes, keepdims=keepdims)) if returned else tangent


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """`numpy.trace` as the sum of a view, which is what NumPy does."""
    if isinstance(a, Array) and a.ndim == 2 and dtype is None and out is None:
        return a.diagonal(offset, axis1, axis2).sum(-1)
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


PRIMITIVES = {
    p.name: p
    for p in (
        primitive("sum", np.sum, {0: _sum_vjp, 5: _initial_vjp}, {0: _sum_jvp, 5: _initial_jvp},
                  keep_args=False, keep_out=False, pattern=patterns.reduced()),
        primitive("mean", np.mean, {0: _mean_vjp}, {0: _mean_jvp}, keep_args=False, keep_out=False,
                  pattern=patterns.reduced()),
        primitive("nansum", np.nansum, {0: _skipping(_sum_vjp), 5: _initial_vjp},
                  {0: _skipping(_sum_jvp), 5: _initial_jvp}, keep_out=False, pattern=patterns.reduced()),
        primitive("nanmean", np.nanmean, {0: _skipping(_mean_vjp)}, {0: _skipping(_mean_jvp)}, keep_out=False,
                  pattern=patterns.reduced()),
        primitive("prod", np.prod, {0: _prod_vjp, 5: _prod_initial_vjp}, {0: _prod_jvp, 5: _prod_initial_jvp},
                  keep_out=False, pattern=patterns.reduced()),
        primitive("nanprod", np.nanprod, {0: _skipping(_prod_vjp), 5: _skipping(_prod_initial_vjp)},
                  {0: _skipping(_prod_jvp), 5: _skipping(_prod_initial_jvp)}, keep_out=False,
                  pattern=patterns.reduced()),
        primitive("var", np.var, {0: _var_vjp}, {0: _var_jvp}, keep_out=False, pattern=patterns.reduced()),
        primitive("nanvar", np.nanvar, {0: _skipping(_var_vjp)}, {0: _skipping(_var_jvp)}, keep_out=False,
                  pattern=patterns.reduced()),
        primitive("std", np.std, {0: _std_vjp}, {0: _std_jvp}, pattern=patterns.reduced()),
        primitive("nanstd", np.nanstd, {0: _skipping(_std_vjp)}, {0: _skipping(_std_jvp)}, pattern=patterns.reduced()),
        _about_mean("var", np.var, _var_vjp, _var_jvp),
        _about_mean("nanvar", np.nanvar, _skipping(_var_vjp), _skipping(_var_jvp)),
        _about_mean("std", np.std, _std_vjp, _std_jvp),
        _about_mean("nanstd", np.nanstd, _skipping(_std_vjp), _skipping(_std_jvp)),
        primitive("average", np.average, {0: _average_vjp_a, 2: _average_vjp_weights},
                  {0: _average_jvp_a, 2: _average_jvp_weights}),
    )
}  # fmt: skip

COMPOSITES = {"trace": trace}
