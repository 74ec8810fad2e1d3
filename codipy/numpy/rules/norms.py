# SPDX-License-Identifier: Apache-2.0
"""Rules of norms and condition numbers: at kinks the element that was picked, at zero the zero slope."""

import numpy as np

from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import conj, cT, real, single
from codipy.numpy.rules.patterns import matrices, reduced
from codipy.numpy.rules.phases import vectors

__all__ = ["PRIMITIVES"]


# ---- slopes of a norm along the last axes; n is the norm, broadcast against them -------------------------------------
def _quotient(x, n):
    return np.where(n == 0, 0.0, x / np.where(n == 0, 1.0, n))


def _picked(position, count):
    """One at the position picked, zero elsewhere, along a new last axis."""
    return (np.arange(count) == position[..., None]) * 1.0


def _vector_slope(x, n, p):
    """Of the p-norm of the last axis."""
    if p is None or p == 2:
        return _quotient(x, n)
    if p == 1:
        return np.sign(x)
    if p == 0:
        return np.zeros(np.shape(x))  # it counts
    if np.isinf(p):
        pick = np.argmax if p > 0 else np.argmin
        return np.sign(x) * _picked(pick(np.abs(x), axis=-1), np.shape(x)[-1])
    ratio = _quotient(np.abs(x), n)  # before the power, which would overflow
    return np.sign(x) * np.where(ratio == 0, 0.0, np.where(ratio == 0, 1.0, ratio) ** (p - 1))


def _matrix_slope(x, n, p):
    """Of the norm of order p of the last two axes."""
    if p is None or p in ("fro", "f"):
        return _quotient(x, n)
    if p in (1, -1, np.inf, -np.inf):
        along = -2 if abs(p) == 1 else -1
        sums = np.sum(np.abs(x), axis=along)
        picked = _picked((np.argmax if p > 0 else np.argmin)(sums, axis=-1), np.shape(sums)[-1])
        return np.sign(x) * np.expand_dims(picked, along)
    u, s, vt = vectors("svd", x, full_matrices=False)
    rounding = max(np.shape(x)[-2:]) * np.finfo(float).eps * s[..., :1]
    weights = (s > rounding) * 1.0  # singular values that are zero have a kink there
    if p != "nuc":
        weights = weights * _picked(np.zeros((), int) if p == 2 else np.array(np.shape(s)[-1] - 1), np.shape(s)[-1])
    return (u * weights[..., None, :]) @ vt


# ---- the call's ord and axis -----------------------------------------------------------------------------------------
def _vector(x, out, p, axes):
    """The slope of a vector norm over any axes, in the shape of `x`."""
    count = len(axes)
    last = tuple(range(-count, 0))
    moved = np.moveaxis(x, axes, last)
    lead = np.shape(moved)[: np.ndim(moved) - count]
    slope = _vector_slope(np.reshape(moved, (*lead, -1)), np.reshape(out, (*lead, 1)), p)
    return np.moveaxis(np.reshape(slope, np.shape(moved)), last, axes)


def _matrix(x, out, p, axes):
    moved = np.moveaxis(x, axes, (-2, -1))
    n = np.reshape(out, (*np.shape(moved)[:-2], 1, 1))
    return np.moveaxis(_matrix_slope(moved, n, p), (-2, -1), axes)


def _norm_slope(out, x, ord=None, axis=None, keepdims=False):
    """The slope of numpy.linalg.norm, and the axes it goes over."""
    everything = tuple(range(np.ndim(x)))
    if axis is None and (ord is None or (ord in ("fro", "f") and np.ndim(x) == 2)):
        return _vector(x, out, 2, everything), everything
    axes = everything if axis is None else (axis,) if np.ndim(axis) == 0 else tuple(axis)
    return (_vector if len(axes) == 1 else _matrix)(x, out, ord, axes), axes


def _vector_norm_slope(out, x, /, *, axis=None, keepdims=False, ord=2):
    axes = tuple(range(np.ndim(x))) if axis is None else (axis,) if np.ndim(axis) == 0 else tuple(axis)
    return _vector(x, out, ord, axes), axes


def _matrix_norm_slope(out, x, /, *, keepdims=False, ord="fro"):
    return _matrix(x, out, ord, (-2, -1)), (-2, -1)


def _cond_slope(out, x, p=None):
    if p in (None, 2, -2):
        u, s, vt = vectors("svd", x, full_matrices=False)
        large, small = (s[..., :1], s[..., -1:]) if p != -2 else (s[..., -1:], s[..., :1])
        first = _picked(np.array(0 if p != -2 else np.shape(s)[-1] - 1), np.shape(s)[-1])
        final = _picked(np.array(0 if p == -2 else np.shape(s)[-1] - 1), np.shape(s)[-1])
        _invertible(small)
        return (u * (first / small - final * large / small**2)[..., None, :]) @ vt, (-2, -1)
    _invertible(np.isfinite(out))
    y = np.linalg.inv(x)
    one, other = (np.linalg.norm(m, p, axis=(-2, -1), keepdims=True) for m in (x, y))
    inverse_slope = -cT(y) @ _matrix_slope(y, other, p) @ cT(y)
    return _matrix_slope(x, one, p) * other + one * inverse_slope, (-2, -1)


def _invertible(nonzero):
    if not np.all(nonzero):
        raise np.linalg.LinAlgError("the condition number of a singular matrix is infinite: no derivative exists")


# ---- primitives ------------------------------------------------------------------------------------------------------
def _spread(g, x, axes):
    """A value for each norm, broadcast against `x`."""
    axes = {axis % np.ndim(x) for axis in axes}
    return np.reshape(g, [1 if k in axes else n for k, n in enumerate(np.shape(x))])


def _scalar_of(name, forward, slope, pattern):
    """The Primitive of numbers made of `x` along some axes: `slope` gives the partials and the axes."""

    def reverse(g, out, x, *args, **kwargs):
        if not args and not kwargs and name == "norm" and is_plain(g, x):
            return x / float(out) * g if out else None
        if not np.any(g):
            return None
        partials, axes = slope(out, x, *args, **kwargs)
        return _spread(g, x, axes) * partials

    def tangent(t, out, x, *args, **kwargs):
        partials, axes = slope(out, x, *args, **kwargs)
        return np.reshape(real(np.sum(conj(partials) * t, axis=axes)), np.shape(out))

    return single(f"linalg.{name}", forward, reverse, tangent, pattern)


PRIMITIVES = {
    "linalg.norm": _scalar_of("norm", np.linalg.norm, _norm_slope, reduced(2)),
    "linalg.vector_norm": _scalar_of("vector_norm", np.linalg.vector_norm, _vector_norm_slope, reduced(1)),
    "linalg.matrix_norm": _scalar_of("matrix_norm", np.linalg.matrix_norm, _matrix_norm_slope, None),
    "linalg.cond": _scalar_of("cond", np.linalg.cond, _cond_slope, matrices),
}
