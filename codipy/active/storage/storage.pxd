# SPDX-License-Identifier: Apache-2.0
# What views of one array share: the values, and the identifiers; and who may overwrite them.
from libc.stdint cimport int32_t, int64_t
from cpython.object cimport PyObject
cimport cython

from codipy.active.storage.block cimport Block
from codipy.active.storage.view cimport View
from codipy.data.buffer cimport Buffer
from codipy.tape.base cimport BaseTape

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o) noexcept


# Three states:   passive   block None, identifiers NULL
#                 clean     the element at offset i has the identifier block.base + i
#                 mixed     one explicit identifier per element, after parts were written while others read the block
#
# Values and Block are overwritten in place only while this storage is the only one that has them: the two functions
# below ask Python's reference count of the very field, in which no local variable of a caller takes part.
# What a step touches is what it costs: a small part (a quarter or less) of a storage that is read and written by parts
# is copied when it is read, so that no reader holds the whole, and its identifiers become explicit when it is written.
@cython.final
cdef class Storage:
    cdef Buffer buffer
    cdef Block block
    cdef int32_t* identifiers
    cdef int64_t epoch               # mixed: when the last identifier was written, and on which tape
    cdef Block input                 # the block that register_input gave, for the gradient; or None
    cdef Block output                # likewise of register_output
    cdef Storage part                # a copy of the small part that was read last; a write forgets it ...
    cdef View part_view              # ... and the elements of this storage that it has
    cdef bint parted                 # a small part was written while others read the values
    cdef bint single                 # values are those of float32: each was rounded when it was written
    cdef bint overwritten            # some element was written to since the storage was made
    cdef int writes                  # of single elements since it became clean

    # Each write begins with the first; the second comes before values are written, `touched` elements of them.
    cdef int begin_write(self) except -1
    cdef int own_values(self, Py_ssize_t touched) except -1
    # New values and identifiers of a storage that is clean or passive: nothing that was copied from it before is it now.
    cdef int become(self, Buffer buffer, Block block) except -1

    # Identifiers of single elements: see Block.hand_out.
    cdef int32_t hand_out(self, BaseTape tape, Py_ssize_t offset) noexcept
    cdef int put(self, BaseTape tape, Py_ssize_t offset, int32_t handed_out) except -1
    cdef int make_passive(self, Py_ssize_t offset) noexcept
    cdef int make_mixed(self, BaseTape tape) except -1
    cdef int make_clean(self, BaseTape tape) except -1
    cdef int drop_identifiers(self) except -1
    cdef void release_all(self) noexcept


# Whether the plain array that owns a Buffer's memory is nobody else's.
cdef bint owns_array(Buffer buffer) noexcept


cdef inline bint owns_buffer(Storage s) noexcept:
    """Whether nobody else reads the values: no other storage, expression, record or plain array."""
    return Py_REFCNT(<PyObject*>s.buffer) == 1 and s.buffer.walk >= 0 and (s.buffer.array is None or owns_array(s.buffer))


cdef inline bint owns_block(Storage s) noexcept:
    """Whether nobody else can reach the identifiers of a clean storage."""
    return Py_REFCNT(<PyObject*>s.block) == 1 and not s.block.lent and not s.block.is_input


cdef inline bint is_unread(Storage s) noexcept:
    """Whether an input still is what was registered, and no expression, copy or view by itself has its identifiers."""
    return s.input is not None and s.block is s.input and not s.input.lent and Py_REFCNT(<PyObject*>s.input) == 2


cdef inline bint is_small(Py_ssize_t part, Py_ssize_t whole) noexcept:
    """Whether a part is worth treating by itself."""
    return 4 * part < whole

cdef Storage new_storage(Buffer buffer, Block block, bint single)

# By the id of a storage, the copies of its values that libraries have, in the place of plain arrays: see shown.pyx.
cdef dict shown
cdef int on_death(object f) except -1
