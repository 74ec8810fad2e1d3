# SPDX-License-Identifier: Apache-2.0
"""Elementwise array programs over tiles, for Python."""

from cpython.mem cimport PyMem_Free, PyMem_Malloc

from codipy.programs.tiles cimport (
    MAX_DIMS, MAX_OPERANDS, MAX_STEPS, Operand, Sweep, TileProgram, tiles_jacobians, tiles_needed, tiles_reverse,
    tiles_tangent, tiles_values)

import numpy

from codipy.programs.tiles import _threads_for


cdef double* _pointer(array) except? NULL:
    return <double*><size_t>array.__array_interface__["data"][0]


cdef class Call:
    """Call(steps, operands, shape)
    --

    A program with its operands.

    Parameters
    ----------
    steps : list of tuple
        (code, source, ...) for each step; sources are registers.
    operands : list of ndarray
        float64 arrays, broadcastable to `shape`.
    shape : tuple of int
        The shape of the result.
    single : int
        0 in double precision, 1 with every step rounded to float32, 2 with the result rounded.
    """

    cdef TileProgram program
    cdef Operand* operands
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef double* jacobian[32]
    cdef int ndim
    cdef object kept, size

    def __cinit__(self, steps, operands, shape, single=0):
        if not 0 < len(steps) <= MAX_STEPS or len(operands) > MAX_OPERANDS or len(shape) > MAX_DIMS:
            raise ValueError("too many steps, operands or dimensions, or no step")
        self.operands = <Operand*>PyMem_Malloc(MAX_OPERANDS * sizeof(Operand))
        if self.operands == NULL:
            raise MemoryError
        self.kept, self.size, self.ndim = [], tuple(shape), len(shape)
        self.program.operands, self.program.steps, self.program.single = len(operands), len(steps), single
        for s, (code, *sources) in enumerate(steps):
            self.program.step[<int>s].code = code
            for k, source in enumerate(sources):
                self.program.step[<int>s].sources[<int>k] = source
        for d, length in enumerate(shape):
            self.shape[<int>d] = length
        for r, operand in enumerate(operands):
            view = self._array(operand)
            self.operands[<int>r].data = <const char*>_pointer(view)
            for d, stride in enumerate(view.strides):
                self.operands[<int>r].strides[<int>d] = stride

    def __dealloc__(self):
        PyMem_Free(self.operands)

    def _array(self, array):
        """The array broadcast to the shape of the result, kept alive."""
        if array.dtype != numpy.float64:
            raise TypeError("operands are arrays of float64")
        self.kept.append(numpy.broadcast_to(array, self.size))
        return self.kept[len(self.kept) - 1]

    cdef double* _result(self, array, int size) except? NULL:
        if array.shape != self.size or array.dtype != numpy.float64:
            raise ValueError("an array of float64 with the shape of the result is needed")
        for d, stride in enumerate(array.strides):
            self.strides[<int>d] = stride // size
        return _pointer(array)

    cdef Sweep _sweep(self) noexcept:
        cdef Sweep sweep
        sweep.program, sweep.operand, sweep.dims, sweep.shape = &self.program, self.operands, self.ndim, self.shape
        return sweep

    cdef int _flows(self, adjoints) except -1:
        for r in range(self.program.operands):
            self.operands[<int>r].adjoint = NULL
            if adjoints[r] is None:
                continue
            view = self._array(adjoints[r])
            self.operands[<int>r].adjoint = _pointer(view)
            for d, stride in enumerate(view.strides):
                self.operands[<int>r].adjoint_strides[<int>d] = stride // sizeof(double)
        return 0

    def values(self, out):
        """Assign the values to `out`."""
        cdef double* to = self._result(out, 1)
        with nogil:
            tiles_values(&self.program, self.operands, self.ndim, self.shape, to, self.strides)
        return out

    def reverse(self, adjoints, lhs, keep=False):
        """Add to `adjoints`, one array or None for each operand, what flows from `lhs`, and zero that."""
        cdef bint keeps = keep
        cdef double* adjoint = self._result(lhs, sizeof(double))
        self._flows(adjoints)
        with nogil:
            tiles_reverse(&self.program, self.operands, self.ndim, self.shape, adjoint, self.strides, keeps)

    def tangent(self, tangents, lhs):
        """Assign the tangent of the result to `lhs`."""
        cdef double* tangent = self._result(lhs, sizeof(double))
        self._flows(tangents)
        with nogil:
            tiles_tangent(&self.program, self.operands, self.ndim, self.shape, tangent, self.strides)
        return lhs

    def jacobians(self, wanted):
        """The per-element derivatives for each operand that is `wanted`, else None."""
        found = [numpy.full(self.size, numpy.nan) if want else None for want in wanted]
        for r, array in enumerate(found):
            self.jacobian[<int>r] = NULL if array is None else _pointer(array)
        with nogil:
            tiles_jacobians(&self.program, self.operands, self.ndim, self.shape, self.jacobian)
        return found

    def threads(self, adjoints=None, lhs=None):
        """How many threads the values take, or, with adjoints, the sweep back."""
        cdef Sweep sweep = self._sweep()
        if adjoints is None:
            return _threads_for(<size_t>&sweep)
        self._flows(adjoints)
        cdef double* adjoint = self._result(lhs, sizeof(double))
        return _threads_for(<size_t>&sweep, <size_t>adjoint, <size_t>self.strides)

    def needed(self, active):
        """The operands whose values a sweep reads when those of `active` are differentiated, a bit for each."""
        return tiles_needed(&self.program, active)
