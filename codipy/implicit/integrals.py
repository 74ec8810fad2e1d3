# SPDX-License-Identifier: Apache-2.0
"""What stands for functions of ``scipy.integrate`` in rebound code."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.integrate

import codipy.numpy
from codipy.active.array import is_active, plain
from codipy.active.messages.callers import refusal
from codipy.errors import ActiveError
from codipy.implicit import quadrature
from codipy.implicit.continuous import moved, solution
from codipy.implicit.effects import Effects
from codipy.implicit.handed import unrecorded
from codipy.implicit.integrators import integrated
from codipy.implicit.problem import Kept, Problem
from codipy.implicit.slopes import refuse_hidden
from codipy.implicit.switches import Switches, in_order
from codipy.implicit.trajectory import Equation, Reads, plain_call
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, holds_variables, value_tree
from codipy.tape.activity import depth
from codipy.tools.arguments.trees import value
from codipy.tools.callee import name_of

__all__ = ["FUNCTIONS"]

_ODEINT = scipy.integrate.odeint
_SIGNATURE = inspect.signature(_ODEINT)
_TOLERANCE = 1.49012e-8      # of odeint where none is said


@functools.wraps(scipy.integrate.solve_ivp)
def _by_steps(*positional, **named):
    return integrated("steps", positional, named)


@functools.wraps(_ODEINT)
def odeint(*positional, **named):
    bound = _SIGNATURE.bind(*positional, **named)
    if not depth():
        return unrecorded(_ODEINT, bound)
    bound.apply_defaults()
    given = bound.arguments
    args = given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    with Effects(given["func"], args, given["Dfun"]) as effects:
        return _differentiated(given, args, effects)


def _differentiated(given, args, effects):
    f, is_first = given["func"], given["tfirst"]

    equation = Equation(f if is_first else _turned(f), args, False, effects)
    wants, slopes = given["full_output"], given["Dfun"]
    numbers = {name: value_tree(given[name]) for name in given.keys() - {"func", "args", "Dfun"}}
    equation.is_kept, seen = False, []
    is_known = equation.variables or holds_active([given["y0"], given["t"]])

    def noted(t, y):
        found = equation.plain(t, y)
        if is_known:
            seen.append((t, np.array(y), np.array(found)))      # ODEPACK and the function may fill them again
        return found

    numbers |= {"func": noted, "args": (), "tfirst": True, "full_output": 1, "Dfun": slopes and plain_call(
        slopes if is_first else _turned(slopes), args, equation.returned, effects)}
    if equation.reads_hidden(np.ravel(value_tree(given["t"]))[0], np.ravel(value_tree(given["y0"]))):
        refuse_hidden()
    effects.begin()
    with Reads() as reads:
        rows, info = _ODEINT(**numbers)
    equation.solved()
    if reads.found:
        refuse_hidden()
    y0, times = as_numbers(given["y0"]), as_numbers(given["t"])
    if is_known:
        moves = bool(equation.variables) or holds_active([y0, times[0]])
        ends = np.asarray(plain(times), np.float64)[[0, -1]].tolist()
        switches = Switches(equation, scipy.integrate.LSODA, numbers, *ends)
        switches.refuse(ends[0], rows[0], in_order(seen)[1:], lambda step: (moves, False))
        equation.run_within(ends[-1], rows[-1])
        rows = _solution(equation, np.reshape(y0, (-1,)), times, rows, info, numbers)
    return (rows, info) if wants else rows


def _turned(f):
    """A function of time and state of one of state and time, of whose name messages are."""
    def turned(t, y, *args):
        return f(y, t, *args)

    turned.__name__ = name_of(f)
    return turned


def _solution(equation, y0, times, rows, info, given):
    """The rows as a variable: the equation has the derivative that its solution by LSODA has."""
    if "successful" not in info["message"]:
        raise ArithmeticError(f"scipy.integrate.odeint has not solved, so there is no derivative: {info['message']}")
    options = {name: _TOLERANCE if given[name] is None else given[name] for name in ("rtol", "atol")}
    if given["hmax"] > 0.0:
        options["max_step"] = given["hmax"]
    numbers, t0 = np.asarray(plain(times), np.float64), times[0]
    kept = Kept(numbers[0], rows[0])
    for t, row in zip(numbers[1:], rows[1:]):
        kept.append_state(t, row)
    breaks = () if given["tcrit"] is None else np.ravel(given["tcrit"]).tolist()
    problem = Problem(equation, "LSODA", options, kept, numbers, rows, breaks)
    found = solution(problem, y0, t0)
    if not is_active(times):
        return found
    return codipy.numpy.stack([moved(equation, t, float(number), row) for t, number, row in zip(times, numbers, found)])


def _older(kind):
    """A class of SciPy's that integrates in C: the user's functions hand it numbers, and active ones raise afterwards.

    Rebuilt, it would hand C arrays of codipy's; and after an error in a function of the user's that goes on.
    """

    class Older(kind):
        def __init__(self, f, jac=None):
            self._is_active = False
            super().__init__(self._plain(f), self._plain(jac))

        def _plain(self, function):
            def called(*args):
                found = function(*args)
                self._is_active = self._is_active or holds_variables((found,))
                return value(found)

            return function and functools.partial(called)  # no `__code__`: by it SciPy until 1.15 counts arguments

        def integrate(self, *args, **named):
            found = super().integrate(*args, **named)
            if self._is_active:
                raise ActiveError(refusal(f"scipy.integrate.{kind.__name__} of functions that use active values",
                                          "write scipy.integrate.solve_ivp(fun, (t0, t1), y0, args=...) or odeint"))
            return found

    Older.__name__, Older.__qualname__ = kind.__name__, kind.__qualname__
    return Older


FUNCTIONS = {**quadrature.FUNCTIONS, "odeint": odeint, "solve_ivp": _by_steps}
FUNCTIONS |= {kind.__name__: _older(kind) for kind in (scipy.integrate.ode, scipy.integrate.complex_ode)}
