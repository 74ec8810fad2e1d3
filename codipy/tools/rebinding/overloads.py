# SPDX-License-Identifier: Apache-2.0
"""Functions behind objects of others: overloads of `functools.singledispatch`, and what compilers like numba made.

An overload is chosen by the class that the plain value would have, and the one chosen is rebuilt. What was compiled
from Python code that is still at hand, ``py_func``, runs as that code while something active is among its arguments;
else it is called as ever, with plain numbers and ndarrays.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from types import FunctionType, GetSetDescriptorType

import numpy as np

from codipy.active import Real
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.allocation import fresh
from codipy.tools.rebinding.ancestry import origin_of
from codipy.tools.rebinding.dispatching import kind_of

__all__ = ["Jitted", "Overloaded", "is_overloaded", "jitted_from", "overloaded"]

def _kind_of(argument):
    """The class by which the plain run would choose."""
    return origin_of(kind_of(argument))


def is_overloaded(f):
    """Whether a function is what `functools.singledispatch` makes."""
    return f.__globals__.get("__name__") == "functools" and {"registry", "dispatch", "register"} <= vars(f).keys()


def overloaded(f, rebinder):
    """A function that chooses as `f` does, and rebuilds what was chosen."""
    dispatch = f.dispatch

    def wrapper(*args, **kwargs):
        if not args:
            return f(*args, **kwargs)  # raises
        return rebinder.at_run_time(dispatch(_kind_of(args[0])))(*args, **kwargs)

    functools.update_wrapper(wrapper, f)
    wrapper.__dict__ = f.__dict__
    return wrapper


class Overloaded:
    """The same for `functools.singledispatchmethod`."""

    def __init__(self, method, rebinder):
        self._method, self._rebinder = method, rebinder
        self.__isabstractmethod__ = method.__isabstractmethod__

    def __get__(self, instance, owner=None):
        dispatch, rebinder = self._method.dispatcher.dispatch, self._rebinder

        def method(*args, **kwargs):
            chosen = dispatch(_kind_of(args[0]))
            f = getattr(chosen, "__func__", chosen)  # of a static or class method
            new = rebinder.at_run_time(f)
            return (new if f is chosen else type(chosen)(new)).__get__(instance, owner)(*args, **kwargs)

        return functools.update_wrapper(method, self._method.func)

    def register(self, *args, **kwargs):
        return self._method.register(*args, **kwargs)


def jitted_from(value):
    """The Python function of which a compiler made `value`; None if there is none."""
    if issubclass(type(value), (FunctionType, type)):  # isinstance would run the code of proxies
        return None
    if type(type(value)) is type and _has_own_attributes(type(value)):
        f = object.__getattribute__(value, "__dict__").get("py_func")
    else:
        f = inspect.getattr_static(value, "py_func", None)
    return f if type(f) is FunctionType else None


@functools.lru_cache(256)
def _has_own_attributes(cls):
    """Whether attributes of objects are in a ``__dict__`` of their own, and not what the code of a proxy says.

    From Python 3.12 on a `TypeVar` has attributes and no ``__dict__``.
    """
    found = [vars(each) for each in cls.__mro__]
    shown = [variables["__dict__"] for variables in found if "__dict__" in variables]
    return cls.__dictoffset__ != 0 and bool(shown) and all(type(each) is GetSetDescriptorType for each in shown) and (
        not any("py_func" in variables for variables in found))


def _is_active(argument):
    if type(argument) is Real or type(argument) is Array:
        return argument.is_active
    if isinstance(argument, (tuple, list)):
        return any(map(_is_active, argument))
    return isinstance(argument, dict) and any(map(_is_active, argument.values()))


def _plain(argument):
    if type(argument) is Real:
        return argument.value
    if type(argument) is Array:
        return argument.value.copy()
    if type(argument) in (tuple, list):
        return type(argument)(map(_plain, argument))
    return argument


def _place(array):
    return array.__array_interface__["data"], array.shape, array.strides


class Jitted:
    """What a compiler made of a function, and that function rebuilt."""

    def __init__(self, compiled, rebuilt):
        vars(self).update(_compiled=compiled, py_func=rebuilt, __wrapped__=rebuilt)

    def __call__(self, *args, **kwargs):
        if any(map(_is_active, args)) or any(map(_is_active, kwargs.values())):
            return self.py_func(*args, **kwargs)
        arrays = {id(x): x for x in (*args, *kwargs.values()) if type(x) is Array}
        if any(np.may_share_memory(x, y) for x, y in itertools.combinations(arrays.values(), 2)):
            return self.py_func(*args, **kwargs)  # what is written into one shows in the other
        copies = {key: x.value.copy() for key, x in arrays.items()}

        def plain(argument):
            return copies[id(argument)] if type(argument) is Array else _plain(argument)

        result = self._compiled(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})
        for key, x in arrays.items():  # compiled code may have written into its arguments
            if not np.array_equal(copies[key], x.value, equal_nan=True):
                x[...] = copies[key]
        return self._returned(result, arrays, copies)

    def _returned(self, result, arrays, copies):
        """What the compiled function returned, as a new Array; an argument that it returned as that argument."""
        if type(result) in (tuple, list):
            return type(result)(self._returned(item, arrays, copies) for item in result)
        if type(result) is not np.ndarray:
            return result
        for key, copy in copies.items():
            if _place(result) == _place(copy):
                return arrays[key]
            if np.may_share_memory(result, copy):
                raise ActiveError(f"{self.__name__} was compiled and returned a view of its argument: return a copy")
        return fresh(result)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name):
        return getattr(self._compiled, name)
