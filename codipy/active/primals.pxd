# SPDX-License-Identifier: Apache-2.0
# Values of Arrays on the tape: new ones for inputs, and those that a replay computed.
from codipy.active.core.base_array cimport BaseArray
from codipy.active.scalar.real cimport Real
from codipy.tape.base cimport BaseTape

cdef int set_values(BaseTape tape, BaseArray x, object value) except -1
cdef object get_values(BaseTape tape, BaseArray x)
# Refuse to read a Real's value where the tape does not hold it.
cdef int demand_known(BaseTape tape, Real x) except -1
