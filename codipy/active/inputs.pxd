# SPDX-License-Identifier: Apache-2.0
# Arrays as inputs and outputs of a recording, and their gradients.
from codipy.active.array_type cimport Array
from codipy.tape.base cimport BaseTape

cdef Array register_array(BaseTape tape, object x)
cdef Array output_array(BaseTape tape, Array y)
# The tape and the identifiers where the adjoints of an array are read and set.
cdef tuple adjoint_slots(Array self)
cdef object get_gradient(Array a)
cdef int set_gradient(Array a, object seed) except -1
