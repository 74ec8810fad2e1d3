# SPDX-License-Identifier: Apache-2.0
# Arrays as inputs and outputs of a recording, and their gradients.
from codipy.active.array_type cimport Array
from codipy.active.block cimport Block
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape

cdef Array register_array(BaseTape tape, object x)
cdef Array output_array(BaseTape tape, Array y)
# The block where adjoints and values are read and set, or an error that says what ("gradient") it has none of.
cdef Block block_of(Array array, str what)
cdef BaseTape tape_of(Block block)
# The tape and the identifiers where the adjoints of an array are read and set.
cdef tuple adjoint_slots(Array self)
# An error where sweeps have consumed adjoints of an Array; and a note that they are seeded next.
cdef int demand_adjoints(Array array, AdjointVector adjoints) except -1
cdef int note_seed(Array array, AdjointVector adjoints) except -1
cdef object get_tangent(Array a)
cdef int set_tangent(Array a, object seed) except -1
cdef object get_gradient(Array a)
cdef int set_gradient(Array a, object seed) except -1
