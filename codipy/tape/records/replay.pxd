# SPDX-License-Identifier: Apache-2.0
# What evaluate_primal() needs on a tape that holds records, and how far it came.
#
# Arrays keep no values by identifier while they are recorded. A replay therefore fills the vector of primal values as
# it goes: a record reads its arguments there and writes its results there, and what the sweeps read of it goes into
# Buffers of its own, since those of the recording are shared with the user's Arrays, which keep their values.
from libc.stdint cimport int32_t, int64_t

from codipy.data.buffer cimport Buffer
from codipy.data.position cimport Position


cdef class Replay:
    cdef double* values              # by identifier; of a tape without reuse its primal vector, while a replay runs
    cdef double* own                 # with reuse another one: there sweeps take back what scalars wrote, not what arrays
    cdef readonly Py_ssize_t slots   # ... did; or NULL. This many values
    cdef dict buffers                # {(Buffer, identifier of its first element): the one with the new values}
    cdef readonly bint begun         # records were computed again since the last full reset
    cdef readonly bint torn          # ... but not to the end, because of an error or of a reset to a position
    cdef bint changed                # an input has a new value since
    cdef bint continued              # the present one goes on where the last one ended
    cdef Position at                 # where the last one ended ...
    cdef Py_ssize_t records          # ... with so many records before
    cdef int64_t epoch               # variables up to this one are from before that place
    cdef int64_t farthest            # the largest of these

    # The Buffer that takes the place of `old`, a copy of it to begin with; one for each in one replay.
    cdef Buffer renewed(self, Buffer old, int32_t base)
    # The same, with the values of this view's identifiers, of which `first` is the first, at `offset`.
    cdef Buffer refreshed(self, Buffer old, Py_ssize_t offset, int32_t first, int ndim, const Py_ssize_t* shape,
                          const Py_ssize_t* strides)
    cdef bint continues(self, Position start, Py_ssize_t records) except? True
    cdef int begin(self, bint continued, bint whole) except -1
    cdef int end(self, Position place, Py_ssize_t records, int64_t epoch, bint whole) except -1
    # Whether the last one ended here.
    cdef bint ended(self, Position place, Py_ssize_t records) except? True
    cdef int make_room(self, Py_ssize_t slots) except -1
    # Refuse a sweep over what was not computed again.
    cdef int demand(self, Position last, Py_ssize_t records) except -1
    cdef int demand_whole(self) except -1
    cdef void forget(self) noexcept
