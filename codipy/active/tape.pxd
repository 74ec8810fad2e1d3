# SPDX-License-Identifier: Apache-2.0
# The tape that people use.
from libc.stdint cimport int32_t

from codipy.tape.base cimport BaseTape


cdef class Tape(BaseTape):
    cdef object told             # identifiers that somebody outside knows: see active/identified.pyx; None before the first
    cdef int demand_values(self) except -1
    cdef double* primal_slot(self, int32_t identifier) except NULL
    cdef int32_t identifier_of(self, x, str name) except -1
