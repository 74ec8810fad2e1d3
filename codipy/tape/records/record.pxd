# SPDX-License-Identifier: Apache-2.0
# A step of a recording that is not a scalar statement: an array statement, a movement, a primitive.
#
# Records stand in a list of their own beside the streams. Each knows the place in the streams at which it was made, so
# a sweep runs the scalar statements between two records and then the record: CoDiPack's external functions. A record
# names its results' identifiers itself; where identifiers are linear it also tells how many it took.
from libc.stdint cimport int32_t
cimport cython

from codipy.data.position cimport Position
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.slots cimport Slots


# Not tracked by the collector: a recording has many, and nothing that this class holds can be part of a cycle.
@cython.no_gc
cdef class Record:
    cdef readonly Position place # in the streams; records without a statement between them share one
    cdef readonly int32_t before # largest linear identifier before the record's own ...
    cdef readonly int32_t after  # ... and with them

    # Read the results' adjoints, which are consumed unless `keep`, and add to the arguments'.
    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1
    # Whether that, without `keep` and in one direction, sets the adjoints of all identifiers that it took to 0, whatever
    # flows: no step before it knows these, so they stay so until the sweep has ended. Asked where identifiers are linear.
    cdef bint clears(self) noexcept
    # Set the results' tangents from the arguments'.
    cdef int forward(self, AdjointVector adjoints) except -1
    # Either in all directions of a vector that has a plane for each.
    cdef int planes(self, AdjointVector adjoints, bint backwards, bint keep) except -1
    # Whether it has a way of its own to carry directions that lie side by side, which is worth more than planes.
    cdef bint carries_rows(self) except? True
    # Compute the results' values again, from replay.values to replay.values, and renew what the sweeps read.
    cdef int primal(self, Replay replay) except -1
    # The first identifier of the result, where one block has them all.
    cdef int name_result(self, int32_t first) except -1
    # The identifiers of result number k, or of active argument number k; False where there are not so many. What a record
    # keeps in another way it writes to `room`, two numbers, until the next call.
    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept
    # What it refers to; the collector, which otherwise could say, does not track most records.
    cdef list references(self)


# The records of one tape, in the order of recording.
cdef class Records:
    cdef readonly list items
    cdef Position last           # place of the last record, shared while no statement follows ...
    cdef void* chunk             # ... that is, while the innermost stream's cursor stays in this chunk ...
    cdef Py_ssize_t used         # ... at this item

    cdef int truncate(self, Py_ssize_t count) except -1
