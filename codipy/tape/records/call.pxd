# SPDX-License-Identifier: Apache-2.0
# A primitive on the tape: its rules are called with views of the adjoint vector.
from libc.stdint cimport int32_t
cimport cython

from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.products cimport Factors
from codipy.tape.records.record cimport Record
from codipy.tape.records.slots cimport Slots


@cython.final
cdef class Call(Record):
    cdef object primitive            # see codipy.numpy.primitive
    cdef object places               # its rule of that name, where it is to be asked
    cdef object into                 # likewise
    cdef bint product                # of two matrices or vectors, small ones: see tape/products
    cdef object out                  # the result's values, several as a tuple
    cdef tuple args                  # the arguments' values
    cdef dict kwargs
    cdef tuple argnums               # positions of the active arguments
    cdef Slots* slots                # of each active argument, then of each result, in one piece of memory
    cdef Py_ssize_t arguments        # how many of them are arguments ...
    cdef Py_ssize_t results          # ... and results
    cdef bint single                 # an argument or a result is float32; the rules see doubles

    cdef Py_ssize_t bytes_of_slots(self) noexcept
    cdef bint multiplies(self, Factors* factors) noexcept
    cdef bint reverse_at_once(self, AdjointVector adjoints, bint keep) except? True
    cdef bint forward_at_once(self, AdjointVector adjoints) except? True
    cdef int demand_shape(self, str kind, tuple found, tuple expected) except -1
    cdef int demand_each(self, object back, tuple argnums) except -1
    cdef int add_bars(self, double* origin, object bars, Py_ssize_t width) except -1
    cdef bint add_at_places(self, double* origin, Py_ssize_t width) except? True
    cdef bint write_bar(self, double* origin, Py_ssize_t k, object bars, Py_ssize_t width) except? True
    cdef int add_to(self, double* origin, Py_ssize_t k, object bar, Py_ssize_t width) except -1

# A call whose slots are still to be filled: `dims` is the number of dimensions of all of them together.
cdef Call new_call(object primitive, tuple argnums, Py_ssize_t arguments, Py_ssize_t results, Py_ssize_t dims)
# Fill one of them, in order; shape and strides lie behind those of the one before.
cdef int set_slots(Call call, Py_ssize_t k, int32_t first, int ndim, const Py_ssize_t* shape,
                   const Py_ssize_t* strides) except -1
