# SPDX-License-Identifier: Apache-2.0
"""Convolutions and correlations of `scipy.signal`: SciPy's own functions are the values and, turned, the rules.

Rejected: to rebuild them, of which each transform, product and slice would be recorded by itself.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.signal

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, holds_variables, refuse, value_tree
from codipy.scipy.kernels.bilinear import Bilinear

__all__ = ["FUNCTIONS", "PRODUCTS"]

_signal = scipy.signal


def _turned(x, axes=None):
    """The array in reversed order along axes."""
    return np.flip(np.asarray(x), axes)


def _whole(g, *shapes, axes=None):
    """The flow through all of the convolution, of which a mode takes the middle."""
    full = [n + m - 1 if axes is None or k in axes else max(n, m) for k, (n, m) in enumerate(zip(*shapes))]
    before = [(n - m) // 2 for n, m in zip(full, g.shape)]
    return np.pad(g, [(k, n - m - k) for k, n, m in zip(before, full, g.shape)])


def _gathered(found, shape):
    """Sums over the axes along which an argument of this shape was broadcast."""
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and found.shape[k] != 1)
    return np.sum(found, axes, keepdims=True) if axes else found


# ---- convolve, correlate: `turned` is the method of the rules, the one that SciPy chose for the values


def _convolved(x, w, mode, method, turned):
    return _signal.convolve(x, w, mode, method)


def _correlated(x, w, mode, method, turned):
    return _signal.correlate(x, w, mode, method)


def _by_either(g, w, shape, mode, method, turned):
    return _signal.correlate(_whole(g, shape, w.shape), w, "valid", turned)


def _correlated_by_first(g, w, shape, mode, method, turned):
    return _signal.convolve(_whole(g, shape, w.shape), w, "valid", turned)


def _correlated_by_second(g, x, shape, **options):
    return np.conj(_turned(_by_either(g, x, shape, **options)))


_CONVOLVE = Bilinear("scipy.signal.convolve", _convolved, _by_either, _by_either)
_CORRELATE = Bilinear("scipy.signal.correlate", _correlated, _correlated_by_first, _correlated_by_second)


# ---- fftconvolve, oaconvolve


def _transformed(function):
    def by_either(g, w, shape, mode, axes):
        along = range(g.ndim) if axes is None else [k % g.ndim for k in np.atleast_1d(axes)]
        found = function(_whole(g, shape, w.shape, axes=along), np.conj(_turned(w, tuple(along))), "valid", axes)
        return _gathered(found, shape)

    return Bilinear(f"scipy.signal.{function.__name__}", function, by_either, by_either)


def _plain(x):
    return x.value if hasattr(type(x), "is_active") else value_tree(x)


def _function(original, product, finish=lambda x, w, options: options):
    """What is called in the place of a function of SciPy."""
    name = f"scipy.signal.{original.__name__}"

    @functools.wraps(original)
    def function(in1, in2, mode="full", *args, **kwargs):
        if holds_active(args) or holds_active(kwargs):
            refuse(name, "it has derivatives by its two arrays alone: say codipy.value(x) of the others")
        if not holds_variables((in1, in2)):
            return original(_plain(in1), _plain(in2), mode, *args, **kwargs)
        x, w = as_numbers(in1), as_numbers(in2)
        values = np.asarray(_plain(x)), np.asarray(_plain(w))
        original(*map(np.zeros_like, values), mode, *args, **kwargs)  # or raises
        if np.ndim(x) == 0:
            return x * w
        return product(x, w, **finish(*values, {"mode": mode, **_given(original, args, kwargs)}))

    return function


def _given(original, args, kwargs):
    """The arguments after the mode, by name."""
    names = original.__code__.co_varnames[3:original.__code__.co_argcount]
    return {**dict(zip(names, original.__defaults__[1:])), **dict(zip(names, args)), **kwargs}


def _method(x, w, options):
    """The options, with the method that SciPy chooses."""
    mode, method = options["mode"], options["method"]
    if method == "auto":
        is_small = mode == "valid" and any(n < m for n, m in zip(x.shape, w.shape))
        method = _signal.choose_conv_method(*((w, x) if is_small else (x, w)), mode)
    return {**options, "turned": method}


def _axes(x, w, options):
    if options["axes"] is not None:
        options["axes"] = tuple(int(k) for k in np.atleast_1d(options["axes"]))
    return options


# ---- two axes, with boundaries

_EDGES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric", "circular": "wrap", "symmetric": "symmetric"}


def _starts(shape, width, mode, is_turned):
    """For each axis of an image where the result begins in that of mode full."""
    if mode == "full":
        return [0] * len(shape)
    return [m - 1 if mode == "valid" else m // 2 if is_turned else (m - 1) // 2 for m in width]


def _extended(x, width, boundary, fillvalue):
    """The image with what stands around it."""
    how = _EDGES[boundary]
    constant = {"constant_values": fillvalue} if how == "constant" else {}
    return np.pad(x, [(m - 1, m - 1) for m in width], how, **constant)


def _folded(g, shape, width, boundary):
    """The transpose of `_extended`."""
    if boundary == "fill":
        return g[tuple(slice(m - 1, m - 1 + n) for n, m in zip(shape, width))]
    if np.iscomplexobj(g):
        return _folded(g.real, shape, width, boundary) + 1j * _folded(g.imag, shape, width, boundary)
    places = _extended(np.arange(np.prod(shape)).reshape(shape), width, boundary, 0)
    return np.bincount(places.ravel(), g.ravel(), int(np.prod(shape))).reshape(shape)


def _placed(g, shape, width, mode, is_turned):
    """The flow in that of mode full."""
    starts = _starts(shape, width, mode, is_turned)
    return np.pad(g, [(k, n + m - 1 - k - count) for k, n, m, count in zip(starts, shape, width, g.shape)])


def _image_rules(is_turned):
    """Those of a convolution, or of a correlation, which has the weights turned round."""

    def by_first(g, w, shape, mode, boundary, fillvalue):
        w = np.conj(_turned(w)) if is_turned else w
        wide = _signal.correlate2d(_placed(g, shape, w.shape, mode, is_turned), w, "full")
        return _folded(wide, shape, w.shape, boundary)

    def by_second(g, x, shape, mode, boundary, fillvalue):
        wide = _extended(x, shape, boundary, fillvalue)
        found = _signal.correlate2d(wide, _placed(g, x.shape, shape, mode, is_turned), "valid")
        return found if is_turned else np.conj(_turned(found))

    return by_first, by_second


def _image_product(original, is_turned):
    by_first, by_second = _image_rules(is_turned)
    return Bilinear(f"scipy.signal.{original.__name__}", original, by_first, by_second, {"fillvalue": 0.0})


def _of_images(original, product, is_turned):
    plainly = _function(original, product)

    @functools.wraps(original)
    def function(in1, in2, mode="full", boundary="fill", fillvalue=0):
        shapes = np.shape(in1), np.shape(in2)
        if mode != "valid" or len(shapes[0]) != 2 or all(n >= m for n, m in zip(*shapes)):
            return plainly(in1, in2, mode, boundary, fillvalue)
        found = plainly(in2, in1, mode, boundary, fillvalue)  # SciPy exchanges them
        return found[::-1, ::-1] if is_turned else found

    return function


_FFT, _OVERLAPPING = map(_transformed, (_signal.fftconvolve, _signal.oaconvolve))
_IMAGE, _TURNED = _image_product(_signal.convolve2d, False), _image_product(_signal.correlate2d, True)
PRODUCTS = _CONVOLVE, _CORRELATE, _FFT, _OVERLAPPING, _IMAGE, _TURNED
FUNCTIONS = {
    "convolve": _function(_signal.convolve, _CONVOLVE, _method),
    "correlate": _function(_signal.correlate, _CORRELATE, _method),
    "fftconvolve": _function(_signal.fftconvolve, _FFT, _axes),
    "oaconvolve": _function(_signal.oaconvolve, _OVERLAPPING, _axes),
    "convolve2d": _of_images(_signal.convolve2d, _IMAGE, is_turned=False),
    "correlate2d": _of_images(_signal.correlate2d, _TURNED, is_turned=True),
}
