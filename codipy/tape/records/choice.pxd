# SPDX-License-Identifier: Apache-2.0
# Elements chosen from several arrays, place by place: np.where, np.clip.
from libc.stdint cimport int32_t, uint8_t
cimport cython

from codipy.data.buffer cimport Buffer
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.records.record cimport Record

cdef enum:
    MOST_CHOICES = 3


# An active operand: its first identifier, and strides in elements that read it in the shape of the result.
cdef struct Operand:
    int32_t first                    # 0: passive
    Py_ssize_t strides[MAX_DIMS]


@cython.final
cdef class Choice(Record):
    cdef int32_t base                # identifiers of the result, in the order of C
    cdef Py_ssize_t size
    cdef int ndim
    cdef int count                   # of operands
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Operand operands[MOST_CHOICES]
    cdef Buffer memory               # of ...
    cdef uint8_t* chosen             # ... the operand of each element

    cdef void add_in_order(self, double* origin, double* result, bint keep) noexcept nogil

# Without the identifiers of operands and result.
cdef Choice new_choice(int ndim, const Py_ssize_t* shape, Py_ssize_t size, int count)
