# SPDX-License-Identifier: Apache-2.0
"""`scipy.signal.upfirdn`: zeros between the values, a filter, and each so many of its values.

Its transpose is `upfirdn` with both rates exchanged and the filter turned round, and what stands beyond the ends of the
signal is added to the values that it is made of.
"""

from __future__ import annotations

import numpy as np
import scipy.signal

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.scipy.calls import of_active
from codipy.scipy.kernels.bilinear import Bilinear

__all__ = ["FUNCTIONS", "PRODUCTS"]

_ORIGINAL = scipy.signal.upfirdn
_PADDED = {"wrap": "wrap", "edge": "edge", "symmetric": "symmetric", "reflect": "reflect", "antisymmetric": "symmetric"}


def _ends(n, margin, mode):
    """What stands beyond the ends, of a signal of n values: places, places of values and factors."""
    steps = np.arange(1.0, margin + 1.0)
    left, right = margin - np.arange(1, margin + 1), margin + n + np.arange(margin)
    if mode in _PADDED:
        values = np.pad(np.arange(n), margin, _PADDED[mode])
        signs = np.ones(margin)
        if mode == "antisymmetric":
            signs = 1.0 - 2.0 * ((np.arange(margin) // n + 1) % 2)
        return [(left, values[left], signs), (right, values[right], signs)]
    if mode == "antireflect":
        inner = np.arange(1, margin + 1)
        return [(left, 0, 2.0), (left, inner, -1.0), (right, n - 1, 2.0), (right, n - 1 - inner, -1.0)]
    if mode == "smooth":
        return [(left, 0, 1.0 + steps), (left, 1, -steps), (right, n - 1, 1.0 + steps), (right, n - 2, -steps)]
    slopes = steps / (n - 1)  # line
    return [(left, 0, 1.0 + slopes), (left, n - 1, -slopes), (right, n - 1, 1.0 + slopes), (right, 0, -slopes)]


def _extended(x, margin, mode, cval):
    """A signal, of the last axis, with what stands beyond its ends."""
    made = np.full((*x.shape[:-1], x.shape[-1] + 2 * margin), cval if mode == "constant" else 0.0,
                   np.result_type(x, float))
    made[..., margin:made.shape[-1] - margin] = x
    if mode != "constant":
        for places, values, factors in _ends(x.shape[-1], margin, mode):
            values = np.broadcast_to(values, places.shape)
            made[..., places] += x[..., values] * factors
    return made


def _folded(g, n, margin, mode):
    """The transpose of `_extended`."""
    made = np.array(g[..., margin:margin + n])
    if mode != "constant":
        for places, values, factors in _ends(n, margin, mode):
            np.add.at(made, (..., np.broadcast_to(values, places.shape)), g[..., places] * factors)
    return made


def _value(x, h, up, down, axis, mode, cval):
    return _ORIGINAL(h, x, up, down, axis, mode, cval)


def _by_signal(g, h, shape, up, down, axis, mode, cval):
    n, g, h = shape[axis], np.moveaxis(g, axis, -1), np.conj(h)
    margin = (len(h) - 1) // up
    start = len(h) - 1 - margin * up
    turned = np.concatenate([np.zeros(up - start if start else 0), h[::-1]])
    found = _ORIGINAL(turned, g, down, up)[..., 1 if start else 0:][..., :n + 2 * margin]
    lost = n + 2 * margin - found.shape[-1]
    wide = np.concatenate([found, np.zeros((*found.shape[:-1], lost))], axis=-1)
    return np.moveaxis(_folded(wide, n, margin, mode), -1, axis)


def _by_filter(g, x, shape, up, down, axis, mode, cval):
    x, g = np.moveaxis(np.conj(x), axis, -1), np.moveaxis(g, axis, -1)
    margin = (shape[0] - 1) // up
    wide, places = _extended(x, margin, mode, cval), np.arange(g.shape[-1]) * down
    made = np.zeros(shape, np.result_type(g, wide))
    for k in range(shape[0]):
        here = np.nonzero((places - k) % up == 0)[0]
        made[k] = np.sum(g[..., here] * wide[..., (places[here] - k) // up + margin])
    return made


_UPFIRDN = Bilinear("scipy.signal.upfirdn", _value, _by_signal, _by_filter, {"cval": 0.0})


@of_active(_ORIGINAL)
def upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    """Of an active filter or signal."""
    h, x = as_numbers(h), as_numbers(x)
    if holds_active(cval):
        refuse("scipy.signal.upfirdn", "it has derivatives by filter and signal alone: take one of `x - cval`, with a "
               "cval of 0, and add cval times the one of np.ones(len(x)) with a cval of 1")  # fmt: skip
    up, down, axis, mode, cval = value_tree((up, down, axis, mode, cval))
    _ORIGINAL(np.zeros(np.shape(h)), np.zeros(np.shape(x)), up, down, axis, mode, cval)  # or raises what SciPy does
    count, mode = x.shape[axis], mode.lower()
    if mode in ("antisymmetric", "antireflect", "smooth", "line") and (
            count < 2 or mode.startswith("anti") and (len(h) - 1) // int(up) >= count):
        refuse("scipy.signal.upfirdn", f"mode={mode!r} has no derivative where the filter is longer than the signal: "
               "take a longer signal, or extend it with np.pad")  # fmt: skip
    return _UPFIRDN(x, h, up=int(up), down=int(down), axis=int(axis), mode=mode, cval=float(cval))


FUNCTIONS = {"upfirdn": upfirdn}
PRODUCTS = (_UPFIRDN,)
