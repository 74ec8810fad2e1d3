# SPDX-License-Identifier: Apache-2.0
# The identifiers of an array: n contiguous ones, and the one rule that says when they may serve again.
from libc.stdint cimport int32_t, int64_t
cimport cython

from codipy.tape.base cimport BaseTape
from codipy.tape.records.record cimport Record


# Holders are the storages and pending expressions that have a reference to the Block, so Python's reference count is
# the count of holders, and nobody keeps another. A record names identifiers only: a Block whose last holder is gone
# serves the next array; in the reverse sweep the later one is consumed before the earlier one's adjoints arrive.
#
# An identifier leaves its Block through hand_out() alone: an element that becomes a Real, or a place in a storage with
# explicit identifiers. Reuse strategies count such a holder by identifier; elsewhere it holds the whole Block until the
# tape is reset.
@cython.final
cdef class Block:
    cdef readonly int32_t base
    cdef readonly Py_ssize_t size
    cdef int64_t epoch           # of the last write: a reset to before it makes the block stale
    cdef bint lent               # an identifier was handed out: neither overwritten nor used again before a reset
    cdef bint is_input           # its adjoints are the gradient of an input: likewise
    cdef Block parent            # a part of this one, which it holds
    cdef bint scattered          # identifiers of one by one: their statements may be older than the epoch says

    # `offset`s identifier, for a holder that is not counted by references to the Block; gives it that hold.
    cdef int32_t hand_out(self, BaseTape tape, Py_ssize_t offset) noexcept


cdef inline bint is_of_input(Block block) noexcept:
    """Whether no statement consumes the adjoints: an input's block, or a part of one."""
    while block is not None:
        if block.is_input:
            return True
        block = block.parent
    return False


cdef Block new_block(BaseTape tape, Py_ssize_t size, bint is_input=*)
# A Block for the result of a record, which goes on the tape; nothing of the two stays where memory runs out.
cdef Block append_block(BaseTape tape, Record record, Py_ssize_t size, bint is_input=*)
# A Block for copies of other identifiers, 0 for a passive one, and the record of that movement; the values serve a
# replay. Nothing of it stays where memory runs out.
cdef Block moved_block(BaseTape tape, const int32_t* sources, const double* values, Py_ssize_t size)
# A part of a Block as one of its own. It is never overwritten.
cdef Block part_of_block(Block parent, Py_ssize_t offset, Py_ssize_t size)
# A Block on identifiers that a storage holds one by one, and contiguous ones.
cdef Block block_on(BaseTape tape, int32_t base, Py_ssize_t size, int64_t epoch)
