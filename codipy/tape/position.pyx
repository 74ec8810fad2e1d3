# SPDX-License-Identifier: Apache-2.0
"""A place in a tape's recording: where sweeps start and end, and where `reset` returns to."""
from libc.stdint cimport int32_t, int64_t
cimport cython

from codipy.data.position cimport Position

from codipy.errors import TapeError


@cython.final
cdef class TapePosition:
    """TapePosition()
    --

    Made by ``tape.position()``; positions of one recording compare and hash.
    """
    def __init__(self):
        raise TypeError("positions are made by tape.position()")

    def __richcmp__(self, other, int op):
        if type(other) is not TapePosition:
            return NotImplemented
        cdef TapePosition right = other
        if self.epoch >> 32 != right.epoch >> 32 or self.first_generation != right.first_generation:
            if op == 2 or op == 3:
                return op == 3
            raise TapeError("positions of different tapes or recordings have no order: "
                            "compare positions of one recording")
        cdef int order = self.streams.compare(right.streams)
        if order == 0:
            order = (self.records > right.records) - (self.records < right.records)
        if op == 0:
            return order < 0
        if op == 1:
            return order <= 0
        if op == 2:
            return order == 0
        if op == 3:
            return order != 0
        if op == 4:
            return order > 0
        return order >= 0

    def __hash__(self):
        return hash((self.streams, self.records))

    def __repr__(self):
        return f"<codipy position {self.streams}>"


cdef TapePosition make_position(Position streams, Py_ssize_t records, int32_t largest, int64_t epoch, int64_t first_generation):
    cdef TapePosition new = TapePosition.__new__(TapePosition)
    new.streams, new.records, new.largest = streams, records, largest
    new.epoch, new.first_generation = epoch, first_generation
    return new
