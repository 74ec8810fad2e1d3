# SPDX-License-Identifier: Apache-2.0
# The idle tapes of a thread.
from codipy.active.tape cimport Tape

cpdef Tape borrow(tuple settings)
cpdef int give_back(tuple settings, Tape tape) except -1
