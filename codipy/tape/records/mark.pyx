# SPDX-License-Identifier: Apache-2.0
"""Inputs on the tape."""
from libc.stdint cimport int32_t
from libc.string cimport memcpy
cimport cython

from codipy.data.buffer cimport Buffer
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay


@cython.final
@cython.no_gc
cdef class Mark(Record):
    """Mark()
    --

    The place where an array took the identifiers of an input; arrays make it.
    """

    cdef int name_result(self, int32_t first) except -1:
        self.base = first
        return 0

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        return 0

    cdef int forward(self, AdjointVector adjoints) except -1:
        return 0

    cdef int primal(self, Replay replay) except -1:
        replay.buffers[self.last, self.base] = self.values       # one memory for it and for what reads it
        self.last = self.values
        if self.values.size:
            memcpy(replay.values + self.base, self.values.data, self.values.size * sizeof(double))
        return 0

    cdef list references(self):
        return [self.values, self.last, *Record.references(self)]

    def __repr__(self):
        return "<input>"


cdef Mark new_mark(Buffer values):
    cdef Mark new = Mark.__new__(Mark)
    new.values = new.last = values
    return new
