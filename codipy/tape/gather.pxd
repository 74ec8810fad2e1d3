# SPDX-License-Identifier: Apache-2.0
# A movement on the tape: a block whose elements are copies of given identifiers.
from libc.stdint cimport int32_t
cimport cython

from codipy.tape.record cimport Record


# Identifiers come in runs more often than not (rows of a concatenated array), so they are stored as runs where that is
# shorter: first identifier and length; a run of passive elements begins with 0.
@cython.final
cdef class Gather(Record):
    cdef int32_t base                # of the result
    cdef bint replays                # the passive elements' values are kept
    cdef Py_ssize_t size
    cdef Py_ssize_t runs             # number of runs; 0: one identifier per element
    cdef int32_t* sources            # where the tape can be replayed the passive elements' values lie behind, aligned

    cdef double* constants(self) noexcept nogil
    cdef Py_ssize_t passive(self) noexcept

# `values` of all elements where the tape can be replayed, else NULL.
cdef Gather new_gather(const int32_t* identifiers, const double* values, Py_ssize_t size)
# The same of runs: pairs of the first identifier, 0 for passive elements, and how many there are.
cdef Gather gather_of_runs(const int32_t* runs, Py_ssize_t count, const double* values, Py_ssize_t size)
# Of identifiers none of which is 0, in memory of PyMem_Malloc's that the record takes over, whatever happens.
cdef Gather gather_apart(int32_t* identifiers, Py_ssize_t size, bint replays)
