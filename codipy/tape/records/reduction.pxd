# SPDX-License-Identifier: Apache-2.0
# Sums over axes on the tape: the reverse of a sum is a broadcast, so nothing but shapes is stored.
from libc.stdint cimport int32_t
cimport cython

from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.record cimport Record


@cython.final
cdef class Reduction(Record):
    cdef int ndim                              # of the argument
    cdef int32_t argument                      # identifier of its first element
    cdef int32_t result                        # ... and of the result's
    cdef Py_ssize_t size                       # elements of the result, which are contiguous
    cdef bint single                           # the values are those of float32
    cdef double scale                          # 1 for a sum, 1 / n for a mean
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]         # of the argument, in elements ...
    cdef Py_ssize_t result_strides[MAX_DIMS]  # ... and of the result, 0 along the axes that are summed

    cdef int sweep(self, AdjointVector adjoints, bint reverse, bint keep) except -1
    cdef void run_all(self, double* origin, Py_ssize_t width, bint reverse, bint keep) noexcept nogil
    cdef void run(self, double* argument, double* result, Py_ssize_t width, bint reverse) noexcept nogil
