# SPDX-License-Identifier: Apache-2.0
# The memory of an array's values, counted by Python: variables, pending expressions and the tape share it.
from cpython.ref cimport Py_REFCNT
cimport cython


# Immutable as soon as it is shared: whoever wants to write, and is not the only holder, writes into a new one. So
# nothing ever needs to be told that what it reads has changed.
@cython.final
cdef class Buffer:
    cdef double* data
    cdef readonly Py_ssize_t size        # doubles
    cdef object array                    # a NumPy array that owns the memory, or None: it is ours

    # Whether somebody beside `references` known holders has it.
    cdef inline bint is_shared(self, Py_ssize_t references) noexcept:
        return Py_REFCNT(self) > references

cdef Buffer new_buffer(Py_ssize_t size)
cdef Buffer wrap_array(object array, double* data, Py_ssize_t size)
