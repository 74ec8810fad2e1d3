# SPDX-License-Identifier: Apache-2.0
"""Numbers as variables of a recording that is over: they have their values, and to compute with them raises."""

from __future__ import annotations

import collections

import numpy as np

from codipy.active.array import Array, Real, is_active, plain
from codipy.implicit.places import MISSING, Attributes, Deque, Dict, List, Plain, got, is_same, is_users, itself
from codipy.tools.pool import borrow, give_back
from codipy.tools.rebinding.containers import origin_of_view

__all__ = ["SCALARS", "Over"]

SCALARS = (float, complex, np.inexact)
_SETTINGS = ("auto", None)


class Over:
    """Makes variables of a recording that is over of numbers: their values, and an error where they are used."""

    def __enter__(self):
        self._tape, self._made = borrow(_SETTINGS), {}
        return self

    def __exit__(self, *_):
        give_back(_SETTINGS, self._tape)

    def fill(self, array, held):
        """Let an Array have elements that may be of such a recording."""
        if not is_active(held) or not self._owns(held):
            array[...] = held
            return
        array[...] = held.value      # it has no others then
        with self._tape:
            array[...] = held

    def _owns(self, x):
        return any(x is made for _, made in self._made.values())

    def of_place(self, held, before):
        """What a place holds, and variables where it is not as it was `before`."""
        if isinstance(held, (np.ndarray, Array)):
            return self.of(held)
        if isinstance(held, dict):
            before = before or {}
            return {key: x if is_same(x, before.get(key, MISSING)) else self.of(x) for key, x in held.items()}
        if isinstance(held, (list, set)):
            known = {id(got(each)) for each in before or ()}
            return type(held)(x if id(got(x)) in known else self.of(x) for x in held)
        return held

    def of(self, x):
        """The same with such variables in the places of numbers, also in containers and objects of the user's."""
        kind = type(x)
        if kind in (int, str, bool, type(None), Plain) or is_active(x):      # the numbers of an array are another place
            return x
        if id(x) in self._made:
            return self._made[id(x)][1]
        if kind is Real or kind is Array or isinstance(x, SCALARS):
            made = self._variable(plain(x))
        elif isinstance(x, np.ndarray):
            if x.dtype.kind not in "fc":
                return x
            made = self._variable(x if x.ndim else x[()])
        elif kind in (tuple, frozenset):
            made = kind(map(self.of, x))
        elif isinstance(x, tuple) and hasattr(x, "_fields"):
            made = kind(*map(self.of, x))
        else:
            return self._inside(x, kind)
        self._made[id(x)] = x, made
        return made

    def _variable(self, numbers):
        with self._tape:
            return self._tape.register_input(np.array(numbers) if np.ndim(numbers) else numbers)

    def _inside(self, x, kind):
        """What was made anew while the solver ran stays itself, with others in it."""
        self._made[id(x)] = x, x
        x = origin_of_view(x)
        place = None
        for base, made in ((dict, Dict), (list, List), (collections.deque, Deque)):
            if isinstance(x, base):
                place = made(x, itself)
        if place is None and type(getattr(x, "__dict__", None)) is dict and is_users(kind):
            place = Attributes(x, itself)
        if place is not None:
            place.put(self.of_place(place.now(), None))
        return x
