# SPDX-License-Identifier: Apache-2.0
# What an Array holds: a view of a storage, or an expression that is not computed yet. Operators and methods stand above
# what works on these fields, in codipy/active/array_type.pyx.
from libc.stdint cimport int64_t
from cpython.object cimport PyTypeObject, Py_TYPE

from codipy.active.core.pending cimport Pending
from codipy.active.storage.storage cimport Storage
from codipy.active.storage.view cimport View


# Two states:   stored    pending None
#               pending   the view is the result's shape, contiguous; the storage is None, or holds values that were
#                         asked for while nothing recorded (identifiers it gets when it is used in the recording)
cdef class BaseArray:
    cdef Storage storage
    cdef Pending pending
    cdef Pending kept                # the expression, where it was computed in a later epoch than it was made in: a reset to
                                     # the position between drops the statement, but not the array
    cdef View geometry
    cdef BaseArray owner             # what this is a view of: NumPy's `base`; None where it has elements of its own
    cdef bint readonly               # writes through this variable are refused; views of it are read-only as well

# What an Array shows that nobody initialised.
cdef Storage EMPTY
# The class of every BaseArray, codipy.Array, which makes itself known here.
cdef PyTypeObject* array_type

cdef BaseArray new_array(Storage storage, const View* view)
# A view of a stored array, of which it is one in Python too: `base`, and read-only where the array is.
cdef BaseArray new_view(BaseArray a, const View* view)
# The epoch of the recording in which an active array was made.
cdef int64_t epoch_of_array(BaseArray a)


cdef inline bint is_array(object x) noexcept:
    return Py_TYPE(x) == array_type


cdef inline bint is_single(BaseArray a) noexcept:
    """Whether the dtype is float32."""
    return a.pending.single != 0 if a.pending is not None else a.storage.single
