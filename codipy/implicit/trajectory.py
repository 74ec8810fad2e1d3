# SPDX-License-Identifier: Apache-2.0
"""What SciPy's integrators did: one plain run of ``solve_ivp``, and each step that it accepted."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass

import numpy as np
import scipy.integrate

from codipy.active.array import Array, from_ndarray, is_active, plain
from codipy.implicit.opened import Opened
from codipy.implicit.returned import Returned, demand_unwritten
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.arguments import copied, value_tree
from codipy.tape import active_tape, passive
from codipy.tools.arguments.trees import value
from codipy.tools.pool import borrow, give_back
from codipy.tools.rebinding.diverted import in_force, resume
from codipy.tools.runs.run import NESTED

__all__ = ["METHODS", "Equation", "Nodes", "Reads", "Step", "plain_call", "run"]

METHODS = {name: getattr(scipy.integrate, name) for name in ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")}
_FILLED = ("the right-hand side of a differential equation fills one array and returns it each time, or some in turn, "
           "and SciPy keeps what it got: return a copy, dydt.copy()")
# Solutions of these take the segment after a time at which two meet, and SciPy asks for the very class.
_LATER_SEGMENT = ("BDF", "LSODA")


@dataclass(slots=True)
class Step:
    """A step that was accepted.

    Attributes
    ----------
    t_old, t : float
        Where it begins and ends.
    y : ndarray
        The solution there.
    calls : list
        Pairs of a time and a state for which the right-hand side was asked, in order.
    inner : tuple
        Of an implicit method: what its equations are made of, and have for a solution.
    slopes : ndarray
        Of an explicit method, the slopes of all stages and at the end; of others, that of the only call.
    """

    t_old: float
    t: float
    y: np.ndarray
    calls: list
    inner: tuple
    slopes: np.ndarray


class Equation:
    """The right-hand side of an equation, with its arguments.

    Parameters
    ----------
    f : callable
        ``f(t, y, *args)``.
    args : tuple
    vectorized : bool
        Whether it takes columns.
    effects : Effects, optional
        What it keeps on the side.

    Attributes
    ----------
    variables : list of Array and Real
        Active ones in cells of the function and among the arguments.
    calls : list
        Pairs of a time and a state that `plain` was called for.
    slopes : ndarray
        What it has returned last.
    returned : Returned
        The context for a solver that keeps what it gets.
    is_kept : bool
        Whether the solver keeps the arrays that it gets; those of ODEPACK copy them.
    """

    def __init__(self, f, args, vectorized, effects=None):
        self.f, self.args, self.vectorized = f, args, vectorized
        self._opened = Opened(functools.partial(_called, f, *args) if args else f)
        self.variables, self.calls, self.slopes = self._opened.variables, [], None
        self._effects = effects if effects is not None and effects.are_possible else None
        self._passive, self.is_kept = self._opened.passive(), True
        self._diverting = in_force()
        self._written = []      # pairs of an Array and the plain array that it finds instead
        if self._effects is not None and self._opened.has_containers:      # it may write to these, and not to copies
            self._passive = in_passive(self.active_now())
        elif self._effects is not None and any(map(np.ndim, self.variables)):
            values = [np.array(plain(x)) if np.ndim(x) else plain(x) for x in self.variables]
            self._passive = self._opened.with_values(values)
            self._written = [(x, own) for x, own in zip(self.variables, values) if np.ndim(x)]
        self.returned = Returned(self._effects is not None)
        self._called, self._has_begun = self.returned.called(self._passive, _FILLED, f), False

    def plain(self, t, y):
        """Its value.

        Raises
        ------
        ActiveError
            If it fills an array that it has returned while SciPy has that yet, for the state before, and would find
            the numbers of another one there; a step that is recorded has each slope for itself. If it writes to the
            state, which SciPy goes on with.
        """
        self.calls.append((t, y))      # an array that SciPy made for this call
        self.slopes = self._called(t, y) if self.is_kept else self._of_odepack(t, y)
        return self.slopes

    def _of_odepack(self, t, y):
        """Its value: after the first call ODEPACK makes the state of each anew."""
        y = self.returned.lasting(y)
        handed = () if self._has_begun or self._effects is None else [(y, y.copy())]
        self._has_begun, slopes = True, value_tree(self._passive(t, y))
        demand_unwritten(self.f, handed)
        return slopes

    def solved(self):
        """A solver has called it, and what it left is set aside."""
        self.slopes = None      # an array of the user's, who may fill it again
        if self._effects is not None:
            for x, own in self._written:
                if own.tobytes() != plain(x).tobytes():
                    x[...] = own
            self._effects.solved()

    @property
    def keeps(self):
        """Whether it may keep something on the side."""
        return self._effects is not None

    def reads_hidden(self, t, y):
        """Whether it reads variables that are not among its own, which is not seen where nothing of it is recorded."""
        if self._effects is None or not self._opened.has_containers:
            return False
        others = self.with_values([plain(x) for x in self.variables])
        with Reads() as reads:
            others(t, np.array(y))
        return reads.found

    def run_within(self, t, y):
        """See `Effects.run_within`."""
        if self._effects is not None:
            self._effects.run_within(functools.partial(self.active_now(), t), y)

    def resume(self):
        """A sweep records it: functions lead to their rebuilt ones as they did when it was solved."""
        resume(self._diverting)

    def with_values(self, values):
        """The function of time and state with others in the place of its variables."""
        if self._effects is None or not any(map(np.ndim, values)):
            return self._column(self._fresh(self._opened.with_values(values)))

        def anew(t, y):      # it may write to them
            own = [x.copy() if type(x) is Array else from_ndarray(np.array(x)) if np.ndim(x) else x for x in values]
            return self._opened.with_values(own)(t, y)

        return self._column(self._fresh(anew))

    def active(self):
        """The function of time and state, as it is."""
        return self._column(self._fresh(self.active_now()))

    def active_now(self):
        """The same, which finds what it has kept."""
        return functools.partial(_called, self.f, *self.args) if self.args else self.f

    def _fresh(self, f):
        if self._effects is None:
            return f
        fresh = self._effects.fresh(f, self.f, self.args)
        return lambda t, y: fresh(t, _own(y))

    def _column(self, f):
        return (lambda t, y: np.reshape(f(t, np.reshape(y, (-1, 1))), (-1,))) if self.vectorized else f


def _own(y):
    """A state for a function that may write to it, active numbers where it is recorded."""
    y = copied(y)
    return from_ndarray(y) if type(y) is np.ndarray and active_tape() is not None else y


class Reads:
    """Whether what runs in a ``with`` block reads active variables: `found`, afterwards."""

    def __enter__(self):
        self.found, self._tape = False, borrow(NESTED)
        self._tape.loans = []      # to which the enclosing recording lends what is read
        self._tape.set_active()
        return self

    def __exit__(self, *exception):
        self._tape.set_passive()
        self.found = bool(self._tape.loans)
        give_back(NESTED, self._tape)


def in_passive(f):
    """A function that is called where nothing is recorded."""
    def called(t, y):
        with passive():
            return f(t, y)

    return called


def plain_call(function, args, returned, effects=None):
    """A function of time and state with arguments, an event or a Jacobian, as SciPy calls it: of numbers.

    What it may write to is `returned` by the right-hand side.
    """
    opened = Opened(functools.partial(_called, function, *args))
    passive_function = opened.passive()
    if effects is not None and effects.are_possible and opened.has_containers:
        passive_function = in_passive(functools.partial(_called, function, *args))

    return Wrapped(function, returned.called(passive_function, of=function))


def _called(f, *rest):
    return f(*rest[-2:], *rest[:-2])


def _watched(method, equation, steps):
    """A method of which each step is seen."""

    class Watched(method):
        def step(self):
            before = getattr(self, "order", 0), getattr(self, "h_abs", None)
            del equation.calls[:]
            message = super().step()
            if self.status != "failed":
                steps.append(Step(self.t_old, self.t, self.y, *_kept(method.__name__, self, before, equation)))
            return message

    Watched.__name__ = Watched.__qualname__ = method.__name__
    return Watched


def _kept(name, solver, before, equation):
    """The calls of the stages, what else a step is made of, and slopes."""
    calls, end = equation.calls, [(solver.t, solver.y)]
    if solver.t == solver.t_old:      # an interval of no length
        return [], (), None
    if name == "Radau":
        return end, (solver.Z,), solver.f
    if name == "BDF":      # Newton's iterations change the state that they were called with
        return end, (*before, solver.order, solver.h_abs), equation.slopes
    if name == "LSODA":
        return end, (), np.array(equation.slopes)
    return calls[len(calls) - solver.n_stages:], (), solver.K[:solver.n_stages + 1].copy()


def run(equation, t_span, y0, method, t_eval, dense_output, events, options, steps, inside):
    """The result of SciPy's ``solve_ivp`` for plain numbers, and who solved.

    Parameters
    ----------
    equation : Equation
    t_span, y0, t_eval, dense_output, events, options
        As SciPy takes them; `events` without arguments, and plain.
    method : type
        An `OdeSolver`.
    steps : object
        To which each `Step` is appended.
    inside : context manager
        In which SciPy runs.
    """
    solvers, equation.is_kept = [], method is not METHODS["LSODA"]
    watched = _watched(method, equation, steps)
    made = watched.__init__

    @functools.wraps(made)
    def remembered(self, *args, **kwargs):
        solvers.append(self)
        made(self, *args, **kwargs)

    watched.__init__ = remembered
    with inside, equation.returned:
        found = scipy.integrate.solve_ivp(equation.plain, value(t_span), copied(value_tree(y0)), watched,
                                          value_tree(t_eval), dense_output, events, equation.vectorized, **options)
    if found.sol is not None and method.__name__ in _LATER_SEGMENT and (
            "alt_segment" in inspect.signature(scipy.integrate.OdeSolution).parameters):
        found.sol = scipy.integrate.OdeSolution(found.sol.ts, found.sol.interpolants, alt_segment=True)
    return found, solvers[0]


class Nodes:
    """Where steps begin and end, as variables: all move with the first, but the end of the interval.

    Parameters
    ----------
    t_span : sequence
        Two numbers or Reals.
    times : sequence of float
        The same as plain numbers.
    """

    def __init__(self, t_span, times):
        self._first, self._last = t_span
        self._times, self._end = times, plain(self._last)
        self._moves = is_active(self._first)

    def __getitem__(self, k):
        """The time after k steps."""
        if k == 0:
            return self._first
        t = self._times[k]
        if t == self._end:
            return self._last
        return self._first + float(t - self._times[0]) if self._moves else t

    def moves(self, k):
        """Whether the times in step k are variables."""
        return self._moves or self._times[k + 1] == self._end and is_active(self._last)

    def length(self, k):
        """How far step k goes."""
        if self._times[k + 1] == self._end and self.moves(k):
            return self._last - self[k]
        return self._times[k + 1] - self._times[k]
