# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions: derivatives by the implicit function theorem, not through the solver's steps.

The solver runs on plain numbers, whatever it is made of. A solution u of f(u, p) = 0 has the derivative
-(df/du)^-1 df/dp (see Griewank and Walther, "Evaluating Derivatives", 2008, section 15.1), so that a sweep takes one
linear solve with the transposed Jacobian, and df/dp is that of one more evaluation of f.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import Real, is_active, plain
from codipy.tape import passive
from codipy.tape.activity import depth
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.jacobian import jacobian
from codipy.tools.trees import labelled, value

__all__ = ["fixed_point", "root"]


def root(f, solver, *, tolerance=1e-6):
    """The solution of an equation, as a function of its parameters that can be differentiated any number of times.

    Parameters
    ----------
    f : callable
        ``f(u, *args, **kwargs)``, numbers of the shape of `u`, zero at the solution. It may use variables of the
        function around it.
    solver : callable
        ``solver(*args, **kwargs)`` returns the solution, a number or an array of floats. It gets plain numbers, and
        nothing in it is recorded: SciPy, compiled code, a table.
    tolerance : float
        How far the solution may be from that of one more step of Newton's method, relative to 1 + its largest number.

    Returns
    -------
    callable
        ``solution(*args, **kwargs)`` is what `solver` returns; in a function that is differentiated a variable of it.

    Raises
    ------
    ArithmeticError
        From the returned function, where it is differentiated: what `solver` gave is no solution within the tolerance,
        or the Jacobian of `f` by `u` is singular there.
    TypeError
        From the returned function: the solution is no number or array of floats, or `f` returns another shape.

    Notes
    -----
    The Jacobian by `u` is dense: `u` should have at most some thousands of numbers.

    Examples
    --------
    >>> import codipy, math
    >>> cube_root = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    >>> round(codipy.grad(cube_root)(8.0), 12), round(codipy.grad(codipy.grad(cube_root))(8.0), 12)
    (0.083333333333, -0.006944444444)
    """
    check_function(f, "codipy.implicit.root")
    check_function(solver, "codipy.implicit.root")

    @functools.wraps(solver)
    def solution(*args, **kwargs):
        with passive():
            found = solver(*value(args), **value(kwargs))
        return _differentiated(f, found, args, kwargs, tolerance) if depth() else found

    return solution


def fixed_point(g, solver, *, tolerance=1e-6):
    """The fixed point u = g(u, p) of an iteration: `root` of u - g(u, p).

    Parameters
    ----------
    g : callable
        ``g(u, *args, **kwargs)``, numbers of the shape of `u`.
    solver : callable
        See `root`: it may iterate `g` until nothing changes.
    tolerance : float
        See `root`.

    Returns
    -------
    callable
        See `root`.

    Raises
    ------
    ArithmeticError, TypeError
        See `root`.

    Examples
    --------
    >>> import codipy, math
    >>> def iterate(p, u=1.0):
    ...     for _ in range(200):
    ...         u = math.cos(p * u)
    ...     return u
    >>> angle = codipy.implicit.fixed_point(lambda u, p: math.cos(p * u), iterate)
    >>> round(codipy.grad(angle)(1.0), 9)
    -0.297474342
    """
    check_function(g, "codipy.implicit.fixed_point")

    def residual(u, *args, **kwargs):
        return u - run(u, *args, **kwargs)

    run = rebound(g)
    residual.__name__ = name_of(g)
    return root(residual, solver, tolerance=tolerance)


def _differentiated(f, found, args, kwargs, tolerance):
    """The solution as a variable, where the equation depends on one; each step gives derivatives of one more order."""
    run, solved = rebound(f), np.asarray(found)
    if solved.dtype != np.float64:
        raise TypeError(f"the solver must return a number or an array of float64, got {type(found).__name__}"
                        f"{f' of dtype {solved.dtype}' if solved.dtype != object else ''}")
    u = found
    residual = run(u, *args, **kwargs)
    if not is_active(residual) and not any(is_active(leaf) for _, leaf in labelled(args, "args")):
        return found
    if np.shape(residual) != solved.shape:
        raise TypeError(f"{name_of(f)} must return numbers of the shape {solved.shape} of the solution, got "
                        f"{np.shape(residual)}")
    # Nothing of it is a variable: a step with a Jacobian that is constant goes one order farther, too.
    slope = value(jacobian(run, rebind=False)(found, *value(args), **value(kwargs)))
    slope = np.reshape(slope, (solved.size, solved.size))
    for order in range(depth()):
        if order:
            residual = run(u, *args, **kwargs)
        try:
            step = np.linalg.solve(slope, np.reshape(_array(residual), (-1,)))
        except np.linalg.LinAlgError as error:
            raise ArithmeticError(f"the Jacobian of {name_of(f)} by the solution is singular there: it has no "
                                  "derivative") from error
        size = float(np.max(np.abs(plain(step)), initial=0.0))
        if not size <= tolerance * (1.0 + np.max(np.abs(solved), initial=0.0)):
            raise ArithmeticError(f"what the solver gave is no solution of {name_of(f)} = 0: a step of Newton's method "
                                  f"moves it by {size:.3g}; let it iterate on, or say how far it may be (tolerance=)")
        step = step - plain(step)      # the value stays the solver's
        u = u - (np.reshape(step, solved.shape) if solved.ndim else step[0])
    return u


def _array(x):
    return np.reshape(x, (1,)) if type(x) is Real else x
