# SPDX-License-Identifier: Apache-2.0
"""What views of one array share."""
import sys

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
cimport cython
cimport numpy as cnp

from codipy.active.storage.block cimport Block, moved_block
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.tape.activity cimport tape_of_epoch
from codipy.tape.base cimport BaseTape

from codipy.active.messages.callers import frames_of_users, place
from codipy.errors import ActiveError

cnp.import_array()

cdef dict shown = {}
cdef object forget = None        # what shown.pyx does about the copies of a storage that is gone, by its id


cdef int on_death(object f) except -1:
    global forget
    forget = f
    return 0


cdef int demand_unseen(Storage storage) except -1:
    """That no library has a plain array which would have to show what is written."""
    if id(storage) not in shown:
        return 0
    frames = frames_of_users(sys._getframe())
    where = f" ({place(frames[0])})" if frames else ""
    raise ActiveError(f"what is written to an array would not be seen by a library that was given it and keeps its "
                      f"values{where}: give it a copy, `u.copy()`, or make the array anew and write to that")


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
        if shown is not None and shown and id(self) in shown:
            forget(id(self))
        if self.identifiers != NULL:
            self.release_all()
            PyMem_Free(self.identifiers)

    cdef void release_all(self) noexcept:
        """A reuse manager no longer counts the identifiers that stand here."""
        cdef Py_ssize_t i
        cdef PyObject* tape = tape_of_epoch(self.epoch)
        if tape != NULL and (<BaseTape>tape).recorder.reuse and (<BaseTape>tape).owns(self.epoch):
            for i in range(self.buffer.size):
                self.make_passive(i)

    cdef int make_passive(self, Py_ssize_t offset) noexcept:
        """One element of a mixed storage loses its identifier."""
        cdef int32_t old = self.identifiers[offset]
        cdef PyObject* tape
        self.identifiers[offset] = 0
        if old:
            tape = tape_of_epoch(self.epoch)
            if tape != NULL and (<BaseTape>tape).recorder.reuse and (<BaseTape>tape).owns(self.epoch):
                (<BaseTape>tape).release_identifier(old)
        return 0

    cdef int begin_write(self) except -1:
        if shown:
            demand_unseen(self)
        self.overwritten = True
        self.part = None
        return 0

    cdef int own_values(self, Py_ssize_t touched) except -1:
        """The values in memory that nobody else reads."""
        cdef Buffer old, new
        self.part = None
        if owns_buffer(self):
            return 0
        old = self.buffer
        self.parted |= old.array is None and is_small(touched, old.size)
        new = new_buffer(old.size)
        if old.size:
            memcpy(new.data, old.data, old.size * sizeof(double))
        self.buffer = new
        return 0

    cdef int become(self, Buffer buffer, Block block) except -1:
        if block is not self.block:
            self.writes = 0
        self.buffer, self.block, self.part = buffer, block, None
        return 0

    cdef int32_t hand_out(self, BaseTape tape, Py_ssize_t offset) noexcept:
        """The identifier of an active storage's element, 0 where that is passive."""
        cdef int32_t identifier
        if self.identifiers == NULL:
            return self.block.hand_out(tape, offset)
        identifier = self.identifiers[offset]
        if identifier and tape.recorder.reuse:
            tape.store.reusing.retain(identifier)
        return identifier

    cdef int make_mixed(self, BaseTape tape) except -1:
        cdef Py_ssize_t i
        cdef int32_t* identifiers
        cdef int32_t first
        if self.identifiers != NULL:
            return 0
        identifiers = <int32_t*>PyMem_Calloc(self.buffer.size + 1, sizeof(int32_t))
        if identifiers == NULL:
            raise MemoryError(f"no memory for {self.buffer.size} identifiers")
        if self.block is not None:
            if tape.recorder.reuse:
                for i in range(self.buffer.size):
                    identifiers[i] = self.block.hand_out(tape, i)
            elif self.buffer.size:
                first = self.block.hand_out(tape, 0)     # a hold of the whole Block
                for i in range(self.buffer.size):
                    identifiers[i] = first + <int32_t>i
            self.block = None
        self.identifiers, self.epoch, self.part = identifiers, tape.recorder.epoch, None
        return 0

    cdef int drop_identifiers(self) except -1:
        """Back from mixed to passive; whoever calls gives a block next, or has overwritten everything."""
        if self.identifiers != NULL:
            self.release_all()
            PyMem_Free(self.identifiers)
            self.identifiers = NULL
        self.part = None
        return 0

    cdef int make_clean(self, BaseTape tape) except -1:
        cdef Block block
        cdef Py_ssize_t i
        for i in range(self.buffer.size):
            if self.identifiers[i]:
                break
        else:
            return self.drop_identifiers()
        block = moved_block(tape, self.identifiers, self.buffer.data, self.buffer.size)
        self.drop_identifiers()
        self.block = block
        return 0

    cdef int put(self, BaseTape tape, Py_ssize_t offset, int32_t handed_out) except -1:
        """Write the identifier of one element of a mixed storage; it was handed out, and is this storage's now."""
        cdef int32_t old = self.identifiers[offset]
        self.epoch = tape.recorder.epoch
        self.identifiers[offset] = handed_out
        if old and tape.recorder.reuse:
            tape.release_identifier(old)
        return 0


cdef bint owns_array(Buffer buffer) noexcept:
    # What views it, or lends its memory to others, has a reference to it.
    return (Py_REFCNT(<PyObject*>buffer.array) == 1 and cnp.PyArray_CHKFLAGS(<cnp.ndarray>buffer.array,
            cnp.NPY_ARRAY_OWNDATA | cnp.NPY_ARRAY_WRITEABLE))


cdef Storage new_storage(Buffer buffer, Block block, bint single):
    cdef Storage new = Storage.__new__(Storage)
    new.buffer, new.block, new.single = buffer, block, single
    return new
