# SPDX-License-Identifier: Apache-2.0
"""B-splines by coefficients and points: their values are a sparse matrix of the points times the coefficients.

With B(x) that matrix, `valued` is B(x) c and `collected` its transpose, B(x)^T g: each is the rule of the other, and
the derivative by the points is that of the next order.
"""

from __future__ import annotations

import numpy as np
import scipy.interpolate
import scipy.sparse
from scipy.interpolate import _dierckx as _compiled

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import refused_loop

__all__ = ["FUNCTIONS", "collected", "valued"]


def _basis(t, k, x, order):
    """The matrix of the derivatives of this order, with columns for the coefficients."""
    count = len(t) - k - 1
    if order > k:
        return scipy.sparse.csr_array((len(x), count))
    change = scipy.sparse.eye_array(count, format="csr")
    for _ in range(order):
        steps = t[k + 1:-1] - t[1:-k - 1]
        if np.any(steps == 0.0):
            raise ActiveError(refusal("the derivative of a B-spline with repeated knots", "take knots that differ"))
        differences = scipy.sparse.diags_array([-k / steps, k / steps], offsets=[0, 1],
                                               shape=(len(steps), len(steps) + 1))  # fmt: skip
        change, t, k = differences @ change, t[1:-1], k - 1
    return scipy.interpolate.BSpline.design_matrix(x, t, k, extrapolate=True) @ change


def valued(t, k, c, x, order):
    """``B(x) c``, of shape (points, curves), beyond the knots too."""
    if holds_active((c, x)):
        return call(_rule(t, k, order, is_turned=False), (asarray(c), asarray(x)))
    return _basis(t, k, np.ascontiguousarray(value_of(x)), order) @ value_of(c)


def collected(t, k, g, x, order):
    """``B(x)^T g``, of shape (coefficients, curves)."""
    if holds_active((g, x)):
        return call(_rule(t, k, order, is_turned=True), (asarray(g), asarray(x)))
    return _basis(t, k, np.ascontiguousarray(value_of(x)), order).T @ value_of(g)


def _rule(t, k, order, is_turned, forward=None):
    apply, turn = (collected, valued) if is_turned else (valued, collected)

    def vjp(g, out, args, kwargs, argnums):
        operand, x = args
        bars = []
        for place in argnums:
            if place == 0:
                bars.append(turn(t, k, g, x, order))
            elif is_turned:
                bars.append(np.sum(operand * valued(t, k, g, x, order + 1), axis=1))
            else:
                bars.append(np.sum(g * valued(t, k, operand, x, order + 1), axis=1))
        return bars

    def jvp(tangents, out, args, kwargs):
        operand, x = args
        found = 0.0
        if 0 in tangents:
            found = apply(t, k, tangents[0], x, order)
        if 1 in tangents:
            moved = np.reshape(tangents[1], (-1, 1))
            found = found + (collected(t, k, operand * moved, x, order + 1) if is_turned
                             else valued(t, k, operand, x, order + 1) * moved)  # fmt: skip
        return found

    return Primitive("scipy.interpolate B-spline", forward or (lambda c, x: apply(t, k, c, x, order)), vjp, jvp,
                     linear=(0,))  # fmt: skip


def _evaluate_spline(t, c, k, x, nu, extrapolate):
    if holds_active((t,)):
        raise ActiveError(refusal("a B-spline with active knots", "keep the knots passive, codipy.value(t), or take "
                                  "CubicSpline(x, y), which has derivatives by x"))  # fmt: skip
    if not holds_active((c, x)):
        plain = value_tree([t, c, k, x, nu, extrapolate])
        return _compiled.evaluate_spline(*plain)
    t, k, nu = np.array(value_of(t)), int(k), int(nu)
    points = value_of(x)
    if not extrapolate and not np.all((points >= t[k]) & (points <= t[-k - 1])):
        raise ActiveError(refusal("a B-spline outside of its knots, where it has no value,", "say extrapolate=True"))

    def forward(c, x):
        c = np.concatenate([c, np.zeros((len(t) - len(c), c.shape[1]))])
        return _compiled.evaluate_spline(t, c, k, np.ascontiguousarray(x), nu, extrapolate)

    return call(_rule(t, k, nu, False, forward), (asarray(c)[: len(t) - k - 1], asarray(x)))


FUNCTIONS = {"evaluate_spline": _evaluate_spline}
FUNCTIONS |= {name: refused_loop(name, original, "of splines", "take their values")
              for name, original in vars(_compiled).items()
              if callable(original) and name not in FUNCTIONS and name[0:2] != "__"}  # fmt: skip
_dierckx = module_for(_compiled, FUNCTIONS)
