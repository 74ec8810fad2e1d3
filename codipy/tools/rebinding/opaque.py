# SPDX-License-Identifier: Apache-2.0
"""What rebuilt code finds as it is: the functions in it are diverted (`diverted.pyx`).

No twin shows an instance with ``__slots__`` alone, with a ``__del__``, with data of a built-in class or of a class with
a metaclass; no view shows a set, a deque, a namespace, an iterator. Rebuilt code has these themselves, and so would
call the functions that they lead to as they are: the methods of their classes, what they hold, the methods of what they
hold. All these are found by what Python's collector sees in them. What is put there between two calls is found when
rebound code is entered next, and what rebuilt code puts there is rebuilt already.

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
    ModuleType,
    SimpleNamespace,
    TracebackType,
)

import numpy as np

from codipy.tools.rebinding.diverted import begin, divert, is_recorded
from codipy.tools.rebinding.unit import WRAPPED, Opening
from codipy.tools.rebinding.view import PASSIVE, View
from codipy.tools.rebinding.watch import all_of

__all__ = ["Opaque"]

_COLLECTED, _HEAP_TYPE = 1 << 14, 1 << 9
_MANY = 20_000  # objects that are looked at from one, some 2 ms
_FAR = 1024  # items of a list of data that are looked at: who holds something else holds it among these
_DEEP = 2  # objects of libraries on the way
_CLOSED = (
    BuiltinFunctionType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType,
    np.ufunc,
)  # fmt: skip
_SIZED = (dict, list, tuple, set, frozenset, deque)
_GROWING = (*_SIZED, SimpleNamespace, View)


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
    """

    def __init__(self, rebinder):
        self._rebinder, self._openings, self._busy = rebinder, weakref.WeakSet(), {}
        self.is_empty = True

    def look(self, value, owner):
        """Divert what `value` leads to, as long as `owner` needs it; nothing is done for what leads nowhere.

        Parameters
        ----------
        value : object
            A view for all that it has untranslated.
        owner : Unit or View
            One view keeps one opening, whatever its variables are from call to call.
        """
        kind = type(value)
        if not self._may_lead_on(value, kind):
            return
        if type(owner) is View and owner is not value:
            owner.is_opaque = True
            return
        opening = self._busy.get(id(value))
        if opening is None:
            opening = next((one for one in owner.links if type(one) is Opening and one.new is value), None)
            opening = self._busy[id(value)] = opening or Opening(value)
            try:
                self._fill(opening, {})
            finally:
                del self._busy[id(value)]
            if not opening.found and not (kind in _GROWING or self._owns(kind)):
                return
            self._openings.add(opening)
            self.is_empty = False
        self._rebinder.link(owner, opening)
        if opening.found and is_recorded():
            self._divert(opening)
        elif opening.found:
            begin(self)

    def refresh(self):
        """Look again at what may hold something else by now."""
        seen: dict = {}
        for opening in list(self._openings):
            self._fill(opening, seen)

    def divert_all(self):
        """Divert all functions that were found, on this thread."""
        for opening in list(self._openings):
            self._divert(opening)

    def _divert(self, opening):
        for f, new in list(opening.found.values()):
            divert(f, new, self._rebinder.at_run_time)

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
        for f in self._functions(opening.new, seen):
            unit = rebinder.known(f)
            if unit is None or not unit.is_current():
                rebinder.forget(f)
                new = rebinder.translate(f, opening)
            else:
                rebinder.link(opening, unit)
                new = unit.new
            if new is not f:
                found[id(f)] = f, new
        opening.found = found

    def _functions(self, value, seen):
        """The functions of the user's that an object leads to."""
        waiting, found = [(value, 0)], []
        enough = len(seen) + _MANY
        for one, depth in waiting:  # which grows
            for part in self._parts(one):
                kind = type(part)
                if kind in PASSIVE and kind is not np.ndarray or id(part) in seen:
                    continue
                seen[id(part)] = part
                if kind is FunctionType:
                    found.append(part)
                elif self._may_lead_on(part, kind):
                    is_foreign = bool(kind.__flags__ & _HEAP_TYPE) and not self._owns(kind)
                    if depth + is_foreign <= _DEEP:
                        waiting.append((part, depth + is_foreign))
            if len(seen) > enough:
                break
        owns = self._rebinder.scope.owns_outright
        return [f for f in found if f not in WRAPPED and owns(f.__globals__.get("__name__", ""))]

    def _parts(self, value):
        """What an object holds; of a class its members, and those of the user's classes that it is derived from."""
        kind = type(value)
        if kind is View:
            return value.untranslated()
        if issubclass(kind, type):
            own = [base for base in value.__mro__ if self._owns(base)]
            return [kind, *(member for base in own for member in vars(base).values())]
        if issubclass(kind, weakref.ref):
            return (value(),)
        if kind is np.ndarray:
            return value.ravel().tolist()
        if kind in _SIZED and all_of(itertools.islice(_items(value), _FAR), PASSIVE):
            return ()
        return [kind, *gc.get_referents(value)]


def _is_codipys(kind):
    return str(kind.__module__).startswith("codipy.") or "__codipy_origin__" in vars(kind)


def _items(value):
    """What a list or dict holds."""
    return itertools.chain(value, value.values()) if type(value) is dict else value
