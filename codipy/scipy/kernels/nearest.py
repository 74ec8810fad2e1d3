# SPDX-License-Identifier: Apache-2.0
"""Splines nearest to values, `scipy.interpolate.make_lsq_spline`, by values, points, knots and weights."""

from __future__ import annotations

import functools

import numpy as np
from scipy.interpolate import _bsplines

from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.scipy.kernels import knots
from codipy.scipy.kernels.exact import with_values, with_values_of

__all__ = ["FUNCTIONS"]

_ORIGINAL = _bsplines._lsq_solve_qr


@functools.wraps(_ORIGINAL)
def _lsq_solve_qr(x, y, t, k, w, *args, **kwargs):
    """The factors that stand beside the coefficients are active, so that the loops that read them refuse them."""
    found = _ORIGINAL(*value_tree([x, y, t, k, w, *args]), **kwargs)
    if not holds_active((x, y, t, w)):
        return found
    if any(args) or kwargs.get("periodic"):
        raise ActiveError(refusal("a periodic spline near values", "take make_interp_spline(bc_type='periodic')"))
    operands = tuple(map(as_numbers, (x, y, t, w)))
    x, y, t, w = operands
    c = with_values_of("a spline near values", lambda x, y, t, w: _ORIGINAL(x, y, t, k, w)[2], operands,
                       knots.fitted(t, int(k), x, y, w))  # fmt: skip
    mark = np.sum(y * w[:, None]) + np.sum(x) + np.sum(t)
    beside = found[1], *found[3:]
    rest = [with_values("a factor of a spline", mark + np.zeros(np.shape(part)), part) for part in beside]
    return found[0], rest[0], c, *rest[1:]


FUNCTIONS = {"_lsq_solve_qr": _lsq_solve_qr}
