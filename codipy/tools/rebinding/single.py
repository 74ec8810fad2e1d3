# SPDX-License-Identifier: Apache-2.0
"""Functions of a library that are rebuilt one by one, when they are called with something active."""

from __future__ import annotations

import functools
import inspect
from types import FunctionType

from codipy.errors import ActiveError
from codipy.numpy.arguments import bind, holds_variables, refuse, value_tree
from codipy.tools.rebinding.diverted import code_of

__all__ = ["again", "functions_of", "where_active"]

_SAID = "has no derivative by what is active here"


def again(function):
    """The same function as another object, for which nothing stands."""
    new = FunctionType(code_of(function), function.__globals__, function.__name__, function.__defaults__,
                       function.__closure__)  # fmt: skip
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def _is_plain_error(error, original, args, kwds):
    """Whether the plain run raises the same: a program may catch it."""
    try:
        original(*value_tree(args), **value_tree(kwds))
    except type(error) as plain:
        return str(plain) == str(error)
    except Exception:
        return False
    return False


def where_active(original, what, rebuilt, errors=(ActiveError, TypeError, ValueError)):
    """What calls ``rebuilt()`` for active arguments, and says of which function errors are that SciPy has not."""

    @functools.wraps(original)
    def function(*args, **kwds):
        if not (holds_variables(args) or holds_variables(kwds)):
            return original(*value_tree(args), **value_tree(kwds))
        try:
            return rebuilt()(*args, **kwds)
        except errors as error:
            if what in str(error) or _SAID in str(error) or _is_plain_error(error, original, args, kwds):
                raise
            raise ActiveError(f"{what} {_SAID}: {error}") from error

    return function


def _with_some(original, what, function, allowed):
    """A function of which these arguments may be active, and no others."""

    @functools.wraps(original)
    def restricted(*args, **kwds):
        if holds_variables(args) or holds_variables(kwds):
            others = {key: x for key, x in bind(original, args, kwds).items() if key not in allowed}
            if holds_variables(others):
                refuse(what, f"it has derivatives by {' and '.join(allowed)} alone: say codipy.value(x) of the others")
        return function(*args, **kwds)

    return restricted


def _on_values(original):
    @functools.wraps(original)
    def function(*args, **kwds):
        return original(*value_tree(args), **value_tree(kwds))

    return function


def _refused(original, what, why):
    @functools.wraps(original)
    def function(*args, **kwds):
        if holds_variables(args) or holds_variables(kwds):
            refuse(what, f"codipy has no derivative for it: {why}; where none is wanted, say codipy.value(x)")
        return original(*value_tree(args), **value_tree(kwds))

    return function


def functions_of(library, tables, translate, errors=TypeError):
    """What stands for the functions of a module of SciPy.

    Parameters
    ----------
    library : module
    tables : module
        Has the names by sets: ``RULED``, what stands for them; ``REBUILT``, the arguments of each that may be active or
        None for all; ``STEPS``, of slope zero; ``WITHOUT_VALUES``, which read none that could be active; and
        ``REFUSED``, why. What is in none of them is refused.
    translate : callable
        Rebuilds a function, which it is given for each call: what it made of it, it is to know again.
    errors : type or tuple of types
        Errors of which it is said which function had them, where SciPy has not.
    """
    found = {}
    for name in library.__all__:
        original, what = getattr(library, name), f"{library.__name__}.{name}"
        if name in tables.RULED:
            found[name] = tables.RULED[name]
        elif name in tables.REBUILT:
            function = where_active(original, what, functools.partial(translate, again(original)), errors)
            allowed = tables.REBUILT[name]
            found[name] = function if allowed is None else _with_some(original, what, function, allowed)
        elif name in tables.STEPS or name in tables.WITHOUT_VALUES:
            found[name] = _on_values(original)
        elif inspect.isroutine(original):
            found[name] = _refused(original, what, tables.REFUSED.get(name, "it is newer than this table"))
    return found
