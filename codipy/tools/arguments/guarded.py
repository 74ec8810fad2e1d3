# SPDX-License-Identifier: Apache-2.0
"""A call that is not recorded: what the function makes of its arguments must be what it returns, and nothing else."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array
from codipy.active.arrays.plain import is_writable
from codipy.errors import ActiveError
from codipy.tools.arguments.trees import labelled, value

__all__ = ["contents_of", "demand_new", "run_guarded"]

_NUMBERS = {float, int, bool, str, type(None), np.float64, np.float32}
_ARRAYS = (np.ndarray, Array)


def run_guarded(f, name, args, kwargs):
    """Run a function on plain numbers; arrays are read-only for it.

    Parameters
    ----------
    f : callable
    name : str
        What messages call it.
    args, kwargs : tuple, dict
        Its arguments, of which none depends on anything.

    Returns
    -------
    tuple
        What it returned, and the arguments as it got them.

    Raises
    ------
    ActiveError
        If it wrote to one of them: the plain run would go on with what stands there now, without its derivative.
    """
    if not kwargs and all(type(x) in _NUMBERS for x in args):
        return f(*args), args, kwargs
    args, kwargs = tuple(map(_read_only, args)), {key: _read_only(x) for key, x in kwargs.items()}
    before = contents_of(args, kwargs)
    try:
        found = f(*args, **kwargs)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ActiveError(f"{name} writes to an array that it was given, it seems ({error}): while a function is "
                          "differentiated its derivative would be lost; let it work on a copy, np.array(x), and return "
                          "what the caller needs") from error
    after = contents_of(args, kwargs)
    changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    if changed:
        raise ActiveError(f"{name} wrote to {changed[0]}: while a function is differentiated the derivative of what "
                          "stands there now would be lost; let it work on a copy, and return what the caller needs")
    return found, args, kwargs


def demand_new(name, results, args, kwargs):
    """Raise where a result is an argument, or a view of one: what is written to the one would show in the other."""
    for part in results:
        if isinstance(part, np.ndarray):
            for k, x in [*enumerate(args), *kwargs.items()]:
                if isinstance(x, np.ndarray) and np.may_share_memory(part, x):
                    raise ActiveError(f"{name} returned its argument {k!r}, or a view of it, which is no result with a "
                                      "derivative of its own: return a copy, x.copy()")


def _read_only(x):
    """An array to which nobody writes without an error, or by its address alone."""
    if isinstance(x, Array):
        return x.value
    if isinstance(x, np.ndarray) and is_writable(x):
        x = x.view()
        x.flags.writeable = False
    return x


def contents_of(args, kwargs):
    """What a function could write to nevertheless, by its name: the numbers of arrays and containers as they are."""
    found = {}
    for k, x in [*enumerate(args), *kwargs.items()]:
        if type(x) not in _NUMBERS:
            for path, leaf in labelled(x, f"argument {k!r}"):
                found[path] = (value(leaf).tobytes() if isinstance(leaf, _ARRAYS) else
                               repr(leaf) if isinstance(leaf, (float, int)) else id(leaf))
    return found
