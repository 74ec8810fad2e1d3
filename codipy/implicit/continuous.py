# SPDX-License-Identifier: Apache-2.0
"""Solutions of differential equations whose derivatives are those of the equation, not of the steps of a solver.

Forward, tangents obey the sensitivity equation s' = J s + df/dp p'. Backward, adjoints obey l' = -J^T l, and the
cotangent of a parameter is the integral of l^T df/dp (Cao, Li, Petzold and Serban, "Adjoint sensitivity analysis for
differential-algebraic equations", SIAM J. Sci. Comput. 24, 2003; Hindmarsh and others, "SUNDIALS", 2005). Both are
integrated by the same method within the same tolerances, so derivatives are as accurate as these say.

The solution between is integrated anew, from states that were kept: at most `_MOST` of them, however long the interval
is. A sweep takes it piece by piece, and a piece of more steps is divided again, so memory grows with the logarithm of
the number of steps. Rejected: to integrate the solution backwards as well, which is unstable where it is dissipative.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import scipy.integrate

from codipy.active.array import call, is_active, plain
from codipy.errors import ActiveError
from codipy.implicit.steps import anchored
from codipy.implicit.trajectory import Nodes
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.primitive import Primitive
from codipy.tape import active_tape, passive
from codipy.tools.pool import borrow, give_back
from codipy.tools.recording import Recording
from codipy.tools.run import NESTED

__all__ = ["Continuous", "Kept", "Problem", "moved", "refuse_hidden"]

_MOST = 64
_QUADRATURES = [np.polynomial.legendre.leggauss(count) for count in (3, 5)]
_PANELS = 10_000


class Kept:
    """Some of the states that a solution went through: all, then every second, every fourth.

    Attributes
    ----------
    states : list
        Pairs of a time and a state.
    stride : int
        How many steps there are from one to the next.
    """

    def __init__(self, t, y):
        self.states, self.stride, self._count = [(float(t), np.array(y, np.float64))], 1, 0

    def append(self, step):
        """Another step of a solver."""
        self.append_state(step.t, step.y)

    def append_state(self, t, y):
        """Another state."""
        self._count += 1
        if self._count % self.stride:
            return
        self.states.append((float(t), np.array(y)))
        if len(self.states) > _MOST:
            del self.states[1::2]
            self.stride *= 2


class Problem:
    """An equation, how it is integrated, and some states of the solution.

    Parameters
    ----------
    equation : Equation
    method : str
        Of ``scipy.integrate.solve_ivp``.
    options : dict
        Tolerances, and what else both the equation and that of its derivatives are integrated with.
    kept : Kept
    times : ndarray
        Where the solution is asked for.
    values : ndarray, shape (len(times), n)
        What it is there.
    """

    def __init__(self, equation, method, options, kept, times, values):
        self.equation, self.method, self.options, self.kept = equation, method, options, kept
        self.times, self.values = np.asarray(times, np.float64), values

    def solution(self, y0, t0):
        """The rows of values, as a variable."""
        return call(_SOLUTION, (asarray(y0), t0, *self.equation.variables), {"problem": self})

    # ---- The solution between the states that were kept ------------------------------------------------------------
    def pieces(self, f, kept, end, backwards):
        """Solutions on intervals that follow one another, each of about `_MOST` steps at most."""
        starts = kept.states[::max(_MOST // kept.stride, 1)]
        ends = [t for t, _ in starts[1:]] + [end]
        pairs = [(t, y, stop) for (t, y), stop in zip(starts, ends) if t != stop]
        for t, y, stop in reversed(pairs) if backwards else pairs:
            if kept.stride > _MOST:
                again = Kept(t, y)
                self._integrated(f, (t, stop), y, again)
                yield from self.pieces(f, again, stop, backwards)
            else:
                yield self._integrated(f, (t, stop), y, None)

    def _integrated(self, f, span, y, kept):
        """A dense solution; with `kept`, only the states that this keeps."""
        method = _seen(self.method, kept) if kept is not None else self.method
        found = scipy.integrate.solve_ivp(f, span, y, method, [span[1]] if kept is not None else None, kept is None,
                                          **self.options)
        return _succeeded(found).sol

    def linear(self, f, span, start, scale, slope, is_dense):
        """Integrate a linear equation as the solution is, for numbers of the size `scale`; `slope(t)` is its matrix."""
        options = dict(self.options)
        options["atol"] = np.min(options.get("atol", 1e-6)) * (scale or 1.0)
        if self.is_implicit:
            options["jac"] = lambda t, _: slope(t)
        times = None if is_dense else [span[1]]
        return _succeeded(scipy.integrate.solve_ivp(f, span, start, self.method, times, is_dense, **options))

    @property
    def is_implicit(self):
        """Whether the method solves equations with the matrix of slopes."""
        return self.method in ("Radau", "BDF", "LSODA")


def _succeeded(found):
    if not found.success:
        raise ArithmeticError(f"the equation of the derivatives of a solution was not integrated: {found.message}")
    return found


def refuse_hidden():
    """Raise since the equation depends on variables that nobody has found."""
    raise ActiveError("a differential equation reads variables that codipy does not find in it, from attributes of "
                      "objects or through functions that it calls: hand them over by args=, or as variables of the "
                      "function around it")


def _seen(method, kept):
    """A method of which some states are kept."""

    class Seen(getattr(scipy.integrate, method)):
        def step(self):
            message = super().step()
            if self.status != "failed":
                kept.append(self)
            return message

    return Seen


# ---- The right-hand side and its products ----------------------------------------------------------------------------
class _Slopes:
    """The right-hand side at plain values of its variables, with its derivatives."""

    def __init__(self, equation, variables):
        self._equation, self._variables = equation, [x if np.ndim(x) else float(x) for x in variables]
        self.plain = equation.with_values(self._variables)

    @contextlib.contextmanager
    def _recorded(self, t, y):
        """One run, by the state and each variable; a driver would look for these in all arguments at each call."""
        def f(y, *values):
            return asarray(self._equation.with_values(values)(t, y))

        def place(args, inputs):
            args[:] = inputs

        is_nested = active_tape() is not None
        settings = NESTED if is_nested else ("auto", None)
        tape = borrow(settings)
        try:
            tape.loans = [] if is_nested else None
            recording = Recording(tape, f, [], {}, [y, *self._variables], place)
            if tape.loans:
                refuse_hidden()
            yield recording
        finally:
            tape.loans = None
            give_back(settings, tape)

    def pulled(self, t, y, cotangent):
        """The cotangents of the state and of each variable."""
        with self._recorded(t, y) as recording:
            [shape] = recording.shapes
            seed = np.broadcast_to(cotangent, shape) if shape else cotangent[0]
            found = recording.reverse(recording.tape.new_adjoints(), [np.array(seed)])
        return found[0], found[1:]

    def pushed(self, t, y, tangents):
        """The tangent of the right-hand side."""
        with self._recorded(t, y) as recording:
            [found] = recording.forward(recording.tape.new_adjoints(), list(tangents))
        return np.broadcast_to(found, y.shape)

    def matrix(self, t, y):
        """The derivatives by the state."""
        zeros = [np.zeros(np.shape(x)) for x in self._variables]
        with self._recorded(t, y) as recording:
            columns = [recording.forward(recording.tape.new_adjoints(), [unit, *zeros])[0] for unit in np.eye(y.size)]
        return np.stack([np.broadcast_to(column, y.shape) for column in columns], axis=1)


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
    slopes, t0 = _Slopes(problem.equation, variables), float(t0)
    adjoint, bars = np.zeros(np.shape(y0)), [np.zeros(np.shape(x)) for x in variables]
    order = np.argsort(problem.times, kind="stable")
    if problem.times.size and problem.times[order[-1]] <= t0:
        order = order[::-1]      # outwards from the beginning
    asked = [(float(problem.times[k]), k) for k in order if np.any(g[k])]
    with passive():
        end = asked[-1][0] if asked else t0
        for piece in problem.pieces(slopes.plain, _until(problem.kept, end, t0), end, True):
            low, high = (piece.t_min, piece.t_max) if end > t0 else (piece.t_max, piece.t_min)
            at = high
            while True:
                while asked and asked[-1][0] == at:
                    adjoint = adjoint + g[asked.pop()[1]]
                if at == low:
                    break
                stop = asked[-1][0] if asked and (asked[-1][0] - low) * (high - low) > 0.0 else low
                if np.any(adjoint):
                    adjoint = _back(problem, slopes, piece, at, stop, adjoint, bars)
                at = stop
        for _, k in asked:
            adjoint = adjoint + g[k]
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


def _back(problem, slopes, piece, start, stop, adjoint, bars):
    """The adjoint at an earlier time; what the variables get on the way is added to theirs."""
    scale = _size(adjoint)
    if not problem.is_implicit:      # the integrals are components more, which cost no further run of the equation
        def together(t, row):
            bar, shares = slopes.pulled(t, piece(t), row[:adjoint.size])
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
        _integrate(problem, lambda t: slopes.pulled(t, piece(t), dense(t))[1], np.unique(dense.ts), bars, start > stop)
    return dense(stop)


def _size(x):
    return float(np.max(np.abs(x), initial=0.0))


def _integrate(problem, f, ends, totals, forward):
    """Add integrals to arrays: Gauss' rules of two orders on intervals that are halved until they agree.

    `forward` is whether the solution goes upwards.
    """
    rtol, atol = problem.options.get("rtol", 1e-3), np.min(problem.options.get("atol", 1e-6))
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
    slopes, t0, y0 = _Slopes(problem.equation, variables), float(t0), np.asarray(y0, np.float64)
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
            start, stop = (piece.t_min, piece.t_max) if end > t0 else (piece.t_max, piece.t_min)
            dense = _forced(problem, slopes, piece, rest, scale, (start, stop), state)
            inside = (times - start) * (times - stop) < 0.0
            for k in np.nonzero(inside | (times == stop))[0]:
                found[k] = dense(times[k])
            state = dense(stop)
    return found


def _forced(problem, slopes, piece, rest, scale, span, state):
    """The solution of the sensitivity equation on one piece."""
    return problem.linear(lambda t, s: slopes.pushed(t, piece(t), [s, *rest]), span, state, scale,
                          lambda t: slopes.matrix(t, piece(t)), True).sol


_SOLUTION = Primitive("the solution of a differential equation", _value, _pull, _push, keep_out=False)


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
        rows = self._make(numbers, values).solution(self._y0, self._t0)
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
    return anchored(row + (t - number) * asarray(equation.active()(number, row)), np.array(plain(row)))
