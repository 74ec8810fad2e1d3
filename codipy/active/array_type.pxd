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
    cdef View geometry

cdef Array new_array(Storage storage, const View* view)
