# SPDX-License-Identifier: Apache-2.0
# A movement on the tape: a block whose elements are copies of given identifiers.
from libc.stdint cimport int32_t
cimport cython

from codipy.tape.records.record cimport Record


# Identifiers one after the other; 0: passive elements.
cdef struct Run:
    int32_t first
    Py_ssize_t length


# Identifiers come in runs more often than not (rows of a concatenated array), so they are stored as runs where that is
# shorter: first identifier and length; a run of passive elements begins with 0.
@cython.final
cdef class Gather(Record):
    cdef int32_t base                # of the result
    cdef bint replays                # the passive elements' values are kept
    cdef Py_ssize_t size
    cdef Py_ssize_t runs             # number of runs; 0: one identifier per element
    cdef int32_t* sources            # where the tape can be replayed the passive elements' values lie behind, aligned

    cdef inline Py_ssize_t run_count(self) noexcept nogil:
        return self.runs if self.runs else self.size

    cdef inline Run run_at(self, Py_ssize_t r) noexcept nogil:
        """Whichever way they are stored."""
        cdef Run run
        run.first = self.sources[2 * r] if self.runs else self.sources[r]
        run.length = self.sources[2 * r + 1] if self.runs else 1
        return run

    cdef double* constants(self) noexcept nogil
    cdef Py_ssize_t passive(self) noexcept

# `values` of all elements where the tape can be replayed, else NULL.
cdef Gather new_gather(const int32_t* identifiers, const double* values, Py_ssize_t size)
# The same of runs: pairs of the first identifier, 0 for passive elements, and how many there are.
cdef Gather gather_of_runs(const int32_t* runs, Py_ssize_t count, const double* values, Py_ssize_t size)
# Of identifiers none of which is 0, in memory of PyMem_Malloc's that the record takes over, whatever happens.
cdef Gather gather_apart(int32_t* identifiers, Py_ssize_t size, bint replays)
