# SPDX-License-Identifier: Apache-2.0
"""Minima that constraints hold: their derivative is that of the conditions of Karush, Kuhn and Tucker.

Where a minimum is held by functions c of the unknown, each at one of its bounds, the gradient is the sum of their
slopes times multipliers, and these are unknowns beside it (see Nocedal and Wright, "Numerical Optimization", 2006,
theorems 12.1 and 12.6). Which functions hold it is decided once, by the signs of multipliers; where one is zero, the
minimum has a derivative from one side only, and that raises.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse

from codipy.active.array import plain
from codipy.errors import TapeError
from codipy.implicit.held import held_rows, scale_of, with_bounds
from codipy.implicit.solution import solution_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.tools.derivatives.drivers import grad
from codipy.tools.derivatives.jacobian import jacobian

__all__ = ["Constraints", "Held"]

_OF_OLDER = {"eqcons": "eq", "f_eqcons": "eq", "ieqcons": "ineq", "f_ieqcons": "ineq", "cons": "ineq"}


class Constraints:
    """What holds a minimum beside bounds.

    Parameters
    ----------
    given : dict
        The arguments of one of SciPy's minimisers.
    args : tuple
        What it hands to functions that bring no ``args`` of their own.
    fresh : callable, optional
        What is to be called in the place of a function.
    """

    def __init__(self, given, args, fresh=None):
        found = given.get("constraints", ())
        self._each = [_Constraint(each, fresh) for each in (found if isinstance(found, (list, tuple)) else [found])]
        for parameter in _OF_OLDER.keys() & given.keys():
            functions, own = given[parameter], given.get("consargs")
            own = args if own is None else own if isinstance(own, tuple) else (own,)
            functions = () if functions is None else functions if isinstance(functions, (list, tuple)) else (functions,)
            for function in functions:
                self._each.append(_Constraint({"type": _OF_OLDER[parameter], "fun": function, "args": own}, fresh))

    def __bool__(self):
        return bool(self._each)

    def values(self, u):
        """All functions of the unknown, a vector."""
        return np.concatenate([each.values(u) for each in self._each]) if self._each else np.zeros(0)

    def ends(self, counts):
        """Their lower and upper bounds, vectors of floats."""
        return [np.concatenate([each.ends(count)[side] for each, count in zip(self._each, counts)] or [np.zeros(0)])
                for side in (0, 1)]

    def counts(self, u):
        """How many functions each constraint has."""
        return [np.size(value_tree(each.values(u))) for each in self._each]

    def are_active(self, u):
        """Whether functions or bounds are variables at a point that is none."""
        return holds_active([[each.values(u), each.lower, each.upper] for each in self._each])

    def excess(self, u, held, counts):
        """How far functions that are held are from their bounds, and are variables if something is; a vector."""
        parts, start = [], 0
        for each, count in zip(self._each, counts):
            places = np.flatnonzero(held[start:start + count])
            if places.size:
                parts.append(each.excess(u, places, held[start + places]))
            start += count
        return np.concatenate(parts) if parts else np.zeros(0)

    def avoided(self, solve, known, near):
        """A solver that gives what is known once, and then, in a replay, minima that are clear of all constraints."""
        is_asked = False

        def solver(*args):
            nonlocal is_asked
            if not is_asked:
                is_asked = True
                return known
            u = solve(*args)
            counts = self.counts(u)
            (lower, upper), values = self.ends(counts), value_tree(self.values(u))
            sizes = np.linalg.norm(np.reshape(jacobian(self.values, rebind=False)(u), (-1, u.size)), axis=1)
            if np.any(np.minimum(values - lower, upper - values) <= near * scale_of(u) * sizes):
                raise TapeError("evaluate_primal() has found a minimum at a constraint that did not hold the recorded "
                                "one: record again at these inputs")
            return u

        return solver


class _Constraint:
    """Functions of the unknown between bounds."""

    def __init__(self, given, fresh):
        def made(function):
            return function if fresh is None else fresh(function)

        if isinstance(given, dict):
            function, args = made(given["fun"]), given.get("args", ())
            self._function = lambda u: function(u, *args)
            self.lower, self.upper = 0.0, 0.0 if given["type"].lower() == "eq" else np.inf
        elif isinstance(given, scipy.optimize.LinearConstraint):
            matrix = given.A.toarray() if scipy.sparse.issparse(given.A) else given.A
            self._function, self.lower, self.upper = lambda u: matrix @ u, given.lb, given.ub
        else:
            self._function, self.lower, self.upper = made(given.fun), given.lb, given.ub

    def values(self, u):
        return np.reshape(as_numbers(self._function(u)), (-1,))

    def ends(self, count):
        return [np.broadcast_to(np.ravel(np.asarray(value_tree(x), np.float64)), (count,))
                for x in (self.lower, self.upper)]

    def excess(self, u, places, sides):
        found = self.values(u)
        bounds = [as_numbers(x) for x in (self.lower, self.upper)]
        rows = [(bounds[int(side > 0)], k) for k, side in zip(places.tolist(), sides.tolist())]
        return as_numbers([found[k] - (np.reshape(bound, (-1,))[k] if np.size(value_tree(bound)) > 1
                                    else np.reshape(bound, (-1,))[0]) for bound, k in rows])


class Held:
    """A minimum that is held by bounds and constraints.

    Parameters
    ----------
    number : callable
        ``number(u, *args)`` is what is made least.
    args : tuple
    bounds : Bounds
    constraints : Constraints
    u : ndarray, shape (n,)
        Where the minimiser stopped.
    near : float
        How far from the minimum that may be, relative to 1 + its size.

    Attributes
    ----------
    is_free : bool
        No constraint holds it.

    Raises
    ------
    ArithmeticError
        A bound or constraint just touches the minimum, or the conditions for it are singular.
    """

    def __init__(self, number, args, bounds, constraints, u, near):
        self._number, self._args, self._near, self._u = number, args, near, u
        self._bounds, self._constraints, self._counts = bounds, constraints, constraints.counts(u)
        ends = zip(bounds.ends(u.size), constraints.ends(self._counts))
        lower, upper = (np.concatenate(pair) for pair in ends)
        values = np.concatenate([u, plain(constraints.values(u))])
        slopes = np.reshape(plain(jacobian(constraints.values, rebind=False)(u)), (-1, u.size))
        slopes = np.concatenate([np.eye(u.size), slopes])
        gradient = plain(grad(lambda u: number(u, *args), rebind=False)(u))

        def curvature(candidates):
            weights = np.zeros(values.size)
            signs = np.where(lower == upper, 0, candidates)
            weights[candidates != 0] = _multipliers(slopes[candidates != 0], gradient, signs[candidates != 0])

            def lagrangian(u):
                return number(u, *args) - np.sum(weights[u.size:] * constraints.values(u))

            slope = grad(lagrangian, rebind=False)
            return np.reshape(plain(jacobian(slope, rebind=False)(u)), (u.size, u.size))

        held, multipliers = held_rows(values, lower, upper, slopes, gradient, curvature, near, scale_of(u))
        self._by_bounds, self._by_constraints = held[:u.size], held[u.size:]
        self.is_free = not np.any(self._by_constraints)
        chosen = u.size + np.flatnonzero(self._by_constraints)
        sizes = np.linalg.norm(slopes[chosen], axis=1)
        push = multipliers[chosen] * sizes
        # The solution is compared with 1 + the size of all unknowns, so multipliers are numbers of size 1 at most.
        most = np.max(np.abs(push), initial=0.0) or 1.0
        self._scales, self._weights = most / sizes, push / most

    def solved(self, name, caller, given=(), unsolved=""):
        """The minimum as variables.

        Parameters
        ----------
        name : str
            Of what is made least.
        caller : frame
        given : sequence, optional
        unsolved : str, optional
            See `solution_of`.
        """
        calls = []

        def solver(*args):
            if calls:
                raise TapeError(f"evaluate_primal() cannot find the minimum of {name} anew, which constraints hold: "
                                "record again at these inputs")
            calls.append(args)
            return self._u, self._weights

        def equation(unknown, *args):
            u, weights = unknown

            def excess(u):
                return self._constraints.excess(u, self._by_constraints, self._counts)

            def lagrangian(u):
                return self._number(u, *args) - np.sum(weights * self._scales * excess(u))

            slope = grad(lagrangian, rebind=False)(u)
            return with_bounds(self._by_bounds, self._bounds, slope, u), excess(u)

        equation.__name__ = name
        return solution_of(equation, solver, self._near, caller, given, unsolved)(*self._args)[0]


def _multipliers(slopes, gradient, signs):
    """By how much of each slope the gradient is made best, with the sign that each bound asks for."""
    turned = np.concatenate([np.where(signs == 0, 1, -signs)[:, None] * slopes, -slopes[signs == 0]])
    found = scipy.optimize.nnls(turned.T, gradient)[0]
    weights = np.where(signs == 0, 1, -signs) * found[:len(slopes)]
    weights[signs == 0] -= found[len(slopes):]
    return weights
