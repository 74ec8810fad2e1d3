# SPDX-License-Identifier: Apache-2.0
# Arrays as inputs and outputs of a recording, and their gradients.
from codipy.active.core.base_array cimport BaseArray
from codipy.active.storage.block cimport Block
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape

cdef BaseArray register_array(BaseTape tape, object x)
cdef BaseArray output_array(BaseTape tape, BaseArray y)
# The block where adjoints and values are read and set, or an error that says what ("gradient") it has none of.
cdef Block block_of(BaseArray array, str what)
cdef BaseTape tape_of(Block block)
# The tape and the identifiers where the adjoints of an array are read and set.
cdef tuple adjoint_slots(BaseArray self)
# An error where sweeps have consumed adjoints of an Array; and a note that they are seeded next.
cdef int demand_adjoints(BaseArray array, AdjointVector adjoints) except -1
cdef int note_seed(BaseArray array, AdjointVector adjoints) except -1
cdef object get_tangent(BaseArray a)
cdef int set_tangent(BaseArray a, object seed) except -1
cdef object get_gradient(BaseArray a)
cdef int set_gradient(BaseArray a, object seed) except -1
