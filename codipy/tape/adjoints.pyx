# SPDX-License-Identifier: Apache-2.0
"""Adjoint vectors: memory sized by the identifiers that a tape used."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
cimport numpy as cnp

from codipy.tape.consumed cimport Consumed

cnp.import_array()

cdef enum:
    MOST = 0x7FFFFFFE            # the largest identifier that there can be


cdef class AdjointVector:
    """AdjointVector()
    --

    Owner of the adjoints of one tape; whoever makes it sets `width`, `first` and `serial` before the first use.
    """
    def __cinit__(self, *_):
        self.width, self.first = 1, 1
        self.consumed = Consumed.__new__(Consumed)

    def __dealloc__(self):
        PyMem_RawFree(self.numbers)

    cdef int ensure(self, int32_t largest) except -1:
        cdef Py_ssize_t slots = largest - self.first + 1
        cdef double* larger
        if slots <= self.slots:
            return 0
        if slots <= self.capacity:
            self.slots = slots
            return 0
        if slots > <Py_ssize_t>((<size_t>-1) // 2 // sizeof(double) // self.width):
            raise MemoryError(f"an adjoint vector of {slots} slots of width {self.width} does not fit the memory")
        if self.numbers == NULL:
            # Fresh zero pages from the system: a slot that no sweep touches costs no memory.
            larger = <double*>PyMem_RawCalloc(slots * self.width, sizeof(double))
        else:
            larger = <double*>PyMem_RawRealloc(self.numbers, slots * self.width * sizeof(double))
        if larger == NULL:
            raise MemoryError(f"no memory for {slots} adjoints of width {self.width}")
        if self.numbers != NULL:
            memset(larger + self.capacity * self.width, 0, (slots - self.capacity) * self.width * sizeof(double))
        self.numbers, self.slots, self.capacity = larger, slots, slots
        return 0

    cdef int grow(self, int32_t largest) except -1:
        cdef Py_ssize_t slots = largest + <Py_ssize_t>1 - self.first
        if slots > self.capacity:
            slots = max(slots, 2 * self.capacity, <Py_ssize_t>64)
            self.ensure(<int32_t>min(slots - 1 + self.first, <Py_ssize_t>MOST))
        self.slots = self.capacity
        return 0

    cdef void zero(self) noexcept:
        self.consumed.forget()
        if self.slots:
            memset(self.numbers, 0, self.slots * self.width * sizeof(double))
            self.slots = 0

    cdef void release(self) noexcept:
        self.consumed.forget()
        PyMem_RawFree(self.numbers)
        self.numbers, self.slots, self.capacity = NULL, 0, 0

    # ---- For records: rows of numbers by identifier, of which 0 is passive. ----

    # Typed memoryviews would cost each module that has one 0.2 ms to import.
    def read(self, identifiers):
        """A new array of shape (len(identifiers), width)."""
        cdef cnp.ndarray known = np.ascontiguousarray(identifiers, np.int32)
        cdef cnp.ndarray rows = np.zeros((known.size, self.width))
        cdef const int32_t* numbers = <const int32_t*>cnp.PyArray_DATA(known)
        cdef double* to = <double*>cnp.PyArray_DATA(rows)
        cdef const double* row
        cdef Py_ssize_t i = 0, n
        while i < cnp.PyArray_SIZE(known):
            n = run_of(self, numbers + i, cnp.PyArray_SIZE(known) - i)
            row = self.slot(numbers[i]) if numbers[i] else NULL
            if row != NULL:
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
        cdef Py_ssize_t i = 0, n, step = self.width if len(given) > 1 else 0
        if given.shape[0] not in (1, known.size) or given.size != given.shape[0] * self.width:
            raise ValueError(f"rows of shape {(<object>given).shape} for {known.size} identifiers, width {self.width}")
        while i < cnp.PyArray_SIZE(known):
            n = run_of(self, numbers + i, cnp.PyArray_SIZE(known) - i) if step else 1
            row = self.slot(numbers[i]) if numbers[i] else NULL
            if row != NULL:
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


cdef inline Py_ssize_t run_of(AdjointVector vector, const int32_t* numbers, Py_ssize_t most) noexcept:
    """How many identifiers follow one another and have slots, from one on; 1 where it has none."""
    cdef Py_ssize_t n = 1
    if not numbers[0] or vector.slot(numbers[0]) == NULL:
        return 1
    most = min(most, vector.first + vector.slots - numbers[0])
    while n < most and numbers[n] == numbers[0] + n:
        n += 1
    return n
