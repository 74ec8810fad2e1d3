# SPDX-License-Identifier: Apache-2.0
"""Values of splines by FITPACK, `scipy.interpolate.splev`, by coefficients and points."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import _dfitpack as _compiled

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.bsplines import collected, valued

__all__ = ["FUNCTIONS"]

_ZERO, _CLAMPED = 1, 3  # what stands beyond the knots


def _spline(t, k, order, beyond, run):
    """The Primitive of the values of a spline, or of its derivative."""
    low, high = t[k], t[len(t) - k - 1]

    def met(x):
        """The points where there is a value, and which of them move it."""
        values = value_of(x)
        inside = (values >= low) & (values <= high)
        counts = inside if beyond == _ZERO else np.ones(len(values), bool)
        return (np.clip(x, low, high) if beyond == _CLAMPED else x), counts, inside if beyond == _CLAMPED else counts

    def vjp(g, out, args, kwargs, argnums):
        c, x = args
        x, counts, moves = met(x)
        bars = []
        for place in argnums:
            if place == 0:
                bars.append(collected(t, k, np.where(counts, g, 0.0)[:, None], x, order)[:, 0])
            else:
                bars.append(np.where(moves, g * valued(t, k, c[:, None], x, order + 1)[:, 0], 0.0))
        return bars

    def jvp(tangents, out, args, kwargs):
        c, x = args
        x, counts, moves = met(x)
        found = 0.0
        if 0 in tangents:
            found = np.where(counts, valued(t, k, tangents[0][:, None], x, order)[:, 0], 0.0)
        if 1 in tangents:
            found = found + np.where(moves, valued(t, k, c[:, None], x, order + 1)[:, 0] * tangents[1], 0.0)
        return found

    def forward(c, x):
        return run(t, np.append(c, np.zeros(len(t) - len(c))), k, x)[0]

    return Primitive("scipy.interpolate spline", forward, vjp, jvp, linear=(0,))


def _valued(name, has_order):
    original = getattr(_compiled, name)

    def function(t, c, k, x, *rest):
        plain = value_tree([t, c, k, x, *rest])
        if holds_active((t,)):
            raise ActiveError(refusal("a spline with active knots", "keep the knots passive, codipy.value(t)"))
        if not holds_active((c, x)):
            return original(*map(_own, plain))
        error = original(*map(_own, plain))[1]
        order, beyond = rest if has_order else (0, *rest)
        t, k = np.array(plain[0]), int(k)
        rule = _spline(t, k, int(order), int(beyond), lambda t, c, k, x: original(t, c, k, np.array(x), *rest))
        return call(rule, (asarray(c)[: len(t) - k - 1], asarray(x))), error

    return function


def _own(x):
    return np.array(x) if isinstance(x, np.ndarray) else x


FUNCTIONS = {"splev": _valued("splev", False), "splder": _valued("splder", True)}
_dfitpack = module_for(_compiled, FUNCTIONS)
