# SPDX-License-Identifier: Apache-2.0
# What Python does with warnings when a recording begins: an expression waits only while that has not changed.
from libc.stdint cimport uint64_t
cimport cython


@cython.final
cdef class Surroundings:
    cdef object filters          # the list that is `warnings.filters`
    cdef tuple items             # what it holds
    cdef object show             # `warnings.showwarning`
    cdef object context          # of Python's context-aware warnings; None where there are none
    cdef readonly object hidden  # what else shows warnings: replaced by catch_warnings(record=True)
    cdef uint64_t version        # of the module's dictionary when it was looked at
    cdef bint strict             # some filter may turn a floating-point warning into an exception

    cdef bint hold(self) except -1

# Those of now.
cdef Surroundings surroundings()
