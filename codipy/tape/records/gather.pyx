# SPDX-License-Identifier: Apache-2.0
"""Movements: copies of identifiers."""
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport cython

from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.loops cimport loop_move
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.slots cimport Slots, row_slots


@cython.final
@cython.no_gc
cdef class Gather(Record):
    """Gather()
    --

    One movement; arrays make it.
    """
    def __dealloc__(self):
        PyMem_Free(self.sources)

    cdef int name_result(self, int32_t first) except -1:
        self.base = first
        return 0

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        cdef Py_ssize_t width = adjoints.width, i = 0, r, n
        cdef double* origin = adjoints.origin()
        cdef double* result = origin + width * self.base
        cdef Run run
        with nogil:
            if self.runs:
                for r in range(self.runs):
                    run = self.run_at(r)
                    n = run.length * width
                    if run.first:
                        loop_move(origin + width * run.first, result + i, n, not keep)
                    elif not keep:
                        memset(result + i, 0, n * sizeof(double))
                    i += n
                return 0
            if width == 1:
                add_apart(origin, self.sources, result, self.size)
            else:
                for i in range(self.size):
                    if self.sources[i]:
                        loop_move(origin + width * self.sources[i], result + i * width, width, False)
            if not keep:
                memset(result, 0, self.size * width * sizeof(double))
        return 0

    cdef int forward(self, AdjointVector adjoints) except -1:
        cdef double* origin = adjoints.origin()
        with nogil:
            move(self, origin, adjoints.width, NULL)
        return 0

    cdef int primal(self, Replay replay) except -1:
        with nogil:
            move(self, replay.values, 1, self.constants())
        return 0

    def __sizeof__(self):
        return object.__sizeof__(self) + sources_bytes(2 * self.runs if self.runs else self.size,
                                                       self.passive() if self.replays else 0)

    cdef double* constants(self) noexcept nogil:
        cdef Py_ssize_t count = 2 * self.runs if self.runs else self.size
        return <double*>(self.sources + count + (count & 1))

    cdef Py_ssize_t passive(self) noexcept:
        cdef Py_ssize_t r, count = 0
        cdef Run run
        for r in range(self.run_count()):
            run = self.run_at(r)
            count += run.length if run.first == 0 else 0
        return count

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        cdef Run run
        if result:
            return k == 0 and row_slots(slots, self.base, self.size, room)
        if k >= self.run_count():
            return False
        run = self.run_at(k)
        row_slots(slots, run.first, run.length, room)
        if not run.first:
            slots.ndim = -1
        return True

    def __repr__(self):
        return f"<movement of {self.size} to {self.base}>"


cdef void move(Gather record, double* origin, Py_ssize_t width, const double* passive) noexcept nogil:
    """Copy what a vector holds for the sources to the result: tangents and values alike.

    `passive` are the values of what has no identifier; NULL where tangents are copied, which are 0 there.
    """
    cdef double* result = origin + width * record.base
    cdef Py_ssize_t r, n
    cdef Run run
    for r in range(record.run_count()):
        run = record.run_at(r)
        n = run.length * width
        if run.first:
            memcpy(result, origin + width * run.first, n * sizeof(double))
        elif passive == NULL:
            memset(result, 0, n * sizeof(double))
        else:
            memcpy(result, passive, n * sizeof(double))
            passive += n
        result += n


cdef void add_apart(double* origin, const int32_t* sources, const double* bars, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if sources[i]:
            origin[sources[i]] += bars[i]


cdef inline size_t sources_bytes(Py_ssize_t numbers, Py_ssize_t passive) noexcept:
    return numbers * sizeof(int32_t) + passive * sizeof(double) + 8


cdef inline bint follows(int32_t identifier, int32_t previous) noexcept nogil:
    return identifier == previous + 1 if previous else identifier == 0


cdef Gather new_gather(const int32_t* identifiers, const double* values, Py_ssize_t size):
    cdef Gather new = Gather.__new__(Gather)
    cdef Py_ssize_t i, r = -1, runs = size > 0, passive = 0
    cdef double* constants
    for i in range(1, size):
        runs += not follows(identifiers[i], identifiers[i - 1])
    new.size, new.replays = size, values != NULL
    if new.replays:
        for i in range(size):
            passive += identifiers[i] == 0
    new.sources = <int32_t*>PyMem_Malloc(sources_bytes(min(2 * runs, size), passive))
    if new.sources == NULL:
        raise MemoryError(f"no memory for a movement of {size} elements")
    new.runs = runs if 2 * runs <= size else 0
    if passive:
        constants = new.constants()
        for i in range(size):
            if identifiers[i] == 0:
                constants[0] = values[i]
                constants += 1
    if new.runs == 0:
        memcpy(new.sources, identifiers, size * sizeof(int32_t))
        return new
    for i in range(size):
        if i == 0 or not follows(identifiers[i], identifiers[i - 1]):
            r += 1
            new.sources[2 * r], new.sources[2 * r + 1] = identifiers[i], 0
        new.sources[2 * r + 1] += 1
    return new


cdef Gather gather_of_runs(const int32_t* runs, Py_ssize_t count, const double* values, Py_ssize_t size):
    cdef Gather new = Gather.__new__(Gather)
    cdef Py_ssize_t r, i = 0, passive = 0
    cdef double* constants
    new.size, new.runs, new.replays = size, count, values != NULL
    for r in range(count if new.replays else 0):
        passive += runs[2 * r + 1] if runs[2 * r] == 0 else 0
    new.sources = <int32_t*>PyMem_Malloc(sources_bytes(2 * count, passive))
    if new.sources == NULL:
        raise MemoryError(f"no memory for a movement of {size} elements")
    memcpy(new.sources, runs, 2 * count * sizeof(int32_t))
    constants = new.constants()
    for r in range(count if new.replays else 0):
        if runs[2 * r] == 0:
            memcpy(constants, values + i, runs[2 * r + 1] * sizeof(double))
            constants += runs[2 * r + 1]
        i += runs[2 * r + 1]
    return new


cdef Gather gather_apart(int32_t* identifiers, Py_ssize_t size, bint replays):
    cdef Gather new
    cdef Py_ssize_t i, runs = size > 0
    try:
        for i in range(1, size):
            runs += identifiers[i] != identifiers[i - 1] + 1
        if 2 * runs <= size:
            new = new_gather(identifiers, NULL, size)
        else:
            new = Gather.__new__(Gather)
            new.size = size
            new.sources, identifiers = identifiers, NULL
        new.replays = replays
        return new
    finally:
        PyMem_Free(identifiers)
