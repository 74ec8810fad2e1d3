# SPDX-License-Identifier: Apache-2.0
"""What an Array holds, and how one is made."""
from libc.stdint cimport int64_t
from cpython.object cimport PyTypeObject
cimport cython

from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport View
from codipy.data.buffer cimport new_buffer

cdef extern from "Python.h":
    ctypedef struct ArrayType "PyTypeObject":
        object (*tp_new)(PyTypeObject* type, object args, void* kwargs)

EMPTY = new_storage(new_buffer(0), None, False)
array_type = NULL


@cython.no_gc
@cython.freelist(64)
cdef class BaseArray:
    """The state of an Array; no object is of this class alone."""
    def __cinit__(self):
        self.storage = EMPTY
        self.geometry.ndim, self.geometry.shape[0], self.geometry.strides[0] = 1, 0, 1


cdef BaseArray new_array(Storage storage, const View* view):
    cdef BaseArray new = <BaseArray>(<ArrayType*>array_type).tp_new(array_type, (), NULL)
    new.storage = storage
    new.geometry = view[0]
    return new


cdef BaseArray new_view(BaseArray a, const View* view):
    cdef BaseArray new = new_array(a.storage, view)
    new.owner = a if a.owner is None else a.owner
    new.readonly = a.readonly
    return new


cdef int64_t epoch_of_array(BaseArray a):
    if a.pending is not None:
        return a.pending.epoch
    return a.storage.block.epoch if a.storage.identifiers == NULL else a.storage.epoch
