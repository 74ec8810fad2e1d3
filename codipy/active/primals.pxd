# SPDX-License-Identifier: Apache-2.0
# Values of Arrays on the tape: new ones for inputs, and those that a replay computed.
from codipy.active.array_type cimport Array
from codipy.active.real cimport Real
from codipy.tape.base cimport BaseTape

cdef int set_values(BaseTape tape, Array x, object value) except -1
cdef object get_values(BaseTape tape, Array x)
# Refuse to read a Real's value where the tape does not hold it.
cdef int demand_known(BaseTape tape, Real x) except -1
