# SPDX-License-Identifier: Apache-2.0
# The place on the tape where an array became an input.
from libc.stdint cimport int32_t
cimport cython

from codipy.data.buffer cimport Buffer
from codipy.tape.records.record cimport Record


@cython.final
cdef class Mark(Record):
    cdef int32_t base            # of the input's identifiers
    cdef Buffer values           # of the input at the next replay; None where the tape cannot be replayed
    cdef Buffer last             # those that the records read now

cdef Mark new_mark(Buffer values)
