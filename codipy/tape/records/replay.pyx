# SPDX-License-Identifier: Apache-2.0
"""The state of evaluate_primal() on a tape that holds records."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
cimport cython

from codipy.data.buffer cimport Buffer, new_buffer
from codipy.data.position cimport Position

from codipy.errors import TapeError


@cython.final
cdef class Replay:
    """Replay()
    --

    What evaluate_primal() made of one tape's records.
    """
    def __cinit__(self):
        self.buffers = {}

    def __dealloc__(self):
        PyMem_RawFree(self.own)

    cdef int make_room(self, Py_ssize_t slots) except -1:
        cdef double* larger
        if slots > self.slots:
            larger = <double*>PyMem_RawRealloc(self.own, slots * sizeof(double))
            if larger == NULL:
                raise MemoryError(f"no memory for {slots} values of a replay")
            self.own, self.slots = larger, slots
        return 0

    cdef Buffer renewed(self, Buffer old, int32_t base):
        # By the identifier too: one Buffer may be the values of a result and, registered anew, those of an input.
        cdef object key = (old, base)
        cdef Buffer new = self.buffers.get(key)
        if new is None:
            new = new_buffer(old.size)
            if old.size:
                memcpy(new.data, old.data, old.size * sizeof(double))
            self.buffers[key] = new
        return new

    cdef Buffer refreshed(self, Buffer old, Py_ssize_t offset, int32_t first, int ndim, const Py_ssize_t* shape,
                          const Py_ssize_t* strides):
        # Only what the view shows: the block's other identifiers may hold other values by now.
        cdef Buffer new = self.renewed(old, first - <int32_t>offset)
        if new is not old:       # an input whose values stay
            copy_view(self.values + first, new.data + offset, ndim, shape, strides)
        return new

    cdef bint continues(self, Position start, Py_ssize_t records) except? True:
        """Whether the vector holds the values as they were at this place."""
        return not self.changed and self.ended(start, records)

    cdef bint ended(self, Position place, Py_ssize_t records) except? True:
        return self.begun and not self.torn and self.records == records and self.at.compare(place) == 0

    cdef int begin(self, bint continued, bint whole) except -1:
        if self.torn and not whole:
            raise TapeError("the last evaluate_primal() failed, or the tape was reset to a position since: run it over "
                            "the whole recording first, without `end`")
        self.continued = continued
        if not continued:
            self.buffers.clear()
        self.begun = self.torn = True
        return 0

    cdef int end(self, Position place, Py_ssize_t records, int64_t epoch, bint whole) except -1:
        self.at, self.records, self.epoch = place, records, epoch
        self.farthest = max(self.farthest, epoch)
        self.torn = self.changed = False
        if whole:
            self.buffers.clear()
        return 0

    cdef int demand(self, Position last, Py_ssize_t records) except -1:
        self.demand_whole()
        if self.begun and (records > self.records or last.compare(self.at) > 0):
            raise TapeError("the last evaluate_primal() ended before what this sweep reads, or something was recorded "
                            "since: run evaluate_primal() to the end first")
        return 0

    cdef int demand_whole(self) except -1:
        if self.torn:
            raise TapeError("the values on this tape are partly new, since evaluate_primal() failed or the tape was "
                            "reset to a position after it: run evaluate_primal() over the whole recording, or reset()")
        return 0

    cdef void forget(self) noexcept:
        self.begun = self.torn = self.changed = False
        self.at, self.farthest = None, 0
        PyMem_RawFree(self.own)
        self.own, self.slots = NULL, 0
        self.buffers.clear()


cdef void copy_view(const double* source, double* target, int ndim, const Py_ssize_t* shape,
                    const Py_ssize_t* strides) noexcept nogil:
    """Copy a view of one memory to the same view of another."""
    cdef Py_ssize_t i, stride
    if ndim == 0:
        target[0] = source[0]
        return
    stride = strides[0]
    if ndim == 1 and stride == 1:
        memcpy(target, source, shape[0] * sizeof(double))
    elif ndim == 1:
        for i in range(shape[0]):
            target[i * stride] = source[i * stride]
    else:
        for i in range(shape[0]):
            copy_view(source + i * stride, target + i * stride, ndim - 1, shape + 1, strides + 1)
