# SPDX-License-Identifier: Apache-2.0
"""What is kept alive by a list of objects: values of arrays, and Python's objects around them, each once."""
from __future__ import annotations

import gc
import sys

import numpy as np

from codipy.data.buffer import Buffer
from codipy.data.position import Position
from codipy.tape.record import Record

# These count whoever else refers to them: values that a variable shares with a record are on the tape all the same.
_KEPT = (np.ndarray, Buffer, Position, Record)

_entry = [object()]
_OURS = sys.getrefcount(_entry[0])  # references to what stands in a list while it is asked for how many it has


class Held:
    """What `roots`, which are counted themselves, keep alive.

    An object belongs to them if all references to it are theirs, as many as are found here. So nothing need be known of
    the kinds of records; what belongs to the process (functions, rules, programs, small numbers) is left out, and a
    closure made for one call is counted. Rejected: a number of bytes for each kind of record, which nobody would
    correct when a record gets another field.

    Attributes
    ----------
    objects, nbytes : int
        How many, and their bytes without the values of arrays.
    owners : list
        The Buffers and plain arrays that have the memory of the values.
    """

    def __init__(self, roots):
        self.objects = self.nbytes = 0
        self.owners = []
        entries = {}  # by address: [object, references found, whether it is counted]
        waiting = list(roots)
        for item in waiting:
            entries[id(item)] = [item, 0, True]
            self._count(item)
        while waiting:
            for entry in _referred(waiting.pop(), entries):
                if not entry[2] and (isinstance(entry[0], _KEPT) or sys.getrefcount(entry[0]) - _OURS == entry[1]):
                    entry[2] = True
                    self._count(entry[0])
                    waiting.append(entry[0])

    def _count(self, item):
        self.objects += 1
        self.nbytes += sys.getsizeof(item)
        if isinstance(item, np.ndarray):
            if item.flags.owndata:
                self.nbytes -= item.nbytes
                self.owners.append(item)
        elif type(item) is Buffer and item.array is None:
            self.owners.append(item)


def _referred(item, entries):
    """The entries of what `item` refers to, with these references added; none is left here."""
    found = []
    for child in _references(item):
        if child is not None:
            entry = entries.get(id(child))
            if entry is None:
                entry = entries[id(child)] = [child, 0, False]
            entry[1] += 1
            found.append(entry)
    return found


def _references(item):
    if isinstance(item, Record):
        return item.held
    if isinstance(item, np.ndarray):
        return [item.base, *(item.flat if item.dtype.hasobject else ())]
    return [item.array] if type(item) is Buffer else gc.get_referents(item)
