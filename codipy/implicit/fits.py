# SPDX-License-Identifier: Apache-2.0
"""``curve_fit``, ``lsq_linear`` and ``nnls`` of ``scipy.optimize`` in rebound code: SciPy's numbers, and derivatives.

The parameters of a fit are differentiated by the implicit function theorem, from the sum of squares that is least
there (`codipy.implicit.solvers`); their covariance is a function of them. So is what ``lsq_linear`` finds, of which
some may be held at bounds. Of ``nnls`` those that are positive are the
solution of equations of least squares, the others are held at zero (Lawson and Hanson, "Solving Least Squares
Problems", 1974, chapter 23).
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys

import numpy as np
import scipy.optimize

import codipy.numpy
from codipy.active.array import is_active, plain
from codipy.errors import ActiveError, TapeError
from codipy.implicit.effects import Effects
from codipy.implicit.handed import functions_of, handed, naming_writes, unrecorded
from codipy.implicit.held import AT_KINKS, OF_MINIMA, Bounds, with_bounds
from codipy.implicit.iterates import Iterates
from codipy.implicit.returned import Returned
from codipy.implicit.solution import solution_of
from codipy.implicit.steps import anchored
from codipy.implicit.trajectory import Reads
from codipy.implicit.withheld import told
from codipy.implicit.wrapped import Wrapped
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.decisions import decision
from codipy.tape.activity import depth
from codipy.tools.callee import name_of
from codipy.tools.derivatives.drivers import grad
from codipy.tools.derivatives.jacobian import jacobian

__all__ = ["curve_fit", "lsq_linear", "nnls"]

_FIT, _LINEAR, _NNLS = scipy.optimize.curve_fit, scipy.optimize.lsq_linear, scipy.optimize.nnls
# A replay does not compute these anew: it raises.
_OF_FIT, _OF_LINEAR, _OF_NNLS = (
    decision(f"scipy.optimize.{name}", lambda x: x) for name in ("curve_fit", "lsq_linear", "nnls"))
_CLEAR, _OPTIONS = 1e-9, "options"


@functools.wraps(_FIT)
def curve_fit(*positional, **named):
    bound = inspect.signature(_FIT).bind(*positional, **named)
    if not depth():
        return unrecorded(_FIT, bound)
    bound.apply_defaults()
    given = bound.arguments
    with Effects(*functions_of(_named(given))) as effects:
        return _differentiated(bound, given, effects)


def _differentiated(bound, given, effects):
    f, bounds = effects.fresh(given["f"], first=lambda u, args: (args[0], *u)), Bounds("curve_fit", given)
    if given["kwargs"].get("loss", "linear") != "linear" or given["nan_policy"] == "omit":
        return _refused(given)
    # What the fit depends on, as parameters, so that a replay can fit again; anything else is a variable around it.
    names = [name for name in ("ydata", "xdata", "sigma") if _is_data(given[name])]
    data = [as_numbers(given[name]) for name in names]
    iterates = Iterates("scipy.optimize.curve_fit", True)
    original, xdata, returned = given["f"], given["xdata"], Returned()
    handed_over = {name: handed(x, name, iterates, returned, effects.are_possible) for name, x in _named(given).items()}
    given.update(handed_over, kwargs=handed_over.pop(_OPTIONS))
    if effects.are_possible:
        plain_f = given["f"]

        def noted(xdata, *u):
            effects.note(u)
            return plain_f(xdata, *u)

        given["f"] = Wrapped(original, noted)
    found = held = known = None

    def solve(*data):
        nonlocal found
        given.update(zip(names, data))
        with iterates, returned, naming_writes("curve_fit", equation.__name__):
            found = _FIT(*bound.args, **bound.kwargs)
        return found[0]

    def residuals(u, *data):
        current = {"xdata": xdata, "sigma": None, **dict(zip(names, data))}
        sigma, left = current["sigma"], f(current["xdata"], *u) - current["ydata"]
        if sigma is None:
            return as_numbers(left)
        if np.size(value_tree(sigma)) == 1 or np.ndim(sigma) < 2:
            return as_numbers(left) / sigma
        return codipy.numpy.linalg.solve(codipy.numpy.linalg.cholesky(sigma), as_numbers(left))

    def slope(u, *data):
        return grad(lambda u: 0.5 * codipy.numpy.sum(residuals(u, *data) ** 2), rebind=False)(u)

    def equation(u, *data):
        nonlocal held, known
        if known is not found:
            here = bounds.held_by(lambda u: slope(u, *map(plain, data)), value_tree(u), OF_MINIMA)
            if known is not None and not np.array_equal(here, held):
                raise TapeError(f"other bounds hold the fit of {name_of(f)} than when it was recorded: record again at "
                                "these inputs")
            held, known = here, found
        found_slope = slope(u, *data)
        return with_bounds(held, bounds, found_slope, u) if np.any(held) else found_slope

    equation.__name__ = name_of(f)
    u = solution_of(equation, solve, OF_MINIMA, sys._getframe(2), (original, xdata, *data), AT_KINKS, effects)(*data)
    effects.again(lambda *u: original(given["xdata"], *u), tuple(u), OF_MINIMA)
    if not is_active(u) and not is_active(residuals(u, *data)):      # at bounds, perhaps
        return found
    covariance = _covariance(residuals, u, data, found[1], given["absolute_sigma"])
    rest = found[2:]
    if given["full_output"]:
        left = anchored(residuals(u, *data), rest[0]["fvec"], _OF_FIT)
        rest = told("curve_fit", copy.copy(rest[0]), {"fvec": left}), *rest[1:]
    return (u, covariance, *rest)


def _named(given):
    """What was given, where keyword arguments are those of ``leastsq`` or ``least_squares``, and no function's."""
    return {_OPTIONS if name == "kwargs" else name: x for name, x in given.items()}


def _is_data(x):
    return x is not None and isinstance(value_tree(x), (list, tuple, np.ndarray, float, int))


def _refused(given):
    """SciPy's own fit where nothing is active; of what has no rule here an error that says what to write."""
    returned = Returned()
    with Reads() as reads:
        found = _FIT(**{**{name: handed(x, name, None, returned, False)
                           for name, x in given.items() if name != "kwargs"}, **given["kwargs"]})
    if reads.found or holds_active(list(given.values())):
        raise ActiveError(f"scipy.optimize.curve_fit of {name_of(given['f'])} with a loss or with nan_policy='omit' "
                          "has no derivative here: leave out what is nan, or take codipy.implicit.root of your own "
                          "conditions")
    return found


def _covariance(residuals, u, data, known, is_absolute):
    """The inverse of the squared Jacobian at the fit, times the mean square, with SciPy's values."""
    if not np.all(np.isfinite(known)):
        return known
    slopes, left = jacobian(lambda u: residuals(u, *data), rebind=False)(u), residuals(u, *data)
    found = codipy.numpy.linalg.inv(codipy.numpy.transpose(slopes) @ slopes)
    if not is_absolute:
        found = found * (codipy.numpy.sum(left**2) / (np.size(value_tree(left)) - len(known)))
    return anchored(found, np.ascontiguousarray(known), _OF_FIT)


@functools.wraps(_LINEAR)
def lsq_linear(*positional, **named):
    bound = inspect.signature(_LINEAR).bind(*positional, **named)
    given, bounds = bound.arguments, Bounds("lsq_linear", bound.arguments)
    if not depth() or not (holds_active([given["A"], given["b"]]) or bounds.are_active):
        return _LINEAR(*positional, **named)
    if not isinstance(value_tree(given["A"]), (np.ndarray, list, tuple)):
        raise ActiveError("scipy.optimize.lsq_linear has a derivative here where A is an array: write "
                          "A.toarray()")
    A, b = as_numbers(given["A"]), as_numbers(given["b"])
    given.update({name: value_tree(given[name]) for name in given if name != "bounds"})
    if "bounds" in given:
        given["bounds"] = bounds.ends(A.shape[1])
    found, held, known = None, None, None

    def solve(matrix, right):
        nonlocal found
        given.update(A=matrix, b=right)
        found = _LINEAR(*bound.args, **bound.kwargs)
        if not found.success:
            raise ArithmeticError(f"what the solver gave is no solution: scipy.optimize.lsq_linear reports failure "
                                  f"({found.message}), so there is no derivative")
        return found.x

    def equation(u, matrix, right):
        nonlocal held, known
        slope = codipy.numpy.transpose(matrix) @ (matrix @ u - right)
        if known is not found:
            numbers, at = plain(matrix), found.x
            here = bounds.holding(at, numbers.T @ (numbers @ at - plain(right)), lambda: numbers.T @ numbers, OF_MINIMA)
            if known is not None and not np.array_equal(here, held):
                raise TapeError("other bounds hold what scipy.optimize.lsq_linear finds than when it was recorded: "
                                "record again at these inputs")
            held, known = here, found
        return with_bounds(held, bounds, slope, u) if np.any(held) else slope

    equation.__name__ = "lsq_linear"
    u = solution_of(equation, solve, OF_MINIMA, sys._getframe(1))(A, b)
    left = A @ u - b
    if not is_active(u) and not is_active(left):
        return found
    return told("lsq_linear", copy.copy(found), {
        "x": u, "fun": anchored(left, found.fun, _OF_LINEAR),
        "cost": anchored(0.5 * codipy.numpy.dot(left, left), found.cost, _OF_LINEAR)})  # fmt: skip


@functools.wraps(_NNLS)
def nnls(*positional, **named):
    bound = inspect.signature(_NNLS).bind(*positional, **named)
    arguments = bound.arguments
    if not depth() or not holds_active([arguments["A"], arguments["b"]]):
        return _NNLS(*value_tree(positional), **value_tree(named))
    A, b = as_numbers(arguments["A"]), as_numbers(arguments["b"])
    matrix, right = plain(A), plain(b)
    arguments |= {"A": matrix, "b": right}
    known, norm = _NNLS(*bound.args, **bound.kwargs)
    free, push = known > 0.0, matrix.T @ (right - matrix @ known)
    size, strength = np.max(known, initial=0.0), np.linalg.norm(matrix, axis=0) * np.linalg.norm(right)
    if np.any(known[free] <= _CLEAR * size) or np.any(push[~free] >= -_CLEAR * strength[~free]):
        raise ArithmeticError("a number of scipy.optimize.nnls is at its bound, which just touches it: the solution "
                              "has no derivative there")
    x = known
    if np.any(free):
        part = codipy.numpy.linalg.lstsq(A[:, free], b, rcond=None)[0]
        x = anchored(np.eye(known.size)[:, free] @ part, known, _OF_NNLS)
    return x, anchored(codipy.numpy.linalg.norm(A @ x - b), norm, _OF_NNLS)
