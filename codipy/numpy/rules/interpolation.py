# SPDX-License-Identifier: Apache-2.0
"""Piecewise linear interpolation.

Conventions: at a knot the slope is that of the interval to the right, at the last knot that of the last
interval; outside, the derivative goes to the end value, or to `left` and `right` if they are given.
"""

import numpy as np

from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.rules.building import Picks, is_plain, primitive, selected, widened
from codipy.numpy.rules.patterns import same
from codipy.tape.records.loops import interpolated_back

__all__ = ["PRIMITIVES"]


class _Intervals:
    """Where each x of `numpy.interp` lies: its interval, the share of the way through it, the slope there."""

    def __init__(self, x, xp, fp, left, right, period):
        x, xp, fp = map(widened, (x, xp, fp))
        source = np.arange(xp.size)
        self.shape = np.shape(x)
        x = np.reshape(x, -1)
        if period is not None:
            period = abs(period)
            left = right = None
            x, xp = x % period, xp % period
            source = np.argsort(xp)
            xp, source = xp[source], np.concatenate((source[-1:], source, source[:1]))
            xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
            fp = fp[source]
        n = xp.size
        below, above = x < xp[0], x > xp[-1]
        k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
        k1 = np.minimum(k + 1, n - 1)
        width = np.where(k1 > k, xp[k1] - xp[k], 1.0)
        inside = ~(below | above)
        self.x_slope = np.where(inside, (fp[k1] - fp[k]) / width, 0.0)
        share = np.where(inside, (x - xp[k]) / width, np.where(above, 1.0, 0.0))
        self.low, self.high = source[k], source[k1]
        self.left = (below if left is not None else np.zeros(x.shape, bool)) * 1.0
        self.right = (above if right is not None else np.zeros(x.shape, bool)) * 1.0
        if n == 1:
            share = np.zeros(x.shape)
        passed = 1.0 - self.left - self.right
        self.low_weight, self.high_weight = passed * (1.0 - share), passed * share

    def values(self, shape):
        """The map from fp to the result."""
        return Picks(shape, (self.low, self.low_weight), (self.high, self.high_weight))

    def knots(self, shape):
        """The map from xp to the result: a knot that moves to the right lowers a rising line."""
        return Picks(shape, (self.low, -self.x_slope * self.low_weight), (self.high, -self.x_slope * self.high_weight))


def _interp(x, xp, fp, left=None, right=None, period=None):
    """`numpy.interp`, which takes a complex number for an end as Python's alone: of others it drops a part."""
    left, right = (end[()] if isinstance(end, np.ndarray) else end for end in (left, right))
    if any(np.iscomplexobj(end) and not isinstance(end, complex) for end in (left, right)):
        raise ActiveError(refusal("np.interp with an end in complex64, of which NumPy drops the imaginary part,",
                                  "write complex(left), complex(right)"))  # fmt: skip
    if period is not None and (np.iscomplexobj(x) or np.iscomplexobj(xp)):
        raise ActiveError(refusal("np.interp of complex points with a period, which drops imaginary parts,",
                                  "write x.real"))  # fmt: skip
    return np.interp(x, xp, fp, left, right, period)


def _interp_rule(rule):
    def placed(g, out, x, xp, fp, left=None, right=None, period=None):
        return rule(g, _Intervals(x, xp, fp, left, right, period), xp.shape)

    return placed


def _flat(g):
    return np.reshape(g, -1)


def _interp_vjp_x(g, out, x, xp, fp, left=None, right=None, period=None):
    if period is None and xp.size > 1 and is_plain(g, x, xp, fp):
        found = interpolated_back(np.ascontiguousarray(g), x, xp, fp)
        if found is not None:
            return found.reshape(x.shape)
    at = _Intervals(x, xp, fp, left, right, period)
    return np.reshape(selected(_flat(g), at.x_slope), at.shape)


_INTERP_VJPS = {
    0: _interp_vjp_x,
    1: _interp_rule(lambda g, at, shape: at.knots(shape).reverse(_flat(g))),
    2: _interp_rule(lambda g, at, shape: at.values(shape).reverse(_flat(g))),
    3: _interp_rule(lambda g, at, shape: np.sum(_flat(g) * at.left)),
    4: _interp_rule(lambda g, at, shape: np.sum(_flat(g) * at.right)),
}

_INTERP_JVPS = {
    0: _interp_rule(lambda t, at, shape: np.reshape(selected(_flat(t), at.x_slope), at.shape)),
    1: _interp_rule(lambda t, at, shape: np.reshape(at.knots(shape).forward(t), at.shape)),
    2: _interp_rule(lambda t, at, shape: np.reshape(at.values(shape).forward(t), at.shape)),
    3: _interp_rule(lambda t, at, shape: np.reshape(t * at.left, at.shape)),
    4: _interp_rule(lambda t, at, shape: np.reshape(t * at.right, at.shape)),
}

PRIMITIVES = {"interp": primitive("interp", _interp, _INTERP_VJPS, _INTERP_JVPS, keep_out=False, pattern=same(0),
                                  linear=(2,))}
