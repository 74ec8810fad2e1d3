# SPDX-License-Identifier: Apache-2.0
"""FITPACK's splines of two variables, `RectBivariateSpline`, by values, points and axes of the grid.

They are products of splines of one variable: what is through the values of a grid solves the equations of one axis
after the other.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.scipy.kernels import fitpack_loops as loops
from codipy.scipy.kernels import knots
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "knots_through"]


def knots_through(x, k, low, high):
    """Those that FITPACK takes for a spline through all values: at points, or between them where k is even."""
    inner = len(x) - k - 1
    first = k // 2 + 1
    own = x[first:first + inner] if k % 2 else (x[first:first + inner] + x[first - 1:first - 1 + inner]) * 0.5
    return np.concatenate([np.stack([low] * (k + 1)), own, np.stack([high] * (k + 1))])


def _inside(t, k, x):
    """The points, those beyond the knots moved to the nearest of them, as FITPACK does."""
    return np.clip(x, t[k], t[-k - 1])


def _evaluated(name, is_grid, has_orders):
    original = getattr(loops.compiled, name)

    def function(tx, ty, c, kx, ky, *rest):
        orders, (x, y) = (rest[:2] if has_orders else (0, 0)), rest[-2:]
        if not holds_active((tx, ty, c, x, y)):
            return original(*value_tree([tx, ty, c, kx, ky, *rest]))
        orders = tuple(map(int, orders))
        operands = tuple(np.reshape(as_numbers(part), -1) for part in (tx, ty, c, x, y))

        def run(tx, ty, c, x, y):
            return original(tx, ty, c, kx, ky, *(orders if has_orders else ()), np.array(x), np.array(y))

        tx, ty, c, x, y = operands
        x, y = _inside(tx, kx, x), _inside(ty, ky, y)
        points = (x[:, None], y[None, :]) if is_grid else (x, y)
        shape = len(tx) - kx - 1, len(ty) - ky - 1, 1
        formula = knots.tensor((tx, ty), (kx, ky), np.reshape(c, shape), points, orders)[..., 0]
        values, error = run(*value_tree(operands))
        formula = np.reshape(formula, np.shape(values))
        return with_values_of("a spline of two variables", lambda *plain: run(*plain)[0], operands, formula), error

    return function


def _dblint(tx, ty, c, kx, ky, xb, xe, yb, ye):
    if not holds_active((tx, ty, c, xb, xe, yb, ye)):
        return loops.compiled.dblint(*value_tree([tx, ty, c, kx, ky, xb, xe, yb, ye]))
    operands = *map(as_numbers, (tx, ty, c)), np.stack(list(map(as_numbers, (xb, xe, yb, ye))))
    tx, ty, c, ends = operands
    along = knots.integral(tx, kx, np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1)), ends[0], ends[1])
    return with_values_of("an integral of a spline of two variables",
                          lambda tx, ty, c, ends: loops.compiled.dblint(tx, ty, c, kx, ky, *map(float, ends)), operands,
                          knots.integral(ty, ky, along[:, None], ends[2], ends[3])[0])  # fmt: skip


def _grid_fit(x, y, z, xb=None, xe=None, yb=None, ye=None, kx=3, ky=3, s=0.0, *rounds):
    if not holds_active((x, y, z, xb, xe, yb, ye, s)):
        return loops.grid_fit(*value_tree([x, y, z, xb, xe, yb, ye, kx, ky, s, *rounds]))
    if value_of(s) != 0.0 or holds_active((s,)):
        raise ActiveError(refusal("RectBivariateSpline with s other than 0", "FITPACK searches for knots and a "
                                  "parameter by s, which has no derivative: say s=0"))  # fmt: skip
    bounds = [x[0] if xb is None else xb, x[-1] if xe is None else xe, y[0] if yb is None else yb,
              y[-1] if ye is None else ye]  # fmt: skip
    operands = *map(as_numbers, (x, y, z)), np.stack(list(map(as_numbers, bounds)))

    def run(x, y, z, bounds):
        return loops.grid_fit(x, y, z, *map(float, bounds), kx, ky, s, *rounds)

    x, y, z, bounds = operands
    nx, tx, ny, ty, c, rest, error = run(*value_tree(operands))
    own_x, own_y = knots_through(x, kx, bounds[0], bounds[1]), knots_through(y, ky, bounds[2], bounds[3])
    if error > 0 or not (np.array_equal(value_of(own_x), tx[:nx]) and np.array_equal(value_of(own_y), ty[:ny])):
        raise ActiveError(refusal("RectBivariateSpline that is not through all values", "say s=0"))
    first = knots.fitted(own_x, kx, x, np.reshape(z, (len(x), len(y))))
    formula = np.reshape(knots.fitted(own_y, ky, y, first.T).T, -1)
    size = (nx - kx - 1) * (ny - ky - 1)
    found = with_values_of("RectBivariateSpline", lambda *plain: run(*plain)[4][:size], operands, formula)
    return (nx, np.concatenate([own_x, tx[nx:]]), ny, np.concatenate([own_y, ty[ny:]]),
            np.concatenate([found, c[size:]]), rest, error)  # fmt: skip


FUNCTIONS = {"bispev": _evaluated("bispev", True, False), "bispeu": _evaluated("bispeu", False, False),
             "parder": _evaluated("parder", True, True), "pardeu": _evaluated("pardeu", False, True),
             "dblint": _dblint, loops.GRID_FIT: _grid_fit}  # fmt: skip
