# SPDX-License-Identifier: Apache-2.0
"""Something translated: what came of it, and what has to stay the same for that."""

from __future__ import annotations

import weakref

from codipy.tools.rebinding.watch import Watch

__all__ = [
    "CURRENT", "EMPTY", "MISSING", "SCOPES", "VIEWS", "WRAPPED", "ClassUnit", "Opening", "Passing", "Unit", "contents",
    "openings_of", "parts_of_views", "reach", "translations_of", "views_of",
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
    return [unit.new for unit in units if unit is not None and unit.new is not value]


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
    links : list
        Views and units that it depends on; they live as long as it does.
    watch : Watch or FunctionWatch or None
        What must not change, if there is anything.
    cache : object or None
        A rebuilt cache, which is emptied when rebound code is entered: that of the original may have been.
    taken : bool
        Whether something else has `new` already.
    """

    __slots__ = ("__weakref__", "cache", "links", "new", "taken", "watch")

    def __init__(self, new=None):
        self.new, self.links, self.watch, self.cache, self.taken = new, [], None, None, False

    def is_current(self):
        return self.watch is None or self.watch.is_current()


class ClassUnit(Unit):
    """A class of the user and its twin, which exists even if `new` is the class itself."""

    __slots__ = ("twin",)

    def __init__(self, cls, twin):
        super().__init__(twin)
        self.twin, self.watch = twin, Watch(cls)


class Opening(Unit):
    """Something that rebuilt code finds as it is.

    Attributes
    ----------
    found : dict
        By their addresses, the functions that it leads to, each with the unit of what is called in its place.
    is_alone : bool
        Whether it is a class whose instances no twin shows.
    round : int
        When it was looked at last, see `Opaque.refresh`.
    count : int
        How many objects were looked at then.
    """

    __slots__ = ("count", "found", "is_alone", "round")

    def __init__(self, value):
        super().__init__(value)
        self.found, self.is_alone, self.round, self.count = {}, False, 0, 0


class Passing(Unit):
    """What rebuilt code came upon while it ran, and what that needs."""

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


def openings_of(unit):
    """The openings among what a unit depends on."""
    return [node for node in reach(unit) if type(node) is Opening]
