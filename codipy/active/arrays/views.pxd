# SPDX-License-Identifier: Apache-2.0
# Views of Arrays, copies of their elements, and writing to elements that an index selects.
from codipy.active.core.base_array cimport BaseArray

# Another variable on the same view, so that an expression reads what it shows now.
cdef BaseArray second(BaseArray a)
# A method of ndarray that gives a view where it can: a view of the same storage, else a copy.
cdef BaseArray as_view(BaseArray a, str name, tuple args, dict kwargs)
# A copy in C order, or whatever `order` says, in memory of its own.
cdef BaseArray moved(BaseArray a, str order)
# The elements that an index selects which is no view, and writing into them: movements.
cdef object take(BaseArray a, index)
cdef int scatter(BaseArray a, index, value) except -1
