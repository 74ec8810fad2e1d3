# SPDX-License-Identifier: Apache-2.0
"""Explicit identifiers of arrays, and arrays made from explicit identifiers: movements."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.mem cimport PyMem_Free, PyMem_Malloc
cimport numpy as cnp

from codipy.active.arrays.compute cimport admit_block, materialise
from codipy.active.arrays.elements cimport admit_mixed, copy_slot
from codipy.active.arrays.plain cimport plain_of, shown_as, stand_in
from codipy.active.arrays.precision cimport demand_precision
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.core.base_real cimport OWNS
from codipy.active.scalar.expression cimport identify, readmit
from codipy.active.scalar.kinds cimport SINGLE, kind_of
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport Block, block_on, moved_block, part_of_block
from codipy.active.storage.storage cimport Storage, is_small, new_storage
from codipy.active.storage.view cimport View, is_contiguous, same_view, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer, wrap_array
from codipy.data.strided cimport advance, reach
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder

from codipy.errors import ActiveError

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once


cdef int32_t* numbers_of(cnp.ndarray identifiers) noexcept:
    """Those of an array of int32 in C order. Typed memoryviews would cost each module that has one 0.2 ms to import."""
    return <int32_t*>cnp.PyArray_DATA(identifiers)


# The offsets of a view's elements, in C order.
cdef struct Offsets:
    Py_ssize_t offset
    Py_ssize_t index[MAX_DIMS]


cdef inline void first_offset(Offsets* at, const View* v) noexcept:
    cdef int k
    at.offset = v.offset
    for k in range(v.ndim):
        at.index[k] = 0


cdef inline void next_offset(Offsets* at, const View* v) noexcept:
    cdef const Py_ssize_t* strides = v.strides
    advance(v.ndim, v.shape, at.index, 1, &strides, &at.offset)


cdef BaseArray readable(Recorder* r, BaseArray x):
    cdef Storage storage = x.storage
    cdef bint small = x.geometry.size > 0 and is_small(x.geometry.size, storage.buffer.size)
    if storage.identifiers == NULL:
        if not (storage.parted and small):
            return x
        found = span_of(x)
        if found is not None:
            return found
        # Values and identifiers have the same strides, so a copy without gaps needs identifiers of its own. What reads
        # other views of this storage in the same operation has its identifiers already: the storage stays clean.
        return part_of(r if storage.block is not None and admit_block(r, storage) else NULL, x)
    elif x.geometry.size == 0 or not admit_mixed(r, storage):
        if small and storage.parted:
            return part_of(NULL, x)
        return new_array(new_storage(storage.buffer, None, storage.single), &x.geometry)
    # A block is younger than a position taken since the last write, to which a reset may return: then only a copy.
    if not small and storage.epoch == r.epoch:
        storage.make_clean(<BaseTape>r.tape)
        return x
    return part_of(r, x)


cdef inline bint is_of_now(Storage storage) noexcept:
    """Whether the copy that a storage keeps of its part was made in the recording in which the storage is now."""
    if storage.block is None or storage.part.block is None:
        return storage.block is storage.part.block
    return storage.part.block.epoch == storage.block.epoch


cdef BaseArray span_of(BaseArray x):
    """The view on a copy of the part of a clean or passive storage that it spans; None where that is much more.

    The copy reaches a little farther on both sides, and serves until the storage is written to: shifted slices of a row
    share one.
    """
    cdef Storage storage = x.storage
    cdef View shifted = x.geometry
    cdef View* span = &storage.part_view
    cdef Py_ssize_t first, last, margin
    cdef Buffer copy
    reach(shifted.ndim, shifted.shape, shifted.strides, shifted.offset, &first, &last)
    if last - first >= 2 * shifted.size or not is_small(last - first, storage.buffer.size):
        return None
    if storage.part is None or first < span.offset or last >= span.offset + span.size or not is_of_now(storage):
        margin = 2 + (last - first) // 16 if last - first >= 8 else 0
        first = max(0, first - margin)
        last = min(storage.buffer.size - 1, last + margin)
        copy = new_buffer(last + 1 - first)
        memcpy(copy.data, storage.buffer.data + first, copy.size * sizeof(double))
        storage.part = new_storage(copy, None, storage.single)
        if storage.block is not None:
            storage.part.block = part_of_block(storage.block, first, copy.size)
        span.ndim, span.shape[0] = 1, copy.size
        set_contiguous(span)
        span.offset = first
    shifted.offset -= span.offset
    return new_array(storage.part, &shifted)


cdef BaseArray part_of(Recorder* r, BaseArray x):
    """A copy of the elements that a view shows, laid out as they lie but without gaps.

    r is NULL for the values alone. Else the copy that was made last serves again until the storage is written to.
    """
    cdef Storage storage = x.storage, part = storage.part
    cdef View packed = x.geometry
    cdef View by_memory = x.geometry     # the view with its axes in the order of memory
    compact(&packed, &by_memory)
    if r != NULL and storage.identifiers != NULL and part is not None and part.block is not None:
        if same_view(&storage.part_view, &x.geometry) and (<BaseTape>r.tape).is_valid(part.block.epoch):
            return new_array(part, &packed)
    part = new_storage(new_buffer(x.geometry.size), None, storage.single)
    copy_values(storage, &by_memory, part.buffer.data)
    if r != NULL:
        part.block = block_of_part(r, storage, &by_memory, part.buffer)
    if r != NULL and storage.identifiers != NULL:
        storage.part, storage.part_view = part, x.geometry
    return new_array(part, &packed)


cdef Block block_of_part(Recorder* r, Storage storage, const View* v, Buffer values):
    """Identifiers for the copy of a part: those of a mixed storage where they are contiguous, else by a movement."""
    cdef BaseTape tape = <BaseTape>r.tape
    cdef Offsets at
    cdef Py_ssize_t i
    cdef bint active = False, contiguous = True
    cdef int32_t* numbers = <int32_t*>PyMem_Malloc(v.size * sizeof(int32_t))
    if numbers == NULL:
        raise MemoryError(f"no memory for {v.size} identifiers")
    try:
        first_offset(&at, v)
        for i in range(v.size):
            numbers[i] = (storage.identifiers[at.offset] if storage.identifiers != NULL
                          else storage.block.base + <int32_t>at.offset)
            active |= numbers[i] != 0
            contiguous &= numbers[i] == numbers[0] + <int32_t>i
            next_offset(&at, v)
        if not active:
            return None
        if contiguous and numbers[0] and storage.identifiers != NULL:
            return block_on(tape, numbers[0], v.size, storage.epoch)
        tape.demand_recording("an array operation")
        return moved_block(tape, numbers, values.data, v.size)
    finally:
        PyMem_Free(numbers)


cdef void copy_values(Storage storage, const View* v, double* to) noexcept:
    cdef Offsets at
    cdef Py_ssize_t i
    if is_contiguous(v):
        memcpy(to, storage.buffer.data + v.offset, v.size * sizeof(double))
        return
    first_offset(&at, v)
    for i in range(v.size):
        to[i] = storage.buffer.data[at.offset]
        next_offset(&at, v)


cdef void compact(View* packed, View* by_memory) noexcept:
    """Of two copies of a view: strides that leave no gaps for the first, the axes as they lie in memory for the second."""
    cdef int order[MAX_DIMS]             # the axes, the outermost in memory first
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef Py_ssize_t stride = 1
    cdef int k, j
    for k in range(packed.ndim):
        strides[k] = packed.strides[k]
        j = k
        while j > 0 and abs(strides[order[j - 1]]) < abs(strides[k]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = k
    packed.offset = 0
    for k in range(packed.ndim - 1, -1, -1):
        packed.strides[order[k]] = stride
        stride *= packed.shape[order[k]]
        by_memory.shape[k], by_memory.strides[k] = packed.shape[order[k]], strides[order[k]]


cdef bint any_identifier(BaseArray x) noexcept:
    cdef Offsets at
    cdef Py_ssize_t _i
    first_offset(&at, &x.geometry)
    for _i in range(x.geometry.size):
        if x.storage.identifiers[at.offset]:
            return True
        next_offset(&at, &x.geometry)
    return False


cdef int identifiers_of(Recorder* r, BaseArray x, int32_t* identifiers) except -1:
    cdef Storage storage = x.storage
    cdef Offsets at
    cdef Py_ssize_t i
    cdef int32_t first
    cdef bint active = False
    if x.geometry.size == 0:
        return 0
    if storage.identifiers != NULL:
        active = admit_mixed(r, storage)
    elif storage.block is not None:
        active = admit_block(r, storage)
    if not active:
        memset(identifiers, 0, x.geometry.size * sizeof(int32_t))
        return 0
    if storage.identifiers == NULL and is_contiguous(&x.geometry):
        first = storage.block.base + <int32_t>x.geometry.offset
        for i in range(x.geometry.size):
            identifiers[i] = first + <int32_t>i
        return 0
    first_offset(&at, &x.geometry)
    for i in range(x.geometry.size):
        if storage.identifiers != NULL:
            identifiers[i] = storage.identifiers[at.offset]
        else:
            identifiers[i] = storage.block.base + <int32_t>at.offset
        next_offset(&at, &x.geometry)
    return 0


cpdef object identifiers(x):
    """The identifier of each element of an Array, a Real or a plain array; 0 where passive.

    Parameters
    ----------
    x : Array, Real, array_like
        Anything whose elements are moved.

    Returns
    -------
    ndarray of int32
        Of the shape of `x`.
    """
    cdef Recorder* r = current()
    if type(x) is Real:
        if not (<Real>x).epoch or not readmit(r, <Real>x):
            return np.zeros((), np.int32)
        if (<Real>x).count:
            identify(r, <Real>x)
        return np.array((<Real>x).identifier, np.int32)
    if not is_array(x):
        return np.zeros(np.shape(x), np.int32)
    materialise(<BaseArray>x)
    result = np.empty((<BaseArray>x).shape, np.int32)
    if (<BaseArray>x).pending is None or r != NULL:
        identifiers_of(r, <BaseArray>x, numbers_of(result))
    else:
        result[...] = 0
    return result


cpdef BaseArray from_ndarray(values):
    """A passive Array on a float64 array that nobody else writes to, or of the values of another; float32 stays so.

    It is laid out as the values are in memory, on which the order of sums depends, and has no gaps. As of the values,
    `base` is None or not.
    """
    cdef View view
    cdef BaseArray result
    cdef cnp.ndarray array
    cdef int k
    cdef bint borrowed = isinstance(values, ndarray) and (<object>values).base is not None
    cdef bint single = isinstance(values, ndarray) and cnp.PyArray_TYPE(values) == cnp.NPY_FLOAT
    if not isinstance(values, ndarray) or cnp.PyArray_TYPE(values) != cnp.NPY_DOUBLE or not cnp.PyArray_ISCARRAY_RO(
            values):
        demand_precision(values)
        values = np.array(values, dtype=np.float64, order="K")
    array = values
    if cnp.PyArray_NDIM(array) > MAX_DIMS:
        raise ActiveError(f"an Array has at most {MAX_DIMS} dimensions, got {values.ndim}")
    view.ndim = cnp.PyArray_NDIM(array)
    for k in range(view.ndim):
        view.shape[k] = cnp.PyArray_DIM(array, k)
    set_contiguous(&view)
    if not cnp.PyArray_ISCARRAY_RO(array):
        for k in range(view.ndim):
            view.strides[k] = cnp.PyArray_STRIDE(array, k) // <Py_ssize_t>sizeof(double)
    result = new_array(new_storage(wrap_array(values, <double*>cnp.PyArray_DATA(array), view.size), None, single), &view)
    if borrowed:
        result.owner = new_array(result.storage, &view)
    return result


cpdef BaseArray with_gaps(cnp.ndarray values):
    """Like from_ndarray(), but a view with gaps or backwards stays one: whether it can be seen flat depends on it.

    Parameters
    ----------
    values : ndarray of float64 or float32
        A result of NumPy's that nobody else writes to.
    """
    cdef Py_ssize_t first = 0, last = 0, step
    cdef int k
    cdef BaseArray span
    for k in range(cnp.PyArray_NDIM(values) if cnp.PyArray_SIZE(values) else 0):
        step = cnp.PyArray_STRIDE(values, k)
        if step % cnp.PyArray_ITEMSIZE(values):
            return from_ndarray(values)
        step = step // cnp.PyArray_ITEMSIZE(values) * (cnp.PyArray_DIM(values, k) - 1)
        if step < 0:
            first -= step
        else:
            last += step
    if first == 0 and last + 1 == cnp.PyArray_SIZE(values) or cnp.PyArray_SIZE(values) == 0:
        return from_ndarray(values)
    shape, strides = (<object>values).shape, (<object>values).strides
    if may_meet(shape, strides):
        return from_ndarray(np.array(values))
    memory = np.zeros(first + last + 1, values.dtype)
    np.lib.stride_tricks.as_strided(memory[first:], shape, strides)[...] = values
    span = from_ndarray(memory)
    plain = stand_in(span)      # of float32 a copy
    return shown_as(span, plain, np.lib.stride_tricks.as_strided(plain[first:], shape, strides))


cdef bint may_meet(tuple shape, tuple strides):
    """Whether two elements may be one in memory: of a result these would have one adjoint for both."""
    cdef Py_ssize_t reached = 0, step
    for step, count in sorted([(abs(stride), count) for stride, count in zip(strides, shape) if count > 1]):
        if step <= reached:
            return True
        reached += step * (count - 1)
    return False


cpdef object filled(shape, number):
    """A passive Array of float64 in memory of codipy's own, which serves again when the Array is gone.

    Parameters
    ----------
    shape : int or tuple of int
        Anything else is left to NumPy.
    number : float or None
        Every element; None leaves them as the memory is.

    Returns
    -------
    Array or None
        None where NumPy has to say what the shape means, or that it is wrong.
    """
    cdef View view
    cdef Buffer buffer
    cdef double value
    cdef Py_ssize_t i, size = 1
    if type(shape) is int:
        shape = (shape,)
    if type(shape) is not tuple or len(shape) > MAX_DIMS:
        return None
    view.ndim = len(shape)
    for i in range(view.ndim):
        if type(shape[i]) is not int or not 0 <= shape[i] < 1 << 31 or size > 1 << 31:
            return None
        view.shape[i] = shape[i]
        size *= shape[i]
    set_contiguous(&view)
    buffer = new_buffer(view.size)
    if number is not None:
        value = number
        if value == 0.0:
            memset(buffer.data, 0, view.size * sizeof(double))
        else:
            for i in range(view.size):
                buffer.data[i] = value
    return new_array(new_storage(buffer, None, False), &view)


cpdef object gather(values, identifiers):
    """A movement: new elements that are copies of given identifiers.

    Parameters
    ----------
    values : ndarray or float
        The elements' values; the array is not copied, so nobody else may write to it.
    identifiers : ndarray of int32
        What each is a copy of; 0 is passive.

    Returns
    -------
    Array, Real or the plain `values`
        `values` itself if nothing is active or nothing records.
    """
    cdef Recorder* r = current()
    cdef BaseTape tape
    cdef BaseArray result
    cdef int k
    identifiers = np.asarray(identifiers, dtype=np.int32, order="C")
    if r == NULL or not identifiers.any():
        return values
    tape = <BaseTape>r.tape
    if not isinstance(values, ndarray):
        return new_identified(values, r.epoch, copy_slot(r, identifiers.reshape(-1)[0], values),
                              OWNS if r.reuse else 0, kind_of(values))
    if identifiers.shape != values.shape:
        raise ValueError(f"identifiers of shape {identifiers.shape} for values of shape {values.shape}")
    if cnp.PyArray_TYPE(<cnp.ndarray>values) not in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT):
        raise ActiveError(f"an array of {values.dtype} would lose the derivatives of its elements, and with float64 it would "
                          "have other values: make it float64 or float32, by dtype=float or `.astype(float)`")
    tape.demand_recording("an array operation")
    result = from_ndarray(values)
    if not is_contiguous(&result.geometry):      # the record goes by memory
        order = np.argsort([-result.geometry.strides[k] for k in range(result.geometry.ndim)], kind="stable")
        identifiers = np.ascontiguousarray(identifiers.transpose(order))
    result.storage.block = moved_block(tape, numbers_of(identifiers), result.storage.buffer.data, values.size)
    return result


cpdef object from_nested(tree):
    """An Array of nested lists of Reals, Arrays and numbers; a plain array where nothing is active.

    Parameters
    ----------
    tree : list or tuple
        Nested as for ``np.array``.
    """
    values = np.array(nested_values(tree))
    if values.dtype.kind not in "fiub":
        raise TypeError(f"an Array holds real numbers, got dtype {values.dtype}")
    if not any_active(tree):
        return values
    wide = values if values.dtype == np.float32 else values.astype(np.float64)
    return gather(wide, np.array(nested_identifiers(tree), dtype=np.int32))


cdef bint any_active(x) except -1:
    if not isinstance(x, (list, tuple)):
        return (is_array(x) or type(x) is Real) and x.is_active
    for item in x:
        if any_active(item):
            return True
    return False


cdef object nested_values(x):
    return [nested_values(item) for item in x] if isinstance(x, (list, tuple)) else plain_of(x)


cdef object nested_identifiers(x):
    return [nested_identifiers(item) for item in x] if isinstance(x, (list, tuple)) else identifiers(x)


def nested_numbers(tree):
    """An Array of nested lists of Reals and numbers, as ``np.array`` makes it.

    Returns
    -------
    Array or None
        None where nothing is active, or something else is among the leaves.
    """
    cdef Recorder* r = current()
    cdef BaseTape tape
    cdef View shape
    cdef Buffer values
    cdef BaseArray result
    cdef Leaves leaves
    level = tree
    shape.ndim, shape.size, shape.offset = 0, 1, 0
    while type(level) is list or type(level) is tuple:
        if shape.ndim == MAX_DIMS or len(level) == 0:
            return None
        shape.shape[shape.ndim] = len(level)
        shape.ndim += 1
        level = level[0]
    if r == NULL or shape.ndim == 0:
        return None
    set_contiguous(&shape)
    values = new_buffer(shape.size)
    leaves.recorder, leaves.shape, leaves.values, leaves.at, leaves.active = r, &shape, values.data, 0, False
    leaves.identifiers = <int32_t*>PyMem_Malloc(shape.size * sizeof(int32_t))
    if leaves.identifiers == NULL:
        raise MemoryError(f"no memory for {shape.size} identifiers")
    try:
        if not read_leaves(&leaves, tree, 0) or not leaves.active:
            return None
        tape = <BaseTape>r.tape
        tape.demand_recording("an array operation")
        result = new_array(new_storage(values, None, False), &shape)
        result.storage.block = moved_block(tape, leaves.identifiers, values.data, shape.size)
        return result
    finally:
        PyMem_Free(leaves.identifiers)


cdef struct Leaves:
    Recorder* recorder
    const View* shape
    double* values
    int32_t* identifiers
    Py_ssize_t at
    bint active


cdef bint read_leaves(Leaves* to, object tree, int depth) except? True:
    """Write what is in a tree of the shape; False where it is another, or what is no float of double precision."""
    cdef Py_ssize_t k
    cdef int overflow = 0
    if depth == to.shape.ndim:
        to.identifiers[to.at] = 0
        if type(tree) is Real:
            if (<Real>tree).kind == SINGLE:
                return False
            if (<Real>tree).epoch and readmit(to.recorder, <Real>tree):
                if (<Real>tree).count:
                    identify(to.recorder, <Real>tree)
                to.identifiers[to.at], to.active = (<Real>tree).identifier, True
            to.values[to.at] = (<Real>tree).primal
        elif type(tree) is float or type(tree) is np.float64:
            to.values[to.at] = tree
        elif type(tree) is int:
            PyLong_AsLongLongAndOverflow(tree, &overflow)
            if overflow:      # of larger ones NumPy may make objects
                return False
            to.values[to.at] = tree
        else:
            return False
        to.at += 1
        return True
    if type(tree) is not list and type(tree) is not tuple or len(tree) != to.shape.shape[depth]:
        return False
    for k in range(to.shape.shape[depth]):
        if not read_leaves(to, tree[k], depth + 1):
            return False
    return True
