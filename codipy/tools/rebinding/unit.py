# SPDX-License-Identifier: Apache-2.0
"""Something translated: what came of it, and what has to stay the same for that."""

from __future__ import annotations

import weakref

from codipy.tools.rebinding.watch import Watch

__all__ = [
    "CURRENT", "EMPTY", "MISSING", "SCOPES", "VIEWS", "WRAPPED", "ClassUnit", "Draft", "Opening", "Passing", "Seen",
    "Unit", "contents", "openings_of", "parts_of_views", "reach", "translations_of", "views_of",
]  # fmt: skip

EMPTY = object()
MISSING = object()
WRAPPED: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # what `rebind` returned, and what for
SCOPES: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # and whose functions are rebuilt with it

CURRENT: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # and what brings its translation up to date

VIEWS: dict = {}  # by the address of a dict of globals, which each of them keeps: all views that hold its values


def views_of(variables):
    """All views of a dict of globals."""
    return list(VIEWS.get(id(variables), ()))


def parts_of_views():
    """What all views hold values of globals in, each with these globals."""
    views = [view for found in list(VIEWS.values()) for view in list(found)]
    return [(part, view.origin) for view in views for part in (view.fast, view.live, view._used, view.watch.raws)]


def translations_of(value, variables):
    """What stands in rebuilt code for a function, with these globals, or for what is made of one."""
    units = [view.rebinder.known(value) for view in views_of(variables)]
    return [unit.called for unit in units if unit is not None and unit.called is not value]


def contents(cell):
    """What is in the cell of a closure, EMPTY if nothing is yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


class Unit:
    """Something translated.

    Attributes
    ----------
    new : object
        The translation, the original itself if it needs none.
    called : object
        What is called for a function: also where `new` is the original, which leads there.
    links : list
        Views and units that it depends on; they live as long as it does.
    watch : Watch or FunctionWatch or None
        What must not change, if there is anything.
    cache : object or None
        A rebuilt cache, which is emptied when rebound code is entered: that of the original may have been.
    taken : bool
        Whether something else has `new` already.
    """

    __slots__ = ("__weakref__", "_called", "cache", "links", "new", "taken", "watch")

    def __init__(self, new=None):
        self.new, self.links, self.watch, self.cache, self.taken = new, [], None, None, False
        self._called = None

    @property
    def called(self):
        return self.new if self._called is None else self._called

    def stand(self, called, original=None):
        """Let `called` be what is called, and what stands in rebuilt code, for which `original` does if it is given."""
        self._called, self.new = called, called if original is None else original

    def is_current(self):
        return self.watch is None or self.watch.is_current()


class ClassUnit(Unit):
    """A class of the user and its twin, which exists even if `new` is the class itself.

    Attributes
    ----------
    opening : Opening or None
        What it has as it is.
    """

    __slots__ = ("opening", "twin")

    def __init__(self, cls, twin):
        super().__init__(twin)
        self.twin, self.watch, self.opening = twin, Watch(cls), None


class Opening(Unit):
    """Something that rebuilt code finds as it is.

    Attributes
    ----------
    found : dict
        By their addresses, the functions that it leads to, each with the unit of what is called in its place.
    asks : bool
        Whether it leads to something of a library with functions that ask ``type(v)``.
    is_alone : bool
        Whether it is a class whose instances no twin shows.
    cover : callable or None
        Gives what it holds that rebuilt code finds translated.
    whose : tuple or None
        A weak reference to the instance whose attributes they are, and its class.
    snapshot : Snapshot or None
        What it led to when it was looked at last; None while somebody looks, who has the rebinder's lock.
    """

    __slots__ = ("asks", "cover", "found", "is_alone", "snapshot", "whose")

    def __init__(self, value, cover=None):
        super().__init__(value)
        self.found, self.is_alone, self.cover, self.snapshot, self.whose = {}, False, cover, None, None
        self.asks = False

    def is_same(self):
        """Whether it leads to what it led to."""
        snapshot = self.snapshot
        if snapshot is None or self.is_of_another() or not snapshot.is_current():
            return False
        return all(unit.is_current() for _, unit in self.found.values())


    def is_of_another(self):
        """Whether somebody has given the instance another class."""
        if self.whose is None:
            return False
        reference, kind = self.whose
        instance = reference()
        return instance is not None and type(instance) is not kind


class Seen(Unit):
    """An instance that is seen through its twin.

    Attributes
    ----------
    opening : Opening or None
        What it holds as it is.
    opaque : Opaque
        Who looks at that again.
    """

    __slots__ = ("opaque", "opening")

    def __init__(self, new, opaque):
        super().__init__(new)
        self.opaque, self.opening = opaque, None

    def is_current(self):
        """Whether it is of the same class; what it has come to hold is then known."""
        if self.opening is not None and self.opaque.is_looked_at_later():
            return not self.opening.is_of_another()
        if self.opening is not None and not self.opening.is_same():
            if self.opening.is_of_another():
                return False
            self.opaque.refresh((self.opening,))
        return True


class Passing(Unit):
    """What rebuilt code came upon while it ran, and what that needs."""

    __slots__ = ()


class Draft(Unit):
    """What something will depend on once all of that is known."""

    __slots__ = ()


def reach(*units):
    """Units with all views and units that they depend on."""
    found, waiting = {}, list(units)
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found[id(node)] = node
            waiting += node.links
    return list(found.values())


def openings_of(*units):
    """The openings among what units depend on."""
    return [node for node in reach(*units) if type(node) is Opening]
