# SPDX-License-Identifier: Apache-2.0
"""Adjoint vectors: memory sized by the identifiers that a tape used."""
import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, realloc, free
from libc.string cimport memset


cdef class AdjointVector:
    """AdjointVector()
    --

    Owner of the adjoints of one tape; whoever makes it sets `width`, `first` and `serial` before the first use.
    """
    def __cinit__(self, *_):
        self.width, self.first = 1, 1

    def __dealloc__(self):
        free(self.numbers)

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
            larger = <double*>calloc(slots * self.width, sizeof(double))
        else:
            larger = <double*>realloc(self.numbers, slots * self.width * sizeof(double))
        if larger == NULL:
            raise MemoryError(f"no memory for {slots} adjoints of width {self.width}")
        if self.numbers != NULL:
            memset(larger + self.capacity * self.width, 0, (slots - self.capacity) * self.width * sizeof(double))
        self.numbers, self.slots, self.capacity = larger, slots, slots
        return 0

    cdef void zero(self) noexcept:
        if self.slots:
            memset(self.numbers, 0, self.slots * self.width * sizeof(double))
            self.slots = 0

    cdef void release(self) noexcept:
        free(self.numbers)
        self.numbers, self.slots, self.capacity = NULL, 0, 0

    # ---- For records: rows of numbers by identifier, of which 0 is passive. ----

    def read(self, const int32_t[::1] identifiers):
        """A new array of shape (len(identifiers), width)."""
        cdef Py_ssize_t i, d
        cdef double[:, ::1] rows = np.zeros((identifiers.shape[0], self.width))
        cdef const double* row
        for i in range(identifiers.shape[0]):
            row = self.slot(identifiers[i]) if identifiers[i] else NULL
            if row != NULL:
                for d in range(self.width):
                    rows[i, d] = row[d]
        return rows.base

    def write(self, const int32_t[::1] identifiers, const double[:, :] rows):
        """Set the numbers of identifiers; rows of shape (1, width) serve all of them."""
        cdef Py_ssize_t i, d, step = rows.shape[0] > 1
        cdef double* row
        for i in range(identifiers.shape[0]):
            row = self.slot(identifiers[i]) if identifiers[i] else NULL
            if row != NULL:
                for d in range(self.width):
                    row[d] = rows[i * step, d]

    def add(self, const int32_t[::1] identifiers, const double[:, :] rows):
        """Add to the numbers of identifiers, which may repeat."""
        cdef Py_ssize_t i, d
        cdef double* row
        for i in range(identifiers.shape[0]):
            row = self.slot(identifiers[i]) if identifiers[i] else NULL
            if row != NULL:
                for d in range(self.width):
                    row[d] += rows[i, d]

    @property
    def bytes_used(self):
        """Bytes of the numbers that have a slot."""
        return self.slots * self.width * sizeof(double)

    @property
    def bytes_allocated(self):
        """Bytes of the memory behind them."""
        return self.capacity * self.width * sizeof(double)
