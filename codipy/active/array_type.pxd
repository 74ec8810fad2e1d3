# SPDX-License-Identifier: Apache-2.0
# The active array: a view of a storage, or an expression that is not computed yet.
cimport cython

from codipy.active.pending cimport Pending
from codipy.active.storage cimport Storage
from codipy.active.view cimport View


# Two states:   stored    pending None
#               pending   the view is the result's shape, contiguous; the storage is None, or holds values that were
#                         asked for while nothing recorded (identifiers it gets when it is used in the recording)
@cython.final
cdef class Array:
    cdef Storage storage
    cdef Pending pending
    cdef Pending kept                # the expression, where it was computed in a later epoch than it was made in: a reset to
                                     # the position between drops the statement, but not the array
    cdef View geometry
    cdef Array owner                 # what this is a view of: NumPy's `base`; None where it has elements of its own
    cdef bint readonly               # writes through this variable are refused; views of it are read-only as well

# What an Array shows that nobody initialised.
cdef Storage EMPTY

cdef Array new_array(Storage storage, const View* view)
# A view of a stored array, of which it is one in Python too: `base`, and read-only where the array is.
cdef Array new_view(Array a, const View* view)
# Whether the dtype is float32.
cdef inline bint is_single(Array a) noexcept:
    return a.pending.single != 0 if a.pending is not None else a.storage.single
