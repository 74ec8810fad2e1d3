# SPDX-License-Identifier: Apache-2.0
"""The variables that were registered on a tape, in order."""
from libc.stdint cimport int32_t, int64_t
from cpython.mem cimport PyMem_Free, PyMem_Realloc
cimport cython

from codipy.active.core.base_array cimport BaseArray, new_array
from codipy.active.core.base_real cimport IS_INPUT, IS_OUTPUT, OF_ARRAY, OF_INPUT, OWNS
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport Block
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.tape.base cimport BaseTape


@cython.final
@cython.no_gc            # nothing in it refers to a tape
cdef class Registered:
    """Registered()
    --

    The inputs or the outputs of one tape.
    """
    def __cinit__(self):
        self.arrays, self.epochs = [], []

    def __dealloc__(self):
        PyMem_Free(self.items)

    cdef int make_room(self, BaseTape tape, Py_ssize_t more) except -1:
        self.settle(tape)
        self.note_epoch(tape.recorder.epoch)
        return self.grow(more)

    cdef int grow(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t capacity
        cdef Kept* larger
        if self.count + more > self.capacity:
            capacity = max(2 * self.capacity, self.count + more, <Py_ssize_t>8)
            larger = <Kept*>PyMem_Realloc(self.items, capacity * sizeof(Kept))
            if larger == NULL:
                raise MemoryError(f"no memory for {capacity} registered variables")
            self.items, self.capacity = larger, capacity
        return 0

    cdef int note_epoch(self, int64_t epoch) except -1:
        if not self.epochs or self.epochs[len(self.epochs) - 1][0] < epoch:
            self.epochs.append((epoch, self.count))
        return 0

    cdef void add_real(self, BaseTape tape, Real x) noexcept:
        self.items[self.count] = Kept(x.primal, x.epoch, x.identifier, x.kind,
                                      x.flags & (IS_INPUT | IS_OUTPUT | OF_INPUT | OF_ARRAY))
        self.count += 1
        if self.holds and tape.recorder.reuse:
            tape.store.reusing.retain(x.identifier)

    cdef int add_array(self, BaseTape tape, BaseArray a) except -1:
        self.arrays.append(shared(a))
        self.items[self.count] = Kept(0.0, 0, -<int32_t>len(self.arrays), 0, 0)
        self.count += 1
        return 0

    cdef int settle(self, BaseTape tape) except -1:
        cdef Py_ssize_t before
        cdef Kept* item
        while self.epochs and not tape.is_valid(self.epochs[len(self.epochs) - 1][0]):
            before = self.epochs.pop()[1]
            while self.count > before:
                self.count -= 1
                item = self.items + self.count
                if item.identifier < 0:
                    self.arrays.pop()
                elif self.holds and tape.recorder.reuse:
                    tape.store.reusing.release(item.identifier)
        return 0

    cdef int forget(self) except -1:
        """The tape is reset, and with it the identifiers."""
        self.count = 0
        self.epochs.clear()
        self.arrays.clear()
        return 0

    cdef tuple variables(self, BaseTape tape):
        """Variables of their own, each once."""
        cdef list found = []
        cdef set seen = set()
        cdef Py_ssize_t i
        cdef Kept* item
        cdef Real x
        cdef BaseArray a
        cdef Block block
        self.settle(tape)
        for i in range(self.count):
            item = self.items + i
            if item.identifier >= 0:
                key = item.identifier
            else:
                a = self.arrays[~item.identifier]
                block = a.storage.block
                key = id(block) if block is not None else id(a), a.geometry.offset, a.shape, a.strides
            if key in seen:
                continue
            seen.add(key)
            if item.identifier < 0:
                found.append(shared(a))
                continue
            x = new_identified(item.value, item.epoch, item.identifier, item.flags, item.kind)
            if tape.recorder.reuse:
                tape.store.reusing.retain(item.identifier)
                x.flags |= OWNS
            found.append(x)
        return tuple(found)


cdef BaseArray shared(BaseArray a):
    """An Array of the same values and identifiers; neither sees what is written to the other."""
    cdef Storage storage = new_storage(a.storage.buffer, a.storage.block, a.storage.single)
    storage.input, storage.output = a.storage.input, a.storage.output
    return new_array(storage, &a.geometry)
