# SPDX-License-Identifier: Apache-2.0
"""What rebuilt code finds as it is: the functions in it are diverted (`diverted.pyx`).

No twin shows an instance with ``__slots__`` alone, with a ``__del__``, with data of a built-in class or of a class with
a metaclass; no view shows a set, a deque, a namespace, an iterator. Rebuilt code has these themselves, and so would
call the functions that they lead to as they are: the methods of their classes, what they hold, the methods of what they
hold. All these are found by what Python's collector sees in them. What is put there between two calls is found when
rebound code is entered next, if what it may be found in is small; what rebuilt code puts there is rebuilt already.

An object of a library is looked into, and into a second one that the first has; then it ends: a logger leads to all
loggers. So does what lies behind many thousand others.
"""

from __future__ import annotations

import gc
import itertools
import weakref
from collections import deque
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    SimpleNamespace,
    TracebackType,
)

import numpy as np

from codipy.tools.rebinding.classes import can_be_seen_through
from codipy.tools.rebinding.diverted import begin, divert, is_recorded
from codipy.tools.rebinding.unit import WRAPPED, Opening, Passing
from codipy.tools.rebinding.view import PASSIVE, View
from codipy.tools.rebinding.watch import Watch, all_of

__all__ = ["Opaque"]

_COLLECTED, _HEAP_TYPE = 1 << 14, 1 << 9
_MANY = 20_000  # objects that are looked at from one, some 2 ms
_AGAIN = 256  # objects that are looked at again when a recording begins: 50 microseconds
_FAR = 1024  # items of a list of data that are looked at: who holds something else holds it among these
_DEEP = 2  # objects of libraries on the way
_CLOSED = (
    BuiltinFunctionType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType,
    np.ufunc,
)  # fmt: skip
_SIZED = (dict, list, tuple, set, frozenset, deque)
_GROWING = (*_SIZED, SimpleNamespace, View)
# What a class has that leads to no more than functions: it is looked at again only when it has others.
_CLOSED_MEMBERS = PASSIVE | {
    FunctionType, GetSetDescriptorType, MemberDescriptorType, classmethod, property, staticmethod, type, type(None),
}
# And what Python and `dataclass` put there, which stays as it is.
_OF_CLASS = frozenset((
    "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__orig_bases__",
    "__parameters__", "__slots__", "__static_attributes__", "__type_params__",
))  # fmt: skip
_NUMBERS = PASSIVE - {np.ndarray}  # of which some hold objects


class Opaque:
    """All that one rebinder has met that is opaque.

    Parameters
    ----------
    rebinder : Rebinder
        Who rebuilds the functions that are found.

    Attributes
    ----------
    is_empty : bool
        Whether it has met nothing so far.
    threads : dict
        The threads in the recordings of which it has begun to divert: by number, weak references to what is in force.
    translate : callable
        Gives what rebuilt code has in the place of a value.
    """

    def __init__(self, rebinder):
        self._rebinder = rebinder
        self._openings = weakref.WeakValueDictionary()  # by the addresses of what they are of, which they keep
        self.is_empty, self.threads, self.translate = True, {}, rebinder.at_run_time
        self._round = 0  # how often a recording began to look

    def look(self, value, owner):
        """Divert what `value` leads to, as long as `owner` needs it; nothing is done for what leads nowhere.

        Parameters
        ----------
        value : object
            A view for all that it has untranslated.
        owner : Unit or View
            A view keeps one opening, whatever its variables are from call to call. What passes is looked at whenever it
            comes again.
        """
        kind = type(value)
        if not self._may_lead_on(value, kind):
            return
        if type(owner) is View and owner is not value:
            owner.is_opaque = True
            return
        if type(owner) is Passing and not issubclass(kind, type) and self._holds_data(value, kind):
            self.look(kind, owner)
            return
        opening = self._openings.get(id(value))
        if opening is None:
            opening = self._new_opening(value, kind)
        elif kind is View or type(owner) is Passing and opening.round != self._round:
            opening.round = self._round
            self._fill(opening, {})
        if not opening.found and not opening.links and not (kind in _GROWING or self._owns(kind)):
            return
        self.is_empty = False
        self._rebinder.link(owner, opening)
        if opening.found and is_recorded():
            self._divert(opening)
        elif opening.found:
            begin(self)

    def _new_opening(self, value, kind):
        opening = self._openings[id(value)] = Opening(value)  # before it is filled: it may lead to itself
        if issubclass(kind, type):
            opening.is_alone = not can_be_seen_through(value)
            if all(name in _OF_CLASS or type(member) in _CLOSED_MEMBERS for name, member in vars(value).items()):
                opening.watch = Watch(value)
        try:
            self._fill(opening, {})
        except BaseException:  # what it has found is not all
            self._openings.pop(id(value), None)
            raise
        return opening

    def comes_as_it_is(self, value, kind):
        """Whether an instance that rebuilt code came upon is of a class that was looked at, and holds data alone."""
        opening = self._openings.get(id(kind))
        return opening is not None and opening.is_alone and self._holds_data(value, kind)

    def _holds_data(self, value, kind):
        """Whether what an object holds leads nowhere."""
        if kind.__flags__ & _HEAP_TYPE and not issubclass(kind, weakref.ref):  # most of what comes: numbers in slots
            others = [part for part in gc.get_referents(value) if type(part) not in _NUMBERS and part is not kind]
            if not others:
                return True
        parts = (part for part in self._parts(value) if part is not kind)
        return not any(type(part) is FunctionType or self._may_lead_on(part, type(part)) for part in parts)

    def refresh(self, openings):
        """Look again at what may hold something else by now, before a recording begins."""
        seen: dict = {}
        self._round += 1
        for opening in openings:
            opening.round = self._round
            if not all(unit.is_current() for _, unit in opening.found.values()) or (
                    opening.count <= _AGAIN and len(seen) < _AGAIN if opening.watch is None
                    else not opening.watch.is_current()):
                self._fill(opening, seen)

    def divert_all(self):
        """Divert all functions that were found, on this thread."""
        for opening in self._all_openings():
            self._divert(opening)

    def _all_openings(self):
        """Those that there are at once: other threads add to them."""
        return [opening for reference in self._openings.valuerefs() if (opening := reference()) is not None]

    def _divert(self, opening):
        for f, unit in list(opening.found.values()):
            if unit.new is not f:
                divert(self, f, unit.new)

    def _may_lead_on(self, value, kind):
        """Whether an object is looked into."""
        if kind is np.ndarray:
            return value.dtype.hasobject
        if kind is View:
            return True
        if kind in PASSIVE or not kind.__flags__ & _COLLECTED or issubclass(kind, _CLOSED):
            return False
        if issubclass(kind, type):
            return "__codipy_origin__" not in vars(value) and self._owns(value)
        return not _is_codipys(kind)

    def _owns(self, cls):
        scope = self._rebinder.scope
        return scope.owns_class(cls) and scope.owns_outright(cls.__module__)

    def _fill(self, opening, seen):
        """Find the functions, and have them rebuilt; `seen` has what was looked at before, by its address."""
        rebinder, found = self._rebinder, {}
        before = len(seen)
        functions, classes = self._found(opening.new, seen)
        opening.count = len(seen) - before
        for f in functions:
            unit = rebinder.known(f)
            if unit is not None and not unit.is_current():
                rebinder.forget(f)
            if rebinder.translate(f, opening) is not f and (unit := rebinder.known(f)) is not None:
                found[id(f)] = f, unit
        opening.found = found
        if opening.watch is not None:
            _watch_members(opening)
        for cls in classes:
            self.look(cls, opening)

    def _found(self, value, seen):
        """The functions of the user's that an object leads to, and classes, at which others look."""
        waiting, functions, classes = [(value, 0)], [], []
        enough = len(seen) + _MANY
        for one, depth in waiting:  # which grows
            for part in self._parts(one):
                kind = type(part)
                if kind in PASSIVE and kind is not np.ndarray or id(part) in seen:
                    continue
                seen[id(part)] = part
                if kind is FunctionType:
                    functions.append(part)
                elif self._may_lead_on(part, kind):
                    if issubclass(kind, type):
                        classes.append(part)
                        continue
                    is_foreign = bool(kind.__flags__ & _HEAP_TYPE) and not self._owns(kind)
                    if depth + is_foreign <= _DEEP:
                        waiting.append((part, depth + is_foreign))
            if len(seen) > enough:
                break
        owns = self._rebinder.scope.owns_outright
        return [f for f in functions if f not in WRAPPED and owns(f.__globals__.get("__name__", ""))], classes

    def _parts(self, value):
        """What an object holds; of a class its members, and the user's classes that it is derived from."""
        kind = type(value)
        if kind is View:
            return value.untranslated()
        if issubclass(kind, type):
            return [kind, *filter(self._owns, value.__mro__[1:]), *vars(value).values()]
        if issubclass(kind, weakref.ref):
            return (value(),)
        if kind is np.ndarray:
            return value.ravel().tolist()
        if kind in _SIZED and all_of(itertools.islice(_items(value), _FAR), PASSIVE):
            return ()
        return [kind, *gc.get_referents(value)]


def _is_codipys(kind):
    return str(kind.__module__).startswith("codipy.") or "__codipy_origin__" in vars(kind)


def _watch_members(opening):
    """Note what a class has."""
    members = vars(opening.new)
    opening.watch.set(members.keys(), members.values())


def _items(value):
    """What a list or dict holds."""
    return itertools.chain(value, value.values()) if type(value) is dict else value
