# SPDX-License-Identifier: Apache-2.0
"""Adjoint vectors: memory sized by the identifiers that a tape used."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy, memmove, memset
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
cimport numpy as cnp

from codipy.identifiers.reuse cimport larger_table
from codipy.tape.consumed cimport Consumed

cnp.import_array()

cdef enum:
    MOST = 0x7FFFFFFE            # the largest identifier that there can be

cdef Py_ssize_t long_array = 256


cdef class AdjointVector:
    """AdjointVector()
    --

    Owner of the adjoints of one tape; whoever makes it sets `width`, `first` and `serial` before the first use.
    """
    def __cinit__(self, *_):
        self.width, self.first = 1, 1
        self.consumed = Consumed.__new__(Consumed)

    def __dealloc__(self):
        free_numbers(self.numbers)
        if self.plane is not None:
            self.plane.numbers = NULL        # ours

    cdef int ensure(self, int32_t largest) except -1:
        cdef Py_ssize_t slots = largest - self.first + 1
        cdef double* larger
        self.ranges_left = 0
        if slots <= self.slots:
            return 0
        if slots <= self.capacity:
            self.slots = slots
            return 0
        if slots > <Py_ssize_t>((<size_t>-1) // 2 // sizeof(double) // self.width):
            raise MemoryError(f"an adjoint vector of {slots} slots of width {self.width} does not fit the memory")
        if self.numbers == NULL or self.planes:
            # Fresh zero pages from the system: a slot that no sweep touches costs no memory.
            larger = new_numbers(slots * self.width)
        else:
            larger = more_numbers(self.numbers, self.capacity * self.width, slots * self.width)
        if larger == NULL:
            raise MemoryError(f"no memory for {slots} adjoints of width {self.width}")
        if self.planes:
            self.move_planes(larger, slots)
        elif self.numbers != NULL:
            memset(larger + self.capacity * self.width, 0, (slots - self.capacity) * self.width * sizeof(double))
        self.numbers, self.slots, self.capacity = larger, slots, slots
        return 0

    cdef void move_planes(self, double* to, Py_ssize_t apart) noexcept:
        cdef Py_ssize_t d
        if self.numbers != NULL:
            for d in range(self.width):
                memcpy(to + d * apart, self.numbers + d * self.capacity, self.slots * sizeof(double))
            free_numbers(self.numbers)

    cdef AdjointVector shown(self, Py_ssize_t direction):
        if self.plane is None:
            self.plane = AdjointVector()
            self.plane.first, self.plane.serial = self.first, self.serial
        self.plane.numbers = self.numbers + direction * self.capacity
        self.plane.slots, self.plane.capacity, self.plane.resets = self.slots, self.capacity, self.resets
        return self.plane

    cdef int grow(self, int32_t largest) except -1:
        cdef Py_ssize_t slots = largest + <Py_ssize_t>1 - self.first
        if slots > self.capacity:
            slots = max(slots, larger_table(self.capacity), <Py_ssize_t>64)
            self.ensure(<int32_t>min(slots - 1 + self.first, <Py_ssize_t>MOST))
        self.slots = self.capacity
        return 0

    cdef void zero(self) noexcept:
        cdef Py_ssize_t d, end = self.slots * self.row()
        cdef Range* left
        assert self.is_as_left(), "a sweep said that it left adjoints at 0, and there are others"
        self.consumed.forget()
        if self.slots:
            for d in range(self.ranges_left):
                left = self.left + d
                memset(self.numbers + left.end, 0, (end - left.end) * sizeof(double))
                end = left.begin
            for d in range(self.width if self.planes else 1):
                memset(self.numbers + d * self.capacity, 0, end * sizeof(double))
            self.slots = 0
        self.ranges_left = 0

    cdef void leave(self, int32_t before, int32_t after) noexcept:
        cdef Py_ssize_t begin = before + <Py_ssize_t>1 - self.first, end = after + <Py_ssize_t>1 - self.first
        cdef Py_ssize_t last = self.left[self.ranges_left - 1].begin if self.ranges_left else self.slots
        if self.width > 1 or self.planes or begin < 0 or end > last:
            return
        if self.ranges_left and end == last:
            self.left[self.ranges_left - 1].begin = begin
        elif self.ranges_left < MOST_LEFT:
            self.left[self.ranges_left].begin, self.left[self.ranges_left].end = begin, end
            self.ranges_left += 1

    cdef bint is_as_left(self) noexcept:
        """Whether all bits are 0 where a sweep has said so."""
        cdef Py_ssize_t i
        cdef int k
        for k in range(self.ranges_left):
            for i in range(self.left[k].begin, self.left[k].end):
                if (<int64_t*>self.numbers)[i]:
                    return False
        return True

    cdef void release(self) noexcept:
        self.consumed.forget()
        free_numbers(self.numbers)
        self.numbers, self.slots, self.capacity, self.ranges_left = NULL, 0, 0, 0

    # ---- For records: rows of numbers by identifier, of which 0 is passive. ----

    # Typed memoryviews would cost each module that has one 0.2 ms to import.
    def read(self, identifiers):
        """A new array of shape (len(identifiers), width)."""
        cdef cnp.ndarray known = np.ascontiguousarray(identifiers, np.int32)
        cdef cnp.ndarray rows = np.zeros((known.size, self.width))
        cdef const int32_t* numbers = <const int32_t*>cnp.PyArray_DATA(known)
        cdef double* to = <double*>cnp.PyArray_DATA(rows)
        cdef const double* row
        cdef Py_ssize_t i = 0, n, d, k
        while i < cnp.PyArray_SIZE(known):
            n = run_of(self, numbers + i, cnp.PyArray_SIZE(known) - i)
            row = self.slot(numbers[i]) if numbers[i] else NULL
            if row != NULL and self.planes:
                for d in range(self.width):
                    for k in range(n):
                        to[(i + k) * self.width + d] = row[k + d * self.capacity]
            elif row != NULL:
                memcpy(to + i * self.width, row, n * self.width * sizeof(double))
            i += n
        return rows

    def write(self, identifiers, rows):
        """Set the numbers of identifiers; rows of shape (1, width) serve all of them."""
        cdef cnp.ndarray known = np.ascontiguousarray(identifiers, np.int32)
        cdef cnp.ndarray given = np.ascontiguousarray(rows, np.float64)
        cdef const int32_t* numbers = <const int32_t*>cnp.PyArray_DATA(known)
        cdef const double* source = <const double*>cnp.PyArray_DATA(given)
        cdef double* row
        cdef Py_ssize_t i = 0, n, d, k, step = self.width if len(given) > 1 else 0
        self.ranges_left = 0
        if given.shape[0] not in (1, known.size) or given.size != given.shape[0] * self.width:
            raise ValueError(f"rows of shape {(<object>given).shape} for {known.size} identifiers, width {self.width}")
        while i < cnp.PyArray_SIZE(known):
            n = run_of(self, numbers + i, cnp.PyArray_SIZE(known) - i) if step else 1
            row = self.slot(numbers[i]) if numbers[i] else NULL
            if row != NULL and self.planes:
                for d in range(self.width):
                    for k in range(n):
                        row[k + d * self.capacity] = source[(i + k) * step + d]
            elif row != NULL:
                memcpy(row, source + i * step, n * self.width * sizeof(double))
            i += n

    @property
    def bytes_used(self):
        """Bytes of the numbers that have a slot."""
        return self.slots * self.width * sizeof(double)

    @property
    def bytes_allocated(self):
        """Bytes of the memory behind them."""
        return self.capacity * self.width * sizeof(double)


def _long_from(Py_ssize_t identifiers):
    """For tests: from how many identifiers for each step arrays are long, in vectors to come; returns what it was."""
    global long_array
    before = long_array
    long_array = identifiers
    return before


# ---- Memory: rows of eight directions are vectors of the processor, so they begin at cache lines. ----
cdef enum:
    LINE = 8                     # doubles of a cache line; as many more are asked for than there are numbers


cdef inline double* aligned(char* memory) noexcept:
    """The first cache line in it, behind a note of where it begins."""
    cdef double* numbers = <double*>((<uintptr_t>memory + sizeof(void*) + 63) & ~<uintptr_t>63)
    (<char**>numbers - 1)[0] = memory
    return numbers


cdef double* new_numbers(Py_ssize_t count) noexcept:
    cdef char* memory = <char*>PyMem_RawCalloc(count + LINE, sizeof(double))
    return aligned(memory) if memory != NULL else NULL


cdef double* more_numbers(double* numbers, Py_ssize_t before, Py_ssize_t count) noexcept:
    cdef char* memory = (<char**>numbers - 1)[0]
    cdef Py_ssize_t lead = <char*>numbers - memory
    memory = <char*>PyMem_RawRealloc(memory, (count + LINE) * sizeof(double))
    if memory == NULL:
        return NULL
    numbers = <double*>((<uintptr_t>memory + sizeof(void*) + 63) & ~<uintptr_t>63)
    if <char*>numbers - memory != lead:
        memmove(numbers, memory + lead, before * sizeof(double))
    return aligned(memory)


cdef void free_numbers(double* numbers) noexcept:
    if numbers != NULL:
        PyMem_RawFree((<char**>numbers - 1)[0])


cdef inline Py_ssize_t run_of(AdjointVector vector, const int32_t* numbers, Py_ssize_t most) noexcept:
    """How many identifiers follow one another and have slots, from one on; 1 where it has none."""
    cdef Py_ssize_t n = 1
    if not numbers[0] or vector.slot(numbers[0]) == NULL:
        return 1
    most = min(most, vector.first + vector.slots - numbers[0])
    while n < most and numbers[n] == numbers[0] + n:
        n += 1
    return n
