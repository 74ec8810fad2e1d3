# SPDX-License-Identifier: Apache-2.0
"""Sums and means over axes."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset
cimport cython

from codipy.data.plain cimport plain_array
from codipy.data.strided cimport advance, elements_of
from codipy.tape.adjoints cimport NUMBERS_WITH_THE_GIL, AdjointVector
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay
from codipy.tape.records.slots cimport Slots, row_slots, view_slots

from codipy.errors import TapeError


@cython.final
@cython.no_gc
cdef class Reduction(Record):
    """Reduction()
    --

    One sum; arrays make it.
    """

    cdef int name_result(self, int32_t first) except -1:
        self.result = first
        return 0

    cdef int reverse(self, AdjointVector adjoints, bint keep) except -1:
        return self.sweep(adjoints, True, keep)

    cdef int forward(self, AdjointVector adjoints) except -1:
        return self.sweep(adjoints, False, False)

    cdef int sweep(self, AdjointVector adjoints, bint reverse, bint keep) except -1:
        cdef double* origin = adjoints.origin()
        if self.size == 0:       # there may be no adjoints at all
            return 0
        if adjoints.width * elements_of(self.ndim, self.shape) <= NUMBERS_WITH_THE_GIL:
            self.run_all(origin, adjoints.width, reverse, keep)
        else:
            with nogil:
                self.run_all(origin, adjoints.width, reverse, keep)
        return 0

    cdef void run_all(self, double* origin, Py_ssize_t width, bint reverse, bint keep) noexcept nogil:
        """All directions."""
        cdef double* result = origin + self.result * width
        cdef Py_ssize_t d, size = self.size * width * sizeof(double)
        if not reverse:
            memset(result, 0, size)
        for d in range(width):
            self.run(origin + self.argument * width + d, result + d, width, reverse)
        if reverse and not keep:
            memset(result, 0, size)

    cdef int primal(self, Replay replay) except -1:
        # NumPy's order of summation depends on the strides, and those of identifiers are those of values.
        cdef Py_ssize_t shape[MAX_DIMS]
        cdef Py_ssize_t strides[MAX_DIMS]
        cdef Py_ssize_t summed = 1
        cdef list axes = []
        cdef int k, kept = 0
        if self.size == 0:
            return 0
        if self.single:
            raise TapeError("evaluate_primal() cannot recompute a sum of float32 values: record again")
        for k in range(self.ndim):
            if self.result_strides[k] == 0:
                axes.append(k)
                summed *= self.shape[k]
        plain = plain_array(replay.values + self.argument, self.ndim, self.shape, self.strides, 1, False, None)
        value = np.add.reduce(plain, tuple(axes))
        if self.scale != 1.0:
            value = value / summed
        for k in range(self.ndim):
            if self.result_strides[k]:
                shape[kept], strides[kept] = self.shape[k], self.result_strides[k]
                kept += 1
        plain_array(replay.values + self.result, kept, shape, strides, 1, True, None)[...] = value
        return 0

    cdef void run(self, double* argument, double* result, Py_ssize_t width, bint reverse) noexcept nogil:
        """One direction: add the result's numbers to the argument's, or the other way."""
        cdef Py_ssize_t index[MAX_DIMS]
        cdef const Py_ssize_t* rows[2]
        cdef Py_ssize_t at[2]
        cdef Py_ssize_t i, n = 1, step = 0, stride = 0
        cdef int k, last = max(self.ndim - 1, 0)
        cdef double* whole = argument
        cdef double* sums = result
        cdef double number
        if elements_of(self.ndim, self.shape) == 0:
            return
        rows[0], rows[1], at[0], at[1] = self.strides, self.result_strides, 0, 0
        for k in range(last):
            index[k] = 0
        if self.ndim:
            n, step, stride = self.shape[last], self.strides[last] * width, self.result_strides[last] * width
        while True:
            argument, result = whole + at[0] * width, sums + at[1] * width
            if reverse:
                if stride == 0:
                    number = result[0] * self.scale
                    if number != 0.0:
                        for i in range(n):
                            argument[i * step] += number
                else:
                    for i in range(n):
                        argument[i * step] += result[i * stride] * self.scale
            else:
                if stride == 0:
                    number = result[0]
                    for i in range(n):
                        number += argument[i * step] * self.scale
                    result[0] = number
                else:
                    for i in range(n):
                        result[i * stride] += argument[i * step] * self.scale
            if not advance(last, self.shape, index, 2, rows, at):
                return

    cdef bint show(self, bint result, Py_ssize_t k, Slots* slots, Py_ssize_t* room) noexcept:
        if result:
            return k == 0 and row_slots(slots, self.result, self.size, room)
        return k == 0 and view_slots(slots, self.argument, self.ndim, self.shape, self.strides)

    def __repr__(self):
        return f"<sum of {[self.shape[k] for k in range(self.ndim)]}>"
