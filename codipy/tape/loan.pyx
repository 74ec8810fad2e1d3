# SPDX-License-Identifier: Apache-2.0
"""What an enclosing recording lends to an inner one."""
cimport cython


@cython.no_gc
cdef class Loan:
    """Loan()
    --

    One variable of an enclosing recording as an input of an inner one; variables make it.
    """

    cdef int end(self) noexcept:
        return 0
