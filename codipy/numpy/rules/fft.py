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

__all__ = ["PRIMITIVES", "REVERSES", "SWAPPED", "fit", "reverses"]

SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


# ---- along one axis: (g, axis, norm, length of the argument, points of the transform) -> cotangent -------------------
def fit(a, axis, length):
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


def _bars(of):
    def fft(g, axis, norm, length, points):
        return fit(of.ifft(g, axis=axis, norm=SWAPPED[norm]), axis, length)

    def ifft(g, axis, norm, length, points):
        return fit(of.fft(g, axis=axis, norm=SWAPPED[norm]), axis, length)

    def rfft(g, axis, norm, length, points):
        return fit(of.irfft(_weighted(g, axis, points, 0.5), points, axis, SWAPPED[norm]), axis, length)

    def irfft(g, axis, norm, length, points):
        return fit(_weighted(of.rfft(g, axis=axis, norm=SWAPPED[norm]), axis, points, 2.0), axis, length)

    def hfft(g, axis, norm, length, points):
        """As hfft(a, norm) is irfft(conj(a), swapped norm)."""
        return np.conj(irfft(g, axis, SWAPPED[norm], length, points))

    def ihfft(g, axis, norm, length, points):
        """As ihfft(a, norm) is conj(rfft(a, swapped norm))."""
        return rfft(np.conj(g), axis, SWAPPED[norm], length, points)

    return {function.__name__: function for function in (fft, ifft, rfft, irfft, hfft, ihfft)}


# ---- transforms ------------------------------------------------------------------------------------------------------
def _real_if(bar, a):
    return bar if np.iscomplexobj(a) else np.real(bar)


def _one(bar, reads_result):
    """The transposed map of a transform along one axis; its points may be those of the result."""

    def reverse(g, a, n=None, axis=-1, norm=None):
        length = np.shape(a)[axis]
        points = np.shape(g)[axis] if reads_result else length if n is None else n
        return _real_if(bar(g, axis, norm, length, points), a)

    return reverse


def _sizes(a, s, axes):
    """The axes, and the number of points along each of them that `s` asks for."""
    if axes is None:
        axes = range(-np.ndim(a) if s is None else -len(s), 0)
    asked = [None] * len(axes) if s is None else s
    return list(axes), [np.shape(a)[k] if n in (None, -1) else n for n, k in zip(asked, axes)]


def _several(others, last, reads_result, default=None):
    """That of one along several axes: `last` is the rule of the last one, `others` of those before."""

    def reverse(g, a, s=None, axes=default, norm=None):
        axes, sizes = _sizes(a, s, axes)
        steps = list(zip([others] * (len(axes) - 1) + [last], axes, sizes))
        if reads_result:  # what ends real was made so last
            steps.reverse()
        bar = g
        for rule, axis, points in steps:
            points = np.shape(g)[axis] if rule is last and reads_result else points
            bar = rule(bar, axis, norm, np.shape(a)[axis], points)
        return _real_if(bar, a)

    return reverse


PLANE = (-2, -1)
# By the transform of the last axis that of those before it.
_OTHERS = {"fft": "fft", "ifft": "ifft", "rfft": "fft", "irfft": "ifft", "hfft": "fft", "ihfft": "ifft"}


def reverses(of):
    """By the name of each transform the transposed map, ``reverse(g, a, n or s, axis or axes, norm)``.

    Parameters
    ----------
    of : object
        Has the functions ``fft``, ``ifft``, ``rfft`` and ``irfft``, of NumPy's arguments.

    Returns
    -------
    dict
        The maps give the cotangent of `a`, of which shape and kind are read.
    """
    bars, found = _bars(of), {}
    for name, other in _OTHERS.items():
        ends_real = name in ("irfft", "hfft")
        found[name] = _one(bars[name], ends_real)
        found[f"{name}2"] = _several(bars[other], bars[name], ends_real, PLANE)
        found[f"{name}n"] = _several(bars[other], bars[name], ends_real)
    return found


# ---- primitives ------------------------------------------------------------------------------------------------------
def _linear(name, reverse):
    """A primitive that keeps nothing: the tangent is the transform of the tangent."""
    forward = getattr(np.fft, name)

    def again(gg, out, args, kwargs, argnums):
        return [forward(gg, *args[2:], **kwargs)]

    def pushed(tangents, out, args, kwargs):
        return reverse(tangents[0], *args[1:], **kwargs)

    transposed = Primitive(f"fft.{name} (reverse)", reverse, again, pushed, keep_args=False, keep_out=False)

    def vjp(g, out, args, kwargs, argnums):
        if is_plain(g):
            return [reverse(g, *args, **kwargs)]
        return [call(transposed, (g, np.zeros(np.shape(args[0])), *args[1:]), kwargs)]

    def jvp(tangents, out, args, kwargs):
        return forward(tangents[0], *args[1:], **kwargs)

    pattern = along(2) if name[-1] == "t" else along(2, PLANE if name[-1] == "2" else None, "axes")
    return Primitive(f"fft.{name}", forward, vjp, jvp, keep_args=False, keep_out=False, pattern=pattern)


REVERSES = {f"fft.{name}": reverse for name, reverse in reverses(np.fft).items() if hasattr(np.fft, name)}
PRIMITIVES = {name: _linear(name.removeprefix("fft."), reverse) for name, reverse in REVERSES.items()}
