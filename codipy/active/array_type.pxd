# SPDX-License-Identifier: Apache-2.0
# The active array: its operators and methods.
cimport cython

from codipy.active.core.base_array cimport BaseArray


@cython.final
cdef class Array(BaseArray):
    pass
