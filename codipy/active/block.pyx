# SPDX-License-Identifier: Apache-2.0
"""The identifiers of an array."""
from libc.stdint cimport int32_t
from cpython.object cimport PyObject
cimport cython

from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape


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
        if self.size and not self.is_input:
            tape = tape_of_epoch(self.epoch)
            if tape != NULL and (<BaseTape>tape).owns(self.epoch):
                (<BaseTape>tape).give_block(self.base, self.size, self.epoch, self.lent)


cdef Block new_block(BaseTape tape, Py_ssize_t size, bint is_input=False):
    cdef int32_t base = tape.new_input_block(size) if is_input else tape.new_block(size)
    cdef Block block = Block.__new__(Block)
    block.is_input = is_input
    block.base, block.size, block.epoch = base, size, tape.recorder.epoch
    return block
