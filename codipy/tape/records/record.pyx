# SPDX-License-Identifier: Apache-2.0
"""Steps of a recording that are not scalar statements, and the list of them."""
import gc

from libc.stdint cimport int32_t
cimport cython

from codipy.data.strided cimport reach
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.slots cimport Slots

from codipy.errors import TapeError


@cython.no_gc
cdef class Record:
    """Record()
    --

    A step of a recording with rules of its own.
    """

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        raise NotImplementedError

    cdef bint clears(self) noexcept:
        return False

    cdef int forward(self, AdjointVector adjoints) except -1:
        raise NotImplementedError

    cdef int planes(self, AdjointVector adjoints, bint backwards, bint keep) except -1:
        cdef AdjointVector plane
        cdef Py_ssize_t d
        for d in range(adjoints.width):
            plane = adjoints.shown(d)
            if backwards:
                self.reverse(plane, keep)
            else:
                self.forward(plane)
        return 0

    cdef bint carries_rows(self) except? True:
        return False

    cdef int primal(self, Replay replay) except -1:
        raise TapeError(f"evaluate_primal() cannot recompute {type(self).__name__}: record again")

    cdef int name_result(self, int32_t first) except -1:
        raise NotImplementedError

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        return False

    cdef list references(self):
        return [self.place, *gc.get_referents(self)]

    @property
    def held(self):
        """The objects that this record refers to, each as often as it does; its own memory is what its size says."""
        return self.references()

    @property
    def named(self):
        """(lowest, highest) identifiers: a list of pairs for the results, and one for the active arguments."""
        return ends_of(self, True), ends_of(self, False)


cdef list ends_of(Record record, bint result):
    cdef Slots slots
    cdef Py_ssize_t room[2]
    cdef Py_ssize_t low, high, k = 0
    cdef list ends = []
    while record.show(result, k, &slots, room):
        if slots.ndim >= 0:
            reach(slots.ndim, slots.shape, slots.strides, slots.first, &low, &high)
            ends.append((low, high))
        k += 1
    return ends


@cython.final
cdef class Records:
    """Records()
    --

    The records of one tape.
    """
    def __cinit__(self):
        self.items = []

    cdef int truncate(self, Py_ssize_t count) except -1:
        """Drop the records from number `count` on."""
        self.last = None
        if len(self.items) <= count:
            return 0
        dropped = self.items[count:]
        del self.items[count:]
        dropped.clear()      # last: what dies with them may run code of the user's
        return 0

    def __len__(self):
        return len(self.items)
