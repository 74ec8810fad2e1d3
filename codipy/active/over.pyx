# SPDX-License-Identifier: Apache-2.0
"""Recordings that are over: their variables are no more than their values.

While something records on this thread a variable of another recording stays an error, whatever is done with it: a cache
that one gradient filled and the next one reads would lose the derivative in silence.
"""
from libc.stdint cimport int64_t
from cpython.object cimport PyObject

from codipy.tape.activity cimport current, is_passive, tape_of_epoch
from codipy.tape.base cimport BaseTape


cdef bint is_over(int64_t epoch) except? True:
    cdef PyObject* tape
    if current() != NULL:
        return False
    tape = tape_of_epoch(epoch)
    return tape == NULL or not (<BaseTape>tape).is_valid(epoch)


cdef bint may_leave(int64_t epoch) except? True:
    cdef PyObject* tape
    if is_passive():
        return True
    if current() != NULL:
        return False
    tape = tape_of_epoch(epoch)
    return tape == NULL or not (<BaseTape>tape).recordings or not (<BaseTape>tape).is_valid(epoch)
