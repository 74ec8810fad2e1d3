# SPDX-License-Identifier: Apache-2.0
"""The identifiers of an array."""
from libc.stdint cimport int32_t, int64_t
from cpython.object cimport PyObject
cimport cython

from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.records.gather cimport new_gather
from codipy.tape.records.record cimport Record


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Block:
    """Block()
    --

    Contiguous identifiers of a tape; made by arrays.
    """
    def __dealloc__(self):
        cdef PyObject* tape
        if self.size and not self.is_input and self.parent is None:
            tape = tape_of_epoch(self.epoch)
            if tape != NULL and (<BaseTape>tape).owns(self.epoch):
                (<BaseTape>tape).give_block(self.base, self.size, self.epoch, self.lent)

    cdef int32_t hand_out(self, BaseTape tape, Py_ssize_t offset) noexcept:
        cdef int32_t identifier = self.base + <int32_t>offset
        cdef Block owner = self
        while owner is not None:
            owner.lent = True
            owner = owner.parent
        if tape.recorder.reuse:
            tape.store.reusing.retain(identifier)
        return identifier


cdef Block new_block(BaseTape tape, Py_ssize_t size, bint is_input=False):
    cdef Block block = Block.__new__(Block)      # before the identifiers, which nobody else would give back
    block.base = tape.new_input_block(size) if is_input else tape.new_block(size)
    block.is_input = is_input
    block.size, block.epoch = size, tape.recorder.epoch
    return block


cdef Block append_block(BaseTape tape, Record record, Py_ssize_t size, bint is_input=False):
    cdef int32_t before = tape.largest()
    cdef Block block = new_block(tape, size, is_input)
    record.name_result(block.base)
    tape.append(record, before)
    return block


cdef Block moved_block(BaseTape tape, const int32_t* sources, const double* values, Py_ssize_t size):
    return append_block(tape, new_gather(sources, values if tape.recorder.keeps_values else NULL, size), size)


cdef Block part_of_block(Block parent, Py_ssize_t offset, Py_ssize_t size):
    cdef Block block = Block.__new__(Block)
    block.base, block.size, block.epoch = parent.base + <int32_t>offset, size, parent.epoch
    block.parent, block.lent, block.scattered = parent, True, parent.scattered
    return block


cdef Block block_on(BaseTape tape, int32_t base, Py_ssize_t size, int64_t epoch):
    cdef Block block = Block.__new__(Block)
    cdef Py_ssize_t i
    block.base, block.size, block.epoch, block.lent, block.scattered = base, size, epoch, True, True
    for i in range(size if tape.recorder.reuse else 0):
        tape.store.reusing.retain(base + <int32_t>i)
    return block
