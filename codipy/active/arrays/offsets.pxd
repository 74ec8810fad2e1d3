# SPDX-License-Identifier: Apache-2.0
# Where in a storage the elements stand that an index of NumPy's selects.
cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray

# An index array of signed integers, or a list of them, as NumPy's own kind; None for anything else.
cdef cnp.ndarray integers_of(index)
# An array of int64 in the shape that NumPy gives the selection.
cdef object offsets_of(BaseArray a, index)
# Whether no element of a storage of `size` is named twice.
cdef bint all_differ(object offsets, Py_ssize_t size) except? True
