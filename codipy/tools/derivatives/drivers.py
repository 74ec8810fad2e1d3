# SPDX-License-Identifier: Apache-2.0
"""Gradients of plain Python functions: record, sweep, and leave everything as it was."""
from __future__ import annotations

from codipy.tools.arguments.choice import Choice
from codipy.tools.callee import check_function, name_of
from codipy.tools.derivatives.gradient import Gradient
from codipy.tools.pool import check_settings

__all__ = ["grad", "value_and_grad"]


def grad(f, argnums=None, *, argnames=None, has_aux=False, strategy="auto", granularity=None, rebind=True):
    """The gradient of a function of numbers and arrays, by one sweep backwards.

    Parameters
    ----------
    f : callable
        Plain Python: loops, branches, calls, NumPy. Returns one real number. The arguments that it is differentiated
        by are numbers, arrays of float64 or float32, or lists, tuples, dicts and dataclasses of them, nested at will;
        the others may be anything. It gets `codipy.Real` and `codipy.Array` for them.
    argnums : int or tuple of int, optional
        Positions of those arguments; default is 0 where there are no `argnames`. ``()``: only these.
    argnames : str or tuple of str, optional
        Names of those arguments, for what is passed by keyword; positional arguments have names too.
    has_aux : bool
        Whether `f` returns a pair: the number, and something else, which comes back as it is.
    strategy, granularity : str, optional
        How the run is recorded: see `Tape`. The gradient does not depend on it.
    rebind : bool
        Run `codipy.rebind(f)`, so that ``np.zeros`` and the like make arrays that can hold active values.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns the gradient in the form of the argument, arrays of its shape and dtype,
        of a tuple of arguments if `argnums` (or `argnames`) is a tuple; if both are given, a pair: by `argnums`, by
        `argnames`. With `has_aux`, a pair of that and the second result. It can be pickled where `f` can.

    Raises
    ------
    TypeError, ValueError
        At once: `f` is not callable, or an option is none that there is.
    TypeError
        From the returned function: a leaf is no real number or array of floats, or `f` does not return one number; the
        message names which.
    ActiveError
        From the returned function: an argument is active on a tape already.

    Notes
    -----
    This is reverse accumulation, as in Griewank and Walther, *Evaluating Derivatives*, second edition, SIAM 2008,
    chapter 3. The derivative is that of the branches that are taken, and at a kink the one that the table of operations
    names.

    The tape is kept for the next call on the same thread (`clear_tapes` frees it). Whatever `f` raises comes through,
    and nothing is left recording. The arguments of the caller are never changed: `f` overwrites copies.

    One array that is passed twice, as two arguments or in a list, becomes two Arrays, since each has a gradient of its
    own: ``a is b`` no longer holds in `f`. Where `f` writes into an array that it may read under another name too (that
    of another argument, of a global variable, of an attribute), NumPy would show that in both: `ActiveError`; so would
    Python a list, dict or dataclass. Pass it once, and let `f` use it twice, where it is one variable; pass copies
    where these are several.

    Examples
    --------
    >>> import codipy
    >>> codipy.grad(lambda p: p["a"] ** 2 + 3.0 * p["b"])({"a": 5.0, "b": 1.0})
    {'a': 10.0, 'b': 3.0}
    >>> import numpy as np
    >>> codipy.grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> codipy.grad(lambda x, *, scale: scale * x, argnames="scale")(3.0, scale=2.0)
    3.0
    """
    return _gradient(grad, f, argnums, argnames, has_aux, strategy, granularity, rebind)


def value_and_grad(f, argnums=None, *, argnames=None, has_aux=False, strategy="auto", granularity=None, rebind=True):
    """The value of a function of numbers and arrays, and its gradient; the parameters are those of `grad`.

    Parameters
    ----------
    f : callable
        See `grad`.
    argnums, argnames : optional
        See `grad`.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        See `grad`.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns (value, gradient); the value is a plain float, or with `has_aux` a pair
        of that and the second result. The gradient has the form of the argument, as `grad` returns it.

    Raises
    ------
    TypeError, ValueError, ActiveError
        As `grad`.

    Examples
    --------
    >>> import codipy
    >>> codipy.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (6.0, (3.0, 2.0))
    """
    return _gradient(value_and_grad, f, argnums, argnames, has_aux, strategy, granularity, rebind)


def _gradient(maker, f, argnums, argnames, has_aux, strategy, granularity, rebind):
    check_function(f, maker.__name__)
    check_settings((strategy, granularity))
    choice = Choice(argnums, argnames, with_complex=True)
    options = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "strategy": strategy,
               "granularity": granularity, "rebind": rebind}
    with_value = maker is value_and_grad
    text = f"{'Value and gradient' if with_value else 'Gradient'} of {name_of(f)} by {choice}."
    return Gradient(maker, f, options, text, choice, with_value)
