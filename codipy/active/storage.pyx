# SPDX-License-Identifier: Apache-2.0
"""What views of one array share."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
cimport cython
cimport numpy as cnp

from codipy.active.block cimport Block, new_block
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.gather cimport new_gather
from codipy.tape.recorder cimport JACOBIAN

cnp.import_array()


# Nothing that an array holds refers to an array or a tape, so no cycle passes through it.
@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class Storage:
    """Storage()
    --

    Values and identifiers behind arrays; made by them.
    """
    def __dealloc__(self):
        if self.identifiers != NULL:
            self.release_all()
            PyMem_Free(self.identifiers)

    cdef void release_all(self) noexcept:
        """A reuse manager no longer counts the identifiers that Reals brought here."""
        cdef BaseTape tape
        cdef Py_ssize_t i
        cdef PyObject* found = tape_of_epoch(self.epoch)
        if found == NULL:
            return
        tape = <BaseTape>found
        if tape.recorder.reuse and tape.owns(self.epoch):
            for i in range(self.buffer.size):
                if self.identifiers[i] and not self.is_held(self.identifiers[i]):
                    tape.release_identifier(self.identifiers[i])

    cdef int hold(self, BaseTape tape, Block block) except -1:
        """Keep a block of which identifiers were written here; where identifiers are linear, being lent is enough."""
        cdef cnp.npy_intp size
        if not tape.recorder.reuse:
            return 0
        self.held.append(block)
        if len(self.held) > self.most_held:
            size = self.buffer.size
            numbers = np.unique(cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_INT32, self.identifiers))
            self.held = [block for block in self.held
                         if np.searchsorted(numbers, block.base) < np.searchsorted(numbers, block.base + block.size)]
            self.most_held = 2 * len(self.held) + 16
        return 0

    cdef bint is_held(self, int32_t identifier) noexcept:
        cdef Block block
        for block in self.held:
            if block.base <= identifier < block.base + block.size:
                return True
        return False

    cdef int own_values(self) except -1:
        """Before a write: the values in memory that nobody else reads."""
        cdef Buffer old = self.buffer, new
        if old.is_shared(2) or old.array is not None:
            new = new_buffer(old.size)
            if old.size:
                memcpy(new.data, old.data, old.size * sizeof(double))
            self.buffer = new
        return 0

    cdef int make_mixed(self, BaseTape tape) except -1:
        cdef Py_ssize_t i
        cdef int32_t* identifiers
        if self.identifiers != NULL:
            return 0
        identifiers = <int32_t*>PyMem_Calloc(self.buffer.size + 1, sizeof(int32_t))
        if identifiers == NULL:
            raise MemoryError(f"no memory for {self.buffer.size} identifiers")
        self.held = []
        if self.block is not None:
            for i in range(self.buffer.size):
                identifiers[i] = self.block.base + <int32_t>i
            self.held.append(self.block)
            self.block = None
        self.identifiers, self.epoch = identifiers, tape.recorder.epoch
        return 0

    cdef int drop_identifiers(self) except -1:
        """Back from mixed to passive; whoever calls gives a block next, or has overwritten everything."""
        if self.identifiers != NULL:
            self.release_all()
            PyMem_Free(self.identifiers)
            self.identifiers, self.held = NULL, None
        return 0

    cdef int make_clean(self, BaseTape tape) except -1:
        cdef int32_t before = tape.largest()
        cdef Block block
        cdef Py_ssize_t i
        for i in range(self.buffer.size):
            if self.identifiers[i]:
                break
        else:
            return self.drop_identifiers()
        block = new_block(tape, self.buffer.size)
        try:
            tape.push_record(new_gather(self.identifiers, self.buffer.data if tape.recorder.kind != JACOBIAN else NULL,
                                        self.buffer.size, block.base), before)
        except BaseException:
            tape.withdraw_block(before)
            raise
        self.drop_identifiers()
        self.block = block
        return 0

    cdef int put(self, BaseTape tape, Py_ssize_t offset, int32_t identifier) except -1:
        """Write the identifier of one element of a mixed storage."""
        cdef int32_t old = self.identifiers[offset]
        self.epoch = tape.recorder.epoch
        if tape.recorder.reuse:
            if identifier and not self.is_held(identifier):
                tape.store.reusing.retain(identifier)
            if old and not self.is_held(old):
                tape.release_identifier(old)
        self.identifiers[offset] = identifier
        return 0


cdef Storage new_storage(Buffer buffer, Block block, bint single):
    cdef Storage new = Storage.__new__(Storage)
    new.buffer, new.block, new.single = buffer, block, single
    return new
