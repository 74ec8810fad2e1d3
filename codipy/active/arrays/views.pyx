# SPDX-License-Identifier: Apache-2.0
"""Views of Arrays, copies of their elements, and writing to elements that an index selects."""
from functools import partial

import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport numpy as cnp

from codipy.active.arrays.assign cimport demand_writable
from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.elements cimport admit_mixed, go_mixed_in_passive
from codipy.active.arrays.offsets cimport all_differ, integers_of, offsets_of
from codipy.active.arrays.packing cimport from_ndarray, from_nested, gather, identifiers
from codipy.active.arrays.plain cimport doubles_of, is_view_of, ndarray_of, plain_index, plain_of, shown_as, stand_in
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.scalar.real cimport Real
from codipy.active.storage.block cimport append_block
from codipy.active.storage.storage cimport Storage, new_storage
from codipy.active.storage.view cimport View, broadcast_strides, is_contiguous, set_contiguous, shape_tuple
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.data.strided cimport advance
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.gather cimport Gather, gather_apart, gather_of_runs
from codipy.tape.records.loops cimport loop_take

from codipy.active.arrays.assign import written_in_turn

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once


cdef BaseArray second(BaseArray a):
    """Another variable on the same view, so that an expression reads what it shows now."""
    materialise(a)
    return new_array(a.storage, &a.geometry)


cdef BaseArray as_view(BaseArray a, str name, tuple args, dict kwargs):
    plain = stand_in(a)
    shown = getattr(plain, name)(*args, **kwargs)
    if is_view_of(shown, plain):
        return shown_as(a, plain, shown)
    # Positions laid out as the view is, since order="K" asks for that.
    strides = [stride * 8 // plain.itemsize for stride in plain.strides]
    positions = np.lib.stride_tricks.as_strided(
        np.empty(a.storage.buffer.size, np.int64)[a.geometry.offset if plain.size else 0:], plain.shape, strides)
    positions[...] = np.arange(plain.size).reshape(plain.shape)
    return take_flat(a, getattr(positions, name)(*args, **kwargs), shown)


cdef BaseArray moved(BaseArray a, str order):
    plain = doubles_of(a)
    return take_flat(a, np.arange(plain.size).reshape(plain.shape), plain.copy(order))


cdef object take(BaseArray a, index):
    index = plain_index(index)
    found = take_rows(a, index)
    if found is not None:
        return found
    plain = stand_in(a)
    shown = plain[index]
    if not isinstance(shown, ndarray):
        return a[tuple([int(i) for i in index])] if isinstance(index, tuple) else a[int(index)]
    if is_view_of(shown, plain):
        return shown_as(a, plain, shown)
    return made_of(a, identifiers_at(a, offsets_of(a, index)) if a.is_active else None, shown)


cdef BaseArray take_rows(BaseArray a, index):
    """a[index] of integers along the first axis, or of a mask, where identifiers are those of one block; else None.

    Values and identifiers go in one pass, and nothing is looked up in tables of positions.
    """
    cdef Recorder* r = current()
    cdef View view
    cdef View shape
    cdef cnp.ndarray places
    cdef Buffer values
    cdef Gather record
    cdef BaseTape tape
    cdef BaseArray result
    cdef Storage storage
    cdef Py_ssize_t row = 1
    cdef int32_t base
    cdef int32_t* numbers
    cdef int32_t* taken
    cdef int k
    if r == NULL:
        return None
    materialise(a)
    storage = a.storage
    if storage.identifiers != NULL or storage.block is None or storage.single or not admit_block(r, storage):
        return None
    view = a.geometry
    places = integers_along(&view, index)
    if places is None or view.ndim > 1 and not is_contiguous(&view):
        return None
    shape.ndim = cnp.PyArray_NDIM(places) + view.ndim - 1
    if shape.ndim > MAX_DIMS:
        return None
    for k in range(shape.ndim):
        shape.shape[k] = (cnp.PyArray_DIM(places, k) if k < cnp.PyArray_NDIM(places)
                          else view.shape[k - cnp.PyArray_NDIM(places) + 1])
    set_contiguous(&shape)
    for k in range(1, view.ndim):
        row *= view.shape[k]
    if shape.size == 0:
        return None
    tape = <BaseTape>r.tape
    tape.demand_recording("an array operation")
    values = new_buffer(shape.size)
    base = storage.block.base + <int32_t>view.offset
    numbers = <int32_t*>PyMem_Malloc(cnp.PyArray_SIZE(places) * (1 if view.ndim == 1 else 2) * sizeof(int32_t))
    if numbers == NULL:
        raise MemoryError(f"no memory for {cnp.PyArray_SIZE(places)} identifiers")
    try:
        if not copy_rows(&view, row, places, storage.buffer.data + view.offset, base, values.data, numbers):
            return None          # an index out of bounds: NumPy says so
        if view.ndim == 1:
            taken, numbers = numbers, NULL       # the record has it, or it is freed
            record = gather_apart(taken, shape.size, r.keeps_values)
        else:
            record = gather_of_runs(numbers, cnp.PyArray_SIZE(places), values.data if r.keeps_values else NULL, shape.size)
    finally:
        PyMem_Free(numbers)
    result = new_array(new_storage(values, None, False), &shape)
    result.storage.block = append_block(tape, record, shape.size)
    return result


cdef cnp.ndarray integers_along(View* view, index):
    """The index as integers along the first axis; None for any other. A mask is one along the view seen flat."""
    cdef cnp.ndarray array
    if view.ndim == 0:
        return None
    if type(index) is ndarray and cnp.PyArray_TYPE(<cnp.ndarray>index) == cnp.NPY_BOOL:
        array = index
        if (<object>array).shape != shape_tuple(view) or view.ndim > 1 and not is_contiguous(view):
            return None
        if view.ndim > 1:
            view.ndim, view.shape[0], view.strides[0] = 1, view.size, 1
        return np.flatnonzero(array)
    array = integers_of(index)
    if array is None or cnp.PyArray_NDIM(array) == 0 or not cnp.PyArray_ISCARRAY_RO(array):
        return None
    return array


cdef bint copy_rows(const View* view, Py_ssize_t row, cnp.ndarray places, const double* data, int32_t first, double* to,
                    int32_t* numbers) noexcept:
    """Values and identifiers: of a vector one for each place, else runs of a row; False where a place is out of bounds."""
    cdef const Py_ssize_t* at = <const Py_ssize_t*>cnp.PyArray_DATA(places)
    cdef Py_ssize_t i, place, n = view.shape[0], count = cnp.PyArray_SIZE(places)
    if view.ndim == 1:
        return loop_take(data, at, count, n, view.strides[0], first, to, numbers)
    for i in range(count):
        place = at[i] + (n if at[i] < 0 else 0)
        if not 0 <= place < n:
            return False
        memcpy(to + i * row, data + place * row, row * sizeof(double))
        numbers[2 * i], numbers[2 * i + 1] = first + <int32_t>(place * row), <int32_t>row
    return True


cdef object identifiers_at(BaseArray a, offsets):
    """The identifiers of an active array's elements at offsets in its storage, in the recording of this thread."""
    cdef Recorder* r = current()
    cdef Storage storage = a.storage
    cdef cnp.npy_intp size = storage.buffer.size
    if a.pending is not None and r == NULL:
        return np.zeros(np.shape(offsets), np.int32)
    materialise(a)
    if storage.identifiers != NULL and admit_mixed(r, storage):
        return cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_INT32, storage.identifiers)[offsets]
    if storage.identifiers == NULL and storage.block is not None and admit_block(r, storage):
        return (offsets + storage.block.base).astype(np.int32)
    return np.zeros(np.shape(offsets), np.int32)


cdef BaseArray take_flat(BaseArray a, index, values):
    """The elements at flat positions `index` of a, whose values are `values`: a movement."""
    return made_of(a, identifiers(a).reshape(-1)[index] if a.is_active else None, values)


cdef BaseArray made_of(BaseArray a, places, values):
    """Elements of a with these identifiers and values, in its precision."""
    found = values if places is None else gather(values, places)
    cdef BaseArray result = found if is_array(found) else from_ndarray(found)
    result.storage.single = a.storage.single
    return result


def _set_item(index, target, source):
    target[index] = source


cdef int scatter(BaseArray a, index, value) except -1:
    """a[index] = value for indices that are no views: values and identifiers move, nothing is recorded."""
    cdef Recorder* r = current()
    cdef Storage storage = a.storage
    cdef cnp.npy_intp size = storage.buffer.size
    cdef cnp.ndarray at, given
    cdef const Py_ssize_t* places
    cdef const double* doubles
    cdef Py_ssize_t i
    demand_writable(a)
    if isinstance(value, (list, tuple)):
        value = from_nested(value)
    if storage.single and is_array(value):
        value = value.astype(np.float32)
    index = plain_index(index)
    if type(index) is ndarray and index.dtype == bool and index.ndim == a.geometry.ndim and np.ndim(value) > 1:
        raise TypeError("NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has "
                        f"{np.ndim(value)} dimensions")
    if type(index) is ndarray and index.dtype == bool and is_array(value):        # by others NumPy moves a copy
        written = written_in_turn(a, value, partial(_set_item, index))
        value = value if written is None else written[index]
    offsets = offsets_of(a, index)
    if not offsets.ndim and np.ndim(value):         # NumPy raises or warns where this is one element
        np.lib.stride_tricks.as_strided(np.zeros(1), shape_tuple(&a.geometry), (0,) * a.geometry.ndim)[index] = (
            np.zeros(value.shape))
    cdef bint active = r != NULL and (storage.identifiers != NULL or storage.block is not None
                                      or (is_array(value) or type(value) is Real) and value.is_active)
    if active and not all_differ(offsets, size):
        values = np.array(ndarray_of(a))     # NumPy says which of several values an element gets
        ids = identifiers(a)
        ids[index] = identifiers(value)
        values[index] = plain_of(value)
        a[...] = gather(values, ids)
        return 0
    if active and is_array(value) and offsets.ndim > MAX_DIMS:
        copies = np.broadcast_to(np.arange(value.size).reshape(value.shape), offsets.shape)
        value, offsets = value.reshape(-1)[copies.reshape(-1)], offsets.reshape(-1)
    if active and is_array(value) and scatter_active(r, a, offsets, value):
        return 0
    numbers = np.empty(offsets.shape, np.float32 if storage.single else np.float64)
    numbers[...] = plain_of(value)           # a copy: it may show what is written to
    settle_before_writing(r, storage)
    at, given = np.ascontiguousarray(offsets, np.intp), np.ascontiguousarray(numbers, np.float64)
    places, doubles = <const Py_ssize_t*>cnp.PyArray_DATA(at), <const double*>cnp.PyArray_DATA(given)
    storage.own_values(offsets.size)         # what may fail comes before values and identifiers change
    if active:
        put_at(r, storage, at, identifiers(value) if type(value) is Real else 0)
        storage.part = None                  # a value that shows a part of this storage has been read since
    for i in range(cnp.PyArray_SIZE(at)):
        storage.buffer.data[places[i]] = doubles[i]
        if r == NULL and storage.identifiers != NULL:
            storage.make_passive(places[i])
    return 0


cdef bint scatter_active(Recorder* r, BaseArray a, offsets, BaseArray x) except? True:
    """Write an Array to offsets that are all different; False where it does not fit."""
    cdef Storage storage = a.storage, source
    cdef BaseTape tape = <BaseTape>r.tape
    cdef cnp.ndarray at = np.ascontiguousarray(offsets, np.intp)
    cdef const Py_ssize_t* places = <const Py_ssize_t*>cnp.PyArray_DATA(at)
    cdef Py_ssize_t i, n = cnp.PyArray_SIZE(at), place
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef const Py_ssize_t* steps = strides
    cdef Py_ssize_t index[MAX_DIMS]
    cdef int k
    cdef View shape
    cdef View* shown
    cdef bint moves
    cdef double* numbers
    cdef int32_t* slots
    cdef int32_t first = 0
    materialise(x)
    shown, shape.ndim = &x.geometry, cnp.PyArray_NDIM(at)
    for k in range(shape.ndim):
        shape.shape[k] = cnp.PyArray_DIM(at, <int>k)
    set_contiguous(&shape)
    if not broadcast_strides(shown, shown.strides, &shape, strides):
        return False
    settle_before_writing(r, storage)
    source = x.storage
    moves = source.identifiers != NULL or source.block is not None
    if moves:
        moves = admit_mixed(r, source) if source.identifiers != NULL else admit_block(r, source)
    numbers = <double*>PyMem_Malloc(n * (sizeof(double) + sizeof(int32_t)) + 1)
    if numbers == NULL:
        raise MemoryError(f"no memory for {n} elements that are written")
    slots = <int32_t*>(numbers + n)
    try:
        storage.own_values(n)        # what may fail comes before values and identifiers change
        storage.make_mixed(tape)
        place = shown.offset
        for k in range(shape.ndim):
            index[k] = 0
        if moves and not r.reuse and source.identifiers == NULL and n:
            first = source.block.hand_out(tape, 0)       # which is a hold of the whole Block, where nothing is counted
        for i in range(n):           # all of them are read before one is written: the value may show what is written to
            numbers[i] = source.buffer.data[place]
            slots[i] = first + <int32_t>place if first else source.hand_out(tape, place) if moves else 0
            advance(shape.ndim, shape.shape, index, 1, &steps, &place)
        for i in range(n):
            storage.buffer.data[places[i]] = numbers[i]
            storage.put(tape, places[i], slots[i])
        storage.part = None          # a value that shows a part of this storage has been read since
    finally:
        PyMem_Free(numbers)
    return True


cdef int settle_before_writing(Recorder* r, Storage storage) except -1:
    """What a storage still has of a recording that is over, or outside of one, goes before a part is written."""
    if storage.block is not None and not admit_block(r, storage):
        go_mixed_in_passive(storage)
    if storage.identifiers != NULL and not admit_mixed(r, storage) and r != NULL:
        storage.drop_identifiers()
    storage.begin_write()


cdef int put_at(Recorder* r, Storage storage, cnp.ndarray at, int32_t identifier) except -1:
    """Write one identifier, or 0, to offsets."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Py_ssize_t i
    storage.make_mixed(tape)
    for i in range(cnp.PyArray_SIZE(at)):
        if identifier and r.reuse:
            tape.store.reusing.retain(identifier)
        storage.put(tape, (<const Py_ssize_t*>cnp.PyArray_DATA(at))[i], identifier)
    return 0
