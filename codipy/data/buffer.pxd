# SPDX-License-Identifier: Apache-2.0
# The memory of an array's values, counted by Python: variables, pending expressions and the tape share it.
from libc.stdint cimport int64_t
cimport cython


# Immutable as soon as it is shared: whoever wants to write, and is not the only holder, writes into a new one. So
# nothing ever needs to be told that what it reads has changed. Every holder has a reference, so Python's reference
# count is the count of holders (owns_buffer in active/storage/storage.pxd).
@cython.final
cdef class Buffer:
    cdef double* data
    cdef readonly Py_ssize_t size        # doubles
    cdef readonly object array           # a NumPy array that owns the memory, or None: it is ours
    cdef public int64_t walk             # the last one that counted what tapes keep: see tape/memory/held.py. Negative: a
                                         # recording that keeps nothing would keep this one, so nobody owns it alone


cdef Buffer new_buffer(Py_ssize_t size)
cdef Buffer wrap_array(object array, double* data, Py_ssize_t size)
