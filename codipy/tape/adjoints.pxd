# SPDX-License-Identifier: Apache-2.0
# The memory of an adjoint vector: `width` numbers for each identifier from `first` on.
from libc.stdint cimport int32_t, int64_t

from codipy.tape.consumed cimport Consumed
from codipy.tape.underway cimport UnderWay


cdef class AdjointVector:
    cdef double* numbers               # owner; slot s starts at numbers[s * width]
    cdef readonly Py_ssize_t slots     # identifiers that have a slot
    cdef Py_ssize_t capacity           # slots that there is memory for; all from `slots` on are 0, so that clearing
                                       # costs what was used since the last time and not what was ever used
    cdef readonly Py_ssize_t width     # directions side by side
    cdef readonly int32_t first        # identifier of slot 0: 0 where passive arguments are stored, else 1

    cdef bint swept                    # a sweep is using it, on some thread
    cdef UnderWay under_way            # that sweep
    cdef int64_t serial                # of the tape it belongs to
    cdef int64_t resets                # of the tape when the numbers were written: see BaseTape.renew
    cdef Consumed consumed             # by sweeps since they were all 0

    # Make room for identifiers up to `largest`, new slots 0; never more than asked for.
    cdef int ensure(self, int32_t largest) except -1
    # The same with room for twice as many as before, so that a slot more costs a constant; every slot is one of the vector.
    cdef int grow(self, int32_t largest) except -1
    cdef void zero(self) noexcept
    cdef void release(self) noexcept

    cdef inline double* origin(self) noexcept nogil:
        """Where identifier 0 would be: origin()[identifier * width] is the identifier's first direction."""
        return self.numbers - self.first * self.width if self.numbers != NULL else NULL     # an empty tape

    cdef inline double* slot(self, int32_t identifier) noexcept:
        """The numbers of an identifier, or NULL where the vector has not grown to it (they are 0)."""
        cdef Py_ssize_t s = identifier - self.first
        return self.numbers + s * self.width if 0 <= s < self.slots else NULL
