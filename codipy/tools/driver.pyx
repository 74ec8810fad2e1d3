# SPDX-License-Identifier: Apache-2.0
"""What `grad` and its like return: a callable that knows what it was made from, so that it can be pickled."""
import functools
import sys
import types

_WITH_ATTRIBUTES = types.FunctionType, types.MethodType, Driver


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
        pass_for(self, f)
        self.__doc__ = text

    def __get__(self, instance, owner):
        if instance is None:
            return self
        # Not a MethodType: pickle would look for it by the name of f, and find f.
        bound = functools.partial(self, instance)
        for name in ("__name__", "__qualname__", "__doc__"):
            if hasattr(self, name):
                setattr(bound, name, getattr(self, name))
        return bound

    def __repr__(self):
        name = getattr(self, "__qualname__", None) or repr(self.f)
        return f"<codipy.{self.maker.__name__} of {name}>"

    def __reduce__(self):
        return found_by_name(self) or (made, (self.maker, *original(self.f), self.options))


def pass_for(wrapper, f):
    """Give a wrapper the name, the signature and the attributes of a function.

    The attributes of an object that can be called are its state: the wrapper would show what they were before, and an
    array among them would have one holder more.
    """
    functools.update_wrapper(wrapper, f, updated=("__dict__",) if isinstance(f, _WITH_ATTRIBUTES) else ())


def found_by_name(driver):
    """The name that pickle finds it by, as all functions; None where that is another's.

    A decorated function has its name from what it was made of, which is found by none any more.
    """
    name = getattr(driver, "__qualname__", None)
    found = sys.modules.get(getattr(driver, "__module__", None))
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    return name if found is driver else None


def original(f):
    """A function as it is pickled, and the modules that `rebind` was given: what that returns has the name of another."""
    from codipy.tools.rebinding.unit import SCOPES, WRAPPED      # here: they look up drivers

    if type(f) is types.FunctionType and f in WRAPPED and not found_by_name(f):
        return WRAPPED[f], SCOPES[f].names
    return f, None


def made(maker, f, modules, dict options):
    """The driver that was pickled."""
    if modules is not None:
        from codipy.tools.rebind import rebind

        f = rebind(f, modules)
    return maker(f, **options)
