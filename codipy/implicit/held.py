# SPDX-License-Identifier: Apache-2.0
"""What holds a minimum at a bound: there the bound is the equation, elsewhere the slope is zero.

Minimisers come near a bound, or stop on it. The quadratic model of the function at what they found says which bounds
hold the minimum (see Nocedal and Wright, "Numerical Optimization", 2006, sections 12.3 and 16.7): the multiplier of
each must have its sign. Where it is zero, the minimum has a derivative from one side only, and that raises.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize

from codipy.active.array import plain
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.tools.derivatives.jacobian import jacobian

__all__ = ["AT_KINKS", "OF_MINIMA", "Bounds", "held_rows", "scale_of", "with_bounds"]

OF_MINIMA = 1e-4      # how far a step of Newton's method may move a minimum, relative to 1 + its size

AT_KINKS = ("; a minimum at a kink or a jump of the function, as of abs() or max(), is not where its slope is zero: "
            "say by codipy.implicit.root which equations hold there, or by constraints of a smooth function")

_CLEAR = 1e-9      # how far a minimum must be beyond a bound, or inside, relative to 1 + its size
_ROUNDING = 1e-12      # how large a multiplier may be beside the largest one, and be rounding
_ROUNDS = 50
# Take all lower bounds and all upper ones; the others a pair for each number.
_PAIRS = {"curve_fit", "fminbound", "least_squares", "lsq_linear", "minimize_scalar"}


class Bounds:
    """What a minimiser was given.

    Parameters
    ----------
    name : str
        Of SciPy's function.
    given : dict
        Its arguments; bounds may be active.
    """

    def __init__(self, name, given):
        bounds = (given["x1"], given["x2"]) if name == "fminbound" else given.get("bounds")
        if isinstance(bounds, scipy.optimize.Bounds):
            self._pair = bounds.lb, bounds.ub
        elif bounds is not None and name not in _PAIRS:
            self._pair = tuple(zip(*bounds, strict=True)) or (None, None)
        else:
            self._pair = (None, None) if bounds is None else tuple(bounds)

    @property
    def are_active(self):
        """Whether one of them is a variable."""
        return holds_active(list(self._pair))

    def ends(self, size):
        """The lower and the upper ones as vectors of floats."""
        found = []
        for bound, other in zip(self._pair, (-np.inf, np.inf)):
            row = [other if x is None else x for x in np.ravel(value_tree(bound))]
            found.append(np.broadcast_to(np.array(row, np.float64), (size,)))
        return found

    def at(self, side, k):
        """One of them, active where it was given so."""
        bound = self._pair[side]
        if np.ndim(value_tree(bound)) == 0:
            return bound
        return bound[k] if len(bound) > 1 else bound[0]

    def held_by(self, gradient, u, near):
        """See `holding`, of a function by its gradient, at a number or an array."""
        count = np.size(u)

        def matrix():
            return np.reshape(plain(jacobian(gradient, rebind=False)(u)), (count, count))

        slope = np.reshape(plain(as_numbers(gradient(u))), (count,))
        return self.holding(np.reshape(u, (count,)).astype(np.float64), slope, matrix, near)

    def holding(self, u, slope, matrix, near):
        """For each number -1 where the lower bound holds it, 1 where the upper one does, else 0.

        Parameters
        ----------
        u, slope : ndarray, shape (n,)
            What was found, and the gradient there.
        matrix : callable
            Gives its derivative; asked for where there is a bound nearby.
        near : float
            How far a minimiser may stop from a bound, relative to 1 + its largest number.
        """
        lower, upper = self.ends(u.size)
        return held_rows(u, lower, upper, np.eye(u.size), slope, lambda _: matrix(), near, scale_of(u))[0]


def scale_of(u):
    """What distances of a minimum are compared with."""
    return 1.0 + np.max(np.abs(u), initial=0.0)


def held_rows(values, lower, upper, slopes, gradient, curvature, near, scale):
    """Which functions of the unknown hold a minimum at one of their bounds, and how strongly.

    Parameters
    ----------
    values, lower, upper : ndarray, shape (m,)
        The functions where the minimiser stopped, and their bounds; where these are equal the function is held.
    slopes : ndarray, shape (m, n)
        Their derivatives.
    gradient : ndarray, shape (n,)
        That of what is made least.
    curvature : callable
        ``curvature(held)`` gives the derivative of that, and of the functions that are near bounds times their
        multipliers; asked for where one is near.
    near : float
        How far from a bound a minimiser may stop, relative to `scale`.
    scale : float

    Returns
    -------
    held : ndarray of int, shape (m,)
        -1 where the lower bound holds the minimum, 1 where the upper one does, else 0.
    multipliers : ndarray, shape (m,)
        The gradient is the sum of the slopes times these: positive at lower bounds, negative at upper ones, 0 where
        the minimum is inside.

    Raises
    ------
    ArithmeticError
        A bound just touches the minimum, or the conditions for it are singular.
    """
    sizes = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(float).tiny)
    below, above, is_equal = (values - lower) / sizes, (upper - values) / sizes, lower == upper
    candidates = np.where(is_equal | (below <= near * scale), -1, np.where(above <= near * scale, 1, 0))
    if not np.any(candidates):
        return candidates, np.zeros(values.size)
    model, held = curvature(candidates), candidates.copy()
    gap = np.where(candidates < 0, lower - values, np.where(candidates > 0, upper - values, 0.0))
    for _ in range(_ROUNDS):
        step, multipliers = _minimum(model, gradient, slopes, gap, held != 0)
        inside = np.where(candidates != 0, candidates * (gap - slopes @ step) / sizes, np.inf)
        released = (held != 0) & ~is_equal & (held * multipliers > 0.0)
        beyond = (held == 0) & (inside < 0.0)
        if not np.any(released | beyond):
            break
        held = np.where(released, 0, np.where(beyond, candidates, held))
    else:
        raise ArithmeticError("which bounds hold the minimum cannot be told: it has no derivative here")
    clear, push = _CLEAR * scale, np.abs(multipliers) * sizes
    bend = np.abs(np.sum((slopes @ model) * slopes, axis=1)) / sizes**2
    is_weak = (push <= clear * np.maximum(bend, np.finfo(float).tiny)) | (push <= _ROUNDING * np.max(push))
    if np.any((held != 0) & ~is_equal & is_weak) or np.any((held == 0) & (candidates != 0) & (inside <= clear)):
        raise ArithmeticError("the minimum is at a bound or constraint that just touches it, where the slope is zero "
                              "as well: it has no derivative there")
    return held, multipliers


def _minimum(model, gradient, slopes, gap, held):
    """The step to the minimum of a quadratic function where some functions move as they must, and their multipliers."""
    rows = slopes[held]
    equations = np.block([[model, -rows.T], [rows, np.zeros((len(rows),) * 2)]])
    try:
        found = np.linalg.solve(equations, np.concatenate([-gradient, gap[held]]))
    except np.linalg.LinAlgError as error:
        raise ArithmeticError("the conditions for the minimum are singular there, the second derivative or those of "
                              "what holds it: it has no derivative") from error
    multipliers = np.zeros(len(slopes))
    multipliers[held] = found[gradient.size:]
    return found[:gradient.size], multipliers


def with_bounds(held, bounds, residual, u):
    """An equation in which held numbers are at their bounds."""
    if not np.ndim(u):
        return u - bounds.at(int(held[0] > 0), 0) if held[0] else residual
    flat = np.reshape(u, (-1,))
    parts = [flat[k] - bounds.at(int(side > 0), k) if side else residual[k] for k, side in enumerate(held.tolist())]
    return as_numbers(parts)
