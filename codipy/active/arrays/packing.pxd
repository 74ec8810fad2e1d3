# SPDX-License-Identifier: Apache-2.0
# Explicit identifiers of arrays, and arrays made from explicit identifiers: movements.
from libc.stdint cimport int32_t
cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray
from codipy.active.storage.view cimport View
from codipy.tape.recorder cimport Recorder

# An array of the same elements for who may hold its values and identifiers: its storage is clean or passive, and no
# large one of which it is a small part that somebody writes to. x itself, packed if need be, or a copy of the part.
cdef BaseArray readable(Recorder* r, BaseArray x)
# Identifiers of the elements of a stored array, in C order; 0 where passive in the recording r.
cdef int identifiers_of(Recorder* r, BaseArray x, int32_t* identifiers) except -1
# Whether an element of a mixed array has an identifier, of whatever recording.
cdef bint any_identifier(BaseArray x) noexcept
cpdef object identifiers(x)
# A passive Array on a float64 array that nobody else writes to, or of the values of another.
cpdef BaseArray from_ndarray(values)
# A passive Array of float64 with one number everywhere, None: with any; None where the shape is not simply numbers.
cpdef object filled(shape, number)
# The same of a result of NumPy's that may be a view with gaps, and then is one here.
cpdef BaseArray with_gaps(cnp.ndarray values)
# An Array of nested lists or tuples of Reals, Arrays and numbers; a plain array where nothing is active.
cpdef object from_nested(tree)
cpdef object gather(values, identifiers)
