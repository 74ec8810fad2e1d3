# SPDX-License-Identifier: Apache-2.0
"""Which numbers of a minimum are held at a bound: there the bound is the equation, elsewhere the slope is zero.

Minimisers come near a bound, or stop on it. The quadratic model of the function at what they found says which bounds
hold the minimum (see Nocedal and Wright, "Numerical Optimization", 2006, sections 12.3 and 16.7): the multiplier of
each must have its sign. Where it is zero, the minimum has a derivative from one side only, and that raises.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize

from codipy.active.array import plain
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.tools.derivatives.jacobian import jacobian

__all__ = ["OF_MINIMA", "Bounds", "with_bounds"]

OF_MINIMA = 1e-4      # how far a step of Newton's method may move a minimum, relative to 1 + its size

_CLEAR = 1e-9      # how far a minimum must be beyond a bound, or inside, relative to 1 + its size
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

        slope = np.reshape(plain(asarray(gradient(u))), (count,))
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
        scale = 1.0 + np.max(np.abs(u), initial=0.0)
        candidates = np.where(u - lower <= near * scale, -1, np.where(upper - u <= near * scale, 1, 0))
        if not np.any(candidates):
            return candidates
        model, held = matrix(), candidates.copy()
        bound = np.where(candidates < 0, lower, np.where(candidates > 0, upper, u))
        for _ in range(_ROUNDS):
            step, multiplier = _minimum(model, slope, np.where(held, bound - u, 0.0), held != 0)
            inside = np.where(candidates != 0, candidates * (bound - u - step), np.inf)
            released = (held != 0) & (held * multiplier > 0.0)
            beyond = (held == 0) & (inside < 0.0)
            if not np.any(released | beyond):
                break
            held = np.where(released, 0, np.where(beyond, candidates, held))
        strength = np.abs(multiplier) / np.maximum(np.abs(np.diagonal(model)), np.finfo(float).tiny)
        if np.any((held != 0) & (strength <= _CLEAR * scale)) or np.any(
                (held == 0) & (candidates != 0) & (inside <= _CLEAR * scale)):
            raise ArithmeticError("the minimum is at a bound that just touches it, where the slope is zero as well: it "
                                  "has no derivative there")
        return held


def _minimum(model, slope, step, held):
    """The step to the minimum of a quadratic function where some numbers move as they must, and its gradient there."""
    free, step = ~held, step.copy()
    if np.any(free):
        right = slope[free] + model[np.ix_(free, held)] @ step[held]
        try:
            step[free] = -np.linalg.solve(model[np.ix_(free, free)], right)
        except np.linalg.LinAlgError as error:
            raise ArithmeticError("the second derivative is singular at the minimum: it has no derivative") from error
    return step, slope + model @ step


def with_bounds(held, bounds, residual, u):
    """An equation in which held numbers are at their bounds."""
    if not np.ndim(u):
        return u - bounds.at(int(held[0] > 0), 0) if held[0] else residual
    flat = np.reshape(u, (-1,))
    parts = [flat[k] - bounds.at(int(side > 0), k) if side else residual[k] for k, side in enumerate(held.tolist())]
    return asarray(parts)
