# SPDX-License-Identifier: Apache-2.0
"""Recordings that are over: their variables are no more than their values.

While something records on this thread a variable of another recording stays an error, whatever is done with it: a cache
that one gradient filled and the next one reads would lose the derivative in silence.
"""
from libc.stdint cimport int64_t
from cpython.object cimport PyObject

from codipy.tape.activity cimport current, is_passive, tape_of_epoch
from codipy.tape.base cimport BaseTape

from codipy.errors import TapeError


cdef bint is_over(int64_t epoch) except? True:
    cdef PyObject* tape
    if current() != NULL:
        return False
    tape = tape_of_epoch(epoch)
    return tape == NULL or not (<BaseTape>tape).is_valid(epoch)


cdef bint is_past(int64_t epoch) except? True:
    """Whether the recording that gave an epoch is over, whatever records now."""
    cdef PyObject* tape = tape_of_epoch(epoch)
    return tape == NULL or not (<BaseTape>tape).recordings or not (<BaseTape>tape).is_valid(epoch)


cdef object no_recording(int64_t epoch, str what, str instead="take codipy.value(x), work inside `with tape:`, or say "
                                                               "`with codipy.passive():`"):
    cdef PyObject* tape = tape_of_epoch(epoch)
    if tape != NULL and (<BaseTape>tape).recordings and (<BaseTape>tape).is_valid(epoch):
        return TapeError(f"{what} on another thread than the one that records, which would lose its derivative: a "
                         "recording belongs to one thread. Write a loop, `[f(x) for x in xs]` for executor.map(f, xs), "
                         "or let each thread call the driver itself", tape=<BaseTape>tape)
    return TapeError(f"{what} while no tape is recording, which would lose its derivative: {instead}")


cdef bint may_leave(int64_t epoch) except? True:
    cdef PyObject* tape
    if is_passive():
        return True
    if current() != NULL:
        return False
    tape = tape_of_epoch(epoch)
    return tape == NULL or not (<BaseTape>tape).recordings or not (<BaseTape>tape).is_valid(epoch)
