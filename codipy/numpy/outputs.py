# SPDX-License-Identifier: Apache-2.0
"""Where functions take ``out`` by position, and a call as if it had been given by name.

``np.dot(a, b, u)`` means ``np.dot(a, b, out=u)``, and all that is done for an ``out`` by name is to hold for it. NumPy
itself gives a ufunc's by name to whoever it asks. Which arguments a source fills by position is read of these tables
too, see `tools/rebinding/fills.py`.
"""

from __future__ import annotations

from functools import cache
from types import BuiltinFunctionType

import numpy as np

from .arguments import parameters, refuse

__all__ = ["method_place", "methods", "named", "outs", "place_of", "places_by_name"]

_UNWRITTEN = (np.fft.hfft, np.fft.ifft2, np.fft.irfft2)  # NumPy up to 2.4 ignores what these are given
_FUNCTIONS = (type(np.sum), BuiltinFunctionType)
_OTHERS = {
    "reduce": 3, "accumulate": 3, "reduceat": 4,
    "random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3,
}  # fmt: skip


def _place(function):
    names = parameters(function).positional
    return names.index("out") if "out" in names else None


@cache
def outs():
    """By function, the place of ``out`` among the positional arguments."""
    return {
        function: _place(function)
        for module in (np, np.linalg, np.fft)
        for function in vars(module).values()
        if isinstance(function, _FUNCTIONS) and _place(function) is not None
    }


@cache
def methods():
    """By name, that of methods, without the object: of an ndarray, a ufunc and a generator of random numbers."""
    found = {function.__name__: place - 1 for function, place in outs().items()}
    return {name: place for name, place in found.items() if hasattr(np.ndarray, name)} | _OTHERS


def place_of(function):
    """The place at which a function or ufunc takes ``out`` first; None where it takes none by position."""
    if isinstance(function, np.ufunc):
        return function.nin
    return outs().get(function) if isinstance(function, _FUNCTIONS) else None


def method_place(kind, name):
    """The place at which a method takes ``out`` that is called as a function of its class."""
    return methods()[name] + 1 if issubclass(kind, np.ndarray) and name in methods() else None


@cache
def places_by_name():
    """By name, the places at which functions and ufuncs of NumPy take ``out`` first."""
    found: dict[str, set] = {}
    for module in (np, np.linalg, np.fft):
        for name, value in vars(module).items():
            if (place := place_of(value) if callable(value) and not isinstance(value, type) else None) is not None:
                found.setdefault(name, set()).add(place)
    return found


def named(function, args, kwargs):
    """Positional and keyword arguments of a call, with an ``out`` that was given by position among the latter.

    Parameters
    ----------
    function : callable
        NumPy's function.
    args, kwargs : tuple, dict
        As it was called.

    Returns
    -------
    tuple
        Positional arguments up to ``out``, and the others by name.

    Raises
    ------
    ActiveError
        For an ``out`` of which it depends on the version of NumPy whether something is written there.
    """
    place = outs().get(function)
    if function in _UNWRITTEN and (kwargs.get("out") is not None or len(args) > place and args[place] is not None):
        refuse(f"fft.{function.__name__}", "NumPy ignores its out=: leave it away")
    if place is None or len(args) <= place:
        return args, kwargs
    names = parameters(function).positional
    if len(args) > len(names) or not kwargs.keys().isdisjoint(names[place : len(args)]):
        return args, kwargs  # of which NumPy says what is wrong
    return args[:place], {**dict(zip(names[place:], args[place:])), **kwargs}
