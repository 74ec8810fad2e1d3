# SPDX-License-Identifier: Apache-2.0
"""Taylor coefficients of any order along a line, of one recording."""
from __future__ import annotations

import math
import operator

import numpy as np

from codipy.active.array import is_active
from codipy.series import SeriesProgram
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.forms import rebuild
from codipy.tools.arguments.leaves import in_dtypes
from codipy.tools.arguments.trees import labelled, match
from codipy.tools.callee import check_function, name_of, rebound
from codipy.tools.derivatives.products import jvp
from codipy.tools.orders import more_orders
from codipy.tools.runs.run import Run

__all__ = ["taylor"]

_BY_FIRST = Choice(0)


def taylor(f, x, direction, order, *, args=(), kwargs=None, has_aux=False, rebind=True):
    """Taylor coefficients of a function along a line: those of t**k in f(x + t * direction).

    Parameters
    ----------
    f : callable
        Returns numbers and arrays, in lists, tuples, dicts and dataclasses.
    x : number, ndarray, list, tuple, dict or dataclass
        Its first argument.
    direction : object
        Of the form of `x`, which is given as it is, not in a tuple of all arguments as `jvp` has them.
    order : int
        The highest power, from 0 on.
    args : tuple
        The other positional arguments.
    kwargs : dict, optional
        The keyword arguments.
    has_aux, rebind : bool
        See `grad`.

    Returns
    -------
    list
        ``order + 1`` results of the form of that of `f`, the first its value; the derivative of order k along the
        direction is k! times the one at place k. With `has_aux`, a pair of that and the second result.

    Raises
    ------
    TypeError, ValueError
        See `jvp`; `order` is no whole number, or negative.
    UndifferentiableError
        A primitive has no rule for tangents, or one that cannot be run on variables.

    Notes
    -----
    `f` runs once; the recording is then run on power series, order**2 operations for each (Griewank and Walther,
    *Evaluating Derivatives*, second edition, SIAM 2008, chapter 13). Of primitives that are neither linear nor products
    the rule is run on series, and the rules in that: 2**order operations, for small orders.

    Inside of a function that is differentiated, coefficients that depend on its variables are variables too. They are
    then derivatives along the direction of one another, each by one more recording: `f` runs 2**order times.

    Examples
    --------
    >>> import codipy
    >>> codipy.taylor(lambda x: x**3, 2.0, 1.0, 3)
    [8.0, 12.0, 6.0, 1.0]
    >>> codipy.taylor(lambda x: {"product": x[0] * x[1]}, [2.0, 3.0], [1.0, 1.0], 2)
    [{'product': 6.0}, {'product': 5.0}, {'product': 1.0}]
    """
    check_function(f, "taylor")
    try:
        order = operator.index(order)
    except TypeError:
        raise TypeError(f"order must be a whole number, got {type(order).__name__}") from None
    if order < 0:
        raise ValueError(f"order must be 0 or more, got {order}")
    run = rebound(f) if rebind else f
    try:
        with more_orders(order - 1):
            run = Run(f, run, _BY_FIRST, (x, *args), kwargs or {}, has_aux, None, readable=True)
    except (TypeError, ValueError) as error:
        if type(x) is tuple and type(direction) is tuple:
            raise TypeError(f"{name_of(f)} was given the tuple x as its first argument: codipy.taylor takes x and "
                            "direction as they are, taylor(f, x, direction, order, args=...), and not in tuples of all "
                            f"arguments as jvp does. It raised {type(error).__name__}: {error}") from error
        raise
    with run:
        seeds = []
        match(direction, run.trees[0], "direction", seeds)
        if run.program is not None or any(map(is_active, seeds)):
            call = {"args": args, "kwargs": kwargs, "aux": has_aux, "rebind": rebind}
            results = _nested(f, x, direction, order, call, run.value)
            return (results, run.aux) if has_aux else results
        inputs = [(where, _line(leaf, seed, order))
                  for where, leaf, seed in zip(run.recording.inputs_at, run.leaves, seeds)]
        found = SeriesProgram(run.tape).run(inputs, order)
        results = _results(run, found, order)
        return (results, run.aux) if has_aux else results


def _nested(f, x, direction, order, call, value):
    """The coefficients as variables of the recording around: derivatives along the direction, one in another."""

    def first(x):
        return jvp(f, (x, *call["args"]), (direction,), kwargs=call["kwargs"], argnums=0, has_aux=call["aux"],
                   rebind=call["rebind"])[1]

    def next_of(found):
        return lambda x: jvp(found, (x,), (direction,), rebind=False)[1]

    results, derivative = [value], first
    for k in range(1, order + 1):
        found = derivative(x)
        leaves = [leaf / math.factorial(k) if k > 1 else leaf for _, leaf in labelled(found, "result")]
        results.append(rebuild(found, leaves))
        derivative = next_of(derivative)
    return results


def _line(leaf, seed, order):
    """The coefficients of an input: its value and its direction."""
    c = np.zeros((order + 1, *np.shape(leaf)))
    c[0] = leaf
    c[1:2] = seed
    return c


def _results(run, found, order):
    values = [leaf for _, leaf in labelled(run.value, "result")]
    results = [run.value]
    for k in range(1, order + 1):
        leaves = [np.zeros(np.shape(value))[()] if where is None else found[k, where]
                  for where, value in zip(run.recording.outputs_at, values)]
        leaves = [leaf if np.ndim(leaf) or isinstance(value, np.generic) else float(leaf)
                  for leaf, value in zip(leaves, values)]
        results.append(run.recording.rebuild(in_dtypes(leaves, values)))
    return results
