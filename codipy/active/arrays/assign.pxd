# SPDX-License-Identifier: Apache-2.0
# Writing into arrays in place.
from codipy.active.core.base_array cimport BaseArray

# Refuse what is read-only, with NumPy's error, and what shows one element more than once.
cdef int demand_writable(BaseArray target) except -1
# Write `value`, which broadcasts, into the elements that `target` shows.
cdef int assign(BaseArray target, object value) except -1
