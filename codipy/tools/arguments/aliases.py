# SPDX-License-Identifier: Apache-2.0
"""An array that a function has under two names, and writes to under one of them.

What is differentiated by is another array in the function than the one that was passed: an Array of its own. NumPy
would show under all names of an array what is written under one of them. So once a function has written to an input, it
is looked under which other names it may read the array: those of other arguments, and those that its source has. And an
input that it has not written to must have the values that the array has. The same holds for lists, dicts and
dataclasses, which are others in the function too (`twins.pyx`).

Comparing takes as long as reading the array twice. Large arrays are compared only where a function was rebuilt that may
write into any; small ones always. Rejected: to look only where the source fills such a name (`fills.py`), which knows
neither of numbers that are written out nor of what libraries do.
"""
from __future__ import annotations

import gc
import sys
import weakref
from dataclasses import is_dataclass
from threading import get_ident
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace

import numpy as np

from codipy.active import Real
from codipy.active.array import Array
from codipy.active.inputs import has_values_of, is_written
from codipy.errors import ActiveError
from codipy.tape.activity import call_at_end
from codipy.tools.arguments.twins import Twins
from codipy.tools.arguments.untouched import FEW, is_untouched, is_wrapped, unwrapped
from codipy.tools.callee import name_of
from codipy.tools.driver import Driver
from codipy.tools.rebinding.code import words_of
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.scope import Scope, module_of
from codipy.tools.rebinding.unit import EMPTY, SCOPES, contents

__all__ = ["demand_apart", "demand_list_apart", "demand_twins_apart", "noted"]

_MANY = 20_000  # things that are looked at
_HELD = "in what it is called with"  # what functions of codipy's hold, whose names the user does not know
_ADVICE = "in both, while here they are two variables: pass a copy, x.copy(), or let the function write into a copy"
_DEEPCOPY = "in both, while here they are two: pass a copy, copy.deepcopy(x), or let the function write into a copy"
noted: list = []  # of drivers inside of recordings that run: the thread, f, args, kwargs, what it has written to
_ATOMS = frozenset((
    int, float, complex, str, bytes, bool, type(None), Real, Array, range, slice, CodeType, BuiltinFunctionType,
    np.float64, np.float32, np.ufunc, np.dtype,
))  # fmt: skip
_FOLLOWED = frozenset(("builtins", "collections", "contextlib", "enum", "functools", "itertools", "operator", "types"))
_READING = frozenset(("__dict__", "attrgetter", "eval", "exec", "getattr", "getattribute", "globals", "locals", "vars"))
_MAKING = frozenset(("__new__", "__init__", "__post_init__"))  # which run where a class is called by its name


def demand_apart(f, args, kwargs, inputs, leaves, origins=None, twins=None):
    """Raise if a function has written to an input, or to a container of inputs, that it may read under another name.

    Parameters
    ----------
    f : callable
        What a driver has run.
    args, kwargs : list, dict
        What it was called with: inputs, and other arguments.
    inputs, leaves : list
        Of the recording; and the numbers and arrays of the caller that they were made of.
    origins : list, optional
        Inside of another recording: what the caller has for the leaves, active or not.
    twins : Twins, optional
        The containers of the caller, and those of inputs.

    Raises
    ------
    ActiveError
        With both names.
    """
    if origins is None and not noted and is_untouched(f, args, kwargs, inputs, leaves, twins):
        return
    scope, given = None, leaves if origins is None else origins
    for k, x in enumerate(inputs):
        if type(x) is Real:
            continue
        array = x if type(x) is Array else getattr(x, "pairs", None)
        if is_written(array):
            _demand_apart(f, args, kwargs, k, given, origins is not None)
        elif isinstance(leaves[k], np.ndarray):
            if leaves[k].size > FEW:
                scope = scope or _scope_of(f)
                if scope is not None and not scope.writes:
                    continue
            now = given[k].value if type(given[k]) is Array else leaves[k]
            if not _has_values_of(x, now):
                raise ActiveError(
                    f"while {name_of(f)} ran, somebody wrote into the array of shape {leaves[k].shape} by which it is "
                    f"differentiated, under another name, and NumPy would show that {_ADVICE}")
    if twins is not None:
        demand_twins_apart(f, args, kwargs, twins, origins is not None)
    if noted:
        _demand_apart_inside(f, args, kwargs, inputs, leaves, twins)
    if isinstance(unwrapped(f), Driver):      # its own inputs are others, to which it may write
        arrays = _arrays_of(given)
        others = _arrays_of((*args, *kwargs.values())) if arrays else []
        for k, array in enumerate(arrays):
            if any(_share(array, other) for other in (*arrays[:k], *others)):
                raise ActiveError(f"{name_of(f)} is a driver of codipy's, and two of its arguments are one array: "
                                  "pass copies, x.copy()")


def demand_twins_apart(f, args, kwargs, twins, is_inside=False):
    """Raise if a function has written to a container of inputs that it may read under another name, or to the caller's.

    Parameters
    ----------
    f, args, kwargs, twins
        See `demand_apart`.
    is_inside : bool
        Whether another recording encloses this one.
    """
    for tree in twins.written_elsewhere():
        raise ActiveError(
            f"while {name_of(f)} ran, somebody wrote into the {type(tree).__name__} by which it is differentiated, "
            f"under another name, and Python would show that {_DEEPCOPY}")
    for tree in twins.written():
        _demand_container_apart(f, args, kwargs, tree)
        if is_inside:
            _note((f, args, kwargs, tree))


def demand_list_apart(f, args, kwargs, tree, made, inputs, is_same):
    """The same for one list of floats, one of inputs that was made of it, and what that held.

    `is_same` says whether the caller's list still holds the numbers that it held. What has put the inputs into the
    arguments, in the place of `made`, knows which containers are theirs.
    """
    if type(made) is list:
        twins = Twins(pairs=[(tree, made, tree.copy() if is_same else [*tree, None], inputs)])
    else:
        twins = made.twins
    if not noted and twins.are_as_before():
        return
    demand_twins_apart(f, args, kwargs, twins)
    if noted:
        _demand_apart_inside(f, args, kwargs, (), (), twins)


def _demand_container_apart(f, args, kwargs, tree):
    where = _Search(f, lambda other: other is tree).name(args, kwargs)
    if where is not None:
        raise ActiveError(
            f"{name_of(f)} writes into the {type(tree).__name__} by which it is differentiated, and may read the same "
            f"one {where}, where Python would show what is written {_DEEPCOPY}")


def _demand_apart_inside(f, args, kwargs, inputs, leaves, twins):
    """Raise if what a driver inside of a function has written to was made of what the function may read.

    What it was made for the inner function of is known there, and under which names the caller has that, here.
    """
    for function, given, named, written in [note for thread, *note in noted if thread == get_ident()]:
        for callee, values, others in ((function, given, named), (f, args, kwargs)):
            for tree in () if twins is None else twins.originals_of([written]):
                _demand_container_apart(callee, values, others, tree)
            for k, x in enumerate(inputs):
                if type(x) is Array and _share(x, written):
                    _demand_apart(callee, values, others, k, leaves, False)


def _note(written):
    """Keep what a driver inside of another recording has run, and what was written to, for that recording."""
    if not any(thread == get_ident() for thread, *_ in noted):
        call_at_end(_forget_noted)
    noted.append((get_ident(), *written))


def _forget_noted():
    noted[:] = [note for note in noted if note[0] != get_ident()]


def _has_values_of(x, array):
    return has_values_of(x, array) if type(x) is Array else np.array_equal(x.value, array, equal_nan=True)


def _arrays_of(leaves):
    """Those that have memory which another may show: a loop over pairs of all numbers of a list would be quadratic."""
    return [leaf for leaf in leaves if type(leaf) is Array or isinstance(leaf, np.ndarray)]


def _share(one, other):
    """Whether two arrays, plain or active, show a number of the same memory."""
    if type(one) is Array and type(other) is Array:
        return bool(np.shares_memory(one, other))
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    try:
        return np.may_share_memory(one, other) and np.shares_memory(one, other, max_work=_MANY)
    except np.exceptions.TooHardError:
        return True


def _demand_apart(f, args, kwargs, k, leaves, is_inside):
    def shows(other):
        return _share(leaves[k], other)

    if any(j != k and shows(leaf) for j, leaf in enumerate(leaves)):
        where = "in another argument, or in another place of it"
    else:
        where = _Search(f, shows).name(args, kwargs)
    if where is not None:
        raise ActiveError(
            f"{name_of(f)} writes into the array of shape {leaves[k].shape} by which it is differentiated, and may "
            f"read the same memory {where}, where NumPy would show what is written {_ADVICE}")
    if is_inside:
        _note((f, args, kwargs, leaves[k]))


def _scope_of(f):
    """Whose functions are rebuilt together with f; None where it is not rebuilt."""
    while is_wrapped(f):
        if isinstance(f, FunctionType) and f in SCOPES:
            return SCOPES[f]
        f = f.__wrapped__
    return None


class _Search:
    """Under which names a function may read an array: arguments, global variables, those of closures, attributes.

    Global variables and attributes of the user's objects are followed where their name is a word of the source of some
    function that may run; all of them, where a word is one that reads others. What Python's own containers, iterators,
    caches and the like hold is followed; what an object of a library holds is not.
    """

    def __init__(self, f, shows):
        self.shows, self.words, self.seen = shows, set(), {}
        self.f, self.scope = unwrapped(f), _scope_of(f) or Scope(None, ())

    def name(self, args, kwargs):
        """A phrase that says where; None if it is nowhere."""
        given = [(f"in argument {k}", x) for k, x in enumerate(args)]
        given += [(f"in argument {name!r}", x) for name, x in kwargs.items()]
        given.append(("in what it is called by", self.f))
        found, known = None, -1
        while known != len(self.words) and found is None:  # a function that is found later may read an attribute
            known, found = len(self.words), self._look(given)
        return found

    def _look(self, given):
        self.seen, waiting = {}, list(given)
        while waiting:
            where, x = waiting.pop()
            if self.shows(x):
                return where
            if type(x) not in _ATOMS and id(x) not in self.seen:
                self.seen[id(x)] = x
                waiting += self._parts(x, where)
                if len(self.seen) > _MANY:
                    return f"among more than {_MANY} things"
        return None

    def _parts(self, x, where):
        kind = type(x)
        if kind is FunctionType:
            return self._of_function(x)
        if where == _HELD and isinstance(x, dict):
            return [(where, item) for item in x.values()]
        if isinstance(x, ModuleType):
            variables = vars(x)
            if not self.scope.owns_globals(variables):
                return []
            return [(f"as {x.__name__}.{word}", variables[word]) for word in self.words & variables.keys()]
        if isinstance(x, type):
            owned = [cls for cls in x.__mro__ if self._owns(cls)]
            return [part for cls in owned for part in self._of_attributes(vars(cls), x.__name__ in self.words)]
        if isinstance(x, dict):
            return [(f"{where}[{key!r}]", item) for key, item in x.items()]
        if isinstance(x, np.ndarray):
            return [(where, item) for item in x.flat] if x.dtype == object else []
        if isinstance(x, weakref.ref):
            return [(where, x())]
        if isinstance(x, memoryview):
            return [(where, x.obj)]
        if kind is SimpleNamespace or self._owns(kind):
            variables = {name: getattr(x, name, None) for cls in kind.__mro__ for name, value in vars(cls).items()
                         if type(value) is MemberDescriptorType and name != "__dict__"}
            variables |= getattr(x, "__dict__", {})
            held = [(where, item) for item in gc.get_referents(x) if isinstance(x, (list, dict, tuple, set))]
            return [*self._of_attributes(variables), (where, kind), *held]
        if (module_of(kind) or "").partition(".")[0] not in _FOLLOWED:      # of a library, which may lead anywhere
            return []
        return [(where, part) for part in gc.get_referents(x)]

    def _owns(self, cls):
        return is_dataclass(cls) or self.scope.owns_class(cls)

    def _of_attributes(self, variables, makes=False):
        return [(f"as the attribute {name}", value) for name, value in variables.items() if self._reads(name, makes)]

    def _reads(self, word, makes):
        """Whether some function reads an attribute: by its name, or as Python does of itself."""
        if word in _MAKING:
            return makes
        return word in self.words or word[:2] == "__" == word[-2:] or not _READING.isdisjoint(self.words)

    def _of_function(self, f):
        variables, is_owned = f.__globals__, self.scope.owns_globals(f.__globals__)
        builtins = variables.get("__builtins__")
        name = str(variables.get("__name__"))
        is_ours = name.partition(".")[0] == "codipy" and vars(sys.modules.get(name, sys)) is variables
        if type(builtins) is dict and "__rebound__" in builtins:      # rebuilt code reads what its module has
            variables, is_owned = builtins["__rebound__"].origin, True
        parts = self._of_attributes(vars(f))
        for variable, cell in zip(code_of(f).co_freevars, f.__closure__ or ()):
            value = contents(cell)
            if value is not EMPTY:
                parts.append((_HELD if is_ours else f"as the variable {variable} of an enclosing function", value))
        defaults = (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values())
        parts += [("as a default argument", value) for value in defaults]
        if is_owned:
            words = words_of(code_of(f))
            self.words |= words
            names = words & variables.keys() if words.isdisjoint(_READING) else variables.keys()
            parts += [(f"as the global variable {word}", variables[word]) for word in names]
        return parts
