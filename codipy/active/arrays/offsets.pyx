# SPDX-License-Identifier: Apache-2.0
"""Where in a storage the elements stand that an index of NumPy's selects."""
import numpy as np

from libc.stdint cimport uint64_t
from cpython.mem cimport PyMem_Calloc, PyMem_Free
cimport numpy as cnp

from codipy.active.core.base_array cimport BaseArray
from codipy.active.storage.storage cimport is_small
from codipy.active.storage.view cimport View, is_contiguous, set_contiguous, shape_tuple
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.records.loops cimport loop_places

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once

cdef enum:
    FEW = 256                    # elements

cdef uint64_t MIXER = 0x9E3779B97F4A7C15      # odd, its bits in no order: products of offsets by it differ in their middle


cdef cnp.ndarray integers_of(index):
    """An index array of signed integers, or a list of them, as NumPy's own kind; None for anything else."""
    cdef int kind
    if type(index) is list:
        for i in <list>index:
            if type(i) is not int:
                return None
        return np.array(index, np.intp)
    if type(index) is not ndarray:
        return None
    kind = cnp.PyArray_TYPE(<cnp.ndarray>index)
    if kind == cnp.NPY_INTP:
        return index
    return index.astype(np.intp) if cnp.PyTypeNum_ISSIGNED(kind) and cnp.PyTypeNum_ISINTEGER(kind) else None


cdef cnp.ndarray integers_in(index, Py_ssize_t length):
    """As integers_of, beside others: for one axis, of which a mask chooses elements, and a number one."""
    if type(index) is int:
        return np.array(index, np.intp)
    if type(index) is ndarray and cnp.PyArray_TYPE(<cnp.ndarray>index) == cnp.NPY_BOOL:
        if cnp.PyArray_NDIM(<cnp.ndarray>index) != 1 or cnp.PyArray_DIM(<cnp.ndarray>index, 0) != length:
            return None
        return index.nonzero()[0]
    return integers_of(index)


cdef object offsets_across(const View* v, tuple index):
    """As offsets_of, for arrays of integers along axes that follow each other, as np.ix_ makes them, with whole axes
    before and behind; None for anything else."""
    cdef cnp.ndarray x, found, places
    cdef Py_ssize_t* offsets
    cdef const Py_ssize_t* at
    cdef Py_ssize_t i, k, place, before, behind = 1, outer = 1, count, across, n
    cdef View together           # of the arrays that index
    cdef View shape              # of what is found
    cdef int d, j, first = 0, last
    cdef list arrays = []
    if len(index) > v.ndim:
        return None
    while first < len(index) and is_whole(index[first]):
        first += 1
    last, together.ndim = first, 0
    while last < len(index) and not is_whole(index[last]):
        x = integers_in(index[last], v.shape[last])
        if x is None or cnp.PyArray_NDIM(x) > MAX_DIMS or not cnp.PyArray_ISBEHAVED_RO(x):
            return None
        arrays.append(x)
        together.ndim = max(together.ndim, cnp.PyArray_NDIM(x))
        last += 1
    for d in range(last, len(index)):
        if not is_whole(index[d]):
            return None
    shape.ndim = first + together.ndim + v.ndim - last
    if not arrays or shape.ndim > MAX_DIMS:
        return None
    for d in range(together.ndim):
        together.shape[d] = 1
        for x in arrays:
            j = d - together.ndim + cnp.PyArray_NDIM(x)
            n = cnp.PyArray_DIM(x, j) if j >= 0 else 1
            if together.shape[d] == 1:
                together.shape[d] = n
            elif n != 1 and n != together.shape[d]:
                return None      # NumPy's indexing has an error of its own
        shape.shape[first + d] = together.shape[d]
    set_contiguous(&together)
    for d in range(first):
        shape.shape[d] = v.shape[d]
        outer *= v.shape[d]
    for d in range(last, v.ndim):
        shape.shape[first + together.ndim + d - last] = v.shape[d]
        behind *= v.shape[d]
    count = together.size
    places = cnp.PyArray_SimpleNew(together.ndim, <cnp.npy_intp*>together.shape, cnp.NPY_INTP)
    offsets = <Py_ssize_t*>cnp.PyArray_DATA(places)
    for i in range(count):
        offsets[i] = v.offset
    for d in range(first, last):
        x = arrays[d - first]
        for i in range(count):
            place = element_at(x, &together, i)
            if place < 0:
                place += v.shape[d]
            if not 0 <= place < v.shape[d]:
                return None
            offsets[i] += place * v.strides[d]
    if last - first == v.ndim:
        return places
    found = cnp.PyArray_SimpleNew(shape.ndim, <cnp.npy_intp*>shape.shape, cnp.NPY_INTP)
    at, offsets = <const Py_ssize_t*>cnp.PyArray_DATA(places), <Py_ssize_t*>cnp.PyArray_DATA(found)
    for i in range(outer):
        before = offset_within(v, 0, first, i)
        for k in range(behind):
            across = before + offset_within(v, last, v.ndim, k)
            for n in range(count):
                offsets[(i * count + n) * behind + k] = across + at[n]
    return found


cdef inline Py_ssize_t element_at(cnp.ndarray x, const View* together, Py_ssize_t number) noexcept:
    """The element of an array of integers that stands at a place of what it broadcasts to."""
    cdef const char* data = cnp.PyArray_BYTES(x)
    cdef int d, j = cnp.PyArray_NDIM(x) - 1
    if together.ndim == 1 and j == 0 and cnp.PyArray_DIM(x, 0) != 1:
        return (<const Py_ssize_t*>(data + number * cnp.PyArray_STRIDE(x, 0)))[0]
    for d in range(together.ndim - 1, -1, -1):
        if j >= 0 and cnp.PyArray_DIM(x, j) != 1:
            data += number % together.shape[d] * cnp.PyArray_STRIDE(x, j)
        number //= together.shape[d]
        j -= 1
    return (<const Py_ssize_t*>data)[0]


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


cdef object offsets_of(BaseArray a, index):
    """Where in the storage the elements are that a view shows at an index of NumPy's: an array of int64.

    One gather for each axis, on a range that is stretched over the others without memory: what is not asked for costs
    nothing. Of a vector an index array is the answer already, however long the vector is.
    """
    cdef View* v = &a.geometry
    cdef int k
    shape = shape_tuple(v)
    if v.ndim == 0:
        return np.full((), v.offset)[index]
    if v.ndim == 1 and type(index) is ndarray and cnp.PyArray_TYPE(<cnp.ndarray>index) == cnp.NPY_INTP:
        return offsets_along(v, np.ascontiguousarray(index))
    if type(index) in (tuple, list, ndarray):
        found = offsets_across(v, index if type(index) is tuple else (index,))
        if found is not None:
            return found
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


# What was met, and as the how-manieth, found by its number; a free place has 0, and all else is one more.
cdef struct Met:
    Py_ssize_t number
    Py_ssize_t rank


cdef Met* new_table(Py_ssize_t n, Py_ssize_t* mask) except NULL:
    """For n numbers; as long as n asks for, not as the storage."""
    cdef Py_ssize_t room = 16
    cdef Met* table
    while room < 2 * n:
        room *= 2
    table = <Met*>PyMem_Calloc(room, sizeof(Met))
    if table == NULL:
        raise MemoryError(f"no memory for {n} places")
    mask[0] = room - 1
    return table


cdef inline Met* look_up(Met* table, Py_ssize_t mask, Py_ssize_t number) noexcept nogil:
    """Its entry, or the free one where it is to stand."""
    cdef Py_ssize_t k = <Py_ssize_t>(<uint64_t>number * MIXER >> 32) & mask
    while table[k].number and table[k].number != number + 1:
        k = (k + 1) & mask
    return table + k


def distinct(cnp.ndarray places, /):
    """distinct(places, /)
    --

    The different ones among places, in the order in which they first come, and which of these each is.

    Parameters
    ----------
    places : ndarray of intp
        One dimension, none of them negative.

    Returns
    -------
    tuple of two ndarrays of intp
    """
    cdef cnp.ndarray given = np.ascontiguousarray(places, np.intp)
    cdef cnp.npy_intp n = cnp.PyArray_SIZE(given)
    cdef cnp.ndarray ranks = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INTP), once = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INTP)
    cdef const Py_ssize_t* at = <const Py_ssize_t*>cnp.PyArray_DATA(given)
    cdef Py_ssize_t i, count = 0, mask
    cdef Met* table = new_table(n, &mask)
    cdef Met* met
    for i in range(n):
        met = look_up(table, mask, at[i])
        if not met.number:
            met.number, met.rank = at[i] + 1, count
            (<Py_ssize_t*>cnp.PyArray_DATA(once))[count] = at[i]
            count += 1
        (<Py_ssize_t*>cnp.PyArray_DATA(ranks))[i] = met.rank
    PyMem_Free(table)
    return (<object>once)[:count], ranks


cdef bint all_differ(object offsets, Py_ssize_t size) except? True:
    """Whether no element of a storage is named twice."""
    cdef cnp.ndarray places = np.ascontiguousarray(offsets, np.intp)
    cdef const Py_ssize_t* at = <const Py_ssize_t*>cnp.PyArray_DATA(places)
    cdef Py_ssize_t i, n = cnp.PyArray_SIZE(places), mask
    cdef Met* table
    cdef Met* one
    cdef char* met
    cdef bint differ = True
    if is_small(n, size):
        table = new_table(n, &mask)
        for i in range(n):
            one = look_up(table, mask, at[i])
            differ = one.number == 0
            if not differ:
                break
            one.number = at[i] + 1
        PyMem_Free(table)
        return differ
    met = <char*>PyMem_Calloc(size + 1, 1)
    if met == NULL:
        raise MemoryError(f"no memory for {size} places")
    for i in range(n):
        if met[at[i]]:
            differ = False
            break
        met[at[i]] = 1
    PyMem_Free(met)
    return differ
