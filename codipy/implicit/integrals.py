# SPDX-License-Identifier: Apache-2.0
"""What stands for functions of ``scipy.integrate`` in rebound code."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import scipy.integrate

import codipy.numpy
from codipy.active.array import is_active, plain
from codipy.implicit import quadrature
from codipy.implicit.continuous import moved, solution
from codipy.implicit.integrators import integrated
from codipy.implicit.problem import Kept, Problem
from codipy.implicit.slopes import refuse_hidden
from codipy.implicit.trajectory import Equation, Reads, plain_call
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, value_tree
from codipy.tape.activity import depth

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
        return _ODEINT(*positional, **named)
    bound.apply_defaults()
    given = bound.arguments
    f, args = given["func"], given["args"] if isinstance(given["args"], tuple) else (given["args"],)
    is_first = given["tfirst"]

    equation = Equation(f if is_first else functools.partial(_turned, f), args, False)
    wants, slopes = given["full_output"], given["Dfun"]
    numbers = {name: value_tree(given[name]) for name in given.keys() - {"func", "args", "Dfun"}}
    equation.is_kept = False
    numbers |= {"func": equation.plain, "args": (), "tfirst": True, "full_output": 1, "Dfun": slopes and plain_call(
        slopes if is_first else functools.partial(_turned, slopes), args)}
    with Reads() as reads:
        rows, info = _ODEINT(**numbers)
    if reads.found:
        refuse_hidden()
    y0, times = asarray(given["y0"]), asarray(given["t"])
    if equation.variables or holds_active([y0, times]):
        rows = _solution(equation, np.reshape(y0, (-1,)), times, rows, info, numbers)
    return (rows, info) if wants else rows


def _turned(f, t, y, *args):
    return f(y, t, *args)


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


# Rebuilt, the older classes would hand their loops in C arrays of codipy's.
_AS_THEY_ARE = {name: getattr(scipy.integrate, name) for name in ("complex_ode", "ode")}
FUNCTIONS = {**quadrature.FUNCTIONS, "odeint": odeint, "solve_ivp": _by_steps, **_AS_THEY_ARE}
