# SPDX-License-Identifier: Apache-2.0
"""Where in a storage the elements stand that an index of NumPy's selects."""
import numpy as np

from cpython.mem cimport PyMem_Calloc, PyMem_Free
cimport numpy as cnp

from codipy.active.array_type cimport Array
from codipy.active.storage cimport is_small
from codipy.active.view cimport View, is_contiguous, shape_tuple
from codipy.tape.loops cimport loop_places

cnp.import_array()

cdef enum:
    FEW = 256                    # elements


cdef cnp.ndarray integers_of(index):
    """An index array of signed integers, or a list of them, as NumPy's own kind; None for anything else."""
    cdef int kind
    if type(index) is list:
        for i in <list>index:
            if type(i) is not int:
                return None
        return np.array(index, np.intp)
    if type(index) is not np.ndarray:
        return None
    kind = cnp.PyArray_TYPE(<cnp.ndarray>index)
    if kind == cnp.NPY_INTP:
        return index
    return index.astype(np.intp) if cnp.PyTypeNum_ISSIGNED(kind) and cnp.PyTypeNum_ISINTEGER(kind) else None


cdef object offsets_across(const View* v, tuple index):
    """As offsets_of, for arrays of integers along axes that follow each other, as np.ix_ makes them, with whole axes
    before and behind; None for anything else."""
    cdef cnp.broadcast together
    cdef cnp.ndarray found, places
    cdef Py_ssize_t* offsets
    cdef const Py_ssize_t* at
    cdef Py_ssize_t i, j, k, place, before, behind = 1, outer = 1, count, across
    cdef int d, first = 0, last
    cdef list arrays = []
    cdef tuple shape
    if len(index) > v.ndim:
        return None
    while first < len(index) and is_whole(index[first]):
        first += 1
    last = first
    while last < len(index) and not is_whole(index[last]):
        x = integers_of(index[last])
        if x is None:
            return None
        arrays.append(x)
        last += 1
    for d in range(last, len(index)):
        if not is_whole(index[d]):
            return None
    if not arrays:
        return None
    try:
        together = np.broadcast(*arrays)
    except ValueError:
        return None              # NumPy's indexing has an error of its own
    places = np.empty((<object>together).shape, np.intp)
    offsets, count = <Py_ssize_t*>cnp.PyArray_DATA(places), cnp.PyArray_SIZE(places)
    for i in range(count):
        offsets[i] = v.offset
        for d in range(first, last):
            place = (<Py_ssize_t*>cnp.PyArray_MultiIter_DATA(together, d - first))[0]
            if place < 0:
                place += v.shape[d]
            if not 0 <= place < v.shape[d]:
                return None
            offsets[i] += place * v.strides[d]
        cnp.PyArray_MultiIter_NEXT(together)
    if last - first == v.ndim:
        return places
    for d in range(first):
        outer *= v.shape[d]
    for d in range(last, v.ndim):
        behind *= v.shape[d]
    shape = shape_tuple(v)
    found = np.empty(shape[:first] + (<object>together).shape + shape[last:], np.intp)
    at, offsets = <const Py_ssize_t*>cnp.PyArray_DATA(places), <Py_ssize_t*>cnp.PyArray_DATA(found)
    for i in range(outer):
        before = offset_within(v, 0, first, i)
        for k in range(behind):
            across = before + offset_within(v, last, v.ndim, k)
            for j in range(count):
                offsets[(i * count + j) * behind + k] = across + at[j]
    return found


cdef bint is_whole(object index):
    return type(index) is slice and index.start is None and index.stop is None and index.step is None


cdef Py_ssize_t offset_within(const View* v, int first, int last, Py_ssize_t number) noexcept:
    """Where an element stands along some axes, by its number in the order of C."""
    cdef Py_ssize_t offset = 0
    cdef int d
    for d in range(last - 1, first - 1, -1):
        offset += number % v.shape[d] * v.strides[d]
        number //= v.shape[d]
    return offset


cdef object offsets_of(Array a, index):
    """Where in the storage the elements are that a view shows at an index of NumPy's: an array of int64.

    One gather for each axis, on a range that is stretched over the others without memory: what is not asked for costs
    nothing. Of a vector an index array is the answer already, however long the vector is.
    """
    cdef View* v = &a.geometry
    cdef int k
    shape = shape_tuple(v)
    if v.ndim == 0:
        return np.full((), v.offset)[index]
    if type(index) is tuple and v.ndim > 1:
        found = offsets_across(v, index)
        if found is not None:
            return found
    if v.ndim == 1 and type(index) is np.ndarray and cnp.PyArray_TYPE(<cnp.ndarray>index) == cnp.NPY_INTP:
        return offsets_along(v, np.ascontiguousarray(index))
    if v.ndim == 1 and (type(index) is not tuple or len(index) == 1):
        places = np.asarray(index[0] if type(index) is tuple else index)
        if places.ndim and places.size and places.dtype.kind == "i" and (
                places.min() >= -v.shape[0] and places.max() < v.shape[0]):
            places = places.astype(np.int64, copy=False)     # offsets may not fit into the integers of the index
            return v.offset + v.strides[0] * np.where(places < 0, places + v.shape[0], places)
    if v.size <= FEW and is_contiguous(v):       # one gather of what is there takes less than one for each axis
        return np.arange(v.offset, v.offset + v.size).reshape(shape)[index]
    found = np.int64(v.offset)
    for k in range(v.ndim):
        steps = np.arange(v.shape[k], dtype=np.int64) * v.strides[k]
        found = found + np.broadcast_to(steps.reshape((-1,) + (1,) * (v.ndim - 1 - k)), shape)[index]
    return found


cdef object offsets_along(const View* v, cnp.ndarray index):
    """The same for an array of indices into one dimension."""
    cdef cnp.ndarray found = np.empty_like(index)
    cdef Py_ssize_t* offsets = <Py_ssize_t*>cnp.PyArray_DATA(found)
    cdef Py_ssize_t i
    if not loop_places(<const Py_ssize_t*>cnp.PyArray_DATA(index), cnp.PyArray_SIZE(index), v.shape[0], offsets):
        np.empty(v.shape[0], bool)[index]        # NumPy's own error
    if v.offset or v.strides[0] != 1:
        for i in range(cnp.PyArray_SIZE(index)):
            offsets[i] = v.offset + offsets[i] * v.strides[0]
    return found


cdef bint all_differ(object offsets, Py_ssize_t size) except? True:
    """Whether no element of a storage is named twice."""
    cdef cnp.ndarray places
    cdef const Py_ssize_t* at
    cdef char* met
    cdef Py_ssize_t i
    cdef bint differ = True
    if is_small(offsets.size, size):
        return np.unique(offsets).size == offsets.size
    places = np.ascontiguousarray(offsets, np.intp)
    at = <const Py_ssize_t*>cnp.PyArray_DATA(places)
    met = <char*>PyMem_Calloc(size + 1, 1)
    if met == NULL:
        raise MemoryError(f"no memory for {size} places")
    for i in range(cnp.PyArray_SIZE(places)):
        if met[at[i]]:
            differ = False
            break
        met[at[i]] = 1
    PyMem_Free(met)
    return differ
