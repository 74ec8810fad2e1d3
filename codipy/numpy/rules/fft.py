# SPDX-License-Identifier: Apache-2.0
"""Rules of numpy.fft: every transform is linear, its reverse the conjugate transform with the norm swapped.

The cotangent of a complex number z is dL/dRe(z) + i dL/dIm(z), so that dL = Re(sum(conj(g) * dz)) and a descent step is
``z - t * g``. Real arguments get real cotangents.
"""

import numpy as np

from codipy.active.array import call
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.patterns import along

__all__ = ["PRIMITIVES", "REVERSES"]

_fft = np.fft
REVERSES: dict = {}  # by name, the transposed map: (g, a, *args) -> cotangent of a; shape and kind of a are read
SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


# ---- along one axis: (g, axis, norm, length of the argument, points of the transform) -> cotangent -------------------
def _fit(a, axis, length):
    """Cut or fill up with zeros, as the transforms do; each is the transpose of the other."""
    have = np.shape(a)[axis]
    if have >= length:
        keep = [slice(None)] * np.ndim(a)
        keep[axis] = slice(length)
        return a[tuple(keep)]
    more = list(np.shape(a))
    more[axis] = length - have
    return np.concatenate([a, np.zeros(more, a.dtype)], axis=axis)


def _weighted(a, axis, points, inside):
    """The coefficients that stand for two, k and points - k, times `inside`."""
    count = np.shape(a)[axis]
    k = np.arange(count)
    weights = np.where((k == 0) | (2 * k == points), 1.0, inside)
    return a * np.reshape(weights, [-1 if i == axis % np.ndim(a) else 1 for i in range(np.ndim(a))])


def _fft_bar(g, axis, norm, length, points):
    return _fit(_fft.ifft(g, axis=axis, norm=SWAPPED[norm]), axis, length)


def _ifft_bar(g, axis, norm, length, points):
    return _fit(_fft.fft(g, axis=axis, norm=SWAPPED[norm]), axis, length)


def _rfft_bar(g, axis, norm, length, points):
    return _fit(_fft.irfft(_weighted(g, axis, points, 0.5), points, axis, SWAPPED[norm]), axis, length)


def _irfft_bar(g, axis, norm, length, points):
    return _fit(_weighted(_fft.rfft(g, axis=axis, norm=SWAPPED[norm]), axis, points, 2.0), axis, length)


def _hfft_bar(g, axis, norm, length, points):
    """As hfft(a, norm) is irfft(conj(a), swapped norm)."""
    return np.conj(_irfft_bar(g, axis, SWAPPED[norm], length, points))


def _ihfft_bar(g, axis, norm, length, points):
    """As ihfft(a, norm) is conj(rfft(a, swapped norm))."""
    return _rfft_bar(np.conj(g), axis, SWAPPED[norm], length, points)


# ---- primitives ------------------------------------------------------------------------------------------------------
def _real_if(bar, a):
    return bar if np.iscomplexobj(a) else np.real(bar)


def _one(name, bar):
    """The Primitive of a transform along one axis."""
    forward = getattr(_fft, name)

    def reverse(g, a, n=None, axis=-1, norm=None):
        length = np.shape(a)[axis]
        points = np.shape(g)[axis] if name in ("irfft", "hfft") else length if n is None else n
        return _real_if(bar(g, axis, norm, length, points), a)

    return _linear(name, forward, reverse, along(2))


def _sizes(a, s, axes):
    """The axes, and the number of points along each of them that `s` asks for."""
    if axes is None:
        axes = range(-np.ndim(a) if s is None else -len(s), 0)
    asked = [None] * len(axes) if s is None else s
    return list(axes), [np.shape(a)[k] if n in (None, -1) else n for n, k in zip(asked, axes)]


def _several(name, others, last, default=None):
    """The Primitive of a transform along several axes: `last` is the rule of the last one, `others` of those before."""
    forward = getattr(_fft, name)

    def reverse(g, a, s=None, axes=default, norm=None):
        axes, sizes = _sizes(a, s, axes)
        steps = list(zip([others] * (len(axes) - 1) + [last], axes, sizes))
        if last is _irfft_bar:  # what ends real was made so last
            steps.reverse()
        bar = g
        for rule, axis, points in steps:
            points = np.shape(g)[axis] if rule is _irfft_bar else points
            bar = rule(bar, axis, norm, np.shape(a)[axis], points)
        return _real_if(bar, a)

    return _linear(name, forward, reverse, along(2, default, "axes"))


def _linear(name, forward, reverse, pattern):
    """A primitive that keeps nothing: the tangent is the transform of the tangent."""

    def again(gg, out, args, kwargs, argnums):
        return [forward(gg, *args[2:], **kwargs)]

    def pushed(tangents, out, args, kwargs):
        return reverse(tangents[0], *args[1:], **kwargs)

    REVERSES[f"fft.{name}"] = reverse
    transposed = Primitive(f"fft.{name} (reverse)", reverse, again, pushed, keep_args=False, keep_out=False)

    def vjp(g, out, args, kwargs, argnums):
        if is_plain(g):
            return [reverse(g, *args, **kwargs)]
        return [call(transposed, (g, np.zeros(np.shape(args[0])), *args[1:]), kwargs)]

    def jvp(tangents, out, args, kwargs):
        return forward(tangents[0], *args[1:], **kwargs)

    return Primitive(f"fft.{name}", forward, vjp, jvp, keep_args=False, keep_out=False, pattern=pattern)


PLANE = (-2, -1)
_ALL = [
    _one("fft", _fft_bar),
    _one("ifft", _ifft_bar),
    _one("rfft", _rfft_bar),
    _one("irfft", _irfft_bar),
    _one("hfft", _hfft_bar),
    _one("ihfft", _ihfft_bar),
    _several("fft2", _fft_bar, _fft_bar, PLANE),
    _several("ifft2", _ifft_bar, _ifft_bar, PLANE),
    _several("rfft2", _fft_bar, _rfft_bar, PLANE),
    _several("irfft2", _ifft_bar, _irfft_bar, PLANE),
    _several("fftn", _fft_bar, _fft_bar),
    _several("ifftn", _ifft_bar, _ifft_bar),
    _several("rfftn", _fft_bar, _rfft_bar),
    _several("irfftn", _ifft_bar, _irfft_bar),
]
PRIMITIVES = {primitive.name: primitive for primitive in _ALL}
