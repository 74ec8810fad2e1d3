# SPDX-License-Identifier: Apache-2.0
"""Loops over piecewise polynomials: `scipy.interpolate.PPoly`, and with it cubic splines, by coefficients and points.

A polynomial is linear in its coefficients, and its derivative by a point is the polynomial's own. A breakpoint shifts
the polynomial after it: the derivative is minus that.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy.interpolate import _ppoly as _compiled

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, holds_variables, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.modules import module_for
from codipy.numpy.primitive import Primitive
from codipy.scipy.kernels.calls import demand_real, on_values, refused_loop, write
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS"]


def _places(x, points, extrapolate):
    """The interval of each point, and whether there is a value."""
    x, points = value_of(x), value_of(points)
    if x[-1] < x[0]:
        raise ActiveError(refusal("a piecewise polynomial with breakpoints that decrease",
                                  "turn them round: PPoly(c[:, ::-1], x[::-1]) of coefficients for increasing ones"))
    found = np.clip(np.searchsorted(x, points, "right") - 1, 0, len(x) - 2)
    inside = ~np.isnan(points)
    return found, inside if extrapolate else inside & (points >= x[0]) & (points <= x[-1])


def _factor(power, order):
    """Of the derivative of s**power: order times down."""
    return float(np.prod(np.arange(power, power - order, -1.0))) if power >= order else 0.0


def _evaluated(c, x, points, order, extrapolate):
    """Values of derivatives of this order, of shape (points, curves)."""
    if holds_active((c, x, points)):
        return call(_evaluation(order, extrapolate), tuple(map(as_numbers, (c, x, points))))
    plain = [np.ascontiguousarray(value_of(part), dtype=float) for part in (c, x, points)]
    out = np.empty((len(plain[2]), plain[0].shape[2]))
    _compiled.evaluate(*plain, order, extrapolate, out)
    return out


def _evaluation(order, extrapolate):
    def slope(c, x, points, inside):
        found = _evaluated(c, x, points, order + 1, True)
        return np.where(inside[:, None], found, 0.0)

    def vjp(g, out, args, kwargs, argnums):
        c, x, points = args
        found, inside = _places(x, points, extrapolate)
        g = np.where(inside[:, None], g, 0.0)
        by_point = np.sum(g * slope(c, x, points, inside), axis=1) if {1, 2} & set(argnums) else None
        bars = []
        for k in argnums:
            if k == 0:
                bars.append(_by_coefficients(g, c, np.where(inside, points - x[found], 0.0), found))
            else:
                bars.append(by_point if k == 2 else np.bincount(found, -by_point, len(x)))
        return bars

    def _by_coefficients(g, c, s, found):
        count, intervals, curves = np.shape(c)
        flat = (found[:, None] * curves + np.arange(curves)).ravel()
        rows = []
        for power in range(count - 1, -1, -1):
            if power < order:
                rows.append(np.zeros((intervals, curves)))
                continue
            weights = _factor(power, order) * (s ** (power - order) if power > order else np.ones(len(found)))
            rows.append(np.reshape(np.bincount(flat, np.reshape(g * weights[:, None], -1), intervals * curves),
                                   (intervals, curves)))  # fmt: skip
        return np.stack(rows)

    def jvp(tangents, out, args, kwargs):
        c, x, points = args
        found, inside = _places(x, points, extrapolate)
        total = 0.0
        if 0 in tangents:
            total = np.where(inside[:, None], _evaluated(tangents[0], x, points, order, True), 0.0)
        if {1, 2} & tangents.keys():
            moved = tangents.get(2, 0.0) - (tangents[1][found] if 1 in tangents else 0.0)
            total = total + slope(c, x, points, inside) * np.reshape(moved, (-1, 1))
        return total

    def forward(c, x, points):
        return _evaluated(c, x, points, order, extrapolate)

    return Primitive("scipy.interpolate evaluation", forward, vjp, jvp, linear=(0,))


def _evaluate(c, x, points, order, extrapolate, out):
    if not holds_variables((c, x, points)):
        return on_values(_compiled.evaluate, (c, x, points, order, extrapolate, out))
    if order < 0:
        raise ActiveError(refusal("an antiderivative by nu < 0", "take s.antiderivative()(x)"))
    how = int(order), bool(extrapolate)
    if np.iscomplexobj(c):
        write(out, _evaluated(c.real, x, points, *how) + 1j * _evaluated(c.imag, x, points, *how))
    else:
        write(out, _evaluated(c, x, points, *how))
    return None


def _fix_continuity(c, x, order):
    """Each polynomial begins where that before it ends: one after another, as SciPy adds."""
    if not holds_active((c, x)):
        return on_values(_compiled.fix_continuity, (c, x, order))
    demand_real("the antiderivative of a piecewise polynomial", c)
    count = np.shape(c)[0]
    for k in range(1, len(x) - 1):
        s = x[k] - x[k - 1]
        for derivative in range(order, -1, -1):
            found, power = 0.0, 1.0
            for m in range(derivative, count):
                found = found + c[count - m - 1, k - 1] * power * _factor(m, derivative)
                power = power * s
            for divisor in range(derivative):
                found = found / (divisor + 1)
            c[count - derivative - 1, k] = found
    return None


def _integral(extrapolate):
    """The Primitive of the integrals from a to b."""

    def parts(args):
        c, x, a, b = args
        edges = np.array(value_of(x))
        if extrapolate:
            edges[0], edges[-1] = min(edges[0], value_of(a)), max(edges[-1], value_of(b))
        return np.clip(edges[:-1], value_of(a), value_of(b)), np.clip(edges[1:], value_of(a), value_of(b))

    def ends(c, x, low, high):
        """The values of each polynomial at both ends of its part."""
        found = []
        for at in (low, high):
            s = at - x[:-1]
            value = 0.0
            for row in range(len(c)):
                value = value * s[:, None] + c[row]
            found.append(value)
        return found

    def plain(args):
        if holds_active(args):
            raise ActiveError(refusal("the second derivative of an integral of piecewise polynomials",
                                      "take the difference of s.antiderivative() at both ends"))  # fmt: skip
        return args

    def by_points(c, x, a, b):
        """The derivatives by breakpoints, by a and by b, of shape (.., curves)."""
        low, high = parts((c, x, a, b))
        first, last = ends(c, x, low, high)
        is_met = (high > low)[:, None]
        by_x = np.zeros((len(x), c.shape[2]))
        by_x[:-1] -= np.where(is_met, last - first, 0.0)
        between = ((x > a) & (x < b))[:, None]      # where an interval ends, and not the integral
        by_x[:-1] -= np.where(is_met & between[:-1], first, 0.0)
        by_x[1:] += np.where(is_met & between[1:], last, 0.0)
        at = np.empty((2, c.shape[2]))
        _compiled.evaluate(c, x, np.array([a, b], float), 0, bool(extrapolate), at)
        return by_x, -at[0], at[1]

    def powers(c, x, a, b):
        low, high = parts((c, x, a, b))
        s, e = low - x[:-1], high - x[:-1]
        return np.stack([(e ** (p + 1) - s ** (p + 1)) / (p + 1) for p in range(len(c) - 1, -1, -1)])

    def vjp(g, out, args, kwargs, argnums):
        c, x, a, b = plain(tuple(args))
        (g,) = plain((g,))
        slopes = by_points(c, x, a, b) if argnums != [0] else None
        return [powers(c, x, a, b)[:, :, None] * g if k == 0 else slopes[k - 1] @ g for k in argnums]

    def jvp(tangents, out, args, kwargs):
        c, x, a, b = plain(tuple(args))
        found = np.zeros(np.shape(out))
        slopes = by_points(c, x, a, b) if {1, 2, 3} & tangents.keys() else None
        for k, tangent in tangents.items():
            (tangent,) = plain((tangent,))
            if k == 0:
                found = found + np.sum(powers(c, x, a, b)[:, :, None] * tangent, axis=(0, 1))
            else:
                found = found + (tangent @ slopes[0] if k == 1 else tangent * slopes[k - 1])
        return found

    def forward(c, x, a, b):
        made = np.empty(c.shape[2])
        _compiled.integrate(np.ascontiguousarray(c), np.ascontiguousarray(x), float(a), float(b), extrapolate, out=made)
        return made

    return Primitive("scipy.interpolate integral", forward, vjp, jvp, linear=(0,))


def _integrate(c, x, a, b, extrapolate, out):
    if not holds_active((c, x, a, b)):
        plain = [np.ascontiguousarray(value_of(part)) for part in (c, x)]
        made = np.empty(np.shape(out))
        _compiled.integrate(*plain, float(value_of(a)), float(value_of(b)), extrapolate, out=made)
        write(out, made)
        return None
    demand_real("the integral of a piecewise polynomial", c)
    write(out, call(_integral(extrapolate), (as_numbers(c), as_numbers(x), a, b)))
    return None


# ---- `BPoly`
def _interval(extrapolate, x, points):
    found, inside = _places(x, points, extrapolate)
    return np.where(inside, found, -1)


_INTERVALS = {flag: decision(f"scipy.interpolate.BPoly or NdPPoly, {flag}", functools.partial(_interval, flag))
              for flag in (False, True)}  # fmt: skip


def _evaluate_bernstein(c, x, points, order, extrapolate, out):
    """By differences of coefficients and de Casteljau's scheme, with the values of SciPy's sum of powers."""
    if not holds_active((c, x, points)):
        return on_values(_compiled.evaluate_bernstein, (c, x, points, order, extrapolate, out))

    def run(c, x, points):
        made = np.empty(np.shape(out))
        _compiled.evaluate_bernstein(*map(np.ascontiguousarray, (c, x, points)), order, extrapolate, made)
        return made

    operands = tuple(map(as_numbers, (c, x, points)))
    c, x, points = operands
    found, inside = _places(x, points, extrapolate)
    keep(_INTERVALS[bool(extrapolate)], (x, points))
    width = (x[found + 1] - x[found])[:, None]
    s, rows = (points - x[found])[:, None] / width, c[:, found]
    for _ in range(order):
        rows = (rows[1:] - rows[:-1]) * float(len(rows) - 1) / width if len(rows) > 1 else 0.0 * rows
    while len(rows) > 1:
        rows = rows[:-1] * (1.0 - s) + rows[1:] * s
    formula = np.where(inside[:, None], rows[0], np.nan)
    write(out, with_values_of("scipy.interpolate.BPoly", run, operands, formula))
    return None


# ---- Of several variables ------------------------------------------------------------------------------------------
def _powers(s, count, order):
    """Of the derivative of a polynomial's powers, the highest first, one column each."""
    columns = []
    for power in range(count - 1, -1, -1):
        factor = _factor(power, order)
        if power > order:
            columns.append(factor * s ** (power - order))
        else:
            columns.append(np.full(np.shape(s), factor))
    return np.stack(columns, axis=-1)


def _evaluate_nd(c, x, counts, points, orders, extrapolate, out):
    """The sum of products of powers, with SciPy's values."""
    if not holds_active((c, list(x), points)):
        edges = tuple(map(np.array, value_tree(list(x))))
        return on_values(_compiled.evaluate_nd, (c, edges, counts, points, orders, extrapolate, out))
    demand_real("scipy.interpolate.NdPPoly", c)

    def run(c, points, *x):
        made = np.empty(np.shape(out))
        rows = tuple(map(np.ascontiguousarray, x))
        _compiled.evaluate_nd(np.ascontiguousarray(c), rows, counts, np.ascontiguousarray(points), orders, extrapolate,
                              made)  # fmt: skip
        return made

    c, points, *x = operands = tuple(map(as_numbers, (c, points, *x)))
    number, is_inside, weights = 0, True, np.ones((len(points), 1))
    for axis, (edges, count, order) in enumerate(zip(x, counts, orders)):
        at = points[:, axis]
        keep(_INTERVALS[bool(extrapolate)], (edges, at))
        found, inside = _places(edges, at, extrapolate)
        number, is_inside = number * (len(edges) - 1) + found, is_inside & inside
        own = _powers(at - edges[found], int(count), int(order))
        weights = np.reshape(weights[:, :, None] * own[:, None], (len(points), -1))
    formula = np.einsum("pk,kpd->pd", weights, c[:, number])
    formula = np.where(is_inside[:, None], formula, np.nan)
    write(out, with_values_of("scipy.interpolate.NdPPoly", run, operands, formula))
    return None


FUNCTIONS = {"evaluate": _evaluate, "evaluate_bernstein": _evaluate_bernstein, "evaluate_nd": _evaluate_nd,
             "fix_continuity": _fix_continuity, "integrate": _integrate}  # fmt: skip
FUNCTIONS |= {name: refused_loop(name, original, "of piecewise polynomials", "take their values")
              for name, original in vars(_compiled).items()
              if callable(original) and name not in FUNCTIONS and name[0] != "_"}  # fmt: skip
_ppoly = module_for(_compiled, FUNCTIONS)
