# SPDX-License-Identifier: Apache-2.0
# What becomes an Array, and what an Array becomes: copies, other dtypes, lists, plain arrays.
from codipy.active.core.base_array cimport BaseArray

# Array(value): a copy of what is array_like; Reals and Arrays in nested lists stay active.
cdef BaseArray converted(object value)
cdef BaseArray copied(BaseArray a, str order)
cdef object as_type(BaseArray a, object dtype, str order, str casting, bint subok, bint copy)
cdef object nested_lists(BaseArray a)
# The Real of an element, which nobody else has yet, as that of a float of Python.
cdef object of_python(element)
# Refuse what would lose the derivative of an active array: `what` it is, and what to do instead.
cdef int demand_passive(BaseArray a, str what, str instead) except -1
# Whether a sparse matrix of SciPy asks what it is multiplied by; it leaves `matrix @ x` to an object of no known kind.
cdef bint asks_for_product(caller)
# What to write instead of the conversion to an ndarray that the frame `caller` wants.
cdef str instead_of_asarray(caller, dtype)
