# SPDX-License-Identifier: Apache-2.0
"""Products with a Jacobian that is never formed: by a vector from the left, and by one from the right."""
from __future__ import annotations

from codipy.tools.arguments.choice import Choice
from codipy.tools.callee import name_of, rebound
from codipy.tools.derivatives.linearized import gradient_run
from codipy.tools.pool import check_settings
from codipy.tools.runs.recording import ForwardRun
from codipy.tools.runs.run import Run, seeds_of

__all__ = ["jvp", "linearize", "vjp"]


def vjp(f, *args, kwargs=None, argnums=None, argnames=None, has_aux=False, strategy="auto", granularity=None,
        rebind=True):
    """The value of a function, and the map from cotangents of its results to those of its arguments.

    Parameters
    ----------
    f : callable
        Returns numbers and arrays, in lists, tuples, dicts and dataclasses.
    *args : number, ndarray, list, tuple, dict or dataclass
        Its positional arguments.
    kwargs : dict, optional
        Its keyword arguments.
    argnums : int or tuple of int, optional
        Positions of those that are differentiated by; default is all. ``()``: only `argnames`.
    argnames : str or tuple of str, optional
        Names of others, for what is passed by keyword.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        See `grad`.

    Returns
    -------
    tuple
        ``(out, pullback)``, with `has_aux` ``(out, pullback, aux)``. ``pullback(cotangent)``, for a cotangent of the
        form of `out`, returns a tuple with one cotangent for each argument that is differentiated by, in its form,
        those by position first. It may be called again and again, and keeps the recording as long as it lives.

    Raises
    ------
    TypeError, ValueError
        Naming the leaf: an argument that is no real number or array of floats, a result that is none, or a cotangent of
        another form than the result.

    Notes
    -----
    With the Jacobian J of `f` a pullback is the product of a row with J, and `jvp` that of J with a column: reverse and
    forward accumulation, as in Griewank and Walther, *Evaluating Derivatives*, second edition, SIAM 2008, chapter 3.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> out, pullback = codipy.vjp(lambda x, a: a * x, np.array([1.0, 2.0]), 3.0)
    >>> out, pullback(np.array([1.0, 10.0]))
    (array([3., 6.]), (array([ 3., 30.]), 21.0))
    """
    run = _run(f, args, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind, kind="function")
    pullback = Pullback(run)
    return (run.value, pullback, run.aux) if has_aux else (run.value, pullback)


def jvp(f, args, tangents, *, kwargs=None, argnums=None, argnames=None, has_aux=False, strategy="auto",
        granularity=None, rebind=True):
    """The value of a function, and its derivative in the direction of some tangents.

    Parameters
    ----------
    f : callable
        See `vjp`.
    args : tuple or list
        The positional arguments.
    tangents : tuple or list
        One for each argument that is differentiated by, of its form, those by position first.
    kwargs, argnums, argnames : optional
        See `vjp`.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        The default 'auto' records nothing: tangents are computed with the values, on a tape of strategy 'forward'. With
        another one the function is recorded and swept forwards.

    Returns
    -------
    tuple
        ``(out, tangent)``, the second of the form of the first; with `has_aux` ``(out, tangent, aux)``.

    Raises
    ------
    TypeError, ValueError
        See `vjp`.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> codipy.jvp(lambda x: x * x, (np.array([1.0, 2.0]),), (np.array([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))
    """
    for name, given in (("args", args), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{name} must be a tuple with one for each argument of f, got {type(given).__name__}")
    def seeded(trees, leaves):
        return seeds_of(trees, tangents), 1

    at_once = type(strategy) is str and strategy in ("auto", "forward")      # no need to record anything
    with _run(f, args, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind,
              seeded if at_once else None, True) as run:
        tangent = run.in_form(run.recording.tangents) if type(run.recording) is ForwardRun else run.push(tangents)
        result = run.value, tangent
        return (*result, run.aux) if has_aux else result


def linearize(f, *args, kwargs=None, argnums=None, argnames=None, has_aux=False, strategy="auto", granularity=None,
              rebind=True):
    """The value of a function, and its derivative as a linear map of tangents, of one run.

    Parameters
    ----------
    f, *args, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind : optional
        See `vjp`.

    Returns
    -------
    tuple
        ``(out, push)``, with `has_aux` ``(out, push, aux)``. ``push(*tangents)``, with one tangent for each
        argument that is differentiated by, of its form, those by position first, returns the tangent of `out`, of its
        form. It may be called again and again, and keeps the recording as long as it lives.

    Raises
    ------
    TypeError, ValueError
        See `jvp`.

    Notes
    -----
    Of a gradient, ``linearize(grad(f), x)``, the map is the Hessian times vectors: `f` is recorded once and swept for
    each of them, as by `hvp`, where both differentiate by the same positional arguments.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> out, push = codipy.linearize(lambda x: x * x, np.array([1.0, 2.0]))
    >>> out, push(np.array([1.0, 10.0])), push(np.array([0.0, 1.0]))
    (array([1., 4.]), array([ 2., 40.]), array([0., 4.]))
    """
    run = _run(f, args, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind, kept=True, kind="function")
    push = Pushforward(run)
    return (run.value, push, run.aux) if has_aux else (run.value, push)


def _run(f, args, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind, seeded=None, forward=False,
         kept=False, kind=None):
    """The run of which all of them give products."""
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}")
    if argnums is None and argnames is None and not args:
        raise TypeError("f must have an argument to differentiate by, got none")
    settings = strategy, granularity
    check_settings(settings, forward)
    numbers = tuple(range(len(args))) if argnums is None else argnums
    choice = Choice(numbers, argnames, with_complex=True)
    if kept and (found := gradient_run(f, args, kwargs or {}, choice, has_aux, strategy, granularity)) is not None:
        return found
    try:
        return Run(f, rebound(f) if rebind else f, choice, args, kwargs or {}, has_aux, settings, seeded=seeded,
                   kind=kind)
    except (TypeError, ValueError) as error:
        if len(args) == 1 and type(args[0]) is tuple:
            raise TypeError(f"{name_of(f)} was given a tuple as its argument: codipy.vjp and codipy.linearize take "
                            "arguments as the function does, vjp(f, x), and not in a tuple of all as jvp does. It "
                            f"raised {type(error).__name__}: {error}") from error
        raise


class _Kept:
    """A linear map that keeps a recording as long as it lives."""

    def __init__(self, run):
        self._run = run

    def __repr__(self):
        return f"<codipy {type(self).__name__.lower()} of {len(self._run.trees)} arguments>"

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__.lower()} keeps a recording, which cannot be pickled or copied: pickle "
                        f"the function and its arguments, and call codipy.{self._maker} where it is used")


class Pullback(_Kept):
    """What `vjp` returns beside the value."""

    _maker = "vjp"

    def __call__(self, cotangent):
        run = self._run
        return run.choice.flat(run.trees, run.leaves, run.pull(cotangent))


class Pushforward(_Kept):
    """What `linearize` returns beside the value."""

    _maker = "linearize"

    def __call__(self, *tangents):
        return self._run.push(tangents)
