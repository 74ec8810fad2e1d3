# SPDX-License-Identifier: Apache-2.0
# Which identifiers an argument or a result of a record has, and what vectors hold for them.
from libc.stdint cimport int32_t


# The identifiers of an argument or a result: the first, and as of a View shape and strides, in elements.
cdef struct Slots:
    int32_t first
    int32_t ndim                     # -1: there are none, as of a result without derivative
    const Py_ssize_t* shape
    const Py_ssize_t* strides


cdef inline bint view_slots(Slots* slots, int32_t first, int ndim, const Py_ssize_t* shape,
                            const Py_ssize_t* strides) noexcept nogil:
    slots.first, slots.ndim, slots.shape, slots.strides = first, ndim, shape, strides
    return True


cdef inline bint row_slots(Slots* slots, int32_t first, Py_ssize_t length, Py_ssize_t* room) noexcept nogil:
    """Identifiers one after the other; `room` has two numbers, which stay as long as the slots."""
    room[0], room[1] = length, 1
    return view_slots(slots, first, 1, room, room + 1)

cdef tuple shape_of(const Slots* slots)
# Whether they are all identifiers behind `before` to `after`, each once.
cdef bint are_all_between(const Slots* slots, int32_t before, int32_t after) noexcept
# What a vector holds for them, `width` numbers for each, as an array of every first number.
cdef object view_of(double* origin, const Slots* slots, Py_ssize_t width, bint writable)
# One direction of their adjoints, to be written to; None where there is no derivative.
cdef object adjoint_view(double* origin, const Slots* slots, Py_ssize_t width)
# All directions of their adjoints, as the first axis of an array.
cdef object directions_of(double* origin, const Slots* slots, Py_ssize_t width)
# Add an array to one direction of their adjoints; False where it is not one of doubles in their shape.
cdef bint add_array(double* origin, const Slots* slots, Py_ssize_t width, object array) except? True
# Whether an adjoint is not zero; NaN is not.
cdef bint is_nonzero(const double* origin, const Slots* slots, Py_ssize_t width) noexcept
# Zeros in one direction, and in all.
cdef int clear(double* origin, const Slots* slots, Py_ssize_t width) except -1
cdef int clear_all(double* origin, const Slots* slots, Py_ssize_t width) except -1
