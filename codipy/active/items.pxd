# SPDX-License-Identifier: Apache-2.0
# What `a[index]` and `a[index] = value` do.
from codipy.active.core.base_array cimport BaseArray

cdef object get_item(BaseArray a, object index)
cdef int set_item(BaseArray a, object index, object value) except -1
# ndarray.item: the element at a flat index or a tuple of them.
cdef object item_at(BaseArray a, tuple args)
