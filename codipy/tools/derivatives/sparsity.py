# SPDX-License-Identifier: Apache-2.0
"""Sparsity patterns of Jacobians and Hessians, of one run of a function."""
from __future__ import annotations

from codipy.patterns.detection import detected
from codipy.patterns.pattern import Sparsity
from codipy.patterns.recorded import Recorded
from codipy.tools.arguments.choice import Choice
from codipy.tools.callee import check_function, check_result, rebound
from codipy.tools.orders import more_orders
from codipy.tools.runs.run import Run

__all__ = ["hessian_pattern", "hessian_sparsity", "jacobian_pattern", "sparsity"]


def sparsity(f, *args, kwargs=None, argnums=None, argnames=None, has_aux=False, rebind=True):
    """Which derivatives of a function can be other than zero: the pattern of its Jacobian.

    Parameters
    ----------
    f : callable
        See `jacobian`.
    *args : object
        Its positional arguments.
    kwargs : dict, optional
        Its arguments by name.
    argnums, argnames, has_aux, rebind : optional
        See `jacobian`.

    Returns
    -------
    Sparsity
        A row for each number of the result, a column for each of the argument, in the order of `jacobian`: leaf by
        leaf, arrays in the order of C. ``jacobian(f, sparsity=...)`` takes it.

    Raises
    ------
    TypeError
        See `vjp`.
    UndifferentiableError
        For a step of which nothing is known.

    Notes
    -----
    The function runs once. Sweeps then carry 64 seeds each as the bits of a word, so nothing depends on values:
    ``0.0 * x`` depends on ``x``. What the function did not run is not seen: branches, and elements that `where` did not
    choose, belong to the point. A NumPy function with derivative rules of its own (`numpy.linalg.solve`) depends on all
    of its arguments, as far as its matrices or axes go.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> pattern = codipy.sparsity(lambda x: x[1:] - 2.0 * x[:-1], np.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    >>> codipy.jacobian(lambda x: x[1:] - 2.0 * x[:-1], sparsity=pattern)(np.ones(4)).toarray()
    array([[-2.,  1.,  0.,  0.],
           [ 0., -2.,  1.,  0.],
           [ 0.,  0., -2.,  1.]])
    """
    check_function(f, "sparsity")
    choice = Choice(argnums, argnames)
    choice.check(args, f)
    return jacobian_pattern(choice, rebound(f) if rebind else f, f, args, dict(kwargs or {}), has_aux)


def hessian_sparsity(f, *args, kwargs=None, argnums=None, argnames=None, has_aux=False, rebind=True):
    """Which second derivatives of a function can be other than zero: the pattern of its Hessian.

    Parameters
    ----------
    f : callable
        Returns one real number; see `hessian`.
    *args, kwargs, argnums, argnames, has_aux, rebind : optional
        See `sparsity`.

    Returns
    -------
    Sparsity
        Symmetric, a row and a column for each number of the argument. ``hessian(f, sparsity=...)`` takes it.

    Raises
    ------
    TypeError, UndifferentiableError
        See `sparsity`.

    Notes
    -----
    As `sparsity`, with a sweep forward and one backward. What is linear by its form has no second derivatives: sums,
    differences, products with constants; a product has one by its two factors, a quotient not by its numerator alone.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> codipy.hessian_sparsity(lambda x: x[0] * x[1] + np.sin(x[2]) + x[3], np.ones(4)).toarray().astype(int)
    array([[0, 1, 0, 0],
           [1, 0, 0, 0],
           [0, 0, 1, 0],
           [0, 0, 0, 0]])
    """
    check_function(f, "hessian_sparsity")
    choice = Choice(argnums, argnames)
    choice.check(args, f)
    return hessian_pattern(choice, rebound(f) if rebind else f, f, args, dict(kwargs or {}), has_aux)


def jacobian_pattern(choice, run, f, args, kwargs, has_aux):
    """The pattern of a Jacobian at some arguments; `run` is `f`, perhaps rebound."""
    recorded, rows, columns = _recorded(choice, run, f, args, kwargs, has_aux)
    if rows < columns:
        return Sparsity._of((columns, rows), *detected(recorded.reverse, columns, rows)).T
    return Sparsity._of((rows, columns), *detected(recorded.forward, rows, columns))


def hessian_pattern(choice, run, f, args, kwargs, has_aux):
    """The same of a Hessian."""

    def number(*args, **kwargs):
        result = run(*args, **kwargs)
        if has_aux and isinstance(result, tuple) and len(result) == 2:
            return check_result(result[0], f), result[1]
        return result if has_aux else check_result(result, f)

    with more_orders(1):
        recorded, _, size = _recorded(choice, run, f, args, kwargs, has_aux, number)
    return Sparsity._of((size, size), *detected(recorded.second, size, size), symmetric=True)


def _recorded(choice, run, f, args, kwargs, has_aux, called=None):
    """What depends on what, and how many numbers the result and the argument have."""
    with Run(f, run, choice, args, kwargs, has_aux, None, numbers=True, readable=True, called=called) as inner:
        inputs, outputs = inner.recording.identifiers()
        return Recorded(inner.tape, inputs, outputs), len(outputs), len(inputs)
