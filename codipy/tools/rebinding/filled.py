# SPDX-License-Identifier: Apache-2.0
"""Which parameters a function fills that a driver calls, by its source."""

from __future__ import annotations

import functools
import weakref
from types import FunctionType, MethodType

import numpy as np

from codipy.tools.driver import Driver
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.sources import filled_names
from codipy.tools.rebinding.unit import SCOPES, WRAPPED

__all__ = ["filled_parameters", "with_own_arrays"]

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


def is_of_driver(f):
    """Whether it is a function of codipy's that calls a driver with its own arguments."""
    return isinstance(getattr(f, "__wrapped__", None), Driver) and f.__globals__["__name__"].startswith("codipy.")


def with_own_arrays(run, args, kwargs):
    """Arguments for another run of a function, with copies of the arrays that it fills.

    Parameters
    ----------
    run : function
        What a driver runs.
    args, kwargs : tuple, dict
        The arguments.

    Returns
    -------
    tuple
        Positional arguments, and those by name.
    """
    places, names = filled_parameters(run)
    if not places and not names:
        return args, kwargs
    args = [x.copy() if k in places and type(x) is np.ndarray else x for k, x in enumerate(args)]
    return tuple(args), {name: x.copy() if name in names and type(x) is np.ndarray else x for name, x in kwargs.items()}


def _filled(f, scope):
    bound = 0
    while isinstance(f, Driver) or is_of_driver(f):  # which takes what its function takes
        f = f.f if isinstance(f, Driver) else f.__wrapped__
    while not isinstance(f, FunctionType):
        if isinstance(f, MethodType):
            f, bound = f.__func__, bound + 1
        elif isinstance(f, (type, functools.partial)) or not isinstance(vars(type(f)).get("__call__"), FunctionType):
            return _NONE
        else:
            f, bound = vars(type(f))["__call__"], bound + 1
    if not scope.owns_globals(f.__globals__):
        return _NONE
    code = code_of(f)
    filled = filled_names(f, scope)
    names = code.co_varnames[: code.co_argcount]
    others = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    named = (*names[max(bound, code.co_posonlyargcount) :], *others)
    places = tuple(place - bound for place, name in enumerate(names) if name in filled and place >= bound)
    return places, tuple(name for name in named if name in filled)
