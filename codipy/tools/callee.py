# SPDX-License-Identifier: Apache-2.0
"""The function that a driver runs: checked, rebound, and what its result must be."""
from __future__ import annotations

import sys
from collections import deque
from functools import partial
from types import FunctionType, MethodType

from numpy import iscomplexobj

from codipy.active import Real
from codipy.active.array import Array, is_complex_variable
from codipy.active.bulk import as_float
from codipy.tools.arguments.trees import plain_copy
from codipy.tools.rebinding.unit import WRAPPED

__all__ = ["check_function", "check_result", "is_rebound", "name_of", "rebound", "title_of", "with_aux"]


# Of functions of modules, which live anyhow: what a driver that is called once made of them serves the next call. One
# that has died would take longer to make again than an array of a thousand numbers to differentiate twice.
_kept: deque = deque(maxlen=32)


def name_of(f):
    """What messages call a function; one with some of its arguments has the name of that function."""
    while isinstance(f, partial):
        f = f.func
    return getattr(f, "__name__", None) or type(f).__name__


def title_of(f):
    """What tables and pages call a function: a method has its class before it."""
    while isinstance(f, partial):
        f = f.func
    return f.__func__.__qualname__.rpartition("<locals>.")[2] if isinstance(f, MethodType) else name_of(f)


def check_function(f, driver):
    """Raise unless `f` can be called; `driver` is the name that the caller used."""
    if not callable(f):
        raise TypeError(f"f must be a function, got {type(f).__name__}: say {driver}(f)(x), not {driver}(f(x))")


def rebound(f):
    """The function with `np`, `math` and the like looked up in codipy's namespaces.

    What goes wrong on the way is raised: the function as it stands would take other branches, of `isinstance` for one.
    """
    from codipy.tools.rebind import rebind  # not at import: it needs all of codipy.numpy

    made = rebind(f)
    if made not in _kept and type(f) is FunctionType and _is_global(f):
        _kept.append(made)
    return made


def _is_global(f):
    """Whether a module has a function under its own name."""
    return getattr(sys.modules.get(f.__module__), f.__name__, None) is f


def is_rebound(f):
    """Whether it is what `rebind` returned: nobody else's code runs between the driver and the rebuilt function."""
    return type(f) is FunctionType and f in WRAPPED


def check_result(result, f):
    """The result of f if it is one real number, a passive Real's value included; else an error that says what came."""
    if type(result) is Real:
        return result if result.is_active else result.value
    shape = getattr(result, "shape", ())
    if type(result) is Array and shape == ():
        return check_result(result[()], f)
    if as_float(result) is None:
        if is_complex_variable(result) or iscomplexobj(result):
            raise TypeError(f"{name_of(f)} must return one real number, got complex numbers: return z.real, abs(z) or "
                            f"the like; of a holomorphic function take codipy.jvp({name_of(f)}, (z,), (1.0,))")
        first = f" return its number, y[{', '.join('0' * len(shape))}]; or" if set(shape) == {1} else ""
        fix = (f":{first} reduce it to one, for example by sum(), or take codipy.jacobian({name_of(f)})" if shape else
               ": does it return on every path?" if result is None else ": return one number")
        of_shape = f" of shape {shape}" if shape else ""
        raise TypeError(f"{name_of(f)} must return one real number, got {type(result).__name__}{of_shape}{fix}")
    return result


def with_aux(f, kept_as=plain_copy):
    """The function without the second of its two results, and a list that gets that in each run, as plain values."""
    kept = []

    def first(*args, **kwargs):
        result = f(*args, **kwargs)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TypeError(f"{name_of(f)} must return (result, aux) since has_aux=True, got {type(result).__name__}")
        kept[:] = [kept_as(result[1])]
        return result[0]

    first.__name__, first.__wrapped__, first.kept = name_of(f), f, kept
    return first, kept
