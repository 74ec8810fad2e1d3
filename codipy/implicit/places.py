# SPDX-License-Identifier: Apache-2.0
"""What functions of the user's can write to: variables, attributes, lists, dicts, arrays, caches; each a place.

A place knows what it held when it was found, tells whether that has changed and lets it hold that again.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import threading
import types
from operator import is_

import numpy as np

from codipy.active.array import Array, identifiers, is_active, plain
from codipy.active.recordings.status import is_left
from codipy.numpy.arguments import PLAIN
from codipy.tape import active_tape, passive
from codipy.tools.rebinding.exchange import hold_attribute, hold_cell, hold_global, hold_item
from codipy.tools.rebinding.scope import Scope, module_of
from codipy.tools.rebinding.together import standing_at
from codipy.tools.rebinding.unit import EMPTY, contents, views_of
from codipy.tools.rebinding.view import LiveGlobals

__all__ = ["MISSING", "Attributes", "Cache", "Cell", "Class", "Deque", "Dict", "Globals", "List", "Numbers", "Plain",
           "Read", "Set", "Slots", "got", "is_own", "is_same", "is_users", "itself", "module_variables"]

MISSING = object()

_KEPT = 1 << 24      # bytes of what arrays held, after which none is known


def is_users(kind):
    """Whether a class is the user's."""
    name = kind.__module__ if isinstance(kind.__module__, str) else module_of(kind)
    if name is None or name == "builtins":
        return False
    return kind is types.SimpleNamespace or is_own(name, getattr(sys.modules.get(name), "__file__", None))


@functools.lru_cache(1024)
def is_own(name, file):
    """Whether a module is the user's."""
    return not isinstance(name, str) or name.partition(".")[0] not in _OTHERS and _SCOPE.owns_name(name, file)


_SCOPE, _OTHERS = Scope(None, ()), ("codipy", "numpy", "scipy")


class Plain:
    """A plain array that stands in places, known again by its identity.

    Who has all references to one, weak ones too, is given an Array in its place where it is recorded. So there is none
    here but while a solver runs on plain numbers.

    Attributes
    ----------
    copy : ndarray
        With what it held.
    where : list
        Pairs of a place and the key by which it stands there.
    """

    __slots__ = ("_address", "_it", "copy", "where")

    def __init__(self, x):
        self._it, self._address, self.copy, self.where = None, id(x), x.copy(), []

    def is_in(self, x):
        """Whether it is this array, or what stands in its place."""
        if type(x) is np.ndarray:
            return id(x) == self._address
        return type(x) is Array and x is standing_at(self._address)

    def get(self):
        """The array, or what stands in its place; a copy where it is gone."""
        if self._it is not None:
            return self._it
        if (array := standing_at(self._address)) is not None:
            return array
        return next((x for x in (place.at(key) for place, key in self.where) if self.is_in(x)), self.copy.copy())

    def hold(self):
        """Have a reference, so that it is not gone where others stand in its places."""
        found = self.get()
        self._it = found if id(found) == self._address else None

    def leave(self):
        """Have no reference, and let an Array stand in its place where it was written to."""
        self._it = None
        is_written = self.copy.dtype.kind == "f" and self.get().tobytes() != self.copy.tobytes()
        if is_written and active_tape() is not None:
            for place, key in self.where:
                place.exchange(key)

    def close(self):
        """Have no reference to its places, which have one to this."""
        self.where.clear()
        self._it = None


def is_same(x, known):
    return x is known or type(known) is Plain and known.is_in(x)


def got(x):
    return x.get() if type(x) is Plain else x


class Place:
    """Something that can be written to.

    Parameters
    ----------
    it : object
    held : callable
        Gives what is kept of a value: of a plain array a `Plain`.

    Attributes
    ----------
    before : dict, list, set or ndarray
        What it held when it was found.
    """

    __slots__ = ("_held", "before", "it")

    def __init__(self, it, held):
        self.it, self._held = it, held
        self.before = self.kept()

    def kept(self):
        """What it holds, without references to plain arrays."""
        now = self.now()
        if isinstance(now, dict):
            return {key: self._held(x, self, key) for key, x in now.items()}
        if isinstance(now, list) and not PLAIN.issuperset(map(type, now)):
            return [self._held(x, self, key) for key, x in enumerate(now)]
        return now

    def at(self, key):
        """What stands in it by a key."""
        now = self.now()
        return now.get(key) if isinstance(now, dict) else now[key] if key < len(now) else None

    def has_changed(self):
        """Whether it holds something else than it did."""
        now, before = self.now(), self.before
        if len(now) != len(before):
            return True
        if isinstance(now, dict):
            return now.keys() != before.keys() or not all(is_same(x, before[key]) for key, x in now.items())
        return not (all(map(is_, now, before)) or all(map(is_same, now, before)))

    def put(self, held):
        """Let it hold something, of a plain array given by its `Plain` that."""
        self._set({key: got(x) for key, x in held.items()} if isinstance(held, dict) else
                  list(map(got, held)) if isinstance(held, list) else held)  # fmt: skip

    def put_back(self):
        """Let it hold again what it did."""
        if self.has_changed():
            self.put(self.before)

    def exchange(self, key):
        """Let an Array stand in the place of a plain array, if that can be."""


class Cell(Place):
    """A variable of an enclosing function."""

    __slots__ = ()

    def now(self):
        return {"": contents(self.it)}

    def _set(self, held):
        if held[""] is EMPTY:
            del self.it.cell_contents
        else:
            self.it.cell_contents = held[""]

    def exchange(self, key):
        hold_cell(self.it)


class Dict(Place):
    """A dict of any kind."""

    __slots__ = ()

    def now(self):
        return dict(dict.items(self.it))

    def _set(self, held):
        kind = collections.OrderedDict if isinstance(self.it, collections.OrderedDict) else dict
        kind.clear(self.it)
        kind.update(self.it, held)

    def exchange(self, key):
        hold_item(self.it, key)


class Attributes(Dict):
    """The attributes of an object."""

    __slots__ = ("whose",)

    def __init__(self, whose, held):
        self.whose = whose
        super().__init__(whose.__dict__, held)

    def exchange(self, key):
        hold_attribute(self.whose, key)


class Slots(Place):
    """The attributes of an object that has slots for them."""

    __slots__ = ()

    @staticmethod
    def _members(x):
        # Of two classes that have a slot of one name, that of the later one is the attribute. Those of classes that are
        # written in C may be read-only.
        return {name: slot for kind in reversed(type(x).__mro__) if "__slots__" in vars(kind)
                for name, slot in vars(kind).items() if type(slot) is types.MemberDescriptorType}

    @classmethod
    def of(cls, x):
        """What an object has there."""
        found = {}
        for name, slot in cls._members(x).items():
            with contextlib.suppress(AttributeError):
                found[name] = slot.__get__(x)
        return found

    def now(self):
        return self.of(self.it)

    def _set(self, held):
        now = self.now()
        for name, slot in self._members(self.it).items():
            if name in held:
                slot.__set__(self.it, held[name])
            elif name in now:
                slot.__delete__(self.it)

    def exchange(self, key):
        hold_attribute(self.it, key)


class Class(Place):
    """What a class has that is no function."""

    __slots__ = ()

    @staticmethod
    def of(kind):
        """What a class has."""
        return {name: x for name, x in vars(kind).items()
                if not (name.startswith("__") or callable(x) or hasattr(type(x), "__get__"))}

    def now(self):
        return self.of(self.it)

    def _set(self, held):
        now = self.now()
        for name in now.keys() - held.keys():
            delattr(self.it, name)
        for name, x in held.items():
            if now.get(name, MISSING) is not x:
                setattr(self.it, name, x)


class Globals(Place):
    """Variables of a module that functions set."""

    __slots__ = ("names", "variables")

    def __init__(self, variables, held):
        self.names, self.variables = set(), variables
        super().__init__(module_variables(variables), held)

    def add(self, names):
        """Look at these names too."""
        self.names |= names
        self.before = self.kept()

    def now(self):
        if type(self.variables) is LiveGlobals:
            self.variables.view.flush_all()
        return {name: self.it[name] for name in self.names if name in self.it}

    def _set(self, held):
        for name in self.names:
            if name in held:
                self.it[name] = held[name]
            else:
                self.it.pop(name, None)
        for view in views_of(self.it):
            with view.rebinder.lock:
                for name in self.names:
                    view.update(name)

    def exchange(self, key):
        for view in views_of(self.it):
            hold_global(view, key)


def module_variables(variables):
    """The variables of the module of which a rebuilt function has some."""
    if type(variables) is LiveGlobals:
        return variables.view.origin
    module = sys.modules.get(variables.get("__name__"))
    return variables if module is None else vars(module)


class Read(Globals):
    """Variables of a module that functions read: only arrays in their places are exchanged."""

    __slots__ = ()

    def has_changed(self):
        return False


class List(Place):
    """A list."""

    __slots__ = ()

    def now(self):
        return list.copy(self.it)

    def _set(self, held):
        list.__setitem__(self.it, slice(None), held)

    def exchange(self, key):
        hold_item(self.it, key)


class Deque(Place):
    """A deque."""

    __slots__ = ()

    def now(self):
        return list(self.it)

    def _set(self, held):
        self.it.clear()
        self.it.extend(held)


class Set(Place):
    """A set."""

    __slots__ = ()

    def now(self):
        return set(self.it)

    def _set(self, held):
        set.clear(self.it)
        set.update(self.it, held)

    def has_changed(self):
        return self.it != self.before


class _Left(threading.local):
    """What Arrays held before a solver left in them what is of a recording that is over.

    By the identity of each, with what was left: another one that comes to its address has other numbers.
    """

    def __init__(self):
        self._before, self._bytes = {}, 0

    def note(self, x, before):
        """What an Array held: functions that run in a sweep find it."""
        self._bytes += 2 * before.nbytes
        if self._bytes > _KEPT:
            self._before.clear()
            self._bytes = 0
        self._before[id(x)] = x.value.tobytes(), before

    def before(self, x):
        """The same; None where it is not known."""
        left, before = self._before.get(id(x), (None, None))
        return before if before is not None and before.shape == x.shape and left == x.value.tobytes() else None


_LEFT = _Left()


class Numbers(Place):
    """The elements of an Array, or of a plain array by its `Plain`.

    Attributes
    ----------
    over : ndarray or None
        Their values, where they are of a recording that is over.
    was : ndarray or None
        What they were before a solver left those, if it is known.
    """

    __slots__ = ("_names", "over", "was")

    def __init__(self, it):
        x = it.get() if type(it) is Plain else it
        self.over, self.was = x.value.copy() if _is_over(x) else None, None
        if self.over is not None:
            self.was = _LEFT.before(x)
        super().__init__(it, None)
        self._names = _names_of(x)

    def array(self):
        return self.it.get() if type(self.it) is Plain else self.it

    def kept(self):
        if type(self.it) is Plain:
            return self.it.copy
        if self.over is None:
            return self.it.copy()
        # Who computes with what is of a recording that is over finds it out by these.
        return np.full(self.it.shape, np.nan) if self.was is None else self.was

    def now(self):
        x = self.array()
        return plain(x).copy() if _is_over(x) else x.copy()

    def _set(self, held):
        x = self.array()
        if is_active(held):
            x[...] = held
            return
        with passive():      # so that a recording within does not borrow what is overwritten
            x[...] = held

    def note_left(self):
        """An Array holds what is of a recording that is over: functions that run later find what it held before."""
        if (self.over is None or self.was is not None) and not is_active(self.before):
            _LEFT.note(self.array(), plain(self.before))

    def written_again(self, mask):
        """What it holds, where some elements were written to and have the values of before: these are not known now."""
        held, self.before = plain(self.before), np.array(plain(self.before))
        self.before[mask] = np.nan
        return held

    def put_was(self):
        """Let it hold what it did before a solver left what is of a recording that is over."""
        if self.was is not None:
            self.put(self.was)

    def put_over(self):
        """Let it hold the numbers of a recording that is over, which another solver finds as the plain run does."""
        if self.over is not None and self.has_changed():
            self.put(self.over)

    def has_changed(self):
        x = self.array()
        if self.over is not None:
            return not _is_over(x) or plain(x).tobytes() != self.over.tobytes()
        if _is_over(x) or plain(x).tobytes() != plain(self.before).tobytes() or is_active(x) != is_active(self.before):
            return True
        # In a recording within, what it borrows has names of its own.
        return active_tape() is self._names[0] and not np.array_equal(_names_of(x)[1], self._names[1])

    def put_back(self):
        if self.has_changed():
            self.put(self.before)
            self._names = _names_of(self.array())


def _names_of(x):
    """A recording, and what tells an active element there from another one of the same value."""
    return active_tape(), identifiers(x) if is_active(x) and not _is_over(x) else None


def _is_over(x):
    """Whether elements are of a recording that is over, also where nothing records."""
    return type(x) is Array and x.is_active and is_left(x)


class Cache(Place):
    """What `functools.lru_cache` has seen: not put back but forgotten, which is found out anew."""

    __slots__ = ()

    def kept(self):
        return self.it.cache_info().misses

    now = kept

    def _set(self, held):
        self.it.cache_clear()

    def has_changed(self):
        return self.it.cache_info().misses != self.before

    def put_back(self):
        if self.has_changed():
            self.it.cache_clear()
            self.before = 0


def itself(x, place, key):
    """What is kept of a value in a place that is not put back."""
    return x
