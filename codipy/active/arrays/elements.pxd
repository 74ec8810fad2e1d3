# SPDX-License-Identifier: Apache-2.0
# Single elements of arrays: Reals on the same adjoint slot.
from libc.stdint cimport int32_t

from codipy.active.core.base_array cimport BaseArray
from codipy.active.storage.storage cimport Storage
from codipy.tape.recorder cimport Recorder

# The Real of the element at an offset from the view's first.
cdef object element(BaseArray a, Py_ssize_t offset)
cdef int set_element(BaseArray a, Py_ssize_t offset, object value) except -1
# The identifier of a scalar statement that copies an array's slot.
cdef int32_t copy_slot(Recorder* r, int32_t identifier, double value) except -1
cdef int go_mixed_in_passive(Storage storage) except -1
# 1: explicit identifiers take part in the recording r; 0: as passive values; else an error.
cdef int admit_mixed(Recorder* r, Storage storage) except -1
