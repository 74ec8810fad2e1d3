# SPDX-License-Identifier: Apache-2.0
"""Something translated: what came of it, and what has to stay the same for that."""

from __future__ import annotations

import weakref

from codipy.tools.rebinding.watch import Watch

__all__ = ["EMPTY", "MISSING", "ClassUnit", "Unit", "contents", "reach"]

EMPTY = object()
MISSING = object()
WRAPPED: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # what `rebind` returned, and what for


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
    watch : Watch or CellWatch or None
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


def reach(*units):
    """Units with all views and units that they depend on."""
    found, waiting = {}, list(units)
    while waiting:
        node = waiting.pop()
        if id(node) not in found:
            found[id(node)] = node
            waiting += node.links
    return list(found.values())
