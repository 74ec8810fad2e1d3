# SPDX-License-Identifier: Apache-2.0
# What becomes an Array, and what an Array becomes: copies, other dtypes, lists, plain arrays.
from codipy.active.array_type cimport Array

# Array(value): a copy of what is array_like; Reals and Arrays in nested lists stay active.
cdef Array converted(object value)
cdef Array copied(Array a, str order)
cdef object as_type(Array a, object dtype, str order, str casting, bint subok, bint copy)
cdef object nested_lists(Array a)
# Refuse what would lose the derivative of an active array: `what` it is, and what to do instead.
cdef int demand_passive(Array a, str what, str instead) except -1
