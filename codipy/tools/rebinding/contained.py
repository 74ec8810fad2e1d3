# SPDX-License-Identifier: Apache-2.0
"""Whether a function leads to functions, numbers and libraries alone, as far as its code tells.

Then nothing that it can come upon is opaque, and a recording of it has nothing to look for, whatever other functions of
its module have met.
"""

from __future__ import annotations

import builtins
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np

from codipy.tools.rebinding.code import scan
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.hooks import LOOKING_UP
from codipy.tools.rebinding.unit import EMPTY, WRAPPED, contents
from codipy.tools.rebinding.view import PASSIVE

__all__ = ["is_contained", "leads_nowhere"]

# Libraries that hand out nothing of the user's which their arguments did not lead to.
_CLOSED = frozenset(("cmath", "itertools", "math", "numpy", "operator", "random", "scipy", "time"))
_MANY = 50  # functions: looking at them takes less than at what others have met
_DISPATCHED = type(np.sum)


def is_contained(f, scope):
    """Whether `f` and the functions that it leads to name nothing else than functions, numbers and libraries.

    Parameters
    ----------
    f : object
        The user's; False of what is no function.
    scope : Scope
        Whose functions are the user's.

    Returns
    -------
    bool
    """
    waiting, seen = [f], set()
    for one in waiting:  # which grows
        if id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > _MANY or type(one) is not FunctionType or one in WRAPPED or vars(one):
            return False
        names, variables = scan(code_of(one)), one.__globals__
        is_simple = not (names.imports or names.stores or names.deletes) and LOOKING_UP.isdisjoint(names.loads)
        if not is_simple or not scope.owns_globals(variables):
            return False
        values = [variables[name] if name in variables else getattr(builtins, name, None) for name in names.loads]
        values += [contents(cell) for cell in one.__closure__ or ()]
        values += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        others = [value for value in values if not leads_nowhere(value)]
        if not all(type(value) is FunctionType for value in others):
            return False
        waiting += others
    return True


def leads_nowhere(value):
    """Whether a value is a number, text, an array of numbers, or of a library."""
    kind = type(value)
    if kind is np.ndarray:
        return not value.dtype.hasobject
    if kind is ModuleType:
        return _is_closed(value.__name__)
    if kind is BuiltinFunctionType:
        return value.__self__ is None or type(value.__self__) is ModuleType
    if kind is np.ufunc:  # one that is made of a function of the user's has no place
        return getattr(np, value.__name__, None) is value
    if kind is type:
        return value.__module__ == "builtins" or _is_closed(value.__module__)
    return kind in PASSIVE or kind is _DISPATCHED or value is EMPTY


def _is_closed(name):
    return isinstance(name, str) and name.partition(".")[0] in _CLOSED
