# SPDX-License-Identifier: Apache-2.0
# A primitive on the tape: its rules are called with views of the adjoint vector.
from libc.stdint cimport int32_t
cimport cython

from codipy.tape.record cimport Record


@cython.final
cdef class Call(Record):
    cdef object primitive            # see codipy.numpy.primitive
    cdef object out                  # the result's values, several as a tuple
    cdef tuple args                  # the arguments' values
    cdef dict kwargs
    cdef tuple argnums               # positions of the active arguments ...
    cdef list arguments              # ... and the identifiers of each: (first, shape, strides in elements)
    cdef bint single                 # an argument or a result is float32; the rules see doubles
    cdef list results                # the same for each result; None: without derivative

cdef Call new_call(object primitive, tuple args, dict kwargs, out, tuple argnums, list arguments, list results,
                   bint single)
