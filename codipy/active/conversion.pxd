# SPDX-License-Identifier: Apache-2.0
# What becomes an Array, and what an Array becomes: copies, other dtypes, lists, plain arrays.
from libc.stdint cimport int64_t

from codipy.active.array_type cimport Array

# Array(value): a copy of what is array_like; Reals and Arrays in nested lists stay active.
cdef Array converted(object value)
cdef Array copied(Array a, str order)
cdef object as_type(Array a, object dtype, str order, str casting, bint subok, bint copy)
cdef object nested_lists(Array a)
# The epoch of the recording in which an active array was made.
cdef int64_t epoch_of_array(Array a)
# The Real of an element, which nobody else has yet, as that of a float of Python.
cdef object of_python(element)
# Refuse what would lose the derivative of an active array: `what` it is, and what to do instead.
cdef int demand_passive(Array a, str what, str instead) except -1
# Whether a sparse matrix of SciPy asks what it is multiplied by; it leaves `matrix @ x` to an object of no known kind.
cdef bint asks_for_product(caller)
# What to write instead of the conversion to an ndarray that the frame `caller` wants.
cdef str instead_of_asarray(caller, dtype)
