# SPDX-License-Identifier: Apache-2.0
# Between Arrays and plain arrays: the same elements seen as the other.
from codipy.active.core.base_array cimport BaseArray

# A read-only plain array over the values of a stored array; it keeps them as they are.
cdef object ndarray_of(BaseArray a)
# The same of a float32 Array, which is copied; `spans` has copies to serve again: of x @ x.T NumPy computes one half.
cdef object singles_of(BaseArray a, dict spans)
# The same in double precision, without a copy, also of a float32 Array.
cdef object doubles_of(BaseArray a)
# A plain array in the place of an Array: of its dtype, layout and flags. NumPy's functions show on it what is a view.
cpdef object stand_in(BaseArray a)
# Whether a result of such a function is a view of the stand-in, or that itself.
cpdef bint is_view_of(object shown, object plain) except -1
# The Array that shows of `a` what `shown`, a view of its stand-in, shows of that; `a` for the stand-in itself.
cpdef BaseArray shown_as(BaseArray a, object plain, object shown)
# The value of an Array or Real, anything else unchanged; in indices, nested ones too.
cdef object plain_of(x)
cdef object plain_index(index)
