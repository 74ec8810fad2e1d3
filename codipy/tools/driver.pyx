# SPDX-License-Identifier: Apache-2.0
"""What `grad` and its like return: a callable that knows what it was made from, so that it can be pickled."""
import functools
import sys
from types import MethodType


cdef class Driver:
    """Driver(maker, f, options, text)
    --

    A function's derivative as a callable that passes for a function: it has a name and a signature, and binds to
    instances where it is an attribute of a class. What is called is written by those who inherit it.

    Parameters
    ----------
    maker : callable
        ``maker(f, **options)`` makes the same again.
    f : callable
        The function of the user.
    options : dict
        As above.
    text : str
        The documentation.
    """

    def __init__(self, maker, f, dict options, str text):
        self.maker, self.f, self.options = maker, f, options
        functools.update_wrapper(self, f)
        self.__doc__ = text

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __repr__(self):
        name = getattr(self, "__qualname__", None) or repr(self.f)
        return f"<codipy.{self.maker.__name__} of {name}>"

    def __reduce__(self):
        name = getattr(self, "__qualname__", None)
        found = sys.modules.get(getattr(self, "__module__", None))
        for part in (name or "").split("."):
            found = getattr(found, part, None)
        # A decorated function is found by its name, as all functions are: what it was made from has none any more.
        return name if found is self else (made, (self.maker, self.f, self.options))


def made(maker, f, dict options):
    """The driver that was pickled."""
    return maker(f, **options)
