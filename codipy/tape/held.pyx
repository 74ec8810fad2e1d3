# SPDX-License-Identifier: Apache-2.0
"""What a tape's records keep alive: values of arrays, and Python's objects around them, each once."""
from __future__ import annotations

import gc
import sys
from itertools import count

import numpy as np

from codipy.data.buffer import Buffer
from codipy.data.position import Position
from codipy.tape.record import Record

# These count whoever else refers to them: values that a variable shares with a record are on the tape all the same.
_KEPT = (np.ndarray, Buffer, Position, Record)

_walks = count(1)


class Held:
    """What a list of records and a dictionary of constants, which are counted themselves, keep alive.

    An object belongs to them if all references to it are theirs, as many as are found here. So nothing need be known of
    the kinds of records; what belongs to the process (functions, rules, programs, small numbers) is left out, and a
    closure made for one call is counted. Rejected: a number of bytes for each kind of record, which nobody would
    correct when a record gets another field.

    People ask when memory has run out, so a walk needs next to none, however long the recording is: it remembers only
    those of which not all references were found yet, and a Buffer itself knows the last walk that counted it. But what
    a recording that counts has marked (see `Counting`) stays marked, and is remembered here.

    Parameters
    ----------
    records : list of Record
    constants : dict
    counting : Counting, optional
        What was counted of records that are gone, in the place of a list.

    Attributes
    ----------
    objects, nbytes : int
        How many, and their bytes without the values of arrays.
    owners : int
        How many Buffers and plain arrays have the memory of the values.
    used, allocated : int
        Bytes of the values, and of the memory behind them.
    """

    def __init__(self, records, constants, counting=None):
        self._begin()
        if counting is not None:
            self._go_on(counting)
        else:
            self._count(records)
        self._count(constants)
        self._passed()
        for i in range(len(records)):
            self._follow([records[i]])
            self._passed()
        for key in constants:
            entry = [constants[key], key]
            del key     # a reference that is not theirs
            self._follow(entry)

    def _begin(self):
        self.objects = self.nbytes = self.owners = self.used = self.allocated = 0
        self._walk = next(_walks)
        self._found = {}     # by address, of those that are shared: references found; negative once it is counted
        self._marked = {}    # Buffers that other recordings have marked, by their address
        self._counting = None

    def _passed(self):
        """What is there before the records was counted, or the next record with all that it leads to."""

    def _go_on(self, counting):
        counting.settle()
        self.objects, self.nbytes = counting.objects, counting.nbytes
        self.owners, self.used, self.allocated = counting.owners, counting.used, counting.allocated
        self._counting = counting

    def _follow(self, waiting):
        """Count what these references, which are handed over, lead to."""
        while waiting:
            item = waiting.pop()
            if type(item) is Buffer:
                if self._is_first(item):
                    self._count(item)
                    waiting.append(item.array)
            elif item is not None:
                references = sys.getrefcount(item) - _OURS
                if self._is_new(item, references):
                    self._count(item)
                    waiting += _references(item)

    def _is_first(self, buffer):
        if buffer.walk == self._walk or self._counting is not None and buffer.walk == self._counting.mark:
            return False
        if buffer.walk >= 0:
            buffer.walk = self._walk
            return True
        first = id(buffer) not in self._marked
        self._marked[id(buffer)] = buffer
        return first

    def _is_new(self, item, references):
        """Whether it is the moment to count it: of what nobody else can have, when the last reference is found."""
        found = self._found.pop(id(item), 0)
        counted = found < 0
        found = abs(found) + 1
        belongs = found == references or isinstance(item, _KEPT)
        if found < references:
            self._found[id(item)] = -found if belongs else found
        return belongs and not counted

    def _count(self, item):
        self.objects += 1
        self.nbytes += sys.getsizeof(item)
        if isinstance(item, np.ndarray):
            if item.flags.owndata:
                self.nbytes -= item.nbytes
                self._own(item.nbytes, item.nbytes)
        elif type(item) is Buffer and item.array is None:
            self._own(item.bytes_used, item.bytes_allocated)

    def _own(self, used, allocated):
        self.owners += 1
        self.used += used
        self.allocated += allocated


def _references(item):
    if isinstance(item, Record):
        return item.held
    if isinstance(item, np.ndarray):
        return [item.base, *(item.flat if item.dtype.hasobject else ())]
    return gc.get_referents(item)


def _of_nobody(waiting):
    item = waiting.pop()
    return sys.getrefcount(item)


_OURS = _of_nobody([object()])   # references to what `_follow` looks at, beside those of others
