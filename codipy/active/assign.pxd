# SPDX-License-Identifier: Apache-2.0
# Writing into arrays in place.
from codipy.active.array_type cimport Array
from codipy.active.view cimport View

# Write `value`, which broadcasts, into the elements that `target` shows.
cdef int assign(Array target, object value) except -1
