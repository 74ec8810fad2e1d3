# SPDX-License-Identifier: Apache-2.0
"""Compiled linear filters of `scipy.ndimage`: their transposes are filters again, of the flow with zeros around it.

With weights w that begin at offset -m a filter is ``y[i] = sum_k w[k] x[i + k - m]``, so that the flow into x, which
goes beyond its edges, is the convolution of the flow with w; what stands beyond is then added where it was taken from.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import _nd_image as _compiled

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active
from codipy.scipy.kernels.bilinear import Bilinear, Linear
from codipy.scipy.kernels.calls import float_type, on_values, write
from codipy.scipy.kernels.edges import CONSTANT, extended, folded

__all__ = ["LOOPS"]


def _margins(size, origin):
    """How many values beyond both edges a filter of this size reads."""
    return size // 2 + origin, size - size // 2 - 1 - origin


def _along(ndim, axis, margins):
    return [margins if k == axis else (0, 0) for k in range(ndim)]


def _widened(g, axes, sizes):
    """The flow with zeros behind it, as many as its convolution is longer."""
    return np.pad(g, [(0, sizes[axes.index(k)] - 1 if k in axes else 0) for k in range(g.ndim)])


def _origins(sizes):
    """The origins that make a filter begin at its own place: of a convolution."""
    return [(size - 1) // 2 for size in sizes]


# ---- one axis


def _correlate1d(x, weights, axis, mode, cval, origin, dtype):
    made = np.zeros(x.shape, dtype)
    _compiled.correlate1d(x, np.array(weights, float), axis, made, mode, cval, origin)
    return made


def _by_row(g, weights, shape, axis, mode, cval, origin, dtype):
    size = len(weights)
    wide = _widened(np.asarray(g, float), [axis], [size])
    made = np.zeros(wide.shape)
    _compiled.correlate1d(wide, np.array(weights[::-1], float), axis, made, CONSTANT, 0.0, *_origins([size]))
    return folded(made, _along(g.ndim, axis, _margins(size, origin)), mode)


def _by_weights(g, x, shape, axis, mode, cval, origin, dtype):
    wide = np.moveaxis(extended(x, _along(x.ndim, axis, _margins(shape[0], origin)), mode, cval), axis, -1)
    g = np.moveaxis(g, axis, -1)
    return np.array([np.sum(g * wide[..., k:k + g.shape[-1]]) for k in range(shape[0])])


_ROW = Bilinear("scipy.ndimage.correlate1d", _correlate1d, _by_row, _by_weights, {"cval": 0.0}, {"dtype": "float64"})


def _uniform1d(x, size, axis, mode, cval, origin, dtype):
    made = np.zeros(x.shape, dtype)
    _compiled.uniform_filter1d(x, size, axis, made, mode, cval, origin)
    return made


def _by_mean(g, shape, size, axis, mode, cval, origin, dtype):
    wide = _widened(np.asarray(g, float), [axis], [size])
    made = np.zeros(wide.shape)
    _compiled.uniform_filter1d(wide, size, axis, made, CONSTANT, 0.0, *_origins([size]))
    return folded(made, _along(g.ndim, axis, _margins(size, origin)), mode)


_MEAN = Linear("scipy.ndimage.uniform_filter1d", _uniform1d, _by_mean, {"cval": 0.0, "dtype": "float64"})


# ---- all axes: SciPy leaves out weights that are nearly zero, so that those of a tangent are made larger first


def _scaled(weights):
    scale = np.max(np.abs(weights), initial=0.0)
    return (weights, 1.0) if scale == 0.0 else (weights / scale, scale)


def _correlate(x, weights, mode, cval, origins, dtype, is_tangent=False):
    weights, scale = _scaled(weights) if is_tangent else (weights, None)
    made = np.zeros(x.shape, float if scale else dtype)
    _compiled.correlate(x, np.array(weights, float, order="C"), made, mode, cval, list(origins))
    return made * scale if scale else made


def _by_image(g, weights, shape, mode, cval, origins, dtype, is_tangent=False):
    weights, scale = _scaled(weights)
    sizes = weights.shape
    wide = _widened(np.asarray(g, float), list(range(g.ndim)), sizes)
    made = np.zeros(wide.shape)
    _compiled.correlate(wide, np.array(np.flip(weights), float, order="C"), made, CONSTANT, 0.0, _origins(sizes))
    return folded(made, [_margins(*pair) for pair in zip(sizes, origins)], mode) * scale


def _by_kernel(g, x, shape, mode, cval, origins, dtype, is_tangent=False):
    wide = extended(x, [_margins(*pair) for pair in zip(shape, origins)], mode, cval)
    made = np.zeros(shape)
    for place in np.ndindex(*shape):
        made[place] = np.sum(g * wide[tuple(slice(k, k + n) for k, n in zip(place, g.shape))])
    return made


_IMAGE = Bilinear("scipy.ndimage.correlate", _correlate, _by_image, _by_kernel, {"cval": 0.0},
                  {"dtype": "float64", "is_tangent": True})  # fmt: skip


# ---- the loops of these names, which fill an output


def _correlate1d_loop(x, weights, axis, output, mode, cval, origin):
    if not holds_active((x, weights, output)):
        return on_values(_compiled.correlate1d, (x, weights, axis, output, mode, cval, origin))
    options = _options(output, mode, cval, axis=int(axis), origin=int(origin))
    return write(output, _ROW(*map(as_numbers, (x, weights)), **options))


def _uniform1d_loop(x, size, axis, output, mode, cval, origin):
    if not holds_active((x, output)):
        return on_values(_compiled.uniform_filter1d, (x, size, axis, output, mode, cval, origin))
    options = _options(output, mode, cval, axis=int(axis), origin=int(origin), size=int(size))
    return write(output, _MEAN(as_numbers(x), **options))


def _correlate_loop(x, weights, output, mode, cval, origins):
    if not holds_active((x, weights, output)):
        return on_values(_compiled.correlate, (x, weights, output, mode, cval, origins))
    options = _options(output, mode, cval, origins=tuple(map(int, origins)))
    return write(output, _IMAGE(*map(as_numbers, (x, weights)), **options))


def _options(output, mode, cval, **others):
    return {"mode": int(mode), "cval": float(cval), "dtype": float_type("scipy.ndimage", output), **others}


LOOPS = {"correlate1d": _correlate1d_loop, "uniform_filter1d": _uniform1d_loop, "correlate": _correlate_loop}
