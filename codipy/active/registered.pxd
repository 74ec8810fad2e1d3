# SPDX-License-Identifier: Apache-2.0
# The variables that were registered on a tape, in order: its inputs, or its outputs.
#
# A variable that the user has may change: an Array is written to, a Real is registered again. So what is kept is what it
# was: identifiers, epoch, value. An output's identifiers are held until the reset, whatever becomes of the variable, or
# somebody else would get them and answer in its name; those of inputs serve nobody else anyway. Nothing is held of
# results that were not registered. It is no part of the recording, and not in the statistics: 24 bytes for a number, and
# for an Array what another variable on the same elements takes.
from libc.stdint cimport int32_t, int64_t, uint8_t
cimport cython

from codipy.active.core.base_array cimport BaseArray
from codipy.active.scalar.real cimport Real
from codipy.tape.base cimport BaseTape


cdef struct Kept:
    double value
    int64_t epoch
    int32_t identifier       # of an Array -1 - its number in `arrays`
    uint8_t kind
    uint8_t flags            # of RealFlags


@cython.final
cdef class Registered:
    cdef Kept* items
    cdef Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef list arrays         # copies that share memory and identifiers with the variables as they were
    cdef list epochs         # (epoch, items before it) of each in which something was registered, ascending
    cdef bint holds          # the identifiers, where they are reused

    # Drop what a reset to a position has made stale; then there is room for `more`, and adding them cannot fail.
    cdef int make_room(self, BaseTape tape, Py_ssize_t more) except -1
    cdef void add_real(self, BaseTape tape, Real x) noexcept
    cdef int add_array(self, BaseTape tape, BaseArray a) except -1
    cdef int forget(self) except -1
    cdef tuple variables(self, BaseTape tape)
    cdef int grow(self, Py_ssize_t more) except -1
    cdef int settle(self, BaseTape tape) except -1
    cdef int note_epoch(self, int64_t epoch) except -1
