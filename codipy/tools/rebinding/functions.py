# SPDX-License-Identifier: Apache-2.0
"""Functions of the user's, rebuilt: the same code with globals, cells and default arguments of its own.

A cell that holds what is translated is another one in the rebuilt function, unless a function sets it by `nonlocal`:
that one is shared by all who have it.
"""

from __future__ import annotations

import functools
import weakref
from operator import is_not
from types import CellType, FunctionType, MethodType

import numpy as np

from codipy.tools.rebinding.caches import LRU
from codipy.tools.rebinding.code import is_async, is_generator, scan, writes_in_place
from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.exchange import Defaults
from codipy.tools.rebinding.fills import WRITERS_BY_NAME
from codipy.tools.rebinding.overloads import is_overloaded, overloaded
from codipy.tools.rebinding.sources import filling
from codipy.tools.rebinding.unanswered import refuses, unanswered
from codipy.tools.rebinding.unit import EMPTY, WRAPPED, Draft, Unit, contents
from codipy.tools.rebinding.view import ATOMS, PASSIVE, Restart
from codipy.tools.rebinding.watch import FunctionWatch
from codipy.tools.rebinding.wrapping import DEFAULTS

__all__ = ["CALLABLES", "Functions"]

CALLABLES = (FunctionType, MethodType, functools.partial, LRU)


class Functions:
    """The rebuilt functions of one rebinder, and the cells that they have."""

    def __init__(self, rebinder):
        self.rebinder = rebinder
        self.reset()

    def reset(self):
        """Forget all."""
        self._writers, self._owners = weakref.WeakValueDictionary(), weakref.WeakValueDictionary()
        self._originals: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def original_of(self, f):
        """What a rebuilt function stands for; another one is its own."""
        return self._originals.get(f, f)

    def of_function(self, f):
        """The unit of a function; None where it needs none."""
        if f in WRAPPED:
            return self._of_wrapper(f)
        if is_overloaded(f):
            return self._overloaded(f)
        rebinder, scope = self.rebinder, self.rebinder.scope
        variables, code = f.__globals__, code_of(f)
        names, owned = scan(code), f in rebinder.asking or scope.owns_globals(variables)
        if is_async(code) or (owned and names.deletes) or not (owned or scope.wraps(f)):
            return None
        unit, view = Unit(), rebinder.view_of(variables) if owned else None
        if owned:
            variables = view.variables(code)
        wrapped = filling(f, scope) if owned else code
        changed = wrapped is not code
        scope.writes = scope.writes or (owned and writes_in_place(code, WRITERS_BY_NAME))
        constants = tuple(Defaults(f) if value == DEFAULTS else value for value in wrapped.co_consts)
        message = unanswered(wrapped, f.__globals__, _closure_of(f)) if owned and scan(wrapped).matches else None
        code = wrapped.replace(co_consts=constants)  # with the interpreter's caches to itself
        self._note_writes(f, unit, names)
        cells = [CellType() if self._may_change(name, cell, owned) else cell
                 for name, cell in zip(code.co_freevars, f.__closure__ or ())]  # fmt: skip
        new = called = _like(f, code, variables, cells)
        if message is not None:
            called, changed = functools.wraps(f)(refuses(message)), True
        elif owned and names.stores:
            called = _flushing(f, new, view, names.stores)
        self._stand(unit, f, called)
        self._originals[called] = f
        rebinder.remember(f, unit)  # before what it refers to is translated, which may be f
        changed |= bool(owned and (names.stores or names.imports))
        drafts = [Draft() for cell in cells]
        for cell, own, draft in zip(f.__closure__ or (), cells, drafts):
            if own is not cell:
                own.cell_contents = rebinder.translate(cell.cell_contents, draft)
                changed = changed or own.cell_contents is not cell.cell_contents
        changed |= self._defaults(f, new, unit)
        if owned:
            rebinder.link(unit, view)
            changed |= rebinder.use(view, names.loads)
        if not changed and not unit.taken:
            unit.stand(f)
        elif not unit.taken and not names.stores:
            cells = self._share_cells(f, unit, cells)
        if f in rebinder.led:
            rebinder.opaque.divert_if_recorded(f)
        # Also if nothing was translated, since other contents may have to be.
        unit.watch = FunctionWatch(f, PASSIVE)
        for cell, own, draft in zip(f.__closure__ or (), cells, drafts):
            self._depend_on_cell(unit, cell, draft, own is not cell)
        self._look_at_attributes(f, unit)
        return unit

    def _look_at_attributes(self, f, unit):
        """Those of a function, which the rebuilt one shares: it finds the functions in them as they are."""
        if vars(f):
            self.rebinder.opaque.look(vars(f), unit)

    def _depend_on_cell(self, unit, cell, draft, is_own):
        """Note what a cell of a function holds: what comes there later is found in it, or has all made anew."""
        raw = contents(cell)
        is_set = id(cell) in self._writers or id(cell) in self.rebinder.written
        if is_own or not is_set and issubclass(type(raw), CALLABLES):
            unit.watch.add(cell, True)
            for node in draft.links:
                self.rebinder.link(unit, node)
        elif not is_set and type(raw) in PASSIVE and not (type(raw) is np.ndarray and raw.dtype.hasobject):
            unit.watch.add(cell, False)
        else:
            self.rebinder.opaque.look(cell, unit)
        if is_own:
            self._owners[id(cell)] = unit

    def _of_wrapper(self, f):
        unit = Unit()
        unit.new = self.rebinder.translate(WRAPPED[f], unit)
        return unit

    def _note_writes(self, f, unit, names):
        """Cells that a function sets by `nonlocal` are shared by all who have them, whatever they hold."""
        for name, cell in zip(code_of(f).co_freevars, f.__closure__ or ()):
            if name in names.nonlocals:
                self._writers[id(cell)] = unit  # whose function keeps the cell
                if id(cell) in self._owners and id(cell) not in self.rebinder.written:
                    self.rebinder.written[id(cell)] = cell
                    raise Restart

    def _may_change(self, name, cell, owned):
        """Whether a rebuilt function has a cell of its own, for a translated value."""
        raw = contents(cell)
        if raw is EMPTY or type(raw) in ATOMS or name == "__class__":
            return False
        if id(cell) in self._writers or id(cell) in self.rebinder.written:
            return False
        return owned or isinstance(raw, CALLABLES)

    def _share_cells(self, f, unit, cells):
        """Give back the cells whose contents turned out to need no translation."""
        shared = [cell if contents(own) is contents(cell) else own for own, cell in zip(cells, f.__closure__ or ())]
        if any(map(is_not, shared, cells)):
            new = unit.called
            called = _like(f, new.__code__, new.__globals__, shared)
            called.__defaults__, called.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
            self._stand(unit, f, called)
            self._originals[called] = f
        return shared

    def _defaults(self, f, new, unit):
        """Translate default arguments; tell whether there was something to translate."""
        new.__defaults__, new.__kwdefaults__ = f.__defaults__, f.__kwdefaults__  # which one holds an array, both do
        positional = tuple(self.rebinder.translate(x, unit) for x in f.__defaults__ or ())
        keywords = {name: self.rebinder.translate(x, unit) for name, x in (f.__kwdefaults__ or {}).items()}
        if changed := any(map(is_not, positional, f.__defaults__ or ())):
            new.__defaults__ = positional
        if any(keywords[name] is not x for name, x in (f.__kwdefaults__ or {}).items()):
            new.__kwdefaults__, changed = keywords, True
        return changed

    def _stand(self, unit, f, called):
        """Let this be called for a function."""
        unit.stand(called, f if f in self.rebinder.led else None)

    def _overloaded(self, f):
        unit = Unit()
        self._stand(unit, f, overloaded(f, self.rebinder))
        self.rebinder.remember(f, unit)
        self._look_at_attributes(f, unit)
        return unit


def _closure_of(f):
    return dict(zip(code_of(f).co_freevars, f.__closure__ or ()))


def _like(f, code, variables, cells):
    """A function like `f` but for its globals and cells; attributes are shared, so that ``f.calls += 1`` is seen."""
    new = FunctionType(code, variables, f.__name__, None, tuple(cells) if f.__closure__ else None)
    return _dressed(new, f)


def _dressed(new, f):
    new.__qualname__, new.__module__, new.__doc__ = f.__qualname__, f.__module__, f.__doc__
    new.__dict__ = f.__dict__
    for name in ("__type_params__", "__annotate__" if hasattr(f, "__annotate__") else "__annotations__"):
        if getattr(f, name, None):
            setattr(new, name, getattr(f, name))
    return new


def _flushing(f, new, view, names):
    """A function that stores globals, as one that hands them on whenever control leaves it."""
    if is_generator(new.__code__):

        def flushing(*args, **kwargs):
            return _flushed(new(*args, **kwargs), view, names)
    else:

        def flushing(*args, **kwargs):
            try:
                return new(*args, **kwargs)
            finally:
                view.flush(names)

    flushing.__name__ = f.__name__
    return _dressed(flushing, f)


def _flushed(generator, view, names):
    """`generator`, with what it stored handed on at every yield."""
    step = functools.partial(next, generator)
    try:
        while True:
            try:
                item = step()
            except StopIteration as stop:
                return stop.value
            finally:
                view.flush(names)
            try:
                sent = yield item
            except GeneratorExit:
                raise
            except BaseException as error:
                step = functools.partial(generator.throw, error)
            else:
                step = functools.partial(generator.send, sent)
    finally:
        generator.close()
        view.flush(names)
