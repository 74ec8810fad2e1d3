# SPDX-License-Identifier: Apache-2.0
"""Elements chosen from several arrays, place by place."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset
cimport cython

from codipy.data.buffer cimport new_buffer
from codipy.data.strided cimport advance, in_order
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.loops cimport LOOP_TILE, loop_add_chosen
from codipy.tape.records.record cimport Record
from codipy.tape.records.slots cimport Slots, row_slots, view_slots


@cython.final
@cython.no_gc
cdef class Choice(Record):
    """Choice()
    --

    One choice among arrays; arrays make it. What was not chosen gets nothing, whatever the adjoint is.
    """
    cdef int name_result(self, int32_t first) except -1:
        self.base = first
        return 0

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        cdef Py_ssize_t width = adjoints.width, d
        cdef double* origin = adjoints.origin()
        cdef double* result = origin + width * self.base
        cdef bint lies_so = width == 1
        cdef int k
        with nogil:
            for k in range(self.count):
                if self.operands[k].first:
                    lies_so = lies_so and in_order(self.ndim, self.shape, self.operands[k].strides, 1)
            if lies_so:
                self.add_in_order(origin, result, keep)
                return 0
            for k in range(self.count):
                for d in range(width if self.operands[k].first else 0):
                    walk(self, self.operands + k, k, origin + width * self.operands[k].first + d, result + d, width, True)
            if not keep:
                memset(result, 0, self.size * width * sizeof(double))
        return 0

    cdef void add_in_order(self, double* origin, double* result, bint keep) noexcept nogil:
        """Where all that is active lies as the result does: tile by tile, which are cleared while they are at hand."""
        cdef Py_ssize_t i = 0, n
        cdef int k
        while i < self.size:
            n = min(self.size - i, <Py_ssize_t>LOOP_TILE)
            for k in range(self.count):
                if self.operands[k].first:
                    loop_add_chosen(origin + self.operands[k].first + i, result + i, self.chosen + i, <uint8_t>k, n)
            if not keep:
                memset(result + i, 0, n * sizeof(double))
            i += n

    cdef int forward(self, AdjointVector adjoints) except -1:
        cdef Py_ssize_t width = adjoints.width, d
        cdef double* origin = adjoints.origin()
        cdef double* result = origin + width * self.base
        cdef int k
        with nogil:
            memset(result, 0, self.size * width * sizeof(double))
            for k in range(self.count):
                if self.operands[k].first:
                    for d in range(width):
                        walk(self, self.operands + k, k, origin + width * self.operands[k].first + d, result + d, width,
                             False)
        return 0

    cdef list references(self):
        return [self.memory, *Record.references(self)]

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        cdef int i
        if result:
            return k == 0 and row_slots(slots, self.base, self.size, room)
        for i in range(self.count):
            if self.operands[i].first:
                if k == 0:
                    return view_slots(slots, self.operands[i].first, self.ndim, self.shape, self.operands[i].strides)
                k -= 1
        return False

    def __repr__(self):
        return f"<choice of {self.size} for {self.base}>"


cdef void walk(Choice c, const Operand* operand, int k, double* target, double* result, Py_ssize_t width,
               bint back) noexcept nogil:
    """Add bars to an operand's elements where they were chosen, or copy its tangents from there."""
    cdef Py_ssize_t index[MAX_DIMS]
    cdef const Py_ssize_t* strides = operand.strides
    cdef Py_ssize_t i, offset = 0
    memset(index, 0, sizeof(index))
    for i in range(c.size):
        if c.chosen[i] == k:
            if back:
                target[offset * width] += result[i * width]
            else:
                result[i * width] = target[offset * width]
        advance(c.ndim, c.shape, index, 1, &strides, &offset)


cdef Choice new_choice(int ndim, const Py_ssize_t* shape, Py_ssize_t size, int count):
    cdef Choice new = Choice.__new__(Choice)
    cdef int k
    new.memory = new_buffer((size + 7) // 8)
    new.chosen = <uint8_t*>new.memory.data
    new.ndim, new.size, new.count = ndim, size, count
    memcpy(new.shape, shape, ndim * sizeof(Py_ssize_t))
    for k in range(count):
        new.operands[k].first = 0
        memset(new.operands[k].strides, 0, sizeof(new.operands[k].strides))
    return new
