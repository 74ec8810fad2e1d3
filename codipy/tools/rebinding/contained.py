# SPDX-License-Identifier: Apache-2.0
"""What a function can come upon, as far as its code and what it names tell.

Most functions lead to functions, numbers, objects of the user's classes and libraries alone. What these hold is known
before any of them runs, so whatever other functions of the module have met, there is nothing else to look for.
"""

from __future__ import annotations

import builtins
import functools
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

from codipy.tools.rebinding.code import imported, scan, words_of
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.hooks import LOOKING_UP
from codipy.tools.rebinding.unit import EMPTY, WRAPPED, ClassUnit, Opening, contents, reach

__all__ = ["openings_in_reach"]

# Libraries that hand out nothing of the user's which their arguments did not lead to.
_CLOSED = frozenset((
    "abc", "bisect", "builtins", "cmath", "codipy", "collections", "contextlib", "dataclasses", "enum", "functools",
    "heapq", "itertools", "math", "numbers", "numpy", "operator", "random", "scipy", "time", "typing",
))  # fmt: skip
_MANY = 500  # functions and objects: a millisecond
# By these a function finds what it names nowhere.
_REFLECTING = frozenset((
    "__builtins__", "__closure__", "__dict__", "__globals__", "__self__", "__subclasses__", "__wrapped__",
    "cell_contents", "f_back", "f_builtins", "f_globals", "f_locals", "gi_frame",
))  # fmt: skip
# What Python and its libraries put into a class.
_OF_CLASS = frozenset((
    "__abstractmethods__", "__annotate_func__", "__annotations__", "__annotations_cache__", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__orig_bases__", "__parameters__", "__slots__", "__static_attributes__",
    "__type_params__", "_abc_impl",
))  # fmt: skip


def openings_in_reach(f, rebinder):
    """All that is opaque of what `f` can come upon, None if that is not known.

    Parameters
    ----------
    f : object
        The user's.
    rebinder : Rebinder
        Who has rebuilt it.

    Returns
    -------
    list of Opening or None
        None also where it comes upon a function that stands for itself in rebuilt code, and so is to be diverted.
    """
    reached = _Reached(rebinder)
    return list(reached.openings.values()) if reached.all_from(f) else None


class _Reached:
    """What is found from a function on."""

    def __init__(self, rebinder):
        self.rebinder, self.openings = rebinder, {}
        self._waiting, self._seen, self._modules, self._words = [], {}, [], set()

    def all_from(self, f):
        """Whether all that can be come upon is found."""
        self._waiting.append(f)
        while self._waiting or self._names_of_modules():
            one = self._waiting.pop()
            if id(one) in self._seen:
                continue
            self._seen[id(one)] = one
            if len(self._seen) > _MANY or not self._follow(one):
                return False
        return True

    def _names_of_modules(self):
        """Wait for what the functions name in modules of the user's; tell whether there is something."""
        for module in self._modules:
            variables = vars(module)
            self._wait(variables[name] for name in self._words & variables.keys())
        return bool(self._waiting)

    def _wait(self, values):
        self._waiting += [value for value in values if id(value) not in self._seen]

    def _follow(self, one):
        """Wait for what something leads to; tell whether that is all."""
        kind, opaque = type(one), self.rebinder.opaque
        if kind is FunctionType:
            return self._follow_function(one)
        if kind is MethodType:
            self._wait((one.__func__, one.__self__))
            return True
        if kind is functools.partial:
            self._wait((one.func, *one.args, *one.keywords.values()))
            return True
        if kind is ModuleType:
            is_own = self.rebinder.scope.owns_module(one)
            self._modules += [one] if is_own else []
            return is_own or _is_closed(one.__name__)
        if kind is np.ufunc:  # one that is made of a function of the user's has no place
            return getattr(np, one.__name__, None) is one
        if kind is BuiltinFunctionType:
            own = one.__self__
            return own is None or type(own) is ModuleType and _is_closed(own.__name__)
        if issubclass(kind, type) and (_is_closed(one.__module__) or opaque.opening_of(one) is None):
            return _is_closed(one.__module__) or self._follow_class(one)
        if one is EMPTY or opaque.kinds.leads_nowhere(one, 0):
            return True
        opening = opaque.opening_of(one)
        if opening is None and (opening := self._opening_of_seen(one)) is None:
            return False
        self._open(opening)
        return True

    def _open(self, opening):
        # What leads to functions has these diverted, and all others too: what they come upon is not followed here.
        self.openings.update((id(node), node) for node in reach(opening) if type(node) is Opening)

    def _opening_of_seen(self, one):
        """That of what an instance with a twin holds as it is; for the rest is waited."""
        unit = self.rebinder.known(one)
        opening = getattr(unit, "opening", None)
        if opening is not None:
            self._wait((type(one), *vars(one).values()))
        return opening

    def _follow_function(self, f):
        variables, code = f.__globals__, code_of(f)
        if not self.rebinder.scope.owns_globals(variables):
            return _is_closed(variables.get("__name__"))
        names, words = scan(code), words_of(code)
        if f in WRAPPED or f in self.rebinder.led or vars(f) or names.stores or names.deletes:
            return False
        if names.imports and not self._follow_imports(code):
            return False
        if not LOOKING_UP.isdisjoint(names.loads) or not _REFLECTING.isdisjoint(words):
            return False
        self._words |= words
        self._wait(variables[name] if name in variables else getattr(builtins, name, None) for name in names.loads)
        for cell in f.__closure__ or ():
            opening = self.rebinder.opaque.opening_of(cell)
            self._wait((contents(cell) if opening is None else cell,))
        self._wait((*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()))
        return True

    def _follow_imports(self, code):
        modules = imported(code)
        if modules is None or not all(name in sys.modules for name in modules):
            return False
        self._wait(sys.modules[part] for name in modules for part in (name, name.partition(".")[0]))
        return True

    def _follow_class(self, cls):
        """A class whose instances are seen through its twin."""
        for base in cls.__mro__:
            if base is cls or not _is_closed(base.__module__):
                unit = self.rebinder.known(base)
                if type(unit) is not ClassUnit:
                    return False
                members = vars(base)
                if unit.opening is not None:
                    self._open(unit.opening)
                    members = {name: member for name, member in members.items() if name in unit.watch.names}
                for name, member in members.items():
                    self._wait(() if name in _OF_CLASS else _parts_of(member))
        return True


def _parts_of(member):
    """The functions of a method or the like; of what is none itself."""
    if type(member) is property:
        return member.fget, member.fset, member.fdel
    if type(member) in (staticmethod, classmethod):
        return (member.__func__,)
    return (member,)


def _is_closed(name):
    return isinstance(name, str) and name.partition(".")[0] in _CLOSED
