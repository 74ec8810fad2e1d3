# SPDX-License-Identifier: Apache-2.0
# Recordings that are over, for this thread: their variables are no more than their values.
from libc.stdint cimport int64_t

# Nothing records here, and no tape has the recording any more: nobody can ask for a derivative.
cdef bint is_over(int64_t epoch) except? True

# The error of what needs a recording while none runs on this thread: `what` is used, and `instead` of that.
cdef object no_recording(int64_t epoch, str what, str instead=*)

# A value may leave as a plain one: as above, or its tape rests on all threads, or this is passive().
cdef bint may_leave(int64_t epoch) except? True

# Whether the recording that gave an epoch is over.
cdef bint is_past(int64_t epoch) except? True
