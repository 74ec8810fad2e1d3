# SPDX-License-Identifier: Apache-2.0
"""Products with a Jacobian that is never formed: by a vector from the left, and by one from the right."""
from __future__ import annotations

from codipy.tape import active_tape
from codipy.tools.callee import rebound, with_aux
from codipy.tools.choice import Choice
from codipy.tools.leaves import in_dtypes
from codipy.tools.pool import borrow, check_settings, give_back
from codipy.tools.recording import Recording
from codipy.tools.trees import labelled, match

__all__ = ["jvp", "linearize", "vjp"]


def vjp(f, *args, kwargs=None, argnames=None, has_aux=False, strategy="auto", granularity=None, rebind=True):
    """The value of a function, and the map from cotangents of its results to those of its arguments.

    Parameters
    ----------
    f : callable
        Returns numbers and arrays, in lists, tuples, dicts and dataclasses.
    *args : number, ndarray, list, tuple, dict or dataclass
        Its positional arguments; all are differentiated by.
    kwargs : dict, optional
        Its keyword arguments.
    argnames : str or tuple of str, optional
        Those of `kwargs` that are differentiated by.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        See `grad`.

    Returns
    -------
    tuple
        ``(out, pullback)``, with `has_aux` ``(out, pullback, aux)``. ``pullback(cotangent)``, for a cotangent of the
        form of `out`, returns a tuple with one cotangent for each positional argument, in its form, and then one for
        each of `argnames`. It may be called again and again, and keeps the recording as long as it lives.

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
    settings, choice, called, kept = _prepare(f, args, argnames, has_aux, strategy, granularity, rebind)
    if active_tape() is not None:
        return _nested_vjp(choice, called, kept, f, args, dict(kwargs or {}))
    args, kwargs = list(args), dict(kwargs or {})
    trees, leaves, places = choice.take(args, kwargs, f)
    tape = borrow(settings)      # not given back: it belongs to the pullback
    recording = Recording(tape, called, args, kwargs, leaves, choice.placer(trees, places, kwargs))

    def pullback(cotangent):
        seeds = []
        match(cotangent, recording.result, "cotangent", seeds)
        return choice.flat(trees, leaves, recording.reverse(tape.new_adjoints(), seeds))

    return (recording.value, pullback, kept[0]) if has_aux else (recording.value, pullback)


def jvp(f, args, tangents, *, kwargs=None, argnames=None, has_aux=False, strategy="auto", granularity=None,
        rebind=True):
    """The value of a function, and its derivative in the direction of some tangents.

    Parameters
    ----------
    f : callable
        See `vjp`.
    args : tuple or list
        The positional arguments; all are differentiated by.
    tangents : tuple or list
        One for each of these, of its form, and then one for each of `argnames`.
    kwargs, argnames : optional
        See `vjp`.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        See `grad`.

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
    settings, choice, called, kept = _prepare(f, args, argnames, has_aux, strategy, granularity, rebind)
    if active_tape() is not None:
        return _nested_jvp(choice, called, kept, f, args, dict(kwargs or {}), tangents)
    args, kwargs = list(args), dict(kwargs or {})
    trees, leaves, places = choice.take(args, kwargs, f)
    _demand_one_each(trees, tangents)
    seeds = []
    match(list(tangents), trees, "tangents", seeds)
    tape = borrow(settings)
    try:
        recording = Recording(tape, called, args, kwargs, leaves, choice.placer(trees, places, kwargs))
        tangents = recording.forward(tape.new_adjoints(), seeds)
        tangent = recording.rebuild(in_dtypes(tangents, [leaf for _, leaf in labelled(recording.result, "result")]))
    finally:
        give_back(settings, tape)
    return (recording.value, tangent, kept[0]) if has_aux else (recording.value, tangent)


def linearize(f, *args, kwargs=None, argnames=None, has_aux=False, strategy="auto", granularity=None, rebind=True):
    """The value of a function, and its derivative as a linear map of tangents, of one run.

    Parameters
    ----------
    f, *args, kwargs, argnames, has_aux, strategy, granularity, rebind : optional
        See `vjp`.

    Returns
    -------
    tuple
        ``(out, push)``, with `has_aux` ``(out, push, aux)``. ``push(*tangents)``, with one tangent for each positional
        argument, of its form, and then one for each of `argnames`, returns the tangent of `out`, of its form. It may be
        called again and again, and keeps the recording as long as it lives.

    Raises
    ------
    TypeError, ValueError
        See `jvp`.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> out, push = codipy.linearize(lambda x: x * x, np.array([1.0, 2.0]))
    >>> out, push(np.array([1.0, 10.0])), push(np.array([0.0, 1.0]))
    (array([1., 4.]), array([ 2., 40.]), array([0., 4.]))
    """
    settings, choice, called, kept = _prepare(f, args, argnames, has_aux, strategy, granularity, rebind)
    if active_tape() is not None:
        from codipy.tools import nested  # not at import: seldom used

        tape = nested.kept_tape()
        recording, trees, _ = nested.nested_recording(choice, called, f, args, dict(kwargs or {}), has_aux, tape)
        aux = nested.aux_of(recording) if has_aux else None
    else:
        args, kwargs = list(args), dict(kwargs or {})
        tape = borrow(settings)      # not given back: it belongs to `push`
        trees, leaves, places = choice.take(args, kwargs, f)
        recording = Recording(tape, called, args, kwargs, leaves, choice.placer(trees, places, kwargs))
        aux = kept[0] if has_aux else None

    def push(*tangents):
        _demand_one_each(trees, tangents)
        seeds = []
        match(list(tangents), trees, "tangents", seeds)
        return recording.rebuild(in_dtypes(recording.forward(tape.new_adjoints(), seeds),
                                           [leaf for _, leaf in labelled(recording.value, "result")]))

    return (recording.value, push, aux) if has_aux else (recording.value, push)


def _demand_one_each(trees, tangents):
    if len(trees) != len(tangents):
        raise ValueError(f"tangents must be one for each of the {len(trees)} arguments, got {len(tangents)}")


def _prepare(f, args, argnames, has_aux, strategy, granularity, rebind):
    """What both have in common before they record."""
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}")
    if not args and argnames is None:
        raise TypeError("f must have an argument to differentiate by, got none")
    settings = strategy, granularity
    check_settings(settings)
    called = rebound(f) if rebind else f
    if active_tape() is not None:      # what comes beside the result may be a variable too
        return settings, Choice(tuple(range(len(args))) or None, argnames), called, has_aux
    called, kept = with_aux(called) if has_aux else (called, None)
    return settings, Choice(tuple(range(len(args))) or None, argnames), called, kept


# ---- Inside of another recording -------------------------------------------------------------------------------------
def _nested_vjp(choice, run, has_aux, f, args, kwargs):
    from codipy.tools import nested  # not at import: seldom used

    tape = nested.kept_tape()
    recording, trees, leaves = nested.nested_recording(choice, run, f, args, kwargs, has_aux, tape)

    def pullback(cotangent):
        seeds = []
        match(cotangent, recording.value, "cotangent", seeds)
        return choice.flat(trees, leaves, recording.reverse(tape.new_adjoints(), seeds))

    return (recording.value, pullback, nested.aux_of(recording)) if has_aux else (recording.value, pullback)


def _nested_jvp(choice, run, has_aux, f, args, kwargs, tangents):
    from codipy.tools import nested  # not at import: seldom used

    with nested.inner_tape() as tape:
        recording, trees, leaves = nested.nested_recording(choice, run, f, args, kwargs, has_aux, tape)
        _demand_one_each(trees, tangents)
        seeds = []
        match(list(tangents), trees, "tangents", seeds)
        found = recording.forward(tape.new_adjoints(), seeds)
        likes = [leaf for _, leaf in labelled(recording.value, "result")]
        result = recording.value, recording.rebuild(in_dtypes(found, likes))
        return (*result, nested.aux_of(recording)) if has_aux else result
