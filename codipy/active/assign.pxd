# SPDX-License-Identifier: Apache-2.0
# Writing into arrays in place.
from codipy.active.array_type cimport Array
from codipy.active.view cimport View

# A broadcast view cannot be written to, as in NumPy.
cdef int demand_writable(const View* v) except -1
# Write `value`, which broadcasts, into the elements that `target` shows.
cdef int assign(Array target, object value) except -1
