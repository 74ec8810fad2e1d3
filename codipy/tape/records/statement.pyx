# SPDX-License-Identifier: Apache-2.0
"""Array statements: the sweeps over the elements of one recorded expression."""
from libc.stdint cimport int32_t
from libc.string cimport memset
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
cimport cython

from codipy.data.buffer cimport Buffer
from codipy.data.strided cimport advance, elements_of
from codipy.programs.interned cimport ArrayProgram
from codipy.programs.tiles cimport (
    MAX_DIMS, MAX_OPERANDS, Planes, TileProgram, tiles_directions, tiles_planes, tiles_reverse, tiles_reverse_kept, tiles_tangent, tiles_values)
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.slots cimport Slots, are_all_between, view_slots

cdef enum:
    SHORT = 256                  # elements: below, giving the GIL back and forth costs more than the sweep
    FEW = 32                     # elements: each plane has a sweep of its own


@cython.final
@cython.no_gc
cdef class Statement(Record):
    """Statement()
    --

    One array statement; arrays make it.
    """
    def __dealloc__(self):
        cdef int k
        for k in range(self.count):
            Py_XDECREF(self.arguments[k].owner)
        PyMem_Free(self.arguments)

    cdef int run(self, AdjointVector adjoints, bint reverse, bint keep) except -1:
        cdef Operand operands[MAX_OPERANDS]
        cdef Planes planes
        cdef TileProgram* program = &self.program.tiles
        cdef Py_ssize_t width = adjoints.row()
        cdef Py_ssize_t* strides = self.shape + 2 * self.ndim
        cdef double* origin = adjoints.origin()
        cdef Py_ssize_t lhs_strides[MAX_DIMS]
        cdef Argument* argument
        cdef Operand* operand
        cdef int i, k
        cdef Py_ssize_t size = elements_of(self.ndim, self.shape)
        for k in range(self.count):
            argument, operand = self.arguments + k, operands + k
            for i in range(self.ndim):
                operand.strides[i] = strides[i] * sizeof(double) if argument.data != NULL else 0
                operand.adjoint_strides[i] = strides[i] * width
            operand.data = <const char*>argument.data if argument.data != NULL else <const char*>&argument.number
            operand.adjoint = origin + width * argument.identifier if argument.identifier else NULL
            strides += self.ndim
        if self.sums:
            return self.run_sums(adjoints, operands, reverse, keep)
        for i in range(self.ndim):
            lhs_strides[i] = self.shape[self.ndim + i] * width
        if size <= SHORT and reverse and width == 1 and not adjoints.planes:
            tiles_reverse_kept(&self.program.plan, program, operands, self.ndim, self.shape, origin + self.identifier,
                               lhs_strides, keep)
            return 0
        origin += width * self.identifier
        planes.count, planes.operands = adjoints.width, adjoints.capacity
        planes.result = planes.operands
        with nogil:
            if adjoints.planes:
                tiles_planes(program, operands, self.ndim, self.shape, origin, lhs_strides, reverse, keep, &planes)
            elif width > 1:
                tiles_directions(program, operands, self.ndim, self.shape, origin, lhs_strides, reverse, keep, width)
            elif reverse:
                tiles_reverse(program, operands, self.ndim, self.shape, origin, lhs_strides, keep)
            else:
                tiles_tangent(program, operands, self.ndim, self.shape, origin, lhs_strides)
        return 0

    cdef int run_sums(self, AdjointVector adjoints, Operand* operands, bint reverse, bint keep) except -1:
        """The sweeps where the result is summed: back, each adjoint of a sum is that of all its elements."""
        cdef TileProgram* program = &self.program.tiles
        cdef Py_ssize_t width = adjoints.width, d, i, size = 1, offset = 0
        cdef Py_ssize_t index[MAX_DIMS]
        cdef Py_ssize_t* strides = self.shape + self.ndim
        cdef const Py_ssize_t* rows = strides
        cdef Py_ssize_t steps[MAX_DIMS]
        cdef double* sums = adjoints.origin() + self.identifier * width
        cdef double* room
        cdef int k
        for k in range(self.ndim - 1, -1, -1):
            steps[k] = strides[k] * width if reverse else size * width
            size *= self.shape[k]
        room = <double*>PyMem_Malloc((self.sums if reverse else size) * width * sizeof(double))
        if room == NULL:
            raise MemoryError("no memory for the sweep of a sum")
        try:
            if reverse:
                for i in range(self.sums * width):
                    room[i] = sums[i] * self.scale
            if size <= SHORT and width == 1 and reverse:
                tiles_reverse_kept(&self.program.plan, program, operands, self.ndim, self.shape, room, steps, True)
            else:
                with nogil:
                    if width > 1:
                        tiles_directions(program, operands, self.ndim, self.shape, room, steps, reverse, True, width)
                    elif reverse:
                        tiles_reverse(program, operands, self.ndim, self.shape, room, steps, True)
                    else:
                        tiles_tangent(program, operands, self.ndim, self.shape, room, steps)
            if not reverse:
                memset(sums, 0, self.sums * width * sizeof(double))
                for k in range(self.ndim):
                    index[k] = 0
                for i in range(size):
                    for d in range(width):
                        sums[offset * width + d] += room[i * width + d] * self.scale
                    advance(self.ndim, self.shape, index, 1, &rows, &offset)
        finally:
            PyMem_Free(room)
        if reverse and not keep:
            memset(sums, 0, self.sums * width * sizeof(double))
        return 0

    cdef int name_result(self, int32_t first) except -1:
        self.identifier = first
        return 0

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        return self.run(adjoints, True, keep)

    cdef bint clears(self) noexcept:
        cdef Slots slots
        view_slots(&slots, self.identifier, self.ndim, self.shape, self.shape + self.ndim)
        return self.sums == 0 and are_all_between(&slots, self.before, self.after)

    cdef int forward(self, AdjointVector adjoints) except -1:
        return self.run(adjoints, False, False)

    cdef int planes(self, AdjointVector adjoints, bint backwards, bint keep) except -1:
        if self.sums or elements_of(self.ndim, self.shape) <= FEW:
            return Record.planes(self, adjoints, backwards, keep)
        return self.run(adjoints, backwards, keep)

    cdef int primal(self, Replay replay) except -1:
        cdef Operand operands[MAX_OPERANDS]
        cdef Py_ssize_t result_strides[MAX_DIMS]
        cdef Py_ssize_t* strides = self.shape + 2 * self.ndim
        cdef Argument* argument
        cdef int i, k
        for i in range(self.ndim):
            if self.shape[i] == 0:
                return 0
            result_strides[i] = self.shape[self.ndim + i] * sizeof(double)
        for k in range(self.count):
            argument = self.arguments + k
            if argument.identifier:
                operands[k].data = <const char*>(replay.values + argument.identifier)
            else:       # passive: kept whole where a tape can be replayed
                operands[k].data = <const char*>(argument.data if argument.data != NULL else &argument.number)
            for i in range(self.ndim):
                operands[k].strides[i] = strides[i] * sizeof(double)
            strides += self.ndim
        with nogil:
            tiles_values(&self.program.tiles, operands, self.ndim, self.shape,
                         replay.values + self.identifier, result_strides)
        strides = self.shape + 2 * self.ndim
        for k in range(self.count):
            if self.arguments[k].identifier:
                self.refresh(self.arguments + k, strides + k * self.ndim, replay)
        return 0

    cdef int refresh(self, Argument* argument, const Py_ssize_t* strides, Replay replay) except -1:
        """An active argument's values for the sweeps: a new Buffer, or the number of a scalar."""
        cdef Buffer old, new
        cdef Py_ssize_t offset
        if argument.owner == NULL:
            argument.number = replay.values[argument.identifier]
            return 0
        old = <Buffer>argument.owner
        offset = argument.data - old.data
        new = replay.refreshed(old, offset, argument.identifier, self.ndim, self.shape, strides)
        Py_INCREF(new)
        argument.owner, argument.data = <PyObject*>new, new.data + offset
        Py_DECREF(old)
        return 0

    def __sizeof__(self):
        return object.__sizeof__(self) + table_bytes(self.ndim, self.count)

    cdef list references(self):
        return [self.program, *Record.references(self),
                *[<object>self.arguments[k].owner for k in range(self.count) if self.arguments[k].owner != NULL]]

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        cdef Py_ssize_t* strides = self.shape + 2 * self.ndim
        cdef int i
        if result:
            return k == 0 and view_slots(slots, self.identifier, self.ndim, self.shape, self.shape + self.ndim)
        for i in range(self.count):
            if self.arguments[i].identifier:
                if k == 0:
                    return view_slots(slots, self.arguments[i].identifier, self.ndim, self.shape, strides + i * self.ndim)
                k -= 1
        return False

    def __repr__(self):
        return f"<{'sum of ' if self.sums else ''}statement {self.program!r} shape={[self.shape[k] for k in range(self.ndim)]} to {self.identifier}>"


cdef inline size_t table_bytes(int ndim, int count) noexcept:
    return count * sizeof(Argument) + (2 + count) * ndim * sizeof(Py_ssize_t) + 8


cdef Statement new_statement(ArrayProgram program, int ndim, int count):
    """With room for `count` arguments, of which there are none yet; shape, strides and arguments are the caller's."""
    cdef Statement new = Statement.__new__(Statement)
    new.arguments = <Argument*>PyMem_Malloc(table_bytes(ndim, count))
    if new.arguments == NULL:
        raise MemoryError("no memory for an array statement")
    new.shape = <Py_ssize_t*>(new.arguments + count)
    new.program, new.ndim, new.sums, new.scale = program, ndim, 0, 1.0
    return new
