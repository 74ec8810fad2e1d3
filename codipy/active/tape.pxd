# SPDX-License-Identifier: Apache-2.0
# The tape that people use.
from libc.stdint cimport int32_t

from codipy.active.registered cimport Registered
from codipy.tape.base cimport BaseTape


cdef class Tape(BaseTape):
    cdef object told             # identifiers that somebody outside knows: see active/identified.pyx; None before the first
    cdef Registered registered_inputs, registered_outputs
    cdef public bint registers   # whether they are kept: drivers, which have theirs, turn it off
    cdef public tuple positions  # those that were saved with a tape that was loaded; else none
    cdef public list given       # by tape.nested: its inputs, and what the enclosing recording has for them; else None
    cdef bint sealed             # nothing can be recorded until the reset: see registered.pyx
    cdef int demand_values(self) except -1
    cdef double* primal_slot(self, int32_t identifier) except NULL
    cdef int32_t identifier_of(self, x, str name) except -1
