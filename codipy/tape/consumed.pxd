# SPDX-License-Identifier: Apache-2.0
# Which adjoints a vector holds no longer.
from libc.stdint cimport INT64_MAX as FOREVER, int32_t, int64_t
cimport cython


# A sweep runs between two positions, and each position draws an epoch: a variable's statement lies in a sweep's range
# when its epoch does. So ranges of epochs say what was consumed, whatever the number of variables, and a sweep over the
# whole tape, which is what drivers do, stores two numbers.
@cython.final
cdef class Consumed:
    cdef int64_t whole           # reverse sweeps have consumed all up to this epoch; 0: see `ranges`
    cdef list ranges             # (after, until) pairs of epochs, ascending and apart; None if there are none
    cdef int64_t reached         # where identifiers serve again, a variable of a later epoch may show the adjoint of another
    cdef bint forward            # the last sweep went forward
    cdef bint torn               # a reverse sweep is under way or did not come to its end: every adjoint is in part swept
    cdef object seeds            # by identifier, the mark of a variable that was seeded since; None if there is none

    # All adjoints are 0 now: nothing is missing.
    cdef void forget(self) noexcept
    # A reverse sweep over the statements of the epochs in (after, until] begins; the tape records in `now`, and `shared`
    # says that identifiers serve for several variables.
    cdef int backwards(self, int64_t after, int64_t until, int64_t now, bint shared, bint keep) except -1
    # A forward sweep over them begins; and has come to its end.
    cdef int begin_forward(self, int64_t after) except -1
    cdef int end_forward(self, int64_t after, int64_t until, int64_t now, bint shared) except -1
    # Seed variables of an epoch; `element`: their statements may be older than the epoch says.
    cdef int seed(self, identifiers, int64_t epoch, bint element, int64_t now, int32_t largest) except -1
    # An error while they are torn: nothing can be read, and no sweep can go on from there.
    cdef int demand_swept(self) except -1
    # An error, where the vector no longer holds their adjoints, that begins with "`variable` has no gradient".
    cdef int demand(self, variable, identifiers, int64_t epoch, bint element, bint shared) except -1

    cdef int lose(self, int64_t after, int64_t until) except -1
    cdef int regain(self, int64_t after, int64_t until) except -1
    cdef int hold(self, list ranges) except -1
    cdef int drop_seeds(self, int64_t after, int64_t until, bint shared) except -1
    cdef bint misses(self, int64_t epoch, bint element, bint shared) except? True
    cdef bint is_seeded(self, identifiers, object mark) except? True

    cdef inline bint is_whole(self) noexcept:
        """Whether every variable can be read."""
        return self.whole == 0 and self.ranges is None and self.reached == FOREVER
