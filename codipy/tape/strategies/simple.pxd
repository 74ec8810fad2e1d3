# SPDX-License-Identifier: Apache-2.0
# The simple strategy: one operation is one statement, everything it needs is stored beside it.
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from codipy.tape.recorder cimport Recorder
from codipy.tape.strategies.strategy cimport Strategy
cimport cython


cdef struct GivenNumber:
    double value
    int32_t identifier


# Streams: argument primals (f8) nesting identifiers (i4: arguments, then result) nesting operators (i4 code).
# A passive argument is stored with identifier 0, so slot 0 of the adjoints exists and gathers what nobody reads.
# A code from OP_COUNT on marks a statement made by hand: code - OP_COUNT arguments, Jacobians as its primals.
@cython.final
cdef class Simple(Strategy):
    cdef int32_t gathered            # identifiers whose primal is in the recorder's primal vector
    # Numbers of inputs, which no stream stores: array statements may be all that reads them. Like registered variables
    # they are no part of the recording, and not in the statistics: 16 bytes for each.
    cdef GivenNumber* given
    cdef Py_ssize_t given_count, given_capacity
    cdef int make_room_for_given(self) except -1
    # An input that others put on the tape: one of a file, or of an optimized tape.
    cdef int note_given(self, Recorder* r, int32_t identifier, double value) except -1


# A slot of the primal vector whose value is not known yet has all bits set: a NaN that no arithmetic makes.
cdef inline bint is_unknown(double value) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &value, sizeof(double))
    return bits == -1
