# SPDX-License-Identifier: Apache-2.0
# A variable of an enclosing recording that takes part in an inner one: for as long as that runs it is an input there.
from libc.stdint cimport int32_t
cimport cython


@cython.no_gc
cdef class Loan:
    cdef readonly int32_t first      # the identifiers that the inner recording gave it ...
    cdef readonly Py_ssize_t size    # ... and how many
    cdef readonly object origin      # the variable of the enclosing recording: a Real, or the storage of an Array

    # The inner recording is over: everything is as it was before.
    cdef int end(self) noexcept
