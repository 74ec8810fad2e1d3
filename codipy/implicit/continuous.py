# SPDX-License-Identifier: Apache-2.0
"""Solutions of differential equations whose derivatives are those of the equation, not of the steps of a solver.

Forward, tangents obey the sensitivity equation s' = J s + df/dp p'. Backward, adjoints obey l' = -J^T l, and the
cotangent of a parameter is the integral of l^T df/dp (Cao, Li, Petzold and Serban, "Adjoint sensitivity analysis for
differential-algebraic equations", SIAM J. Sci. Comput. 24, 2003; Hindmarsh and others, "SUNDIALS", 2005). Both are
integrated within the tolerances of the solution, so derivatives are as accurate as these say: of a method that is
implicit by collocation (`codipy.implicit.collocation`), the matrix of slopes taken at a few times, and of an explicit
one, or where there are many states, by the method itself, which asks for products with that matrix only.

The solution between is integrated anew, from states that were kept: at most `_MOST` of them, however long the interval
is. A sweep takes it piece by piece, and a piece of more steps is divided again, so memory grows with the logarithm of
the number of steps. Rejected: to integrate the solution backwards as well, which is unstable where it is dissipative.
"""

from __future__ import annotations

import contextlib
import functools

import numpy as np
import scipy.integrate

import codipy.numpy
from codipy.active.array import call, is_active, plain
from codipy.errors import ActiveError
from codipy.implicit.collocation import FINE, Accuracy, pulled, pushed, walk
from codipy.implicit.steps import anchored
from codipy.implicit.trajectory import Nodes
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.primitive import Primitive
from codipy.tape import active_tape, passive
from codipy.tools.pool import borrow, borrow_vector, give_back, give_back_vector
from codipy.tools.runs.recording import Recording
from codipy.tools.runs.run import NESTED

__all__ = ["Continuous", "Kept", "Problem", "moved", "refuse_hidden"]

_MOST = 64
_QUADRATURES = [np.polynomial.legendre.leggauss(count) for count in (3, 5)]
_PANELS = 10_000
_LARGEST = 200      # states, of which matrices are taken
_FEW = 64           # numbers of variables, by all of which a sweep forward goes
_KEPT = 4 << 20     # bytes of what was seen


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
    breaks : sequence of float
        Times over which no step goes.
    """

    def __init__(self, equation, method, options, kept, times, values, breaks=()):
        self.breaks, self.seen, self._bytes = breaks, {}, 0
        self.equation, self.method, self.options, self.kept = equation, method, options, kept
        self.times, self.values = np.asarray(times, np.float64), values

    def solution(self, y0, t0):
        """The rows of values, as a variable."""
        keep(_SAME, [y0, t0, *self.equation.variables])
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
                self._integrated(f, t, y, stop, again)
                yield from self.pieces(f, again, stop, backwards)
            else:
                found = self._integrated(f, t, y, stop, None)
                yield from reversed(found) if backwards else found

    def _integrated(self, f, t, y, end, kept):
        """Dense solutions, one after each break; with `kept`, only the states that this keeps."""
        method, found = _seen(self.method, kept) if kept is not None else self.method, []
        inside = sorted(x for x in self.breaks if (x - t) * (end - x) > 0.0)
        for stop in [*(inside if end > t else inside[::-1]), end]:
            found.append(_succeeded(scipy.integrate.solve_ivp(
                f, (t, stop), y, method, [stop] if kept is not None else None, kept is None, **self.options)))
            t, y = stop, found[-1].y[:, -1]
        return [each.sol for each in found]

    def linear(self, f, span, start, scale, slope, is_dense):
        """Integrate a linear equation as the solution is, for numbers of the size `scale`; `slope(t)` is its matrix."""
        options = dict(self.options)
        options["atol"] = np.min(options.get("atol", 1e-6)) * (scale or 1.0)
        if self.is_implicit:
            options["jac"] = lambda t, _: slope(t)
        times = None if is_dense else [span[1]]
        return _succeeded(scipy.integrate.solve_ivp(f, span, start, self.method, times, is_dense, **options))

    def keep(self, key, arrays):
        """What was seen of an interval, for the directions of other sweeps."""
        self._bytes += sum(x.nbytes for x in arrays if x is not None)
        if self._bytes <= _KEPT:
            self.seen[key] = arrays

    @property
    def takes_matrices(self):
        """Whether there is a matrix of slopes at each time; larger ones cost more than to integrate without."""
        return self.is_implicit and self.values.shape[-1] <= _LARGEST

    @functools.cached_property
    def accuracy(self):
        """That of the solution, relative to its numbers; of one that is nearly zero as if it were 1."""
        sizes = np.maximum(np.abs([y for _, y in self.kept.states]).max(axis=0), 1.0)
        return Accuracy(max(np.min(self.options.get("rtol", 1e-3)), np.min(self.options.get("atol", 1e-6) / sizes)))

    @functools.cached_property
    def least(self):
        """Sizes below which the numbers of the solution are as good as zero."""
        return self.options.get("atol", 1e-6) / self.accuracy.relative

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
        self._equation, self.variables = equation, [x if np.ndim(x) else float(x) for x in variables]
        self.plain = equation.with_values(self.variables)

    @contextlib.contextmanager
    def at(self, times, states):
        """One recording of runs at some times; a driver would look for the variables in all arguments each time."""
        def f(*values):
            equation, runs = self._equation.with_values(values[len(times):]), []
            for t, y in zip(times, values):
                found = asarray(equation(t, y))
                # A copy: the function may fill one array again and again.
                runs.append(found.copy() if found.shape == y.shape else codipy.numpy.broadcast_to(found, y.shape))
            return runs

        def place(args, inputs):
            args[:] = inputs

        is_nested = active_tape() is not None
        settings = NESTED if is_nested else ("auto", None)
        tape = borrow(settings)
        try:
            tape.loans = [] if is_nested else None
            recording = Recording(tape, f, [], {}, [*states, *self.variables], place)
            if tape.loans:
                refuse_hidden()
            yield _Runs(recording, len(states), states[0].size)
        finally:
            tape.loans = None
            give_back(settings, tape)

    def pulled(self, t, y, cotangent):
        """The cotangents of the state and of each variable."""
        with self.at([t], [y]) as runs:
            return runs.pulled([cotangent])

    def pushed(self, t, y, tangents):
        """The tangent of the right-hand side."""
        with self.at([t], [y]) as runs:
            return runs.pushed(tangents)[0]

    def matrix(self, t, y):
        """The derivatives by the state."""
        with self.at([t], [y]) as runs:
            return runs.matrices()[0][0]


    def between(self, problem, piece, first, last):
        """The right-hand side at the nodes of an interval: what was found there for another direction, if it is kept.

        Returns
        -------
        states : ndarray, shape (s, n)
        matrices : ndarray, shape (s, n, n)
        columns : ndarray, shape (s, n, m), or None
            The derivatives by all m numbers of the variables, if these are few.
        """
        found = problem.seen.get((first, last))
        if found is None:
            times, sizes = first + (last - first) * FINE.nodes, [np.size(x) for x in self.variables]
            states, are_few = [piece(t) for t in times], sum(sizes) <= _FEW
            with self.at(times, states) as runs:
                matrices, columns = runs.matrices(sizes if are_few else ())
            found = np.array(states), matrices, columns if are_few else None
            problem.keep((first, last), found)
        return found

    def shares(self, first, last, found, cotangents):
        """What all numbers of the variables get for cotangents at the nodes, in each of the directions.

        Parameters
        ----------
        cotangents : ndarray, shape (s, n, 2)
        """
        states, _, columns = found
        if columns is not None:
            return np.tensordot(columns, cotangents, ((0, 1), (0, 1)))
        with self.at(first + (last - first) * FINE.nodes, list(states)) as runs:
            parts = runs.pulled(list(cotangents), 2)[len(states):]
        return np.concatenate([np.reshape(part, (-1, 2)) for part in parts])

    def forcing(self, first, last, found, tangents):
        """The tangents of the right-hand side at the nodes, for those of the variables."""
        states, _, columns = found
        if columns is not None:
            return columns @ _row_of(tangents)
        with self.at(first + (last - first) * FINE.nodes, list(states)) as runs:
            return np.stack(runs.pushed([*(0.0 * y for y in states), *tangents]))


class _Runs:
    """Sweeps through runs of the right-hand side, each at a time and a state."""

    def __init__(self, recording, count, size):
        self._recording, self._count, self._size = recording, count, size

    def pulled(self, cotangents, width=1):
        """The cotangents of each state and of the variables; of several directions, the last axis."""
        return self._swept(self._recording.reverse, cotangents, width)

    def pushed(self, tangents):
        """The tangents of the right-hand side, for those of each state and of the variables."""
        return self._swept(self._recording.forward, tangents, 1)

    def matrices(self, sizes=()):
        """The derivatives by the states, each by its own, and by the variables of these sizes: all in one sweep."""
        n, width = self._size, self._size + sum(sizes)
        seeds, start = [np.eye(n, width) if width > 1 else np.ones(1)] * self._count, n
        for size, x in zip(sizes, self._recording.inputs[self._count:]):
            seeds.append(np.reshape(np.eye(size, width, start), (*np.shape(x), width)))
            start += size
        found = np.reshape(self._swept(self._recording.forward, seeds, width), (self._count, n, width))
        return found[..., :n], found[..., n:]

    def _swept(self, sweep, seeds, width):
        adjoints = borrow_vector(self._recording.tape, width)
        found = sweep(adjoints, seeds)
        give_back_vector(adjoints)
        return found


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
    units = _inverse(np.abs(_row_of(slopes.variables)))

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


def _row_of(parts):
    return np.concatenate([np.zeros(0), *(np.reshape(part, (-1,)) for part in parts)])


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
_SAME = decision("the solution of a differential equation", lambda *parts: _row_of(parts))


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
