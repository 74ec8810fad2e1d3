# SPDX-License-Identifier: Apache-2.0
"""Indices of basic kinds, resolved without NumPy: ints, slices, ellipsis, None, and tuples of them."""
from cpython.long cimport PyLong_CheckExact, PyLong_AsSsize_t
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Check, PySlice_Unpack

from codipy.active.storage.view cimport View
from codipy.programs.tiles cimport MAX_DIMS

import operator

from codipy.errors import ActiveError


cdef int select(const View* view, object index, View* result, bint* single) except -1:
    cdef tuple items = <tuple>index if type(index) is tuple else (index,)
    cdef Py_ssize_t n = len(items), i, start, stop, step, count, skipped
    cdef int source = 0, used = 0, _k
    cdef bint ellipsis = False
    result.offset, result.ndim, result.size = view.offset, 0, 1
    for i in range(n):
        item = items[i]
        if PySlice_Check(item) or PyLong_CheckExact(item):
            used += 1
        elif item is Ellipsis:
            if ellipsis:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis = True
        elif item is None:
            pass
        elif hasattr(item, "__index__") and type(item) is not bool and not hasattr(item, "ndim"):
            used += 1
        else:
            return 0
    single[0] = used == view.ndim and not ellipsis
    if used > view.ndim:
        raise IndexError(f"too many indices for array: array is {view.ndim}-dimensional, but {used} were indexed")
    for i in range(n):
        item = items[i]
        if item is None:
            if result.ndim == MAX_DIMS:
                raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions")
            single[0] = False
            result.shape[result.ndim], result.strides[result.ndim] = 1, 0
            result.ndim += 1
        elif item is Ellipsis:
            skipped = view.ndim - used
            for _ in range(skipped):
                if result.ndim == MAX_DIMS:
                    raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions")
                result.shape[result.ndim], result.strides[result.ndim] = view.shape[source], view.strides[source]
                result.size *= view.shape[source]
                result.ndim += 1
                source += 1
        elif PySlice_Check(item):
            PySlice_Unpack(item, &start, &stop, &step)
            count = PySlice_AdjustIndices(view.shape[source], &start, &stop, step)
            single[0] = False
            if result.ndim == MAX_DIMS:
                raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions")
            if count:
                result.offset += start * view.strides[source]
            result.shape[result.ndim], result.strides[result.ndim] = count, step * view.strides[source]
            result.size *= count
            result.ndim += 1
            source += 1
        else:
            start = PyLong_AsSsize_t(item) if PyLong_CheckExact(item) else operator.index(item)
            if start < -view.shape[source] or start >= view.shape[source]:
                raise IndexError(f"index {start} is out of bounds for axis {source} with size {view.shape[source]}")
            if start < 0:
                start += view.shape[source]
            result.offset += start * view.strides[source]
            source += 1
    if not ellipsis:
        while source < view.ndim:
            if result.ndim == MAX_DIMS:
                raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions")
            result.shape[result.ndim], result.strides[result.ndim] = view.shape[source], view.strides[source]
            result.size *= view.shape[source]
            result.ndim += 1
            source += 1
    return 1
