# SPDX-License-Identifier: Apache-2.0
"""All that functions of the user's can write to, found from these functions on.

Rejected: to look for stores in the code only (`codipy.implicit.writes`), which does not say what a method stores into,
nor when.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import random
import types

import numpy as np

from codipy.active.array import Array, Real, is_complex_variable
from codipy.active.arrays.plain import is_writable
from codipy.implicit.over import Over
from codipy.implicit.places import (
    Attributes,
    Cache,
    Cell,
    Class,
    Deque,
    Dict,
    Globals,
    List,
    Numbers,
    Plain,
    Read,
    Set,
    Slots,
    is_own,
    is_users,
    module_variables,
)
from codipy.implicit.wrapped import Wrapped
from codipy.implicit.writes import WRITING, may_write
from codipy.numpy.arguments import PLAIN
from codipy.tools.driver import Driver
from codipy.tools.rebinding.ancestry import origin_of
from codipy.tools.rebinding.caches import LRU, IdentityCache
from codipy.tools.rebinding.code import scan, words_of
from codipy.tools.rebinding.containers import origin_of_view
from codipy.tools.rebinding.diverted import code_of, way_of
from codipy.tools.rebinding.hooks import ModuleProxy
from codipy.tools.rebinding.unit import contents
from codipy.tools.rebinding.view import LiveGlobals

__all__ = ["State", "undone"]

_GENERATORS = np.random.Generator, np.random.RandomState, random.Random
_MOST = 10_000      # objects that are looked at, those that are near first
_MAKERS = ("__init__", "__new__", "__post_init__", "__init_subclass__")      # which write to what they make


class State:
    """All that functions can write to, as far as they lead there.

    Parameters
    ----------
    *given : object
        Functions, and whatever else leads to some.

    Attributes
    ----------
    may_write : bool
        Whether one of the functions may write anywhere.
    reads : bool
        Whether something active was met.
    places : list of Place
    """

    def __init__(self, *given):
        self.may_write = self.reads = False
        self._seen, self._globals, self._plain, self.places, self._found = {}, {}, {}, [], []
        waiting = collections.deque(given)
        while waiting and len(self._seen) < _MOST:
            x = waiting.popleft()
            kind = type(x)
            if kind in PLAIN or id(x) in self._seen:
                continue
            # An array has as many references as the user knows; it is not gone while what leads to it is there.
            self._seen[id(x)] = None if kind is np.ndarray else x
            self._look_at(x, kind, waiting)
        if self.may_write:
            self.places += [Numbers(x) if kind is Numbers else kind(x, self._held) for kind, x in self._found]
            for (kind, _), (variables, names) in self._globals.items():
                self.places.append(place := kind(variables, self._held))
                place.add(names)

    def _held(self, x, place, key):
        """What is kept of a value in a place."""
        if type(x) is not np.ndarray or x.dtype.kind not in "biufc" or not is_writable(x):
            return x
        if id(x) not in self._plain:
            self._plain[id(x)] = Plain(x)
            self.places.append(Numbers(self._plain[id(x)]))
        found = self._plain[id(x)]
        found.where.append((place, key))
        return found

    def _look_at(self, x, kind, waiting):
        if kind is Array or kind is Real or is_complex_variable(x):
            self.reads = self.reads or bool(x.is_active)
            if kind is Array and x.ndim:
                self._found.append((Numbers, x))
        elif kind is types.FunctionType:
            self._look_at_function(way_of(x), waiting)
        elif kind is types.MethodType:
            waiting += [x.__func__, x.__self__]
        elif kind is types.BuiltinMethodType:
            if not isinstance(x.__self__, (types.ModuleType, type(None))):
                self.may_write = True
                waiting.append(x.__self__)
            self.may_write = self.may_write or x.__name__ in WRITING
        elif kind in (types.MethodDescriptorType, types.WrapperDescriptorType):
            self.may_write = True
        elif kind is types.GeneratorType:
            self.may_write = True
            if x.gi_frame is not None:
                waiting += x.gi_frame.f_locals.values()
        elif kind is functools.partial:
            waiting += [x.func, x.args, x.keywords]
        elif kind in (LRU, IdentityCache):
            self.may_write = True
            self._found.append((Cache, x))
            waiting.append(x.__wrapped__)
        elif kind is Wrapped:
            waiting.append(x.__wrapped__)
        elif kind is Driver or isinstance(x, Driver):
            waiting += [x.f, *x.options.values()]
        elif isinstance(x, np.ndarray):
            if x.dtype == object:
                waiting += x.flat
        elif isinstance(x, (list, dict, tuple, set, frozenset, collections.deque)):
            self._look_at_container(origin_of_view(x), waiting)
        elif isinstance(x, type):
            if is_users(x):
                self._look_at_class(x, waiting)
                waiting += [made for name in _MAKERS if type(made := vars(x).get(name)) is types.FunctionType]
        elif is_users(kind):
            self._look_at_object(x, kind, waiting)
        elif str(kind.__module__).startswith("scipy."):      # made of the user's functions, as a LinearOperator
            waiting += getattr(x, "__dict__", {}).values()

    def _look_at_function(self, f, waiting):
        for cell in f.__closure__ or ():
            if id(cell) not in self._seen:
                self._seen[id(cell)] = cell
                self._found.append((Cell, cell))
                waiting.append(contents(cell))
        waiting += [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
        if f.__dict__:
            self._found.append((Attributes, f))
            waiting += f.__dict__.values()
        if not is_own(f.__globals__.get("__name__"), f.__globals__.get("__file__")):
            return
        code = code_of(f)
        names = scan(code)
        self.may_write = self.may_write or may_write(code)
        variables, origin = f.__globals__, module_variables(f.__globals__)
        for name in names.loads:
            x = variables.get(name, origin.get(name))
            if type(x) is np.ndarray:
                self._names_of(Read, variables, origin).add(name)
            elif isinstance(x, types.ModuleType):
                self._look_at_module(x, words_of(code), waiting)
            else:
                waiting.append(x)
        if names.stores or names.deletes:
            self._names_of(Globals, variables, origin).update(names.stores | names.deletes)

    def _look_at_module(self, module, words, waiting):
        """What code with these words may find in a module of the user's, and set there."""
        variables = module._module.__dict__ if isinstance(module, ModuleProxy) else vars(module)
        if is_own(variables.get("__name__"), variables.get("__file__")):
            names = words & variables.keys()
            self._names_of(Globals, variables, variables).update(
                name for name in names if not isinstance(variables[name], (types.FunctionType, type, types.ModuleType)))
            waiting += [getattr(module, name) for name in names if not isinstance(variables[name], types.ModuleType)]

    def _names_of(self, kind, variables, origin):
        """Those of variables of a module that are looked at."""
        known, names = self._globals.setdefault((kind, id(origin)), (variables, set()))
        if type(variables) is LiveGlobals and known is not variables:      # which knows what is stored there meanwhile
            self._globals[kind, id(origin)] = variables, names
        return names

    def _look_at_container(self, x, waiting):
        if isinstance(x, dict):
            self._found.append((Dict, x))
            waiting += [each for each in dict.values(x) if type(each) not in PLAIN]
        else:
            if isinstance(x, list):
                self._found.append((List, x))
            elif isinstance(x, set):
                self._found.append((Set, x))
            elif isinstance(x, collections.deque):
                self._found.append((Deque, x))
            if not PLAIN.issuperset(map(type, x)):
                waiting += x
        if type(x) not in (list, dict, tuple, set, frozenset) and is_users(type(x)):
            self._look_at_object(x, type(x), waiting)

    def _look_at_object(self, x, kind, waiting):
        for each in kind.__mro__:
            if each is not object and is_users(each) and ("", id(each)) not in self._seen:
                self._seen["", id(each)] = each
                self._look_at_class(each, waiting)
        variables = getattr(x, "__dict__", None)
        if type(variables) is dict:
            self._found.append((Attributes, x))
            waiting += [each for each in variables.values() if type(each) not in PLAIN]
        if any(type(slot) is types.MemberDescriptorType for each in kind.__mro__ for slot in vars(each).values()):
            self._found.append((Slots, x))
            waiting += Slots.of(x).values()

    def _look_at_class(self, kind, waiting):
        origin = origin_of(kind)
        self._found.append((Class, origin))
        waiting += Class.of(origin).values()
        for name, x in vars(kind).items():
            if isinstance(x, functools.cached_property):
                self.may_write = True
                waiting.append(x.func)
            elif name not in _MAKERS:
                found = x if type(x) is types.FunctionType else getattr(x, "fget", None) or getattr(x, "__func__", None)
                if type(found) is types.FunctionType:
                    waiting.append(found)

    def generators(self):
        """The generators of random numbers that were met, of which the states are no places."""
        return [getattr(x, "_target", x) for x in self._seen.values() if isinstance(x, _GENERATORS)]

    def changed(self):
        """The places that hold something else than before, and what; arrays that were written to are exchanged."""
        self.leave()
        return {place: self._left(place.now()) for place in self.places if place.has_changed()}

    def _left(self, now):
        """What a place holds, with a `Plain` for each plain array that was there before: no reference to that."""
        if isinstance(now, dict):
            return {key: self._known(x) for key, x in now.items()}
        return list(map(self._known, now)) if isinstance(now, list) else now

    def _known(self, x):
        found = self._plain.get(id(x)) if type(x) is np.ndarray else None
        return found if found is not None and found.is_in(x) else x

    def end(self):
        """The same, also of what was of a recording that is over."""
        self.put_back()
        for place in self.places:
            if type(place) is Numbers and place.over is not None and place.has_changed():
                with Over() as over:
                    over.fill(place.array(), over.of(place.over))

    def hold(self):
        """Have references to plain arrays, while a solver runs on plain numbers."""
        for each in self._plain.values():
            each.hold()

    def leave(self):
        """Have no references to plain arrays; those that were written to are exchanged."""
        for each in self._plain.values():
            each.leave()

    def put_back(self):
        """Let all hold again what they did."""
        for place in self.places:
            place.put_back()

    def put_was(self):
        """Let arrays hold what they did before other solvers, as far as these have left what is over."""
        for place in self.places:
            if type(place) is Numbers:
                place.put_was()

    def put_left(self):
        """Let all hold again what they did, arrays also the numbers that other solvers have left."""
        self.put_back()
        for place in self.places:
            if type(place) is Numbers:
                place.put_over()

    def close(self):
        """Have no references at all, so that who has the user's arrays is found without Python's collector."""
        for each in self._plain.values():
            each.close()
        for known in (self._seen, self._globals, self._plain, self.places, self._found):
            known.clear()


@contextlib.contextmanager
def undone(*given):
    """A context in which functions run for derivatives only: what they keep on the side is undone at its end.

    In arrays where a solver has left what is of a recording that is over, they find what was there before it.
    """
    state = State(*given)
    state.put_was()
    try:
        yield
    finally:
        state.end()
        state.close()
