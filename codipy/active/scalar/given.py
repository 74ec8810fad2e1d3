# SPDX-License-Identifier: Apache-2.0
"""What ``__float__`` of arrays without axes, and it and ``__array__`` of the user's classes give.

The interpreter takes plain values only.
"""

from __future__ import annotations

from types import FunctionType

from codipy.active.core.base_array import BaseArray
from codipy.active.messages.callers import is_of_library
from codipy.active.scalar.kinds import converted
from codipy.active.scalar.real import Real

__all__ = ["method_of", "number_of"]


def method_of(x, name):
    """A special method of the user's, as it was before it was made to give plain values; None for all others.

    Parameters
    ----------
    x : object
        Of any class.
    name : str
        Of the method.

    Returns
    -------
    function or None
        To be called with `x`.
    """
    method = getattr(type(x), name, None)
    method = getattr(method, "__codipy_gives__", method)
    return method if type(method) is FunctionType and not is_of_library(method.__code__) else None


def number_of(x):
    """The Real that ``__float__`` of a user's class or of an Array without axes gives, as a float of Python; else `x`.

    Parameters
    ----------
    x : object
        Of any class.
    """
    if isinstance(x, BaseArray):
        return x if x.ndim else x.item()
    method = method_of(x, "__float__")
    if method is None:
        return x
    made = method(x)
    return converted(made, float) if type(made) is Real else made if type(made) is float else x
