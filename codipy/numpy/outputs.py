# SPDX-License-Identifier: Apache-2.0
"""Where functions take ``out`` by position, and a call as if it had been given by name.

``np.dot(a, b, u)`` means ``np.dot(a, b, out=u)``, and all that is done for an ``out`` by name is to hold for it. NumPy
itself gives a ufunc's by name to whoever it asks. Which arguments a source fills by position is read of these tables
too, see `tools/rebinding/fills.py`.
"""

from __future__ import annotations

from functools import cache, wraps
from types import BuiltinFunctionType

import numpy as np

from codipy.active.scalar.kinds import type_of
from codipy.active.scalar.real import Real

from .arguments import parameters, refuse, value_tree

__all__ = ["door_with_out", "method_place", "methods", "named", "outs", "place_of", "places_by_name"]

_UNWRITTEN = (np.fft.hfft, np.fft.ifft2, np.fft.irfft2)  # NumPy up to 2.4 ignores what these are given
_FUNCTIONS = (type(np.sum), BuiltinFunctionType)
# What NumPy calls of a scalar of its own by a method, which gives a scalar and not ``out``.
_BY_METHODS = frozenset((
    np.all, np.amax, np.amin, np.any, np.around, np.clip, np.max, np.mean, np.min, np.prod, np.round, np.std, np.sum,
    np.take, np.var,
))  # fmt: skip
_IN_TURN = frozenset((np.fft.fft2, np.fft.fftn, np.fft.ifft2, np.fft.ifftn, np.fft.rfft2, np.fft.rfftn))
_GIVING_SCALARS = _BY_METHODS | {np.dot, np.linalg.multi_dot}  # these of all that have no axes
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


def door_with_out(door):
    """The door for NumPy's functions with ``out`` as NumPy has it: given by name, and no result where that is a scalar.

    Parameters
    ----------
    door : callable
        Takes what ``__array_function__`` does, and returns ``out`` where one was given.

    Returns
    -------
    callable
    """

    @wraps(door)
    def run(func, types, args, kwargs):
        args, kwargs = named(func, args, kwargs)
        out = kwargs.get("out")
        if out is not None and func in _IN_TURN and _has_no_axis(func, args, kwargs):
            out, kwargs = None, {**kwargs, "out": None}  # NumPy gives the array itself
        if out is not None and func in _IN_TURN and (args[1:2] or (kwargs.get("s"),))[0] is not None:
            refuse(f"fft.{func.__name__}", "with s= NumPy goes on with what it has written into out=: leave out= away, "
                   "and assign to `out[...]`")  # fmt: skip
        result = door(func, types, args, kwargs)
        if out is None or result is not out or out.ndim or func not in _GIVING_SCALARS:
            return result
        is_left = func in _BY_METHODS and not _is_scalar(args[0] if args else kwargs[parameters(func).positional[0]])
        return result if is_left else result[()]

    return run


def _has_no_axis(func, args, kwargs):
    """Whether a transform of several axes has none here."""
    given = dict(zip(parameters(func).positional, args)) | kwargs
    axes = given.get("axes", (-2, -1) if func.__name__.endswith("2") else None)
    return axes in ((), []) or axes is None and not np.ndim(value_tree(given.get("a")))


def _is_scalar(x):
    """Whether the plain run has a scalar of NumPy there."""
    if type(x) is Real:
        return type_of(x) is not float
    return isinstance(x, np.generic) or getattr(x, "kind", complex) is not complex
