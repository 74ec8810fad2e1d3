# SPDX-License-Identifier: Apache-2.0
# The idle tapes of a thread.
from codipy.active.tape cimport Tape

cpdef Tape borrow(tuple settings)
cpdef int give_back(tuple settings, Tape tape) except -1
cpdef int wait_for_rebound(Tape tape, list leaves) except -1
cdef bint waits_for_rebound() noexcept
cdef list differentiated_by()
