# SPDX-License-Identifier: Apache-2.0
# The memory of an adjoint vector: `width` numbers for each identifier from `first` on.
#
# They lie side by side, or each direction in a plane of its own. Where a tape has single numbers and short arrays, rows of
# directions are the vectors that a sweep works with; long arrays are vectors themselves, and a plane is what a sweep in
# one direction sees.
from libc.stdint cimport int32_t, int64_t

from codipy.tape.consumed cimport Consumed
from codipy.tape.sweeps.underway cimport UnderWay


# Identifiers for each step of a recording, on the average, from which on arrays are long; tests have it low.
cdef Py_ssize_t long_array

cdef enum:
    NUMBERS_WITH_THE_GIL = 1 << 10       # adjoints and items; giving the GIL up and taking it again costs as much as these
    WORTH_LEAVING = 1 << 11              # slots that are not cleared again where a sweep has cleared them
    MOST_LEFT = 8                        # ranges of them

# Slots from one to before another.
cdef struct Range:
    Py_ssize_t begin, end


cdef class AdjointVector:
    cdef double* numbers               # owner; slot s starts at numbers[s * width], or with planes at numbers[s] ...
    cdef bint planes                   # ... and the next direction is `capacity` doubles on
    cdef AdjointVector plane           # one direction, as a vector; None before it was asked for, and if it is one
    cdef readonly Py_ssize_t slots     # identifiers that have a slot
    cdef Py_ssize_t capacity           # slots that there is memory for; all from `slots` on are 0, so that clearing
                                       # costs what was used since the last time and not what was ever used
    cdef readonly Py_ssize_t width     # directions
    cdef readonly int32_t first        # identifier of slot 0: 0 where passive arguments are stored, else 1

    cdef bint swept                    # a sweep is using it, on some thread
    cdef UnderWay under_way            # that sweep
    cdef int64_t serial                # of the tape it belongs to
    cdef int64_t resets                # of the tape when the numbers were written: see BaseTape.renew
    cdef Consumed consumed             # by sweeps since they were all 0
    cdef Range[MOST_LEFT] left         # what the last sweep left at 0, from the last slots to the first ...
    cdef int ranges_left               # ... in so many ranges; none once somebody may have written since

    # Make room for identifiers up to `largest`, new slots 0; never more than asked for. Whoever writes asks here first.
    cdef int ensure(self, int32_t largest) except -1
    # The same with room for more, as a table of identifiers grows, so that a slot more costs a constant; every slot is one
    # of the vector.
    cdef int grow(self, int32_t largest) except -1
    # Clear them all, without those that a sweep has left at 0.
    cdef void zero(self) noexcept
    # Note that the slots of identifiers behind `before` to `after` are 0 now and stay so until somebody asks for room: each
    # range lies before the last one that was noted.
    cdef void leave(self, int32_t before, int32_t after) noexcept
    cdef bint is_as_left(self) noexcept
    cdef void release(self) noexcept
    cdef void move_planes(self, double* to, Py_ssize_t apart) noexcept
    # One of several planes, until another one is asked for.
    cdef AdjointVector shown(self, Py_ssize_t direction)

    cdef inline double* origin(self) noexcept nogil:
        """Where identifier 0 would be: origin()[identifier * row()] is the identifier's first direction."""
        return self.numbers - self.first * self.row() if self.numbers != NULL else NULL     # an empty tape

    cdef inline Py_ssize_t row(self) noexcept nogil:
        """Numbers from an identifier to the next."""
        return 1 if self.planes else self.width

    cdef inline Py_ssize_t step(self) noexcept nogil:
        """Numbers from a direction to the next."""
        return self.capacity if self.planes else 1

    cdef inline double* slot(self, int32_t identifier) noexcept:
        """The first number of an identifier, or NULL where the vector has not grown to it (they are 0)."""
        cdef Py_ssize_t s = identifier - self.first
        return self.numbers + s * self.row() if 0 <= s < self.slots else NULL
