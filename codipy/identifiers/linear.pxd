# SPDX-License-Identifier: Apache-2.0
# Identifiers that grow with the recording: the n-th one handed out is the n-th number.

cimport cython
from libc.stdint cimport int32_t

cdef enum:
    LARGEST_IDENTIFIER = 0x7FFFFFFF

cdef struct LinearState:
    int32_t largest     # the last identifier handed out; first - 1 when none was

@cython.final
cdef class LinearIdentifiers:
    cdef LinearState state
    cdef readonly int32_t first       # the first identifier handed out; those below it belong to nobody
    cdef int32_t highest              # the largest `state.largest` that a reset has dropped

    # The next identifier. Stale ones (from before a reset) look like new ones: whoever stores an identifier
    # stores the tape's epoch beside it and compares before use; no check here could be as cheap.
    cdef inline int32_t assign(self) except -1:
        if self.state.largest == LARGEST_IDENTIFIER:
            return self.overflow(1)
        self.state.largest += 1
        return self.state.largest

    cdef int32_t overflow(self, Py_ssize_t n) except -1            # always raises IdentifierOverflow
    cpdef int32_t assign_block(self, Py_ssize_t n) except -1       # the first of n contiguous ones; 0 for n = 0
    cpdef int reset(self) except -1
    cpdef int reset_hard(self) except -1
    cpdef int reset_to(self, Py_ssize_t largest) except -1         # identifiers above `largest` are free again
