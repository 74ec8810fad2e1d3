# SPDX-License-Identifier: Apache-2.0
"""B-splines by coefficients and points: their values are a sparse matrix of the points times the coefficients.

With B(x) that matrix, `valued` is B(x) c and `collected` its transpose, B(x)^T g: each is the rule of the other, and
the derivative by the points is that of the next order. Where knots are active, formulas of `knots` stand for it.
"""

from __future__ import annotations

import numpy as np
import scipy.interpolate
import scipy.sparse
from scipy.interpolate import _dierckx as _compiled

try:
    from scipy.interpolate import _bspl as _of_axes  # in SciPy 1.15
except ImportError:
    _of_axes = _compiled

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels import knots
from codipy.scipy.kernels.calls import on_values, refused_loop, write
from codipy.scipy.kernels.exact import with_values_of

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
        return call(_rule(t, k, order, is_turned=False), (as_numbers(c), as_numbers(x)))
    return _basis(t, k, np.ascontiguousarray(value_of(x)), order) @ value_of(c)


def collected(t, k, g, x, order):
    """``B(x)^T g``, of shape (coefficients, curves)."""
    if holds_active((g, x)):
        return call(_rule(t, k, order, is_turned=True), (as_numbers(g), as_numbers(x)))
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


def _evaluate_spline(t, c, k, x, nu, extrapolate, *out):
    if not holds_active((t, c, x)):
        return on_values(_compiled.evaluate_spline, (t, c, k, x, nu, extrapolate, *out))
    return _filled(out, _values(t, c, k, x, nu, extrapolate, with_array=bool(out)))


def _filled(out, values):
    """SciPy 1.15 gives an array to fill, later ones take the values."""
    if not out:
        return values
    write(out[0], values)
    return None


def _values(t, c, k, x, nu, extrapolate, with_array):
    values, k, nu = np.array(value_of(t)), int(k), int(nu)
    points = value_of(x)
    if not extrapolate and not np.all((points >= values[k]) & (points <= values[-k - 1])):
        raise ActiveError(refusal("a B-spline outside of its knots, where it has no value,", "say extrapolate=True"))

    def run(t, c, x):
        c = np.concatenate([c, np.zeros((len(t) - len(c), c.shape[1]))])
        made = [np.empty((len(x), c.shape[1]))] if with_array else []
        found = _compiled.evaluate_spline(t, c, k, np.ascontiguousarray(x), nu, extrapolate, *made)
        return made[0] if made else found

    c = as_numbers(c)[: len(values) - k - 1]
    if holds_active((t,)):
        t, x = as_numbers(t), as_numbers(x)
        return with_values_of("a B-spline", run, (t, c, x), knots.spline(t, k, c, x, nu))
    return call(_rule(values, k, nu, False, lambda c, x: run(values, c, x)), (c, as_numbers(x)))


def _colocated(x, t, k, ab, offset):
    """The values of the basis functions at the points, in the bands of a matrix that SciPy solves with."""
    if not holds_active((x, t)):
        return on_values(_compiled._coloc, (x, t, k, ab, offset))
    k, offset, shape = int(k), int(offset), np.shape(ab)
    x, t = as_numbers(x), as_numbers(t)
    left = knots.pieces(t, k, x)
    rows = knots.matrix(t, k, x, left)
    columns = (left - k)[:, None] + np.arange(k + 1)
    bands = 2 * k + offset + np.arange(len(left))[:, None] - columns

    def run(x, t):
        made = np.zeros(shape)
        _compiled._coloc(np.ascontiguousarray(x), t, k, made, offset)
        return made[columns, bands]

    ab[columns, bands] = with_values_of("the matrix of a B-spline", run, (x, t), rows)
    return None


def _all_bases(t, k, x, left, order=0):
    """The basis functions that are not zero on a piece, or their derivatives, at one point."""
    if not holds_active((t, x)):
        return _compiled.evaluate_all_bspl(*value_tree([t, k, x, left, order]))
    t, k, left, order = as_numbers(t), int(k), int(left), int(order)
    at = np.reshape(as_numbers(x), (1,))
    formula = knots.matrix(t, k, at, np.array([left]), order)[0]
    return with_values_of("the basis of a B-spline", lambda t, x: _compiled.evaluate_all_bspl(
        t, k, float(x[0]), left, order), (t, at), formula)  # fmt: skip


def _interval(t, k, x, *rest):
    if holds_active((t, x)):
        knots.pieces(as_numbers(t), int(k), as_numbers(x))  # for what a tape keeps of it
    return _compiled.find_interval(*value_tree([t, k, x, *rest]))


def _tensor(xi, t, len_t, k, nu, extrapolate, c, count, strides, indices, *out):
    """Products of B-splines along the axes: `NdBSpline`, and grids by cubic splines. For `out` see `_filled`."""
    given = xi, t, len_t, k, nu, extrapolate, c, count, strides, indices
    if not holds_active((xi, t, c)):
        return on_values(_of_axes.evaluate_ndbspline, (*given, *out))
    return _filled(out, _values_of_axes(*given, with_array=bool(out)))


def _values_of_axes(xi, t, len_t, k, nu, extrapolate, c, count, strides, indices, with_array):
    """Values of splines of passive knots."""
    if holds_active((t,)):
        raise ActiveError(refusal("a spline of several axes with active knots", "keep the knots passive, "
                                  "codipy.value(t)"))  # fmt: skip
    plain = [np.array(x) for x in value_tree([t, len_t, k, nu, strides, indices])]
    rows, lengths, degrees, orders, strides, indices = plain
    own = [row[:length] for row, length in zip(rows, lengths)]
    at = value_of(xi)
    if not extrapolate and not all(np.all((x >= row[d]) & (x <= row[-d - 1])) for x, row, d in zip(at.T, own, degrees)):
        raise ActiveError(refusal("a spline of several axes outside of its knots, where it has no value,",
                                  "say extrapolate=True"))  # fmt: skip

    def run(xi, c):
        made = [np.empty((len(xi), count))] if with_array else []
        found = _of_axes.evaluate_ndbspline(np.ascontiguousarray(xi), rows, lengths, degrees, orders, bool(extrapolate),
                                            np.ascontiguousarray(c), count, strides, indices, *made)  # fmt: skip
        return made[0] if made else found

    xi, c = as_numbers(xi), as_numbers(c)
    shape = [size // stride for size, stride in zip([c.size, *strides], strides)]
    formula = knots.tensor(own, list(map(int, degrees)), np.reshape(c, shape), [xi[:, d] for d in range(len(own))],
                           list(map(int, orders)))  # fmt: skip
    return with_values_of("a spline of several axes", run, (xi, c), formula)


FUNCTIONS = {"evaluate_spline": _evaluate_spline, "_coloc": _colocated, "evaluate_all_bspl": _all_bases,
             "find_interval": _interval, "evaluate_ndbspline": _tensor}  # fmt: skip
FUNCTIONS |= {name: refused_loop(name, original, "of splines", "take their values")
              for module in (_compiled, _of_axes) for name, original in vars(module).items()
              if callable(original) and name not in FUNCTIONS and name[0:2] != "__"}  # fmt: skip
_dierckx = module_for(_compiled, FUNCTIONS)
_bspl = module_for(_of_axes, FUNCTIONS)
