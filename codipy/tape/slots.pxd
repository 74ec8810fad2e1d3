# SPDX-License-Identifier: Apache-2.0
# Which identifiers an argument or a result of a call has, and what vectors hold for them.
from libc.stdint cimport int32_t


# The identifiers of an argument or a result: the first, and as of a View shape and strides, in elements.
cdef struct Slots:
    int32_t first
    int32_t ndim                     # -1: a result without derivative
    Py_ssize_t* shape
    Py_ssize_t* strides

cdef tuple shape_of(const Slots* slots)
# What a vector holds for them, `width` numbers for each, as an array of every first number.
cdef object view_of(double* origin, const Slots* slots, Py_ssize_t width, bint writable)
# One direction of their adjoints, to be written to; None where there is no derivative.
cdef object adjoint_view(double* origin, const Slots* slots, Py_ssize_t width)
# All directions of their adjoints, as the first axis of an array.
cdef object directions_of(double* origin, const Slots* slots, Py_ssize_t width)
# Whether an adjoint is not zero; NaN is not.
cdef bint is_nonzero(const double* origin, const Slots* slots, Py_ssize_t width) noexcept
# Zeros in one direction, and in all.
cdef int clear(double* origin, const Slots* slots, Py_ssize_t width) except -1
cdef int clear_all(double* origin, const Slots* slots, Py_ssize_t width) except -1
