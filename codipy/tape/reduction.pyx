# SPDX-License-Identifier: Apache-2.0
"""Sums and means over axes."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memset
cimport cython

from codipy.data.plain cimport plain_array
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.record cimport Record, ends_of
from codipy.tape.replay cimport Replay
from codipy.tape.walk cimport NUMBERS_WITH_THE_GIL

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
        cdef Py_ssize_t numbers = adjoints.width
        cdef int k
        if self.size == 0:       # there may be no adjoints at all
            return 0
        for k in range(self.ndim):
            numbers *= self.shape[k]
        if numbers <= NUMBERS_WITH_THE_GIL:
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
        cdef Py_ssize_t count = 1
        cdef list axes = []
        cdef int k, kept = 0
        if self.size == 0:
            return 0
        if self.single:
            raise TapeError("evaluate_primal() cannot recompute a sum of float32 values: record again")
        for k in range(self.ndim):
            if self.result_strides[k] == 0:
                axes.append(k)
                count *= self.shape[k]
        plain = plain_array(replay.values + self.argument, self.ndim, self.shape, self.strides, 1, False, None)
        value = np.add.reduce(plain, tuple(axes))
        if self.scale != 1.0:
            value = value / count
        for k in range(self.ndim):
            if self.result_strides[k]:
                shape[kept], strides[kept] = self.shape[k], self.result_strides[k]
                kept += 1
        plain_array(replay.values + self.result, kept, shape, strides, 1, True, None)[...] = value
        return 0

    cdef void run(self, double* argument, double* result, Py_ssize_t width, bint reverse) noexcept nogil:
        """One direction: add the result's numbers to the argument's, or the other way."""
        cdef Py_ssize_t index[MAX_DIMS]
        cdef Py_ssize_t i, n = 1, step = 0, stride = 0
        cdef int k, last = self.ndim - 1
        cdef double number
        for k in range(self.ndim):
            index[k] = 0
            if self.shape[k] == 0:
                return
        if self.ndim:
            n, step, stride = self.shape[last], self.strides[last] * width, self.result_strides[last] * width
        while True:
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
            k = last - 1
            while k >= 0:
                index[k] += 1
                argument += self.strides[k] * width
                result += self.result_strides[k] * width
                if index[k] < self.shape[k]:
                    break
                argument -= index[k] * self.strides[k] * width
                result -= index[k] * self.result_strides[k] * width
                index[k] = 0
                k -= 1
            if k < 0:
                return

    @property
    def named(self):
        """(lowest, highest) identifiers: a list of pairs for the result, and one for the active arguments."""
        return ([(self.result, self.result + self.size - 1)],
                [ends_of(self.argument, self.ndim, self.shape, self.strides)])

    def __repr__(self):
        return f"<sum of {[self.shape[k] for k in range(self.ndim)]}>"
