# SPDX-License-Identifier: Apache-2.0
"""`functools.singledispatch` that rebound code calls: what is active is of the class of its plain value."""

from __future__ import annotations

import functools

from codipy.numpy.standins import plain_type

__all__ = ["kind_of", "singledispatch", "singledispatchmethod"]


def kind_of(argument):
    """The class by which the plain run would choose."""
    kind = plain_type(argument)
    return argument.__class__ if kind is type(argument) else kind


def singledispatch(func):
    """``functools.singledispatch`` in rebound code."""
    made = functools.singledispatch(func)

    def wrapper(*args, **kwargs):
        if not args:
            return made(*args, **kwargs)  # raises
        return made.dispatch(kind_of(args[0]))(*args, **kwargs)

    functools.update_wrapper(wrapper, func)
    vars(wrapper).update({name: value for name, value in vars(made).items() if name != "__wrapped__"})
    return wrapper


class singledispatchmethod(functools.singledispatchmethod):
    """``functools.singledispatchmethod`` in rebound code."""

    def __get__(self, instance, owner=None):
        made = super().__get__(instance, owner)

        def method(*args, **kwargs):
            if not args:
                return made(*args, **kwargs)  # raises
            return self.dispatcher.dispatch(kind_of(args[0])).__get__(instance, owner)(*args, **kwargs)

        functools.update_wrapper(method, self.func)
        method.register = self.register
        method.__isabstractmethod__ = self.__isabstractmethod__
        return method
