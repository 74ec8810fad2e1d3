# SPDX-License-Identifier: Apache-2.0
"""Lists and dicts of the user that hold functions: seen through views that translate what is read.

A view holds nothing: what it reads is the user's own list or dict as it is now, and what it is told goes there, the
originals of rebuilt functions. So a registry that another module fills while rebound code runs is seen at once. It is a
list, or a dict of the same kind, for everybody who asks. What reads the memory of a list without asking it, as `heapq`
does, finds one item that refuses everything.

Only what holds something to be rebuilt gets a view: lists of numbers stay themselves.

Rejected: translated copies, which would not see what is added later; rebuilt functions in the user's own lists, where
everybody would see them.
"""

from __future__ import annotations

import collections
import copy
import itertools
from collections.abc import ItemsView, KeysView, ValuesView

import numpy as np

from codipy.errors import ActiveError

__all__ = ["CONTAINERS", "VIEWS", "holds", "make_view", "origin_of_view"]

_MANY = 64  # items of a kind that are looked at: who holds functions holds one among these
_FAR = 1024  # keys, and as many values, of which these are: the kinds of a longer list of data show before that
_DATA = frozenset((float, int, str, bool, bytes, complex, type(None), np.float64, np.ndarray))
_DEEP = 4  # lists of lists


class _Trap:
    """What the memory of a view holds, for those who read it there."""

    def _refuse(self, *args):
        raise ActiveError("a list of functions was handed to C code that reads its memory: pass a copy, list(x)")

    __lt__ = __le__ = __gt__ = __ge__ = __call__ = __float__ = __index__ = __iter__ = __len__ = __bool__ = _refuse


class _View:
    """What views of lists and dicts have in common."""

    __slots__ = ()

    def __len__(self):
        return len(self._origin)

    def __bool__(self):
        return bool(self._origin)

    def __repr__(self):
        return repr(self._origin)

    def __reduce_ex__(self, protocol):
        return copy.copy, (self._origin,)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self._new(copy.deepcopy(self._origin, memo))

    def __ne__(self, other):
        return not self == other

    def _new(self, value):
        return self._rebinder.at_run_time(value)

    def _old(self, value):
        return self._rebinder.original_of(value)

    __hash__ = None  # type: ignore[assignment]


class ListView(_View, list):
    """A list of the user."""

    __slots__ = ("__weakref__", "_origin", "_rebinder")

    def __init__(self, origin, rebinder):
        list.append(self, _Trap())
        self._origin, self._rebinder = origin, rebinder

    def __getitem__(self, index):
        found = self._origin[index]
        return [self._new(item) for item in found] if isinstance(index, slice) else self._new(found)

    def __iter__(self):
        at, origin = 0, self._origin
        while at < len(origin):  # a list may grow while it is walked
            yield self._new(origin[at])
            at += 1

    def __reversed__(self):
        return reversed(list(self))

    def __contains__(self, item):
        return self._old(item) in self._origin or item in list(self)

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, list) else NotImplemented

    def __lt__(self, other):
        return list(self) < list(other) if isinstance(other, list) else NotImplemented

    def __le__(self, other):
        return list(self) <= list(other) if isinstance(other, list) else NotImplemented

    def __gt__(self, other):
        return list(self) > list(other) if isinstance(other, list) else NotImplemented

    def __ge__(self, other):
        return list(self) >= list(other) if isinstance(other, list) else NotImplemented

    def __add__(self, other):
        return list(self) + list(other) if isinstance(other, list) else NotImplemented

    def __radd__(self, other):
        return list(other) + list(self) if isinstance(other, list) else NotImplemented

    def __mul__(self, count):
        return list(self) * count

    __rmul__ = __mul__

    def __setitem__(self, index, value):
        self._origin[index] = [*map(self._old, value)] if isinstance(index, slice) else self._old(value)

    def __delitem__(self, index):
        del self._origin[index]

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __imul__(self, count):
        self._origin *= count
        return self

    def append(self, item):
        self._origin.append(self._old(item))

    def extend(self, items):
        self._origin.extend(map(self._old, list(items)))

    def insert(self, index, item):
        self._origin.insert(index, self._old(item))

    def pop(self, index=-1):
        return self._new(self._origin.pop(index))

    def remove(self, item):
        del self._origin[self.index(item)]

    def clear(self):
        self._origin.clear()

    def reverse(self):
        self._origin.reverse()

    def sort(self, *, key=None, reverse=False):
        self._origin.sort(key=self._new if key is None else lambda item: key(self._new(item)), reverse=reverse)

    def index(self, item, *bounds):
        return list(self).index(self._new(item), *bounds)

    def count(self, item):
        return list(self).count(self._new(item))

    def copy(self):
        return list(self)


class _Mapping(_View):
    """A dict of the user, of whatever class."""

    __slots__ = ()

    def __init__(self, origin, rebinder):
        self._origin, self._rebinder = origin, rebinder

    def __getitem__(self, key):
        return self._new(self._origin[self._old(key)])

    def __iter__(self):
        return map(self._new, self._origin)

    def __reversed__(self):
        return map(self._new, reversed(self._origin))

    def __contains__(self, key):
        return self._old(key) in self._origin

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items()) if isinstance(other, dict) else NotImplemented

    def __or__(self, other):
        return self.copy() | dict(other.items()) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other):
        return other.copy() | dict(self.items()) if isinstance(other, dict) else NotImplemented

    def __ior__(self, other):
        self.update(other)
        return self

    def __setitem__(self, key, value):
        self._origin[self._old(key)] = self._old(value)
        self._rebinder.follow(self._origin, (key,))

    def __delitem__(self, key):
        del self._origin[self._old(key)]
        self._rebinder.follow(self._origin, (key,))

    def keys(self):
        return KeysView(self)

    def values(self):
        return ValuesView(self)

    def items(self):
        return ItemsView(self)

    def get(self, key, default=None):
        key = self._old(key)
        return self._new(self._origin[key]) if key in self._origin else default

    def setdefault(self, key, default=None):
        found = self._origin.setdefault(self._old(key), self._old(default))
        self._rebinder.follow(self._origin, (key,))
        return self._new(found)

    def pop(self, key, *default):
        found = self._origin.pop(self._old(key), *default)
        self._rebinder.follow(self._origin, (key,))
        return self._new(found)

    def popitem(self, *last, **options):
        key, value = self._origin.popitem(*last, **options)
        self._rebinder.follow(self._origin, (key,))
        return self._new(key), self._new(value)

    def update(self, *others, **names):
        for key, value in dict(*others, **names).items():
            self[key] = value

    def clear(self):
        self._origin.clear()
        self._rebinder.follow(self._origin)

    def copy(self):
        new = copy.copy(self._origin)  # keeps its class, and a default factory
        for key, value in self._origin.items():
            new[key] = self._new(value)
        return new


class DictView(_Mapping, dict):
    """A dict."""

    __slots__ = ("__weakref__", "_origin", "_rebinder")
    fromkeys = dict.fromkeys


class DefaultDictView(_Mapping, collections.defaultdict):
    """A ``collections.defaultdict``."""

    __slots__ = ("__weakref__", "_origin", "_rebinder")
    fromkeys = collections.defaultdict.fromkeys

    @property
    def default_factory(self):
        return self._new(self._origin.default_factory)

    @default_factory.setter
    def default_factory(self, factory):
        self._origin.default_factory = self._old(factory)


class OrderedDictView(_Mapping, collections.OrderedDict):  # type: ignore[misc]
    """A ``collections.OrderedDict``."""

    __slots__ = ("_origin", "_rebinder")
    fromkeys = collections.OrderedDict.fromkeys

    def move_to_end(self, key, last=True):
        self._origin.move_to_end(self._old(key), last)


VIEWS = {
    list: ListView, dict: DictView, collections.defaultdict: DefaultDictView, collections.OrderedDict: OrderedDictView,
}  # fmt: skip
CONTAINERS = frozenset(VIEWS)
_KINDS = frozenset(VIEWS.values())


def origin_of_view(value):
    """The user's own list or dict of a view; everything else is its own."""
    return value._origin if type(value) in _KINDS else value


def make_view(origin, rebinder, always=False):
    """A view of a list or dict that holds something to be rebuilt; None of others."""
    return VIEWS[type(origin)](origin, rebinder) if always or holds(origin, rebinder) else None


def _is_field(item):
    """Whether a tuple describes a field of a structured dtype: NumPy reads the memory of lists of them."""
    return len(item) > 1 and type(item[0]) is str and (item[1] is float or item[1] is np.float64)


def holds(value, rebinder, depth=_DEEP):
    """Whether there is something to be rebuilt in a list, tuple or dict."""
    if isinstance(value, dict):
        factory = (value.default_factory,) if isinstance(value, collections.defaultdict) else ()
        return any(_leads_on(items, rebinder, depth) for items in (factory, value.values(), value))
    return _leads_on(value, rebinder, depth)


def _leads_on(items, rebinder, depth):
    seen: collections.Counter = collections.Counter()
    for item in itertools.islice(items, _FAR):
        kind = type(item)
        is_named = issubclass(kind, tuple) and hasattr(kind, "_fields")
        if is_named and (seen[kind] == _MANY or not depth):  # too many to look into: they may hold some
            return True
        if kind in _DATA or seen[kind] == _MANY or (kind is tuple and _is_field(item)):
            continue
        seen[kind] += 1
        if kind in CONTAINERS or kind is tuple or is_named:
            if depth and holds(item, rebinder, depth - 1):
                return True
        elif rebinder.leads_on(item):
            return True
    return False
