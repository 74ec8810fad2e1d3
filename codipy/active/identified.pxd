# SPDX-License-Identifier: Apache-2.0
# Identifiers that programs outside are told.
from codipy.active.core.base_array cimport BaseArray

cdef object identifiers_of(BaseArray array)
