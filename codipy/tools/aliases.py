# SPDX-License-Identifier: Apache-2.0
"""An array that a function has under two names, and writes to under one of them.

What is differentiated by is another array in the function than the one that was passed: an Array of its own. NumPy
would show under all names of an array what is written under one of them. So once a function has written to an input, it
is looked under which other names it may read the array: those of other arguments, and those that its source has. And an
input that it has not written to must have the values that the array has.

Comparing takes as long as reading the array twice. Large arrays are compared only where a function was rebuilt that may
write into any; small ones always. Rejected: to look only where the source fills such a name (`fills.py`), which knows
neither of numbers that are written out nor of what libraries do.
"""
from __future__ import annotations

import functools
from dataclasses import is_dataclass
from types import FunctionType, MethodType, ModuleType, SimpleNamespace

import numpy as np

from codipy.active import Real
from codipy.active.array import Array
from codipy.active.inputs import has_values_of, is_written
from codipy.errors import ActiveError
from codipy.tools.callee import name_of
from codipy.tools.rebinding.code import words_of
from codipy.tools.rebinding.unit import EMPTY, SCOPES, contents

__all__ = ["demand_apart"]

_FEW = 4096  # numbers that are compared at no price
_MANY = 20_000  # things that are looked at
_ADVICE = ("in both, while here they are two variables: pass a copy, x.copy(), or let the function write into a copy")
_MAKING = frozenset(("__new__", "__init__", "__post_init__"))  # which run where a class is called by its name


def demand_apart(f, args, kwargs, inputs, leaves):
    """Raise if a function has written to an input that it may read under another name too.

    Parameters
    ----------
    f : callable
        What a driver has run.
    args, kwargs : list, dict
        What it was called with: inputs, and other arguments.
    inputs, leaves : list
        Of the recording; and the numbers and arrays of the caller that they were made of.

    Raises
    ------
    ActiveError
        With both names.
    """
    scope = None
    for k, x in enumerate(inputs):
        if type(x) is Real:
            continue
        array = x if type(x) is Array else getattr(x, "pairs", None)
        if is_written(array):
            _demand_apart(f, args, kwargs, k, leaves)
        elif isinstance(leaves[k], np.ndarray):
            if leaves[k].size > _FEW:
                scope = scope or _scope_of(f) or False
                if not scope or not scope.writes:
                    continue
            if not _has_values_of(x, leaves[k]):
                raise ActiveError(
                    f"while {name_of(f)} ran, somebody wrote into the array of shape {leaves[k].shape} by which it is "
                    f"differentiated, under another name, and NumPy would show that {_ADVICE}")


def _has_values_of(x, array):
    return has_values_of(x, array) if type(x) is Array else np.array_equal(x.value, array, equal_nan=True)


def _demand_apart(f, args, kwargs, k, leaves):
    def shows(other):
        return isinstance(other, np.ndarray) and np.may_share_memory(other, leaves[k])

    if any(j != k and shows(leaf) for j, leaf in enumerate(leaves)):
        where = "in another argument, or in another place of it"
    else:
        where = _Search(f, shows).name(args, kwargs)
    if where is not None:
        raise ActiveError(
            f"{name_of(f)} writes into the array of shape {leaves[k].shape} by which it is differentiated, and may "
            f"read the same memory {where}, where NumPy would show what is written {_ADVICE}")


def _scope_of(f):
    """Whose functions are rebuilt together with f; None where it is not rebuilt."""
    while _is_wrapped(f):
        if isinstance(f, FunctionType) and f in SCOPES:
            return SCOPES[f]
        f = f.__wrapped__
    return None


class _Search:
    """Under which names a function may read an array: arguments, global variables, those of closures, attributes.

    Attributes and items are followed where their name is a word of the source of some function that may run.
    """

    def __init__(self, f, shows):
        self.shows, self.words, self.scope, self.seen = shows, set(), _scope_of(f), {}
        while _is_wrapped(f):
            f = f.__wrapped__
        self.f = f

    def name(self, args, kwargs):
        """A phrase that says where; None if it is nowhere."""
        given = [(f"in argument {k}", x) for k, x in enumerate(args)]
        given += [(f"in argument {name!r}", x) for name, x in kwargs.items()]
        given.append(("in what it is called by", self.f))
        found, known = None, -1
        while known != len(self.words):  # an attribute may be read by a function that is found later
            known, found = len(self.words), self._look(given)
        return found

    def _look(self, given):
        self.seen, waiting, found = {}, list(given), None
        while waiting and len(self.seen) < _MANY:
            where, x = waiting.pop()
            if self.shows(x):
                found = where
            elif id(x) not in self.seen:
                self.seen[id(x)] = x
                waiting += self._parts(x, where)
        return found

    def _parts(self, x, where):
        kind = type(x)
        if kind is FunctionType:
            return self._of_function(x)
        if kind is MethodType:
            return [(where, x.__self__), (where, x.__func__)]
        if kind is functools.partial:
            return [(where, part) for part in (x.func, *x.args, *x.keywords.values())]
        if isinstance(x, dict):
            return [(f"{where}[{key!r}]", item) for key, item in x.items() if type(key) is not str or key in self.words]
        if isinstance(x, (list, tuple)):
            return [(where, item) for item in x]
        if isinstance(x, ModuleType):
            variables = vars(x)
            if self.scope is None or not self.scope.owns_globals(variables):
                return []
            return [(f"as {x.__name__}.{word}", variables[word]) for word in self.words & variables.keys()]
        if isinstance(x, type):
            return self._of_attributes(x, where) if self.scope is not None and self.scope.owns_class(x) else []
        if is_dataclass(x) or kind is SimpleNamespace or self.scope is not None and self.scope.owns_class(kind):
            return [*self._of_attributes(x, where), (where, kind)]
        return []

    def _of_attributes(self, x, where):
        try:
            found = dict(vars(x))
        except TypeError:
            slots = [name for kind in type(x).__mro__ for name in vars(kind).get("__slots__", ())]
            found = {name: getattr(x, name, None) for name in slots}
        return [(f"as the attribute {name}", value) for name, value in found.items() if self._reads(name, x)]

    def _reads(self, word, x):
        """Whether some function reads an attribute: by its name, or as Python does of itself."""
        if word in _MAKING:
            return isinstance(x, type) and x.__name__ in self.words
        return word in self.words or word[:2] == "__" == word[-2:]

    def _of_function(self, f):
        variables = f.__globals__
        if self.scope is None or not self.scope.owns_globals(variables):
            return []
        words = words_of(f.__code__)
        self.words |= words
        parts = [(f"as the global variable {word}", variables[word]) for word in words & variables.keys()]
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            value = contents(cell)
            if value is not EMPTY:
                parts.append((f"as the variable {name} of an enclosing function", value))
        defaults = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        parts += [("as a default argument", value) for value in defaults]
        if hasattr(f, "__wrapped__"):
            parts.append(("in what it wraps", f.__wrapped__))
        return parts


def _is_wrapped(f):
    """Whether it is a function of codipy's around one of the user's."""
    module = (getattr(f, "__globals__", None) or {}).get("__name__", "")
    return hasattr(f, "__wrapped__") and module.startswith("codipy.")
