# SPDX-License-Identifier: Apache-2.0
# Which plain arrays may become Arrays.
from cpython.object cimport PyObject

# Whether a tape records on this thread.
cdef bint records() noexcept
# Whether it is an ndarray, and of no subclass; NULL is none.
cdef bint is_array(PyObject* o) noexcept
# Whether an object is a plain array to which there are so many references, and no weak one.
cdef bint has_references(PyObject* o, Py_ssize_t count) noexcept
# A passive Array on the memory of a plain array, or that itself if it cannot be written to, or others see what it shows.
cdef object array_of(object value)
