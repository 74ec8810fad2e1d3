# SPDX-License-Identifier: Apache-2.0
"""``scipy.optimize`` as rebound code has it: SciPy solves with plain numbers, and the solution has its derivative.

Roots, fixed points and minima are differentiated by the implicit function theorem (`codipy.implicit`), not through the
steps of the solver: those of a minimiser have another derivative than the minimum, to which they come near. Where
nothing is active the result is SciPy's own. The user's function is run once more, at the solution.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys

import numpy as np
import scipy.optimize

from codipy.active.array import Array, is_active, plain
from codipy.errors import TapeError
from codipy.implicit.fits import curve_fit, nnls
from codipy.implicit.held import OF_MINIMA, Bounds, with_bounds
from codipy.implicit.solution import solution_of
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import value_tree
from codipy.numpy.modules import module_for
from codipy.scipy import solvers
from codipy.tape.activity import depth
from codipy.tools.drivers import grad
from codipy.tools.jacobian import jacobian

__all__ = ["FUNCTIONS", "optimize"]

# How far a step of Newton's method may move a root, relative to 1 + its size; minimisers stop earlier.
_OF_ROOTS = 1e-6
_AS_NEAR = 2      # the status of a minimiser that cannot come nearer
# What a result tells of the run alone; numbers beside these would have lost their derivatives.
_COUNTS = {"converged", "flag", "function_calls", "ier", "iterations", "mesg", "message", "method", "nfev", "nhev",
           "nit", "njev", "status", "success"}  # fmt: skip


def _stand_in(name, equation_of, key, near, answers=lambda function, u: {}):
    """What is called in the place of a solver.

    Parameters
    ----------
    equation_of : callable
        From the user's function, of the unknown alone, to the one that is zero at the solution.
    key : str
        Where an object that SciPy returns has the solution.
    near : float
        How exact it must be.
    answers : callable
        Other numbers of such an object, as the user's function gives them at the solution.
    """
    original = solvers.FUNCTIONS.get(name) or getattr(scipy.optimize, name)
    signature = inspect.signature(original)
    [first, *_] = signature.parameters

    @functools.wraps(original)
    def solver(*positional, **named):
        bound = signature.bind(*positional, **named)
        if not depth() or bound.arguments.get("loss", "linear") != "linear" or bound.arguments.get("kwargs"):
            return original(*positional, **named)
        function, args = bound.arguments[first], bound.arguments.get("args", ())
        args = args if isinstance(args, tuple) else (args,)
        has_more = any(bound.arguments.get(slope) is True for slope in ("jac", "fprime", "fprime2"))

        def number(u, *args):
            return function(u, *args)[0] if has_more else function(u, *args)

        bounds = Bounds(name, bound.arguments) if near == OF_MINIMA else None
        for parameter in bound.arguments.keys() - {"args"}:
            given = bound.arguments[parameter]
            given = list(given) if isinstance(given, list) else given      # and not a view of one that is rebuilt
            bound.arguments[parameter] = _plain(given) if callable(given) else value_tree(given)
        found, held, known = None, None, None

        def solve(*args):
            nonlocal found
            bound.arguments["args"] = args
            found = original(*bound.args, **bound.kwargs)
            _demand_success(name, found)
            return found[0] if isinstance(found, tuple) else found[key] if isinstance(found, dict) else found

        def equation(u, *args):
            nonlocal held, known
            residual = equation_of(lambda u: number(u, *args), u)
            if bounds is None:
                return residual
            if known is not found:
                here = bounds.held_by(lambda u: equation_of(lambda u: number(u, *args), u), value_tree(u), OF_MINIMA)
                if known is not None and not np.array_equal(here, held):
                    raise TapeError(f"other bounds hold the minimum of {equation.__name__} than when it was recorded: "
                                    "record again at these inputs")
                held, known = here, found
            return with_bounds(held, bounds, residual, u) if np.any(held) else residual

        equation.__name__ = getattr(function, "__name__", name)
        u = solution_of(equation, solve, near, sys._getframe(1))(*args)
        if not is_active(u):
            return found
        constraints = bound.arguments.get("constraints", ())
        if near == OF_MINIMA and not (isinstance(constraints, (list, tuple)) and not constraints):
            _demand_inside(lambda u: equation(u, *args), plain(u), constraints)
        tells = isinstance(found, dict) or answers is _least and isinstance(found, tuple)
        return _with(found, u, {key: u, **(answers(lambda u: number(u, *args), u) if tells else {})})

    return solver


def _plain(function):
    """A function of the user's as SciPy's solvers call it: where nothing is recorded it may return variables yet."""

    @functools.wraps(function)
    def called(*args, **named):
        found = value_tree(function(*args, **named))
        if isinstance(found, np.ndarray) and found.dtype == object:
            return np.array([plain(number) for number in found.flat], np.float64).reshape(found.shape)
        return found

    return called


def _with(found, u, answers):
    """What SciPy returned, with variables; its other numbers are left out, for they would be constants."""
    if isinstance(found, tuple):
        if "least" in answers:
            return u, answers["least"], *found[2:]
        parts = (u, *(_with(part, u, {"root": u}) if isinstance(part, dict) else part for part in found[1:]))
        return type(found)(*parts) if hasattr(found, "_fields") else parts
    if not isinstance(found, dict):
        return u
    kept = copy.copy(found)
    for key in kept.keys() - _COUNTS:
        del kept[key]
    kept.update(answers)
    return kept


def _demand_success(name, found):
    """Raise where a solver says that it has failed; that it could not come nearer is left to the residual."""
    *_, state = found if isinstance(found, tuple) else (found,)
    for key in ("success", "converged"):
        if isinstance(state, dict) and np.any(np.logical_not(state.get(key, True))) and state.get("status") != _AS_NEAR:
            raise ArithmeticError(f"what the solver gave is no solution: scipy.optimize.{name} reports failure "
                                  f"({state.get('message', state.get('flag', ''))}), so there is no derivative")


def _are_kept(constraints, u):
    """Whether a point is inside of all constraints; no point is inside of an equation."""
    for each in constraints if isinstance(constraints, (list, tuple)) else [constraints]:
        if isinstance(each, dict):
            found = plain(asarray(each["fun"](u, *each.get("args", ()))))
            inside = each["type"].lower() != "eq" and np.all(found > 0)
        else:
            found = plain(asarray(each.fun(u))) if hasattr(each, "fun") else each.A @ u
            inside = np.all((found > value_tree(each.lb)) & (found < value_tree(each.ub)))
        if not inside:
            return False
    return True


def _demand_inside(equation, u, constraints):
    """Refuse a minimum that constraints hold although it is as near to that without as minimisers come to one."""
    numbers = np.ravel(u)
    slope = np.reshape(plain(jacobian(equation, rebind=False)(u)), (numbers.size,) * 2)
    moved = numbers - np.linalg.solve(slope, np.ravel(plain(asarray(equation(u)))))
    if not _are_kept(constraints, moved):
        raise ArithmeticError("the minimum is at a constraint, and not where the slope is zero: it has no derivative "
                              "here; take codipy.implicit.root of your own conditions")


def _like(residual, u):
    """A residual in the shape of the unknown: SciPy takes lists, and arrays of one number for numbers."""
    if type(residual) is Array and residual.shape == np.shape(u) != ():
        return residual
    if np.ndim(u):
        return np.reshape(asarray(residual), np.shape(u))
    return np.reshape(residual, (-1,))[0] if np.ndim(residual) else residual


def _root(function, u):
    return _like(function(u), u)


def _fixed_point(function, u):
    return u - _like(function(u), u)


def _minimum(function, u):
    return grad(lambda u: _like(function(u), 0.0), rebind=False)(u)


def _squares(function, u):
    return grad(lambda u: 0.5 * np.sum(asarray(function(u)) ** 2), rebind=False)(u)


def _value(function, u):
    return {"fun": function(u)}


def _number(function, u):
    return {"fun": _like(function(u), 0.0)}


def _least(function, u):
    """The value that stands behind the minimum where a tuple is returned."""
    return {"least": _like(function(u), 0.0)}


def _residuals(function, u):
    residuals = asarray(function(u))
    return {"fun": residuals, "cost": 0.5 * np.dot(residuals, residuals)}


FUNCTIONS = {name: _stand_in(name, _root, "root", _OF_ROOTS)
             for name in ("bisect", "brenth", "brentq", "fsolve", "newton", "ridder", "root_scalar", "toms748")}
FUNCTIONS |= {name: _stand_in(name, _minimum, "x", OF_MINIMA, _least) for name in ("brent", "fminbound", "golden")}
FUNCTIONS |= {
    "curve_fit": curve_fit,
    "nnls": nnls,
    "root": _stand_in("root", _root, "x", _OF_ROOTS, _value),
    "fixed_point": _stand_in("fixed_point", _fixed_point, "x", _OF_ROOTS),
    "minimize": _stand_in("minimize", _minimum, "x", OF_MINIMA, _number),
    "minimize_scalar": _stand_in("minimize_scalar", _minimum, "x", OF_MINIMA, _number),
    "least_squares": _stand_in("least_squares", _squares, "x", OF_MINIMA, _residuals),
}
optimize = module_for(scipy.optimize, FUNCTIONS)
