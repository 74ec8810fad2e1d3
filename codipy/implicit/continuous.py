# SPDX-License-Identifier: Apache-2.0
"""Solutions of differential equations whose derivatives are those of the equation, not of the steps of a solver.

Forward, tangents obey the sensitivity equation s' = J s + df/dp p'. Backward, adjoints obey l' = -J^T l, and the
cotangent of a parameter is the integral of l^T df/dp (Cao, Li, Petzold and Serban, "Adjoint sensitivity analysis for
differential-algebraic equations", SIAM J. Sci. Comput. 24, 2003; Hindmarsh and others, "SUNDIALS", 2005). Both are
integrated within the tolerances of the solution, so derivatives are as accurate as these say: of a method that is
implicit by collocation (`codipy.implicit.collocation`), the matrix of slopes taken at a few times, and of an explicit
one, or where there are many states, by the method itself, which asks for products with that matrix only.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import call, is_active, plain
from codipy.implicit.collocation import pulled, pushed, walk
from codipy.implicit.problem import Kept, Problem
from codipy.implicit.slopes import Slopes, row_of
from codipy.implicit.steps import anchored
from codipy.implicit.trajectory import Nodes
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.primitive import Primitive
from codipy.tape import passive

__all__ = ["Continuous", "moved", "solution"]

_QUADRATURES = [np.polynomial.legendre.leggauss(count) for count in (3, 5)]
_PANELS = 10_000


# ---- The two rules ---------------------------------------------------------------------------------------------------
def _value(*args, problem):
    return np.array(problem.values)


def _demand_numbers(*values):
    if holds_active(list(values)):
        raise TypeError("derivatives of a differential equation are of first order: take a method by steps of "
                        "scipy.integrate.solve_ivp (RK45, Radau) for more")


def _pull(g, out, args, kwargs, argnums):
    _demand_numbers(g, *args)
    problem, (y0, t0, *variables) = kwargs["problem"], args
    slopes, t0 = Slopes(problem.equation, variables), float(t0)
    adjoint, bars = np.zeros(np.shape(y0)), [np.zeros(np.shape(x)) for x in variables]
    together, sizes = np.zeros((2, sum(map(np.size, bars)))), np.cumsum([bar.size for bar in bars])
    order = np.argsort(problem.times, kind="stable")
    if problem.times.size and problem.times[order[-1]] <= t0:
        order = order[::-1]      # outwards from the beginning
    asked = [(float(problem.times[k]), k) for k in order if np.any(g[k])]
    with passive():
        end = asked[-1][0] if asked else t0
        for piece in problem.pieces(slopes.plain, _until(problem.kept, end, t0), end, True):
            low, high = (piece.t_min, piece.t_max) if end > t0 else (piece.t_max, piece.t_min)
            while asked and asked[-1][0] == high:
                adjoint = adjoint + g[asked.pop()[1]]
            if problem.takes_matrices:
                inside = []
                while asked and (asked[-1][0] - low) * (high - low) > 0.0:
                    t, k = asked.pop()
                    inside.append((t, g[k]))
                adjoint = _back_by_matrices(problem, slopes, piece, inside, adjoint, *together)
                continue
            at = high
            while at != low:
                stop = asked[-1][0] if asked and (asked[-1][0] - low) * (high - low) > 0.0 else low
                if np.any(adjoint):
                    adjoint = _back(problem, slopes, piece, at, stop, adjoint, bars)
                at = stop
                while asked and asked[-1][0] == at != low:
                    adjoint = adjoint + g[asked.pop()[1]]
        for _, k in asked:
            adjoint = adjoint + g[k]
        bars = [bar + np.reshape(part, bar.shape) for bar, part in zip(bars, np.split(together[0], sizes[:-1]))]
        speed = _row(slopes.plain(t0, np.asarray(y0, np.float64)), adjoint) if 1 in argnums else 0.0 * adjoint
    found = [adjoint, -float(np.dot(adjoint, speed)), *bars]
    return [np.reshape(found[k], np.shape(args[k])) for k in argnums]


def _row(x, like):
    return np.broadcast_to(np.asarray(x, np.float64), like.shape)


def _until(kept, end, start):
    """The states before a time."""
    part = Kept(*kept.states[0])
    direction = 1.0 if end >= start else -1.0
    part.states = [kept.states[0]] + [pair for pair in kept.states[1:] if direction * (end - pair[0]) > 0.0]
    part.stride = kept.stride
    return part


def _back_by_matrices(problem, slopes, piece, asked, adjoint, bars, grown):
    """What `_back` gives, of a whole piece.

    Parameters
    ----------
    asked : list
        Pairs of a time inside and the cotangent of the solution there, the latest first.
    bars, grown : ndarray
        What the numbers of the variables have got, which is added to, and the sum of its sizes.
    """
    accuracy, behind, at = problem.accuracy, [*asked], 0
    units = _inverse(np.abs(row_of(slopes.variables)))

    def advance(last, first):
        nonlocal adjoint, at
        length, until = last - first, at
        while until < len(behind) and (behind[until][0] - first) * length > 0.0:
            until += 1
        here = behind[at:until]
        if here or np.any(adjoint):
            places = np.array([(t - first) / length for t, _ in here])
            seeds = np.array([seed for _, seed in here])
            found = slopes.between(problem, piece, first, last)
            try:
                start, wrong, forcing, other = pulled(length, found[1], adjoint, places, seeds)
            except np.linalg.LinAlgError:
                return np.inf
            sizes = np.maximum(np.abs(start), np.abs(adjoint))
            if here:
                sizes = np.maximum(sizes, np.abs(seeds).max(axis=0))
            ratio = accuracy.ratio(np.abs(wrong), sizes, 1.0 / (np.abs(found[0]).max(axis=0) + problem.least))
            if ratio <= 1.0 and bars.size:
                parts = slopes.shares(first, last, found, np.stack([forcing, other], axis=-1))
                sizes = grown + np.abs(parts[:, 0])
                ratio = max(ratio, accuracy.ratio(np.abs(parts[:, 1]), sizes, units))
            if not ratio <= 1.0:
                return ratio
            if bars.size:
                bars[:] += parts[:, 0]
                grown[:] = sizes
            adjoint = start
        else:
            ratio = 0.0
        while until < len(behind) and behind[until][0] == first:      # of the interval before
            adjoint = adjoint + behind[until][1]
            until += 1
        at = until
        return ratio

    walk(piece.ts[::-1], advance)
    return adjoint


def _inverse(sizes):
    """What to divide by to compare derivatives by numbers of these sizes."""
    return 1.0 / np.where(sizes > 0.0, sizes, 1.0)


def _back(problem, slopes, piece, start, stop, adjoint, bars):
    """The adjoint at an earlier time; what the variables get on the way is added to theirs."""
    scale = _size(adjoint)
    if not problem.is_implicit:      # the integrals are components more, which cost no further run of the equation
        def together(t, row):
            bar, *shares = slopes.pulled(t, piece(t), row[:adjoint.size])
            return -np.concatenate([bar, *(np.reshape(share, (-1,)) for share in shares)])

        row = np.concatenate([adjoint, *(np.reshape(bar, (-1,)) for bar in bars)])
        row = problem.linear(together, (start, stop), row, scale, None, False).y[:, -1]
        at = adjoint.size
        for k, bar in enumerate(bars):
            bars[k], at = np.reshape(row[at:at + bar.size], bar.shape), at + bar.size
        return row[:adjoint.size]

    def slope(t):
        return -slopes.matrix(t, piece(t)).T

    dense = problem.linear(lambda t, row: -slopes.pulled(t, piece(t), row)[0], (start, stop), adjoint, scale, slope,
                           True).sol
    if bars:
        _integrate(problem, lambda t: slopes.pulled(t, piece(t), dense(t))[1:], np.unique(dense.ts), bars, start > stop)
    return dense(stop)


def _size(x):
    return float(np.max(np.abs(x), initial=0.0))


def _integrate(problem, f, ends, totals, forward):
    """Add integrals to arrays: Gauss' rules of two orders on intervals that are halved until they agree.

    `forward` is whether the solution goes upwards.
    """
    rtol, atol = np.min(problem.options.get("rtol", 1e-3)), np.min(problem.options.get("atol", 1e-6))
    queue, whole = list(zip(ends[:-1], ends[1:])), 0.0
    sign, length, count = (1.0 if forward else -1.0), ends[-1] - ends[0], 0
    while queue:
        a, b = queue.pop()
        count += 1
        rules, middle = [], f(0.5 * (a + b))
        for nodes, weights in _QUADRATURES:
            parts = [0.0] * len(totals)
            for node, weight in zip(nodes.tolist(), weights.tolist()):
                slope = f(0.5 * (a + b) + 0.5 * (b - a) * node) if node else middle
                parts = [part + 0.5 * (b - a) * weight * each for part, each in zip(parts, slope)]
            rules.append(parts)
        wrong = max(_size(x - y) for x, y in zip(*rules))
        size = max(map(_size, rules[1]))
        whole = max(whole, size)
        if not wrong <= max(rtol * size, (atol + rtol * whole) * (b - a) / length):
            if count > _PANELS:
                raise ArithmeticError("the derivative of a solution by its parameters was not integrated within the "
                                      "tolerances of the solution")
            middle = 0.5 * (a + b)
            queue += [(a, middle), (middle, b)]
            continue
        for k, part in enumerate(rules[1]):
            totals[k] = totals[k] + sign * part


def _push(tangents, out, args, kwargs):
    _demand_numbers(*tangents.values(), *args)
    problem, (y0, t0, *variables) = kwargs["problem"], args
    slopes, t0, y0 = Slopes(problem.equation, variables), float(t0), np.asarray(y0, np.float64)
    state = np.array(tangents.get(0, np.zeros(y0.shape)), np.float64)
    rest = [np.asarray(tangents.get(k, np.zeros(np.shape(x))), np.float64) for k, x in enumerate(variables, start=2)]
    times, found = problem.times, np.zeros(out.shape)
    with passive():
        if 1 in tangents:
            state = state - float(tangents[1]) * _row(slopes.plain(t0, y0), y0)
        found[times == t0] = state
        end = times[np.argmax(np.abs(times - t0))] if times.size else t0
        scale = max(map(_size, [state, *rest]))
        for piece in problem.pieces(slopes.plain, _until(problem.kept, end, t0), end, False):
            if problem.takes_matrices:
                state = _on_by_matrices(problem, slopes, piece, rest, state, found)
                continue
            start, stop = (piece.t_min, piece.t_max) if end > t0 else (piece.t_max, piece.t_min)
            dense = _forced(problem, slopes, piece, rest, scale, (start, stop), state)
            inside = (times - start) * (times - stop) < 0.0
            for k in np.nonzero(inside | (times == stop))[0]:
                found[k] = dense(times[k])
            state = dense(stop)
    return found


def _on_by_matrices(problem, slopes, piece, rest, state, found):
    """The tangent at the end of a piece; those at the times inside go into rows."""
    def advance(first, last):
        nonlocal state
        length = last - first
        asked = np.nonzero((problem.times - first) * length > 0.0)[0]
        asked = asked[(last - problem.times[asked]) * length >= 0.0]
        here = slopes.between(problem, piece, first, last)
        forcing = slopes.forcing(first, last, here, rest)
        try:
            nodes, rows, wrong = pushed(length, here[1], state, forcing, (problem.times[asked] - first) / length)
        except np.linalg.LinAlgError:
            return np.inf
        sizes = np.maximum(np.abs(nodes).max(axis=0), np.abs(state))
        ratio = problem.accuracy.ratio(wrong, sizes, np.abs(here[0]).max(axis=0) + problem.least)
        if ratio <= 1.0:
            state, found[asked] = nodes[-1], rows
        return ratio

    walk(piece.ts, advance)
    return state


def _forced(problem, slopes, piece, rest, scale, span, state):
    """The solution of the sensitivity equation on one piece."""
    return problem.linear(lambda t, s: slopes.pushed(t, piece(t), [s, *rest]), span, state, scale,
                          lambda t: slopes.matrix(t, piece(t)), True).sol


_SOLUTION = Primitive("the solution of a differential equation", _value, _pull, _push, keep_out=False)


# A replay does not integrate anew: it raises.
_SAME = decision("the solution of a differential equation", lambda *parts: row_of(parts))


def solution(problem, y0, t0):
    """The rows of values of a problem, as a variable."""
    keep(_SAME, [y0, t0, *problem.equation.variables])
    return call(_SOLUTION, (as_numbers(y0), t0, *problem.equation.variables), {"problem": problem})


# ---- What solve_ivp makes of it --------------------------------------------------------------------------------------
class Continuous:
    """The solution of ``scipy.integrate.solve_ivp``, as variables; what `codipy.implicit.integrators` asks of it.

    Parameters
    ----------
    equation : Equation
    kept : Kept
    solver : OdeSolver
    given : dict
        The arguments of SciPy's function.
    found : OdeResult
    """

    def __init__(self, equation, kept, solver, given, found):
        options = {key: given["options"][key] for key in ("rtol", "atol", "max_step") if key in given["options"]}
        self._equation, self._y0, self._t0 = equation, given["y0"], given["t_span"][0]
        self._make = functools.partial(Problem, equation, type(solver).__name__, value_tree(options), kept)
        self.nodes = Nodes(given["t_span"], found.t)
        self._found = found

    def states(self, count):
        """The solution at the first times of the result."""
        found = self._found
        return self.columns([self.nodes[k] for k in range(count)], np.ascontiguousarray(found.y.T[:count]))

    def columns(self, times, values):
        """The solution at some times, for the values that it has there."""
        numbers = [float(plain(t)) for t in times]
        rows = solution(self._make(numbers, values), self._y0, self._t0)
        return [moved(self._equation, t, number, row) for t, number, row in zip(times, numbers, rows)]

    def dense(self, times, values, plain_solution):
        """What SciPy's continuous solution has for values."""
        return self.columns(times, values)

    def slope(self, t, y):
        """The right-hand side."""
        return self._equation.active()(t, y)

    def at(self, t, values):
        """The solution at a time, of first order in that."""
        return self.columns([t], np.array(values)[None])[0]


def moved(equation, t, number, row):
    """The state at a time that may be a variable, for the state at its value."""
    if not is_active(t):
        return row
    return anchored(row + (t - number) * as_numbers(equation.active()(number, row)), np.array(plain(row)))
