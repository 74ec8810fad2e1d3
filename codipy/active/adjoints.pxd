# SPDX-License-Identifier: Apache-2.0
# External adjoint vectors, indexed by variables.
from codipy.active.tape cimport Tape
from codipy.tape.adjoints cimport AdjointVector
cimport cython


@cython.final
cdef class Adjoints(AdjointVector):
    cdef readonly Tape tape
    cdef int demand_idle(self, str action) except -1
    cdef slots_of(self, x)
