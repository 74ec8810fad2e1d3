# SPDX-License-Identifier: Apache-2.0
"""``scipy.integrate.solve_ivp`` as rebound code has it: SciPy integrates numbers, and its steps are differentiated.

Values are SciPy's, and so are the steps: their sizes and orders, and the estimates of errors, are constants of the
derivative. That of a time at which something happens comes by the implicit function theorem.
"""

from __future__ import annotations

import inspect
import sys
import types

import numpy as np
import scipy.integrate

import codipy.numpy
from codipy.active.array import Real, is_active, plain
from codipy.errors import ActiveError
from codipy.implicit.continuous import Continuous
from codipy.implicit.effects import Effects
from codipy.implicit.handed import unrecorded
from codipy.implicit.opened import may_read_variables
from codipy.implicit.problem import Kept
from codipy.implicit.slopes import refuse_hidden
from codipy.implicit.steps import Bdf, Explicit, Radau, anchored
from codipy.implicit.switches import Switches, Watched
from codipy.implicit.trajectory import METHODS, Equation, Nodes, Reads, plain_call, run
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.tape import passive
from codipy.tape.activity import depth
from codipy.tools.arguments.trees import value
from codipy.tools.callee import name_of
from codipy.tools.derivatives.drivers import grad
from codipy.tools.orders import orders
from codipy.tools.rebind import rebind

__all__ = ["integrated"]

_PLAIN = scipy.integrate.solve_ivp
_SIGNATURE = inspect.signature(_PLAIN)
_HELD: list = []
_NEAR = 1e-4      # how far from the last state a function may have been called last, relative to 1 + its size
_BY = {"RK23": Explicit, "RK45": Explicit, "DOP853": Explicit, "Radau": Radau, "BDF": Bdf}


def integrated(adjoint, positional, named):
    """What ``solve_ivp`` returns, with variables where something is active.

    Parameters
    ----------
    adjoint : {"steps", "continuous"}
        What is differentiated: the steps, or the equation.
    positional, named : tuple, dict
        The arguments of SciPy's function.
    """
    bound = _SIGNATURE.bind(*positional, **named)
    bound.apply_defaults()
    given = bound.arguments
    method = METHODS.get(given["method"], given["method"]) if isinstance(given["method"], str) else given["method"]
    if not depth() or given["args"] is not None and not np.iterable(given["args"]):
        return unrecorded(_PLAIN, bound)
    if method not in METHODS.values() or value(codipy.numpy.asarray(given["y0"])).dtype.kind == "c":
        return _rebuilt()(*positional, **named)
    args = () if given["args"] is None else tuple(given["args"])
    with Effects(given["fun"], args, given["events"], given["options"]) as effects:
        return _differentiated(adjoint, method, given, args, effects)


def _differentiated(adjoint, method, given, args, effects):
    equation = Equation(given["fun"], args, given["vectorized"], effects)
    events = given["events"] if given["events"] is None or np.iterable(given["events"]) else [given["events"]]
    returned = equation.returned
    options = {key: plain_call(x, args, returned, effects) if key == "jac" and callable(x) else value_tree(x)
               for key, x in given["options"].items()}
    is_continuous = adjoint == "continuous" or method.__name__ == "LSODA"
    kept = Kept(plain(given["t_span"][0]), value_tree(as_numbers(given["y0"]))) if is_continuous else []
    is_known = effects.are_possible and effects.varies or equation.variables or holds_active(
        [given["t_span"], given["t_eval"], given["y0"]]) or any(
        Equation(event, args, False).variables for event in events or ()) or (
        not is_continuous and may_read_variables(given["fun"], *args, *(events or ())))
    if is_continuous and equation.reads_hidden(plain(given["t_span"][0]), value_tree(as_numbers(given["y0"]))):
        refuse_hidden()
    switches = Switches(equation, method, options, *map(plain, given["t_span"]))
    moves = bool(equation.variables) or holds_active([given["t_span"][0], given["y0"]])
    steps = Watched(kept, switches, moves) if is_continuous and is_known else kept
    effects.begin()
    reads = passive() if is_known and not is_continuous else Reads()
    watched = events and [plain_call(event, args, returned, effects) for event in events]
    found, solver = run(equation, given["t_span"], given["y0"], method, given["t_eval"], given["dense_output"], watched,
                        options, steps, reads)
    equation.solved()
    if not is_known and not reads.found:
        found.sol = _of_variables(found.sol)
        return found
    if is_continuous and reads.found:
        refuse_hidden()
    if is_continuous and not found.success:
        raise ArithmeticError(f"scipy.integrate.solve_ivp has not solved, so there is no derivative: {found.message}")
    if is_continuous:
        steps.finish()
        equation.run_within(found.t[-1], found.y[:, -1])
    solution = (Continuous if is_continuous else _ByStep)(equation, kept, solver, given, found)
    if not is_continuous:
        last = equation.calls[-1:]
        solution.demand_still(switches)
        if kept and last:
            effects.note((plain(given["t_span"][0]), value_tree(given["y0"])))
            effects.note(last[0])
            effects.again(equation.active_now(), (solution.nodes[len(kept)], solution.end), _NEAR)
    return _Result(solution, found, events, args, given, effects).made()


def _of_variables(solution):
    """A continuous solution of plain numbers as rebuilt code has one that was made outside: it takes active times."""
    frame = sys._getframe(2)
    while solution is not None and frame is not None:
        if (view := frame.f_builtins.get("__rebound__")) is not None:
            return view.rebinder.at_run_time(solution)
        frame = frame.f_back
    return solution


def _rebuilt():
    """SciPy's own function as one of a user's is rebuilt: for complex numbers, and methods that somebody wrote."""
    if not _HELD:
        copied = types.FunctionType(_PLAIN.__code__, _PLAIN.__globals__, _PLAIN.__name__, _PLAIN.__defaults__,
                                    _PLAIN.__closure__)
        _HELD.append(rebind(copied, modules=("scipy.integrate",)))
    return _HELD[0]


class _ByStep:
    """The solution of the steps that were taken, as variables; for the parameters see `Continuous`."""

    def __init__(self, equation, steps, solver, given, found):
        self._equation, self._steps = equation, steps
        times = [plain(given["t_span"][0]), *(step.t for step in steps)]
        self.nodes, self._ends = Nodes(given["t_span"], times), np.array(times[1:])
        method = _BY[type(solver).__name__](equation.active(), solver, equation.with_values(
            [plain(x) for x in equation.variables]))
        y, kept = as_numbers(given["y0"]), self._wanted(found, given)
        self._states = [y if y.dtype == np.float64 else y.astype(np.float64)]
        self._interpolants, has_begun = {}, False
        for k, step in enumerate(steps):
            if step.t != step.t_old:
                t, h = self.nodes[k], self.nodes.length(k)
                if has_begun:
                    method.go_on()
                else:
                    method.start(t, self._states[-1], step.inner)
                wanted = kept is None or k in kept
                y, interpolant = method.step(step, t, h, self._states[-1], wanted)
                has_begun = True
                if wanted:
                    self._interpolants[k] = interpolant
                    if equation.keeps:      # which it finds as it was while the solver runs only
                        interpolant.complete()
            self._states.append(y)

    @property
    def end(self):
        """The state at the end of the last step."""
        return self._states[-1]

    def demand_still(self, switches):
        """Raise where the right-hand side jumps, and the state or the times there move."""
        nodes, states = self.nodes, self._states
        switches.refuse(plain(nodes[0]), plain(states[0]), self._steps,
                        lambda k: (is_active(states[k]), nodes.moves(k)))

    def _wanted(self, found, given):
        """The numbers of steps between whose ends the solution is asked for; None: all."""
        if found.sol is not None:
            return None
        times = [] if given["t_eval"] is None else [found.t]
        return {self._place(t) for each in [*times, *(found.t_events or [])] for t in each}

    def _place(self, t):
        """In which step a time is; the earlier one, if it is at an end."""
        direction = 1.0 if self._ends[-1] >= self._ends[0] else -1.0
        return min(int(np.searchsorted(direction * self._ends, direction * t)), len(self._ends) - 1)

    def states(self, count):
        """The solution at the first times of the result."""
        return self._states[:count]

    def columns(self, times, values):
        """The solution at some times, for the values that it has there."""
        return [anchored(self.at(t, row), row) for t, row in zip(times, values)]

    def dense(self, times, values, plain_solution):
        """What SciPy's continuous solution has for values, which takes another step where two meet."""
        found, known = [], plain_solution
        for t, row in zip(times, values):
            place = int(np.searchsorted(known.ts_sorted, plain(t), side=getattr(known, "side", "left")))
            segment = min(max(place - 1, 0), known.n_segments - 1)
            segment = segment if known.ascending else known.n_segments - 1 - segment
            found.append(anchored(self._within(segment, t), row))
        return found

    def at(self, t, values):
        """The solution at a time."""
        return self._within(self._place(plain(t)), t)

    def slope(self, t, y):
        """The right-hand side."""
        return self._equation.active()(t, y)

    def _within(self, k, t):
        return self._interpolants[k](t) if k in self._interpolants else self._states[k]


class _Result:
    """Makes what SciPy returns."""

    def __init__(self, solution, found, events, args, given, effects):
        self._solution, self._found, self._args, self._given = solution, found, args, given
        self._events = events and [effects.fresh(event) for event in events]

    def made(self):
        found, ended = self._found, []
        if self._events:
            pairs = [[self._event(event, t, y) for t, y in zip(times, states)]
                     for event, times, states in zip(self._events, found.t_events, found.y_events)]
            ended = [pair for each in pairs for pair in each[-1:]]
            for k, each in enumerate(pairs):
                if any(is_active(t) for t, _ in each):
                    found.t_events[k] = as_numbers([t for t, _ in each])
                if any(is_active(y) for _, y in each):
                    found.y_events[k] = codipy.numpy.stack([as_numbers(y) for _, y in each])
        times, states = self._nodes(ended) if self._given["t_eval"] is None else self._asked()
        if found.sol is not None:
            found.sol = DenseSolution(self._solution, found.sol, self._steps(found.sol.ts, ended))
        if any(map(is_active, states)):
            found.y = _columns(states, found.y)
        if any(map(is_active, times)):
            found.t = as_numbers(times)
        return found

    def _nodes(self, ended):
        """All steps; where an event ended it, its time and state are the last."""
        last = self._last(self._found.t, ended)
        count = len(self._found.t) - bool(last)
        return self._steps(self._found.t, ended), [*self._solution.states(count), *(y for _, y in last)]

    def _steps(self, ts, ended):
        """The times of a row between which the steps are."""
        last, nodes = self._last(ts, ended), Nodes(self._given["t_span"], ts)
        return [*(nodes[k] for k in range(len(ts) - bool(last))), *(t for t, _ in last)]

    def _last(self, ts, ended):
        """Time and state of the event that ended the last step of a row of times; none if none did."""
        return [pair for pair in ended if plain(pair[0]) == ts[-1]][:1] if self._found.status == 1 else []

    def _asked(self):
        """What there is of ``t_eval``."""
        found, given = self._found, as_numbers(self._given["t_eval"])
        if len(found.t) == 0:
            return [], []
        times = list(found.t)
        if is_active(given):
            order = {float(t): k for k, t in enumerate(plain(given))}
            times = [given[order[float(t)]] for t in found.t]
        return times, self._solution.columns(times, np.ascontiguousarray(found.y.T))

    def _event(self, event, t, y):
        """When it happened, and the state then."""
        solution, when, slope = self._solution, t, None
        for _ in range(orders()):
            residual = _number(event(when, solution.at(when, y), *self._args))
            if not is_active(residual):
                break
            if slope is None:
                slope = self._slope(event, t, y)
            when = when - (residual - plain(residual)) / slope
        [state] = solution.columns([when], np.array(y)[None])
        return when, state

    def _slope(self, event, t, y):
        """How fast an event changes along the solution."""
        happens = Equation(event, self._args, False)
        plain_event, speed = happens.with_values([plain(x) for x in happens.variables]), self._speed(t, y)

        def along(s):
            return _number(plain_event(s, y + (s - t) * speed))

        found = float(plain(grad(along, rebind=False)(float(t))))
        if not found or not np.isfinite(found):
            raise ArithmeticError(f"the time of the event {name_of(event)} at {t:.6g} has no derivative: the event "
                                  "does not change there along the solution")
        return found

    def _speed(self, t, y):
        with passive():
            return value_tree(as_numbers(self._solution.slope(t, y)))


def _number(found):
    return np.reshape(found, (-1,))[0] if np.ndim(found) else found


def _columns(states, like):
    """States side by side, in the memory of a plain array: in its order sums add."""
    if not states:
        return like
    if like.flags.f_contiguous:
        return codipy.numpy.stack(states).T
    return codipy.numpy.stack(states, axis=1)


class DenseSolution:
    """The solution at any time between the ends, as SciPy's `OdeSolution` has it.

    Parameters
    ----------
    solution : object
        Gives variables.
    plain_solution : scipy.integrate.OdeSolution
        Gives values.
    times : list of float and Real
        Ends of the steps.

    Attributes
    ----------
    n_segments : int
    t_min, t_max : float or Real
    ts : ndarray or Array
        Ends of the steps.
    """

    def __init__(self, solution, plain_solution, times):
        self._solution, self._plain = solution, plain_solution
        self.ts, self.n_segments = plain_solution.ts, plain_solution.n_segments
        self.t_min, self.t_max = plain_solution.t_min, plain_solution.t_max
        if any(map(is_active, times)):
            self.ts, ends = as_numbers(times), (times[0], times[-1])
            self.t_min, self.t_max = ends if self.t_min == plain_solution.ts[0] else ends[::-1]

    def __getattr__(self, name):
        if name[:1] != "_" and hasattr(self._plain, name):
            raise ActiveError(f"{name} of the continuous solution of scipy.integrate.solve_ivp has no derivative here: "
                              "call the solution itself, sol(t)")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __call__(self, t):
        """The state at a number, or a column for each time of a sequence.

        Parameters
        ----------
        t : float or array_like, shape (k,)

        Returns
        -------
        Array, shape (n,) or (n, k)
        """
        if type(t) is Real or np.ndim(t) == 0:
            values = self._plain(plain(t))
            t = t[()] if is_active(t) and type(t) is not Real else t
            return self._solution.dense([t], values[None], self._plain)[0]
        t = as_numbers(t)
        values = self._plain(plain(t))
        times = [t[k] for k in range(len(t))]
        return _columns(self._solution.dense(times, np.ascontiguousarray(values.T), self._plain), values)
