# SPDX-License-Identifier: Apache-2.0
"""What rebuilt code finds as it is: the functions in it are diverted (`diverted.pyx`).

No twin shows an instance with ``__slots__`` alone, with a ``__del__``, with data of a built-in class or of a class with
a metaclass; no view shows a set, a deque, a namespace, an iterator. Rebuilt code has these themselves, and so would
call the functions that they lead to as they are: the methods of their classes, what they hold, the methods of what they
hold. So it would those that an instance with a twin comes to hold after it was met, and those in a cell that functions
set. All these are found by what Python's collector sees in them (`snapshot.pyx`). What is put there between two calls
is found when rebound code is entered next; what rebuilt code puts there is rebuilt already.

An object of a library is looked into, and into a second one that the first has; then it ends: a logger leads to all
loggers. So does what lies behind many thousand others.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from contextvars import ContextVar
from threading import get_ident
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
    WrapperDescriptorType,
)

import numpy as np

from codipy.tools.rebinding.classes import can_be_seen_through
from codipy.tools.rebinding.diverted import begin, divert, is_recorded
from codipy.tools.rebinding.scope import module_of
from codipy.tools.rebinding.snapshot import Kinds, Snapshot
from codipy.tools.rebinding.unit import WRAPPED, Draft, Opening, Passing
from codipy.tools.rebinding.view import PASSIVE, Restart

__all__ = ["Opaque"]

_COLLECTED, _HEAP_TYPE = 1 << 14, 1 << 9
_CLOSED = (
    CodeType, CoroutineType, FrameType, GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType,
    MethodWrapperType, TracebackType, WrapperDescriptorType, type(np.sum),
)  # fmt: skip
_SIZED = frozenset((dict, list, tuple, set, frozenset, deque))
_PLAIN = PASSIVE | {np.int64, np.bool_, slice}
_OF_PYTHON = frozenset(("collections", "_collections", "functools", "itertools", "operator", "types"))


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
    kinds : Kinds
        What leads nowhere.
    threads : dict
        The threads in the recordings of which it has begun to divert: by number, weak references to what is in force.
    translate : callable
        Gives what rebuilt code has in the place of a value.
    """

    def __init__(self, rebinder):
        self._rebinder = rebinder
        # By the addresses of what they are of, which they keep, and whether they are of all that it holds.
        self._openings = weakref.WeakValueDictionary()
        self._finding = weakref.WeakValueDictionary()  # those of them that lead to functions
        self._later = None
        self.is_empty, self.threads, self.translate = not rebinder.led, {}, rebinder.at_run_time
        self.kinds = Kinds(self._classify)

    def look(self, value, owner, cover=None):
        """Divert what `value` leads to, as long as `owner` needs it; nothing is done for what leads nowhere.

        Parameters
        ----------
        value : object
        owner : Unit
            What passes is looked at whenever it comes again.
        cover : callable, optional
            Gives what `value` holds that rebuilt code does not find as it is.

        Returns
        -------
        Opening or None
        """
        kind, passes = type(value), type(owner) is Passing
        if kind is FunctionType or issubclass(kind, ModuleType):  # what is not rebuilt of these is left alone
            return None
        if self.kinds.leads_nowhere(value) if passes else self.kinds.leads_nowhere(value, 0):
            return None
        if passes and not issubclass(kind, type) and self.kinds.holds_data(value):
            return self.look(kind, owner)
        opening = self._openings.get((id(value), cover is None))
        if opening is None:
            opening = self._new_opening(value, kind, cover)
        else:
            self.refresh((opening,))
        self.is_empty = False
        self._rebinder.link(owner, opening)
        if opening.found and is_recorded():
            self._divert(opening)
        elif opening.found:
            begin(self)
        return opening

    def opening_of(self, value):
        """The opening of something that was looked at, else None.

        Parameters
        ----------
        value : object

        Returns
        -------
        Opening or None
        """
        return self._openings.get((id(value), True))

    def _new_opening(self, value, kind, cover):
        key = id(value), cover is None
        opening = self._openings[key] = Opening(value, cover)  # before it is filled: it may lead to itself
        opening.is_alone = issubclass(kind, type) and not can_be_seen_through(value)
        try:
            self._fill(opening)
        except BaseException:  # what it has found is not all
            self._openings.pop(key, None)
            raise
        return opening

    def comes_as_it_is(self, value, kind):
        """Whether an instance that rebuilt code came upon is of a class that was looked at, and holds data alone."""
        opening = self.opening_of(kind)
        return opening is not None and opening.is_alone and self.kinds.holds_data(value)

    def refresh(self, openings):
        """Look again at what leads to something else by now, and divert that where a recording runs.

        Parameters
        ----------
        openings : iterable of Opening
        """
        with self._rebinder.lock:
            for opening in openings:
                if opening.snapshot is None or opening.is_same():
                    continue
                if opening.is_of_another():
                    raise Restart
                self._fill(opening)
                if opening.found and is_recorded():
                    self._divert(opening)

    @contextlib.contextmanager
    def looked_at_later(self):
        """On this thread, take what instances with a twin hold for what it was: the caller refreshes it then, once."""
        before, self._later = self._later, get_ident()
        try:
            yield
        finally:
            self._later = before

    def is_looked_at_later(self):
        """Whether this thread looks later at what is held."""
        return self._later is not None and self._later == get_ident()

    def divert_all(self):
        """Divert all functions that were found, on this thread."""
        for reference in self._finding.valuerefs():  # at once: other threads add to them
            opening = reference()
            if opening is not None:
                self._divert(opening)
        asking = self._rebinder.libraries.functions
        for reference in self._rebinder.led.keyrefs():
            f = reference()
            if f is not None and id(f) not in asking:
                self.divert_led(f, self._rebinder.known(f))
        for reference, called in list(asking.values()):
            if (f := reference()) is not None:
                divert(self, f, called)

    def divert_led(self, f, unit):
        """Divert a function that stands in rebuilt code itself, if it was rebuilt."""
        if unit is not None and unit.called is not f:
            divert(self, f, unit.called)

    def divert_if_recorded(self, f):
        """Divert a function that rebuilt code has put where others see it, while a recording runs."""
        if is_recorded():
            self.divert_led(f, self._rebinder.known(f))

    def _divert(self, opening):
        for f, unit in list(opening.found.values()):
            self.divert_led(f, unit)

    def _classify(self, value, is_type):
        """What `Kinds` asks for."""
        if not is_type:
            is_module = issubclass(type(value), ModuleType)
            return ("module" if self._owns_module(value) else "inert") if is_module else (
                "class" if "__codipy_origin__" not in vars(value) and self._owns(value) else "inert")
        if value is np.ndarray:
            return "array"
        if value in _PLAIN:
            return "plain"
        if value in _SIZED:
            return "sized"
        for kinds, name in _NAMES:
            if issubclass(value, kinds):
                return name
        if not value.__flags__ & _COLLECTED or issubclass(value, _CLOSED) or _is_codipys(value):
            return "inert"
        is_own = not value.__flags__ & _HEAP_TYPE or value.__module__ in _OF_PYTHON or self._owns(value)
        return "own" if is_own else "foreign"

    def _owns(self, cls):
        scope = self._rebinder.scope
        return scope.owns_class(cls) and scope.owns_outright(module_of(cls))

    def _owns_module(self, module):
        scope = self._rebinder.scope
        return scope.owns_module(module) and scope.owns_outright(module.__name__)

    def _fill(self, opening):
        """Find the functions, and have them rebuilt."""
        before, opening.snapshot = opening.snapshot, None
        try:
            opening.snapshot = self._filled(opening)
        except BaseException:  # what it has found is not all
            opening.snapshot = before
            raise

    def _filled(self, opening):
        rebinder, value, found, draft = self._rebinder, opening.new, {}, Draft()
        snapshot = Snapshot(self.kinds, value, opening.cover() if opening.cover is not None else ())
        owns, is_class = rebinder.scope.owns_outright, issubclass(type(value), type)
        for f in snapshot.functions:
            if f in WRAPPED or not owns(f.__globals__.get("__name__", "")):
                continue
            unit = rebinder.known(f)
            if unit is not None and not unit.is_current():
                rebinder.forget(f)
            if not is_class:  # whose methods are mostly called, and seldom looked for
                rebinder.lead(f)
            rebinder.translate(f, draft)
            if (unit := rebinder.known(f)) is not None and unit.called is not f:
                found[id(f)] = f, unit
        while snapshot.methods:
            rebinder.leave_alone(snapshot.methods.pop().__self__)
        opening.asks = bool(sum(map(rebinder.libraries.meet, snapshot.foreign)))
        for cls in (*snapshot.classes, *((type(value),) if is_class and opening.cover is None else ())):
            self.look(cls, draft)
        for module in snapshot.modules:
            self.look(vars(module), draft)
        opening.found = found
        if found:
            self._finding[id(opening)] = opening
        rebinder.relink(opening, draft)
        return snapshot


_NAMES = ((FunctionType, "function"), (type, "class"), (BuiltinFunctionType, "built-in"), (weakref.ref, "reference"),
          (ContextVar, "variable"), (ModuleType, "module"))  # fmt: skip


def _is_codipys(kind):
    return str(kind.__module__).startswith("codipy.") or "__codipy_origin__" in vars(kind)
