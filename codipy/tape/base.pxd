# SPDX-License-Identifier: Apache-2.0
# The tape as the layers above see it: identifiers and numbers, no variables.
from libc.stdint cimport int32_t, int64_t

from codipy.data.position cimport Position
from codipy.identifiers.waiting cimport WaitingBlocks
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.position cimport TapePosition
from codipy.tape.provenance.journal cimport Journal
from codipy.tape.recorder cimport Entry, Recorder
from codipy.tape.records.record cimport Record, Records
from codipy.tape.records.replay cimport Replay
from codipy.tape.strategies.strategy cimport Strategy
from codipy.tape.sweeps.underway cimport UnderWay


cdef class BaseTape:
    cdef Recorder recorder
    cdef readonly Strategy store                # streams, identifiers and sweeps of the strategy
    cdef readonly Records records               # steps that are not scalar statements
    cdef readonly object counting               # a Counting where records are counted and dropped, else None
    cdef readonly Replay replay                 # what evaluate_primal() made of them
    cdef readonly Journal journal               # of a recording that is profiled, else None
    cdef readonly AdjointVector adjoint_vector  # the tape's own adjoints, width 1
    cdef readonly str strategy                  # its name: what `stored_as` makes of it says how
    cdef readonly str granularity
    cdef object chunk_size
    cdef Position root_begin                    # where every recording begins
    cdef int64_t serial                         # upper half of every epoch of this tape
    cdef int64_t generation                     # lower half of the last epoch drawn
    cdef int64_t first_generation               # generations below are from before the last full reset
    cdef list valid                             # epochs in force, ascending; the last is the recorder's
    cdef int64_t resets                         # so far, partial ones included
    cdef int64_t looked_back                    # the epoch in which the last sweep or seed was: what is recorded next
                                                # begins another, so that it is told from what they knew
    cdef bint numbers, other_numbers            # the tape's own adjoints, or external ones, may be other than 0
    cdef int32_t held                           # no identifier up to it serves again before a reset: see hold_for
    cdef Py_ssize_t sweeps                      # sweeps under way, on any thread
    cdef bint rewriting                         # one of them is evaluate_primal:
    cdef UnderWay under_way
    cdef unsigned long thread                   # that records, or did last
    cdef Py_ssize_t recordings                  # nested `with tape:` on that thread
    cdef public list loans                      # what enclosing recordings have lent to this one; None: they may not
    cdef object __weakref__

    cdef int64_t draw_epoch(self) except -1
    cdef bint is_valid(self, int64_t epoch) except? True
    cdef bint owns(self, int64_t epoch) noexcept
    cdef void release_identifier(self, int32_t identifier) noexcept
    cdef int32_t largest(self) noexcept
    cdef bint shares(self) noexcept
    cdef int look_back(self) except -1
    cdef void hold_for(self, AdjointVector adjoints) noexcept
    cdef void hold(self) noexcept
    cdef void set_plain(self) noexcept
    cdef int end_profile(self) except -1
    cdef int catch_up(self) except -1           # notes what was pushed beside operations, where that is profiled
    cdef int demand_idle(self, str action) except -1
    cdef int demand_recording(self, str action) except -1
    cdef int demand_recorded(self, str action) except -1
    cdef int demand_kept(self, str action) except -1
    cdef Py_ssize_t recorded(self)              # how many records
    cdef int demand_forward(self, str variable, int64_t epoch) except -1
    cdef int32_t new_input(self, double value) except -1
    cdef int32_t new_copy(self, int32_t source, double value) except -1
    cdef int32_t new_element(self, int32_t source, double value) except -1
    cdef int32_t new_handmade(self, double value, const Entry* entries, Py_ssize_t count) except -1
    cdef bint by_value                          # array statements keep values, not Jacobians
    cdef public bint recycle                    # identifiers are linear, but blocks of dead arrays serve new ones of
                                                # the same size; tests turn it off: gradients are the same to the bit
    cdef readonly bint watched                  # made while somebody looked on: it keeps values, operation by operation
    cdef public bint twice                      # until the reset second derivatives are swept: no identifier serves twice
    cdef readonly dict constants                # copies of plain arrays in use: see active/arrays/constants.pyx
    cdef WaitingBlocks waiting                  # those blocks
    cdef object long_arrays                     # what has_long_arrays() said of the recording that this one was made of;
                                                # None: it is asked. Sums are added in another order in planes
    cdef bint shared                            # an identifier serves for more than one value: adjoints cannot be kept

    cdef int32_t new_block(self, Py_ssize_t n) except -1
    cdef int32_t new_input_block(self, Py_ssize_t n) except -1
    cdef void give_block(self, int32_t base, Py_ssize_t n, int64_t epoch, bint lent) noexcept
    cdef int32_t with_tangents(self, int32_t first, Py_ssize_t n) except -1
    cdef int withdraw_block(self, int32_t before) except -1
    cdef int withdraw_record(self, int32_t before) except -1
    cdef bint names_live(self, Record record)
    # The one way onto the tape for what is no scalar statement. `before` is `largest()` from before it took identifiers for
    # its results: where it fails, they go back.
    cdef int append(self, Record record, int32_t before) except -1
    cdef int place(self, Record record, int32_t before) except -1
    cdef TapePosition checked(self, position, str name)
    cdef int demand_own_numbers(self) except -1     # an error where sweeps over numbers would lose an outer derivative
    cdef object sweep_recorded(self, adjoints, bint backwards)
    cdef AdjointVector checked_adjoints(self, adjoints)
    cdef void renew(self, AdjointVector adjoints) noexcept
    cdef bint has_long_arrays(self) except? True
    cdef int forget_all(self) except -1


# Whether adjoints are variables of an enclosing recording, made by `new_adjoints(record=True)`.
cdef bint is_of_variables(adjoints) except? True
