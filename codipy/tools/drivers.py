# SPDX-License-Identifier: Apache-2.0
"""Derivatives of plain Python functions: record, sweep, and leave everything as it was."""
from __future__ import annotations

import functools

from codipy.active.bulk import all_floats, value_and_gradient
from codipy.tools.pool import borrow, give_back
from codipy.tools.problem import check_result, name_of
from codipy.tools.trees import flatten, rebuild

__all__ = ["grad", "value_and_grad"]


def grad(f, argnums=0, *, strategy="auto", granularity=None):
    """The gradient of a function of numbers.

    Parameters
    ----------
    f : callable
        Plain Python: loops, branches, calls. Returns one real number. The arguments that it is differentiated by are
        numbers, or lists, tuples and dicts of numbers, nested at will; the others may be anything.
    argnums : int or tuple of int
        Positions of those arguments.
    strategy, granularity : str, optional
        How the run is recorded: see `Tape`. The gradient does not depend on it.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns the gradient in the form of the argument, of a tuple of arguments if
        `argnums` is a tuple.

    Raises
    ------
    TypeError
        From the returned function: a leaf is no real number, or `f` does not return one; the message names which.
    ActiveError
        From the returned function: an argument is active on a tape already.

    Notes
    -----
    The tape is kept for the next call on the same thread (`clear_tapes` frees it). Whatever `f` raises comes through,
    and nothing is left recording.

    Examples
    --------
    >>> import codipy
    >>> codipy.grad(lambda p: p["a"] ** 2 + 3.0 * p["b"])({"a": 5.0, "b": 1.0})
    {'a': 10.0, 'b': 3.0}
    """
    driver = value_and_grad(f, argnums, strategy=strategy, granularity=granularity)

    @functools.wraps(f)
    def gradient(*args, **kwargs):
        return driver(*args, **kwargs)[1]

    gradient.__doc__ = f"Gradient of {name_of(f)} by argument {argnums}."
    return gradient


def value_and_grad(f, argnums=0, *, strategy="auto", granularity=None):
    """The value of a function of numbers, and its gradient; the parameters are those of `grad`.

    Parameters
    ----------
    f : callable
        See `grad`.
    argnums : int or tuple of int
        See `grad`.
    strategy, granularity : str, optional
        See `grad`.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns (value, gradient); the value is a plain float.

    Examples
    --------
    >>> import codipy
    >>> codipy.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (6.0, (3.0, 2.0))
    """
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}: say grad(f)(x), not grad(f(x))")
    settings = strategy, granularity
    give_back(settings, borrow(settings))      # unknown settings fail here, not in the first call
    positions = _positions(argnums)

    first, last, several = positions[0], max(positions), isinstance(argnums, tuple)

    @functools.wraps(f)
    def driver(*args, **kwargs):
        args = list(args)
        if len(args) <= last:
            raise TypeError(f"{name_of(f)} got {len(args)} positional arguments, but argnums is {argnums}: "
                            "pass what is differentiated by position")
        leaves, place, trees = args[first], first, None
        # The usual case, one list of floats, is not walked in Python.
        if several or type(leaves) is not list or not all_floats(leaves):
            leaves, trees = [], [args[position] for position in positions]
            for position, tree in zip(positions, trees):
                flatten(tree, f"argument {position}", leaves)
            place = functools.partial(_place, positions, trees)
        tape = borrow(settings)
        try:
            value, gradient = value_and_gradient(tape, f, args, kwargs, leaves, place, check_result)
        finally:
            give_back(settings, tape)
        if trees is not None:
            gradients = rebuild(trees, gradient)
            gradient = tuple(gradients) if several else gradients[0]
        return value, gradient

    driver.__doc__ = f"Value and gradient of {name_of(f)} by argument {argnums}."
    return driver


def _place(positions, trees, args, inputs):
    """Put trees of the form of `trees` made of `inputs` at their positions."""
    for position, tree in zip(positions, rebuild(trees, inputs)):
        args[position] = tree


def _positions(argnums):
    """The positions that argnums names, checked."""
    several = isinstance(argnums, tuple)
    for number in argnums if several else (argnums,):
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"argnums must be an int or a tuple of ints, got {argnums!r}")
        if number < 0:
            raise ValueError(f"argnums counts positional arguments from 0, got {argnums!r}")
    if several and len(set(argnums)) < max(len(argnums), 1):
        raise ValueError(f"argnums must name each argument once, and at least one, got {argnums!r}")
    return argnums if several else (argnums,)
