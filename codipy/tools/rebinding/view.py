# SPDX-License-Identifier: Apache-2.0
"""The globals of rebuilt functions: a module's own, with some names translated.

The interpreter looks a global up fast only in an exact dict, and in a dict a name cannot lead elsewhere. So a rebuilt
function gets an exact dict that is a translated copy of the module's, and whether it still is one is looked at when
rebound code is entered from outside: then the names that it uses are compared by identity.

Names that a function of the module sets by ``global`` change while code runs. Functions that use one of those get
`LiveGlobals`, which has not these names but asks the module for them each time, some 100 ns. What such a function
stores is stored here by the interpreter, which asks no method of a dict, and goes to the module as soon as the
function returns, yields or raises; see `View.flush`.

Rejected: LiveGlobals for all, since every global name would cost ten times as much; rewriting the bytecode, which
differs from Python to Python; the module's own dict with more names in it, which others would see.
"""

from __future__ import annotations

import builtins
import weakref
from types import FunctionType, GetSetDescriptorType, MethodType, ModuleType

import numpy as np

from codipy.active.array_type import Array
from codipy.active.scalar.real import Real
from codipy.tools.rebinding.code import scan
from codipy.tools.rebinding.containers import CONTAINERS, make_view
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.hooks import LOOKING_UP, make_builtins
from codipy.tools.rebinding.replacements import BUILTINS
from codipy.tools.rebinding.unit import MISSING, VIEWS, Draft, Unit, views_of
from codipy.tools.rebinding.watch import Watch

__all__ = ["ATOMS", "PASSIVE", "LiveGlobals", "Restart", "View"]

_EVALUATES = frozenset(("eval", "exec"))  # what these name, no code object tells
ATOMS = frozenset((
    int, float, str, bool, bytes, complex, set, frozenset, type(None), Real, Array, np.ndarray, np.float64, np.float32,
))  # fmt: skip
PASSIVE = ATOMS - {set, frozenset}  # what leads to nothing that is to be rebuilt
_DATA = ATOMS | CONTAINERS


class Restart(Exception):
    """The set of volatile names was not complete, which functions made so far relied on."""


class LiveGlobals(dict):
    """Translated globals without those that change: the interpreter asks `__missing__` for them."""

    __slots__ = ("view",)

    def __missing__(self, name):
        view = self.view
        return view.rebinder.at_run_time(view.origin[name])


class View:
    """The translated globals of one module, or of whatever else a function has for globals.

    Attributes
    ----------
    origin : dict
        The globals themselves, which are never written but for what the user's functions store.
    fast : dict
        What functions get that use no volatile name.
    live : LiveGlobals
        What the others get.
    watch : Watch
        The names that are used in `fast`.
    volatile : set
        Names that functions store or delete.
    by_name : dict
        For each name that is used, a unit with the links that its value needs.
    links : list
        All of these.
    proxies : WeakSet
        Modules that show it, which keep functions that were asked for.
    """

    def __init__(self, rebinder, origin):
        self.rebinder, self.origin, self.links = rebinder, origin, []
        self.watch, self.volatile = Watch(origin), _volatile(origin) | rebinder.volatile.get(id(origin), set())
        self.fast, self.live = dict(origin), LiveGlobals(origin)
        self.live.view = self
        for name in self.volatile:  # nor has a copy that nobody uses, which would keep the value of before
            self.fast.pop(name, None)
            self.live.pop(name, None)
        mapping = origin.get("__builtins__", builtins)
        self._builtins = vars(mapping) if isinstance(mapping, ModuleType) else mapping
        for variables in (self.fast, self.live):
            variables["__builtins__"] = make_builtins(self, self._builtins)
        self._used, self._busy, self.proxies, self.by_name = {}, set(), weakref.WeakSet(), {}
        VIEWS.setdefault(id(origin), weakref.WeakSet()).add(self)

    def variables(self, code):
        """The dict that a function with this code has for globals."""
        names = scan(code)
        if not names.stores <= self.volatile:  # a function that no name of the module leads to
            self.rebinder.volatile[id(self.origin)] = self.volatile | names.stores
            raise Restart
        return self.fast if self.volatile.isdisjoint(names.loads | names.stores) else self.live

    def use(self, names):
        """Translate the values of these names, and tell whether any is something else now."""
        if not _EVALUATES.isdisjoint(names):
            names = {*names, *self.origin}
        new = [name for name in names if name not in self._used]
        self._busy.update(new)
        self._used.update((name, MISSING if name in self.volatile else self.origin.get(name, MISSING)) for name in new)
        for name in new:
            raw = self._used[name]
            if name in self.volatile or name == "__builtins__":
                pass
            elif raw is MISSING:
                self.fast.pop(name, None)
                self.live.pop(name, None)
            else:  # whether or not it is translated: the copies are from when the view was made
                self.fast[name] = self.live[name] = self._translated(name, raw)
            self._busy.discard(name)
        if new:
            self._watch()
        return any(map(self._differs, names))

    def _translated(self, name, raw):
        """The translation of what a name means, on which it depends from now on."""
        draft, unit = Draft(), self.by_name.get(name)
        new = self.rebinder.translate(raw, draft)
        if unit is None:
            unit = self.by_name[name] = Unit()
            self.rebinder.link(self, unit)
        self.rebinder.relink(unit, draft)
        return new

    def knows(self, name, value):
        """Whether a name that is used was translated from this very value."""
        return name in self.volatile or self._used.get(name, MISSING) is value

    def _differs(self, name):
        if name in self.volatile:
            return True  # it has to be asked for where it is stored
        raw = self._used[name]
        if raw is MISSING:
            return self._builtins.get(name) is not None and (name in BUILTINS or name in LOOKING_UP)
        if name in self._busy:  # a function that calls itself through others
            return self.rebinder.translate(raw, Draft()) is not raw
        return self.fast[name] is not raw

    def _watch(self):
        used = {name: raw for name, raw in self._used.items() if raw is not MISSING and name not in self.volatile}
        self.watch.set(used.keys(), used.values())

    def is_current(self):
        """Whether no used name means something else than when it was translated; plain data are taken over."""
        origin = self.origin
        if self.watch.is_current():
            return True
        if len(origin) != self.watch.size:
            return False
        changed = {}
        for name, raw in zip(self.watch.names, self.watch.raws):
            value = origin.get(name, MISSING)
            if value is not raw:
                if type(value) not in _DATA or type(raw) not in _DATA or self.fast.get(name) is not raw:
                    return False
                if type(value) in CONTAINERS and make_view(value, self.rebinder) is not None:
                    return False
                changed[name] = value
        try:
            for name, value in changed.items():
                if type(value) not in PASSIVE:
                    self._translated(name, value)
        except Restart:
            return False
        for variables in (self.fast, self.live, self._used):
            variables.update(changed)
        self._watch()
        return True

    def changed(self):
        """The used names that mean something else than when they were translated, or may."""
        return [name for name, raw in self._used.items()
                if name in self.volatile or self.origin.get(name, MISSING) is not raw]  # fmt: skip

    def update(self, name):
        """Follow a name of the module that rebound code has just set."""
        for proxy in list(self.proxies):
            proxy._drop(name)
        raw = self.origin.get(name, MISSING)
        if name in self.volatile:
            return
        self._used.pop(name, None)
        for variables in (self.fast, self.live):
            if raw is MISSING:
                variables.pop(name, None)
            else:
                variables[name] = raw
        self.use((name,))
        self._watch()

    def show(self, functions):
        """Have the names of these functions lead to themselves, also for code that is running."""
        for name, raw in self._used.items():
            if name not in self.volatile and type(raw) is FunctionType and raw in functions:
                self.fast[name] = self.live[name] = raw

    def references(self, name, value):
        """How many references to the value of a global variable the module and all views of it have by its name."""
        count = int(self.origin.get(name) is value)
        for view in views_of(self.origin):
            count += sum(holder.get(name) is value for holder in (view.fast, view.live, view._used))
            count += sum(raw is value and key == name for key, raw in zip(view.watch.names, view.watch.raws))
        return count

    def exchange(self, name, value):
        """Let a global variable have another value, also in all views of the module."""
        old, self.origin[name] = self.origin[name], value
        for view in views_of(self.origin):
            for holder in (view.fast, view.live, view._used):
                if holder.get(name) is old:
                    holder[name] = value
            if name in view._used:
                view._watch()

    def flush_all(self):
        """Give the module all that functions which are running have stored by ``global``."""
        self.flush(self.volatile)

    def flush(self, names):
        """Give the module what functions stored under these names."""
        for name in names:
            value = self.live.pop(name, MISSING)
            if value is not MISSING:
                if name not in self.origin:
                    self.watch.grow(1)
                self.origin[name] = self.rebinder.original_of(value)


def _volatile(variables):
    """Names that the functions of a module store or delete, and the methods of its classes."""
    found = set()
    for value in list(variables.values()):
        is_class = isinstance(value, type) and value.__module__ == variables.get("__name__")
        for member in list(vars(value).values()) if is_class else (value,):
            if issubclass(type(member), property):
                member = member.fget
            elif issubclass(type(member), (staticmethod, classmethod, MethodType)):
                member = member.__func__
            while member is not None:
                if type(member) is FunctionType and member.__globals__ is variables:
                    names = scan(code_of(member))
                    found |= names.stores | names.deletes
                member = _wrapped(member)
    return found


def _wrapped(member):
    """What a wrapper is made of; no code of a class of the user's runs for that."""
    if issubclass(type(member), type):
        return None
    own = next((vars(base)["__dict__"] for base in type(member).__mro__ if "__dict__" in vars(base)), None)
    return own.__get__(member).get("__wrapped__") if type(own) is GetSetDescriptorType else None
