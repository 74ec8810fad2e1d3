# SPDX-License-Identifier: Apache-2.0
# The strategy `forward`: nothing is recorded, tangents are computed at once.
#
# An operation on Reals makes one that carries its tangents where others have a pending expression; no identifier takes
# part (active/scalar/carried.pxd). What has an identifier, arrays first of all, has its tangents in one vector, which grows
# with what lives: identifiers are those of the reuse strategies. A record is run forward when it is made, and dropped.
from libc.stdint cimport int32_t, int64_t

from codipy.tape.recorder cimport Recorder
from codipy.tape.strategies.strategy cimport Strategy
cimport cython


# Seeds come before anything has read the input, since what was computed from it would not know them. A Real is marked
# by who reads it. An array is seeded while no record was made and no element read since it was registered, so that no
# reader need be known: `seedable` has the first identifiers of such inputs, as long as it was `seedable_at` that step.
@cython.final
cdef class Forward(Strategy):
    cdef set seedable
    cdef int64_t seedable_at

    cdef int note_input(self, Recorder* r, int32_t first) except -1
    cdef bint is_seedable(self, Recorder* r, int32_t first) except? True
