# SPDX-License-Identifier: Apache-2.0
# The identifiers of an array: n contiguous ones, shared and counted like the values.
from libc.stdint cimport int32_t, int64_t
cimport cython

from codipy.tape.base cimport BaseTape


# Who holds it: storages, and pending expressions that read them. A record names identifiers only, so a block whose
# last holder is gone serves the next array; in the reverse sweep the later one is consumed before the earlier one's
# adjoints arrive.
@cython.final
cdef class Block:
    cdef readonly int32_t base
    cdef readonly Py_ssize_t size
    cdef int64_t epoch           # of the last write: a reset to before it makes the block stale
    cdef bint lent               # Reals carry its identifiers: it is neither overwritten nor used again before a reset
    cdef bint is_input           # its adjoints are the gradient of an input: likewise

cdef Block new_block(BaseTape tape, Py_ssize_t size, bint is_input=*)
