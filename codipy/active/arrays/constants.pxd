# SPDX-License-Identifier: Apache-2.0
# Plain arrays beside Arrays: copies of what they hold now, one for as long as they hold it.
cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray
from codipy.tape.recorder cimport Recorder

# A passive Array with the values of a float64 array.
cdef BaseArray copy_of(cnp.ndarray values)
# A passive Array of what a plain array holds now, nobody else's: laid out as it is.
cdef BaseArray snapshot(values)
# The same for who does not write to it: where it is an earlier one, the array held the same bits then.
cdef BaseArray constant(Recorder* r, values)
# What a plain array holds now, as a plain array; of float64 a read-only one, see constant().
cdef object frozen_copy(Recorder* r, cnp.ndarray values)
# Whether a plain array and all that it is a view of are read-only: its owner's word that nobody writes to it.
cdef bint is_frozen(object values)
