# SPDX-License-Identifier: Apache-2.0
"""What a value is in rebound code: the function, module, class, method or instance in its place."""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import threading
import weakref
from operator import is_not
from types import FunctionType, MethodType, ModuleType

import numpy as np

from codipy.tools.rebinding.ancestry import origin_of
from codipy.tools.rebinding.caches import LRU, entries_of, entry_of, identity_cache
from codipy.tools.rebinding.classes import Twins, can_be_seen_through
from codipy.tools.rebinding.containers import CONTAINERS, holds, make_view, origin_of_view
from codipy.tools.rebinding.functions import CALLABLES, Functions
from codipy.tools.rebinding.hooks import ModuleProxy
from codipy.tools.rebinding.libraries import Libraries
from codipy.tools.rebinding.locks import renew_after_fork
from codipy.tools.rebinding.opaque import Opaque
from codipy.tools.rebinding.overloads import Jitted, jitted_from
from codipy.tools.rebinding.replacements import replacement
from codipy.tools.rebinding.unit import Draft, Opening, Passing, Seen, Unit, reach, views_of
from codipy.tools.rebinding.view import ATOMS, PASSIVE, Restart, View

__all__ = ["Rebinder"]

_UNREACHED = frozenset((Draft, Passing))  # what nothing that is kept depends on
_MANY = frozenset((Unit, Seen, Opening, Passing))
_LONG = 100  # tuples of more items are looked through first; so many translations of passing things are kept


class Rebinder:
    """All that is rebuilt for one scope. Everything in it is found again by the original, and dies with it.

    Attributes
    ----------
    dynamic : Unit
        Links to what was translated while rebound code ran.
    version, generation : int
        One grows with every new link, the other with every reset.
    volatile : dict
        By the address of a dict of globals, names that turned out to be stored by functions.
    written : dict
        By their addresses, cells that turned out to be set by functions when others had cells of their own for them.
    asking : WeakKeyDictionary
        Functions of installed libraries that are rebuilt, since they ask ``type(v)``.
    led : WeakKeyDictionary
        Functions that stand in rebuilt code themselves, since it has them as they are in a set or the like, where one
        that was rebuilt is not found; they lead to the rebuilt ones.
    alone : WeakValueDictionary
        By their addresses, instances that stand in rebuilt code themselves, since it has bound methods of theirs as
        they are, which are equal to those of the same object alone; what their classes have leads to what is rebuilt.
    """

    def __init__(self, scope):
        self.scope, self.lock, self.version, self.generation = scope, threading.RLock(), 0, 0
        self.volatile, self.led, self.asking = {}, weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.alone, self.functions = weakref.WeakValueDictionary(), Functions(self)
        self.reset()
        renew_after_fork(self, "lock", Rebinder.reset)

    def reset(self, written=()):
        """Forget all but the cells known to be `written`; functions that are running go on with what they have."""
        self.written, self._waiting, self._depth = dict(written), [], 0
        self._modules, self._others = {}, weakref.WeakValueDictionary()
        self._views, self._memo, self.dynamic = weakref.WeakValueDictionary(), {}, Unit()
        self.twins, self.opaque = Twins(self), Opaque(self)
        self.functions.reset()
        self.libraries = Libraries(self)
        self._recent = collections.deque(maxlen=_LONG)
        self.version += 1
        self.generation += 1

    def link(self, owner, unit):
        """Let what has been translated depend on `unit`."""
        if owner is not None and unit not in owner.links:
            owner.links.append(unit)
            if type(owner) not in _UNREACHED:
                self.version += 1

    def relink(self, owner, draft):
        """Let a unit depend on what `draft` does, and on nothing else."""
        if not {id(node) for node in draft.links} <= {id(node) for node in owner.links}:
            self.version += 1
        owner.links = draft.links

    def view_of(self, variables):
        """The view of a dict of globals."""
        view = self._modules.get(id(variables)) or self._others.get(id(variables))
        if view is None:
            view = View(self, variables)
            module = sys.modules.get(variables.get("__name__"))
            views = self._modules if module is not None and vars(module) is variables else self._others
            views[id(variables)] = view
        return view

    def follow(self, variables, names=None):
        """Tell the views of a dict, if it is one of globals, that these names were set in it, or that any may be."""
        for view in views_of(variables):
            with view.rebinder.lock:
                for name in view.changed() if names is None else names:
                    view.update(name)

    def translate(self, value, owner=None):
        """What stands in rebound code for `value`, which is `value` itself for all that needs no translation."""
        kind = type(value)
        if kind in PASSIVE:
            if kind is np.ndarray and value.dtype.hasobject:
                self.opaque.look(value, owner)
            return value
        if kind in CONTAINERS:
            view = self.container(value)
            if view is value:
                self.opaque.look(value, owner)
            return view
        found = self._stand_in(value, kind)
        if found is not None:
            return found
        if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return self._tuple(value, owner)
        unit = self.known(value)
        if type(unit) is Seen and not unit.is_current():  # which looks at what it has come to hold
            self.forget(value)
            unit = None
        if unit is None:
            with self.lock:
                self.libraries.meet(value)
                unit = self.known(value) or self._made(kind, value)
        if unit is None:
            self.opaque.look(value, owner)
            return value
        unit.taken = True
        self.link(owner, unit)
        return unit.new

    def _stand_in(self, value, kind):
        """What codipy has for `value`; None for a module that is to be rebuilt."""
        found = replacement(value)
        return None if found is not None and kind is ModuleType and self.scope.asked_for(value.__name__) else found

    def at_run_time(self, value):
        """Translate what rebound code came upon. What it depends on is looked at when any is entered from outside."""
        kind = type(value)
        if kind in PASSIVE:
            return value
        if not self.opaque.is_empty and self.opaque.comes_as_it_is(value, kind):
            return value
        # What an import in a function comes upon, at each call; it depends on nothing.
        found = self._stand_in(value, kind) if kind is ModuleType else None
        if found is not None:
            return found
        try:
            unit = self.known(value)
            if unit is not None and unit.is_current():
                if kind is FunctionType and value in self.led:  # which an earlier recording has diverted for itself
                    self.opaque.divert_if_recorded(value)
                return unit.new
        except Restart:
            return self._again(value)
        with self.lock:
            if unit is not None:
                self.forget(value)
            unit = Passing()
            try:
                new = self.translate(value, unit)
            except Restart:
                return self._again(value)
            for node in reach(unit):
                is_class = type(node) is Opening and isinstance(node.new, type)
                if is_class or type(node) not in _MANY:  # a view or a class
                    self.link(self.dynamic, node)
            if unit.links:
                self._recent.append(unit)  # so that it is the same the next time
        return new

    def _again(self, value):
        """What stands for `value` once all is forgotten; functions that are running find what is led by its names."""
        with self.lock:
            for view in (*self._modules.values(), *self._others.values()):
                view.show(self.led)
            self.reset(self.written)
        return self.at_run_time(value)

    def lead(self, f):
        """Let a function stand in rebuilt code itself from now on."""
        if f not in self.led:
            self.led[f] = True
            unit = self.known(f)
            if unit is not None and unit.new is not f:
                raise Restart

    def leave_alone(self, instance):
        """Let an instance stand in rebuilt code itself from now on, if it would be seen through a twin."""
        kind = type(instance)
        if id(instance) in self.alone or "__codipy_origin__" in vars(kind):
            return
        if issubclass(kind, type) or not self.scope.owns_class(kind) or not can_be_seen_through(kind):
            return
        values = [value for part in (instance, *kind.__mro__) if part is not object for value in vars(part).values()]
        if not any(map(_is_replaced, values)):  # a twin alone shows what stands in its place
            with contextlib.suppress(TypeError):  # there are no weak references to it
                self.alone[id(instance)] = instance
                unit = self.known(instance)
                if unit is not None and unit.new is not instance:
                    raise Restart

    def as_it_is(self, value):
        """What rebuilt code gets as it is, the attributes of an object: the functions in it are diverted."""
        if type(value) is dict and not self.opaque.kinds.leads_nowhere(value):
            with self.lock:
                unit = Passing()
                try:
                    self.opaque.look(value, unit)
                except Restart:
                    self.reset(self.written)
                    return self.as_it_is(value)
                self._recent.append(unit)
        return value

    def known(self, value):
        """The unit of a value that was translated before and still lives."""
        entry = self._memo.get(id(value))
        return entry[1]() if entry is not None and entry[0]() is value else None

    def forget(self, value):
        """Translate a value anew when it is met again."""
        self._memo.pop(id(value), None)

    def remember(self, value, unit):
        """Find `unit` when `value` is met again, as long as both live."""
        memo, key = self._memo, id(value)

        def forget(reference):
            if memo.get(key, (None,))[0] is reference:
                del memo[key]

        with contextlib.suppress(TypeError):  # there are no weak references to it
            memo[key] = weakref.ref(value, forget), weakref.ref(unit)

    def _made(self, kind, value):
        """A new unit, and all that was put off to keep the stack low: functions refer to functions without end."""
        self._depth += 1
        try:
            unit = self._unit(kind, value)
            while self._depth == 1 and self._waiting:
                view, names = self._waiting.pop()
                view.use(names)
        finally:
            self._depth -= 1
        return unit

    def use(self, view, names):
        """Let rebuilt code have names of a view, put off where the stack is high; whether one is another then."""
        if self._depth > _DEEP:
            self._waiting.append((view, names))
            return True
        return view.use(names)

    def _unit(self, kind, value):
        if kind is FunctionType:
            return self.functions.of_function(value)
        if kind is MethodType:
            return self._method(value)
        if kind is functools.partial:
            return self._partial(value)
        if kind is LRU:
            return self._cached(value)
        if kind is np.vectorize:
            return self._vectorized(value)
        if issubclass(kind, ModuleType):  # isinstance would run the code of proxies
            return self._module(value)
        if issubclass(kind, type):
            return self.twins.of_class(value)
        if id(value) in self.alone:
            return None
        compiled = self._jitted(value)
        return self.twins.of_instance(value) if compiled is None else compiled

    def _tuple(self, value, owner):
        kind = type(value)
        if kind is not tuple:
            self.opaque.look(kind, owner)
        if len(value) > _LONG and not holds(value, self):
            self.opaque.look(value, owner)
            return value
        items = [self.translate(item, owner) for item in value]
        return tuple.__new__(kind, items) if any(map(is_not, items, value)) else value

    def container(self, value, always=False):
        """A list or dict, seen through a view if it holds something to be rebuilt; `always` for a module's own dict."""
        view = self._views.get(id(value))  # which keeps the value
        if view is None:
            view = make_view(value, self, always)
            if view is None:
                return value
            self._views[id(value)] = view
        return view

    def original_of(self, value):
        """What a translated function, class, list or dict stands for; everything else is its own."""
        if type(value) is FunctionType:
            return self.functions.original_of(value)
        return origin_of(value) if issubclass(type(value), type) else origin_of_view(value)

    def original_of_member(self, value):
        """The same of a method or the like."""
        if type(value) in (staticmethod, classmethod):
            f = self.original_of(value.__func__)
            return value if f is value.__func__ else type(value)(f)
        return self.original_of(value)

    def leads_on(self, value):
        """Whether an attribute or an item may be something to be translated. What it holds is looked at in lists."""
        kind = type(value)
        if kind in ATOMS:
            return False
        if kind in CONTAINERS:
            return self.container(value) is not value
        return (  # isinstance would run the code of proxies
            issubclass(kind, (*CALLABLES, np.vectorize))
            or replacement(value) is not None
            or self.scope.owns_class(kind)
            or (issubclass(kind, type) and self.scope.owns_class(value))
            or jitted_from(value) is not None
            or self.scope.owns_module(value)
        )

    def _module(self, module):
        if not self.scope.owns_module(module):
            return None
        view = self.view_of(vars(module))
        unit = Unit(ModuleProxy(view, module))
        unit.links.append(view)
        self.remember(module, unit)
        return unit

    def _method(self, method):
        unit = Unit()
        function = self.translate(method.__func__, unit)
        owner = self.translate(method.__self__, unit)
        unchanged = function is method.__func__ and owner is method.__self__
        unit.new = method if unchanged else MethodType(function, owner)
        return unit

    def _partial(self, partial):
        unit = Unit(partial)
        f = self.translate(partial.func, unit)
        args = tuple(self.translate(x, unit) for x in partial.args)
        keywords = {name: self.translate(x, unit) for name, x in partial.keywords.items()}
        changed = f is not partial.func or any(a is not b for a, b in zip(args, partial.args))
        if changed or any(keywords[name] is not x for name, x in partial.keywords.items()):
            unit.new = functools.partial(f, *args, **keywords)
        self.remember(partial, unit)
        self.opaque.look(vars(partial), unit)  # also where there is none yet
        return unit

    def _cached(self, cache):
        """A cache of the rebuilt function, whose keys may be active; what the user's own has is rebuilt and taken."""
        unit, entries = Unit(cache), entries_of(cache)

        def original_of(x):
            return self.original_of(x) if origin_of(type(x)) is type(x) else self.twins.original_of(x)

        def found(args, kwargs):
            named = {name: original_of(x) for name, x in kwargs.items()}
            entry = entry_of(cache, entries, map(original_of, args), named)
            return entry and (self.at_run_time(entry[0]),)

        f = self.translate(cache.__wrapped__, unit)
        unit.new = unit.cache = identity_cache(f, **cache.cache_parameters(), found=found, original=cache)
        self.remember(cache, unit)
        return unit

    def _jitted(self, value):
        """What a compiler made of a function of the user's."""
        f = jitted_from(value)
        if f is None or self.scope.owns_class(type(value)) or not self.scope.owns_globals(f.__globals__):
            return None
        unit = Unit()
        unit.new = Jitted(value, self.translate(f, unit))
        self.remember(value, unit)
        return unit

    def _vectorized(self, old):
        """``@numpy.vectorize``, made where NumPy's own class was meant."""
        unit = Unit()
        f = self.translate(old.pyfunc, unit)
        unit.new = replacement(np.vectorize)(f, old.otypes, old.__doc__, old.excluded, old.cache, old.signature)
        self.remember(old, unit)
        return unit


_DEEP = 20  # functions on the way to a function


def _is_replaced(value):
    """Whether codipy has something in the place of an attribute, or of what is in a list or dict there."""
    kind = type(value)
    if kind in CONTAINERS:
        return any(map(_is_replaced, list(value.values()) if isinstance(value, dict) else list(value)))
    if kind in (staticmethod, classmethod):
        return replacement(value.__func__) is not None
    return replacement(value.func if kind is functools.partial else value) is not None
