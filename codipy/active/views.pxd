# SPDX-License-Identifier: Apache-2.0
# Between Arrays and plain arrays: the same elements seen as the other.
from codipy.active.array_type cimport Array

# A read-only plain array over the values of a stored array; it keeps them as they are.
cdef object ndarray_of(Array a)
# The same of a float32 Array, which is copied; `spans` has copies to serve again: of x @ x.T NumPy computes one half.
cdef object singles_of(Array a, dict spans)
# The same in double precision, without a copy, also of a float32 Array.
cdef object doubles_of(Array a)
# A plain array in the place of an Array: of its dtype, layout and flags. NumPy's functions show on it what is a view.
cpdef object stand_in(Array a)
# Whether a result of such a function is a view of the stand-in, or that itself.
cpdef bint is_view_of(object shown, object plain) except -1
# The Array that shows of `a` what `shown`, a view of its stand-in, shows of that; `a` for the stand-in itself.
cpdef Array shown_as(Array a, object plain, object shown)
# Another variable on the same view, so that an expression reads what it shows now.
cdef Array second(Array a)
# A method of ndarray that gives a view where it can: a view of the same storage, else a copy.
cdef Array as_view(Array a, str name, tuple args, dict kwargs)
# A copy in C order, or whatever `order` says, in memory of its own.
cdef Array moved(Array a, str order)
# The value of an Array or Real, anything else unchanged; in indices, nested ones too.
cdef object plain_of(x)
cdef object plain_index(index)
# The elements that an index selects which is no view, and writing into them: movements.
cdef object take(Array a, index)
cdef int scatter(Array a, index, value) except -1
