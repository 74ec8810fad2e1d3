# SPDX-License-Identifier: Apache-2.0
# What views of one array share: the values, and the identifiers.
from libc.stdint cimport int32_t, int64_t
cimport cython

from codipy.active.block cimport Block
from codipy.data.buffer cimport Buffer
from codipy.tape.base cimport BaseTape


# Three states:   passive   block None, identifiers NULL
#                 clean     the element at offset i has the identifier block.base + i
#                 mixed     one explicit identifier per element, after elements were written one by one; `held` are the
#                           blocks they come from
@cython.final
cdef class Storage:
    cdef Buffer buffer
    cdef Block block
    cdef int32_t* identifiers
    cdef list held
    cdef Py_ssize_t most_held        # blocks before those of which no identifier is left are dropped
    cdef int64_t epoch               # mixed: when the last identifier was written, and on which tape
    cdef Block input                 # the block that register_input gave, for the gradient; or None
    cdef Block output                # likewise of register_output
    cdef bint single                 # values are those of float32: each was rounded when it was written
    cdef bint overwritten            # some element was written to since the storage was made
    cdef int writes                  # of single elements since it became clean

    cdef int own_values(self) except -1
    cdef int make_mixed(self, BaseTape tape) except -1
    cdef int make_clean(self, BaseTape tape) except -1
    cdef int drop_identifiers(self) except -1
    cdef int put(self, BaseTape tape, Py_ssize_t offset, int32_t identifier) except -1

    cdef int hold(self, BaseTape tape, Block block) except -1
    cdef bint is_held(self, int32_t identifier) noexcept
    cdef void release_all(self) noexcept

cdef Storage new_storage(Buffer buffer, Block block, bint single)
