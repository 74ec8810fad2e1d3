# SPDX-License-Identifier: Apache-2.0
"""Which parameters a function fills that a driver calls, by its source."""

from __future__ import annotations

import functools
import weakref
from types import FunctionType, MethodType

from codipy.tools.rebinding.sources import filled_names
from codipy.tools.rebinding.unit import SCOPES, WRAPPED

__all__ = ["filled_parameters"]

_NONE: tuple = ((), ())
_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def filled_parameters(run):
    """The parameters of a function that are filled and need not stay NumPy's own.

    Parameters
    ----------
    run : function
        What a driver runs.

    Returns
    -------
    tuple
        Positions, and names of what may be passed by name; nothing for what `rebind` did not return.
    """
    if type(run) is not FunctionType or run not in WRAPPED:
        return _NONE
    found = _known.get(run)
    if found is None:
        found = _known[run] = _filled(WRAPPED[run], SCOPES[run])
    return found


def _filled(f, scope):
    bound = 0
    while not isinstance(f, FunctionType):
        if isinstance(f, MethodType):
            f, bound = f.__func__, bound + 1
        elif isinstance(f, (type, functools.partial)) or not isinstance(vars(type(f)).get("__call__"), FunctionType):
            return _NONE
        else:
            f, bound = vars(type(f))["__call__"], bound + 1
    if not scope.owns_globals(f.__globals__):
        return _NONE
    code = f.__code__
    filled = filled_names(f, scope)
    names = code.co_varnames[: code.co_argcount]
    others = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    named = (*names[max(bound, code.co_posonlyargcount) :], *others)
    places = tuple(place - bound for place, name in enumerate(names) if name in filled and place >= bound)
    return places, tuple(name for name in named if name in filled)
