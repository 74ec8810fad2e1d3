# SPDX-License-Identifier: Apache-2.0
"""What the records of a tape that keeps nothing would keep alive: each is counted and dropped."""
from __future__ import annotations

import sys
import weakref
from types import ModuleType

import numpy as np

from codipy.data.position import Position
from codipy.tape.memory.held import Held

_ITEM = 8      # bytes of a reference in a list
_OF_ALL = (int, float, complex, str, bytes, type, np.dtype, ModuleType)      # not worth asking again whose they are


class Counting(Held):
    """What records would keep that have come one after the other and are gone.

    What several of them share is counted once, for as long as anybody has it: a Buffer carries a mark, of a plain array
    there is a weak reference. The mark also tells whoever wants to overwrite the values that a record would read them
    (`owns_buffer` in active/storage/storage.pxd), so the run makes the copies that it makes where they are kept.
    Anything else is counted if all references to it are of one record. If others have it too, as a local variable has a
    matrix of SciPy's, it is kept until they have not, which is looked at now and then: it is the tape's from then on.
    Variables, as one in the closure that a root was found of, are kept: their identifiers live as long as they do.

    Attributes
    ----------
    records : int
        How many.
    mark : int
        Of its Buffers.
    """

    def __init__(self):
        self._begin()
        self.mark = -self._walk
        self.records = self._room = 0
        self.objects, self.nbytes = 1, sys.getsizeof([])      # the list
        self._waiting = self._place = None
        self._variables = []    # that records would keep
        self._arrays = {}       # weak references to plain arrays that were counted, by their address
        self._shared = {}       # what a record had and somebody else has, by its address
        self._until = 1         # so many records more before it is looked at who

    def push(self, record):
        """Count the record before this one: that one is not withdrawn any more, and has no reader on its way."""
        self.settle()
        self._waiting = record
        self.records += 1
        if self.records > self._room:       # as a list grows
            self.nbytes -= _ITEM * self._room
            self._room = (self.records + (self.records >> 3) + 6) & ~3
            self.nbytes += _ITEM * self._room

    def withdraw(self):
        """The last one was pushed in vain."""
        self._waiting = None
        self.records -= 1

    def settle(self):
        """Count the last one too."""
        record, self._waiting = self._waiting, None
        if record is not None:
            self._follow([record])      # which must not die before the last reference is found
            self._found.clear()
            del record
            self._until -= 1
            if self._until <= 0:
                self._look()

    def look(self):
        """Nobody but the records and those who call has what was shared."""
        self.settle()
        before = None
        while before != len(self._shared):
            before = len(self._shared)
            self._look()

    def _look(self):
        """Count and give up what was shared and is now the records' alone; the more there is the less often."""
        for key in list(self._shared):
            if sys.getrefcount(self._shared[key]) == _ALONE:
                item = self._shared.pop(key)
                self._follow([item])
                self._found.clear()
                del item
        self._until = len(self._shared)

    def _is_first(self, buffer):
        if buffer.walk == self.mark:
            return False
        if buffer.walk >= 0:
            buffer.walk = self.mark
            return True
        return super()._is_first(buffer)

    def _is_new(self, item, references):
        if isinstance(item, Position):
            last, self._place = self._place, item
            return item is not last
        if isinstance(item, np.ndarray):
            return self._is_new_array(item)
        is_new = super()._is_new(item, references)
        if is_new and hasattr(type(item), "gradient"):
            self._variables.append(item)
        if not is_new and not isinstance(item, _OF_ALL):
            self._shared[id(item)] = item
        return is_new

    def _is_new_array(self, array):
        key, arrays = id(array), self._arrays
        if key in arrays:
            return False
        arrays[key] = weakref.ref(array, lambda _: arrays.pop(key, None))
        return True


def _references(shared):
    return sys.getrefcount(shared[0])


_ALONE = _references({0: object()})      # references to what only a dictionary has
