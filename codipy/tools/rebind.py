# SPDX-License-Identifier: Apache-2.0
"""Let a function that knows nothing of codipy run with codipy's NumPy, `math`, `float` and `isinstance`."""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from codipy.tools.driver import pass_for
from codipy.tools.rebinding.contained import openings_in_reach
from codipy.tools.rebinding.diverted import begin, is_new_here
from codipy.tools.rebinding.locks import renew_after_fork
from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope, home_of
from codipy.tools.rebinding.unit import CURRENT, SCOPES, WRAPPED, Passing, Unit, openings_of, reach
from codipy.tools.rebinding.view import Restart
from codipy.tools.rebinding.watch import Entrance

__all__ = ["Rebinding", "rebind"]

_F = TypeVar("_F", bound=Callable[..., Any])


class Rebinding(Entrance):
    """A callable and what came of it; `current` is the fast door for those who call it again and again.

    Parameters
    ----------
    f : callable
        See `rebind`.
    modules : tuple of str
        See `rebind`.
    """

    def __init__(self, f, modules=()):
        self.f, self.rebinder = f, _rebinder(home_of(f), modules)
        self.version, self._generation, self.function = -1, -1, None
        self.watches, self.caches, self._unit = [], [], None
        self.openings, self.is_closed = [], True  # what it may come upon that is opaque, and whether there is no more
        self._forget_arguments()

    def rebuild(self):
        """What `current` returns once something has changed."""
        rebinder = self.rebinder
        with rebinder.lock:
            if self._unit is None or self._generation != rebinder.generation or not self._is_current(self._unit):
                if self._unit is not None and self._generation == rebinder.generation:
                    rebinder.reset()
                self._forget_arguments()
                self._unit = self._translated(self.f)
                self._generation = rebinder.generation
            if self._arguments is not None and not self._is_current(self._arguments):
                self._forget_arguments()
            if self._generation != rebinder.generation:
                return self.rebuild()
            nodes = reach(self._unit, rebinder.dynamic, *([] if self._arguments is None else [self._arguments]))
            self.watches = [node.watch for node in nodes if node.watch is not None]
            self.caches = [node.cache for node in nodes if type(node) is Unit and node.cache is not None]
            self._look_around()
            self.function, self.version = self._unit.new, rebinder.version
            for cache in self.caches:
                cache.cache_clear()
            return self.function

    def _look_around(self):
        """Find out what opaque things the function can come upon."""
        rebinder = self.rebinder
        if rebinder.opaque.is_empty:
            return
        openings = openings_in_reach(self.f, rebinder)
        self.is_closed = openings is not None and not any(opening.found or opening.asks for opening in openings)
        self.openings = openings_of(self._unit, rebinder.dynamic) if openings is None else openings

    def _translated(self, value, kind=Unit):
        """A unit that holds the translation of a value; made from scratch if something it is made of has changed.

        It keeps the units of classes whose objects need none: else they were made again at every call.
        """
        while True:
            unit = kind()
            met = self.rebinder.twins.met = {}
            try:
                unit.new = self.rebinder.translate(value, unit)
            except Restart:
                self.rebinder.reset(self.rebinder.written)
                continue
            except BaseException:  # of a descriptor of the user's, or Ctrl-C: what is half done is forgotten
                self.rebinder.reset()
                raise
            finally:
                self.rebinder.twins.met = None
            unit.links += [node for node in met.values() if node not in unit.links]
            if self._is_current(unit):
                return unit
            self.rebinder.reset()

    def _is_current(self, unit):
        try:
            return all(node.is_current() for node in reach(unit, self.rebinder.dynamic))
        except Restart:
            self.rebinder.reset(self.rebinder.written)
            return False

    def prepare(self, args, kwargs):
        """The rebuilt function and its arguments as rebound code sees them.

        Functions, and instances of the user's classes, are translated, in lists and dicts too.

        Parameters
        ----------
        args : tuple
            Positional arguments.
        kwargs : dict
            Keyword arguments.

        Returns
        -------
        tuple
            The function, and the arguments: `args` and `kwargs` themselves where there was nothing to translate.
        """
        function, held, given = self.current(), None, (args, kwargs)
        values = (*args, *kwargs.values()) if kwargs else args
        plain = self.rebinder.opaque.kinds.are_plain(values, self.alone)
        if plain is False or plain is None and self._refreshed(self.classes):
            held = self._given(args, kwargs)
            args, kwargs = held.new[0], dict(zip(kwargs, held.new[1]))
            function = self.current()
        if not self.rebinder.opaque.is_empty:
            generation = self.rebinder.generation
            if self._refreshed(self.openings):
                function = self.current()
                if held is not None and generation != self.rebinder.generation:  # they have one of these
                    return self.prepare(*given)
            if not self.is_closed or plain is not True:
                opaque = self.rebinder.opaque
                if is_new_here(opaque):
                    begin(opaque)
        return function, args, kwargs

    def _given(self, args, kwargs):
        """A unit that holds the arguments translated.

        Where there was nothing to translate, the classes of instances are kept: the next ones are left as they are.
        """
        rebinder, given = self.rebinder, (args, tuple(kwargs.values()))
        with rebinder.lock:
            before = self._arguments  # the same object comes again and again: what is known of it lives until here
            self._forget_arguments()
            generation = None
            while generation != rebinder.generation:
                with rebinder.opaque.looked_at_later():
                    held = self._translated(given, Passing)
                openings, generation = openings_of(held), rebinder.generation
                self._refreshed(openings)
            del before
            if held.new is given:
                known = [(node, rebinder.known(node.new)) for node in openings if isinstance(node.new, type)]
                classes = [(node, unit) for node, unit in known
                           if (node.is_alone if unit is None else unit.new is node.new)]  # fmt: skip
                self._arguments = kept = Passing()
                kept.links = [node for pair in classes for node in pair if node is not None]
                self.classes, self.alone = openings_of(kept), {id(node.new) for node, _ in classes}
                self.version = -1
            else:
                self._arguments = held  # so that it is the same the next time
        return held

    def _forget_arguments(self):
        self.alone, self.classes, self._arguments = set(), [], None

    def _refreshed(self, openings):
        """Look again at what leads to something else by now, before a recording begins; tell whether something does."""
        for opening in openings:
            if not opening.is_same():
                break
        else:
            return False
        rebinder = self.rebinder
        with rebinder.lock:
            try:
                rebinder.opaque.refresh(openings)
            except Restart:
                rebinder.reset(rebinder.written)
            self.version = -1
        return True


def rebind(f: _F, modules: str | ModuleType | Iterable[str | ModuleType] = ()) -> _F:
    """A function that does what `f` does, with NumPy, SciPy, `math`, `float` and `isinstance` in codipy's versions.

    Parameters
    ----------
    f : callable
        A function, lambda, method, partial object, class or callable instance.
    modules : iterable of str or module, optional
        Installed libraries to be rebuilt too, by name. Without them, what is rebuilt is `f` and what it calls in
        modules that are the user's own: all that did not come with Python or an installer, and the package of `f`.

    Returns
    -------
    callable
        `f` with rebuilt insides. The same for the same `f`, as long as it lives.

    Raises
    ------
    TypeError
        `f` is not callable, or `modules` are no modules and no names of them.

    Notes
    -----
    No module or class is changed: everybody else sees what they always saw. Functions are rebuilt with globals and
    cells of their own from the code that they have. What no view and no rebuilt class shows (sets, objects with
    ``__slots__``, enumerations) is called as it is; so while a recording runs, the functions in it have another
    ``__code__``, which leads this thread to the rebuilt ones, and all other threads to what they always did.

    Global variables are the module's own, in both directions. What is assigned to one from outside, or by
    ``globals()[name] = value``, is seen when the function is called next; what rebound code assigns by ``global`` is in
    the module when the function that did so returns, yields or raises.

    A plain array of floats that a function has just made, and that nobody else has, becomes an Array where it is bound
    to a name, an attribute or an item that is written to: ``u = start.copy(); u[0] = x`` works. In the place of one
    that was made before, in attributes, items, closures, global variables, and for drivers also in arguments, stands an
    Array while a tape records; then these hold a plain array again, with the values that were written. For this,
    functions are compiled from their source; without one, writing raises.

    Lists and dicts that hold functions, or instances of the user's classes, are seen through views that translate what
    is read; what is written goes into the list itself. Of a function that numba compiled (of whatever has a
    ``py_func``), the Python code runs while something active is among its arguments. Keys of `functools.lru_cache`
    that are active count as the same only if they are one variable; what plain calls have left in such a cache is
    taken.

    Left alone: coroutines; functions that delete a global; generators that were running before. What is left alone
    calls NumPy's own functions: these refuse what is active with an error, and never lose a derivative.

    Examples
    --------
    >>> import numpy as np
    >>> import codipy
    >>> from codipy.tools.rebind import rebind
    >>> def f(x):
    ...     z = np.zeros(2)
    ...     z[1] = x * x
    ...     return z[1]
    >>> with codipy.Tape() as tape:
    ...     x = tape.register_input(codipy.Real(3.0))
    ...     y = tape.register_output(rebind(f)(x))
    >>> y.gradient = 1.0
    >>> tape.evaluate()
    >>> x.gradient
    6.0
    """
    if not callable(f):
        raise TypeError(f"f must be callable, got {type(f).__name__}: say rebind(f)(x), not rebind(f(x))")
    given: Any = (modules,) if isinstance(modules, (str, ModuleType)) else modules
    names: tuple[Any, ...] = tuple(x.__name__ if isinstance(x, ModuleType) else x for x in given)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"modules must be modules or their names, got {names!r}")
    if type(f) is FunctionType and f in WRAPPED:
        return f
    key = id(f), names
    with _lock:
        known = _wrappers.get(key)
        wrapper = known() if known is not None else None
        if wrapper is None:
            wrapper = _wrap(Rebinding(f, names))
            _wrappers[key] = weakref.ref(wrapper, functools.partial(_drop, key))
        return wrapper


_lock = threading.RLock()
renew_after_fork(sys.modules[__name__], "_lock")
_wrappers: dict = {}  # by the address of what they wrap, which lives as long as they do
_rebinders: dict = {}


def _rebinder(home, modules):
    with _lock:
        if (home, modules) not in _rebinders:
            _rebinders[home, modules] = Rebinder(Scope(home, modules))
        return _rebinders[home, modules]


def _drop(key, reference):
    if _wrappers.get(key) is reference:
        _wrappers.pop(key, None)  # between the two, another thread may have dropped a function of the same address


def _wrap(rebinding):
    prepare = rebinding.prepare

    def rebound(*args, **kwargs):
        function, args, kwargs = prepare(args, kwargs)
        return function(*args, **kwargs)

    pass_for(rebound, rebinding.f)
    WRAPPED[rebound], SCOPES[rebound], CURRENT[rebound] = rebinding.f, rebinding.rebinder.scope, rebinding.current
    return rebound
