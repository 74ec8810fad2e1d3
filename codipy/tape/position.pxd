# SPDX-License-Identifier: Apache-2.0
# A place in a tape's recording.
from libc.stdint cimport int32_t, int64_t

from codipy.data.position cimport Position
cimport cython


@cython.final
cdef class TapePosition:
    cdef readonly Position streams       # the joint place in all streams
    cdef readonly Py_ssize_t records     # made until here
    cdef int32_t largest                 # identifiers given out until here (linear strategies)
    cdef int64_t epoch                   # in force when the position was taken; later ones end with a reset to here
    cdef int64_t first_generation        # of the recording: another one has another

cdef TapePosition make_position(Position streams, Py_ssize_t records, int32_t largest, int64_t epoch, int64_t first_generation)
