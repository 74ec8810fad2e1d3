# SPDX-License-Identifier: Apache-2.0
"""Plain arrays beside Arrays: copies of what they hold now, one for as long as they hold it.

The caller may write into a plain array before the expression is computed, or before the sweep. So it is copied; what is
used again is compared with its copy, which is used again too where nothing has changed. A tape knows a copy by the array
that it was made of, for as long as that lives, and the last few copies by their numbers: a function makes the same array
in each call. Rejected: to know them by address alone, whoever has it; then what a recording keeps depends on where the
allocator puts arrays, and no prediction says how much it is.
"""
from weakref import ref

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
cimport numpy as cnp

from codipy.active.arrays.packing cimport from_ndarray
from codipy.active.arrays.plain cimport doubles_of, shown_as
from codipy.active.arrays.precision cimport demand_precision
from codipy.active.core.base_array cimport BaseArray, new_array
from codipy.active.storage.storage cimport new_storage, owns_buffer
from codipy.active.storage.view cimport View, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.activity cimport current, tape_of_epoch
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.loops cimport loop_places, loop_within

from codipy.errors import ActiveError

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once

cdef enum:
    WORTH_COMPARING = 64         # elements: a copy of fewer costs less than to look for one
    LAST = 4                     # copies that are known by their numbers, and stay if nobody else holds them

cdef str BY_NUMBERS = "the last copies"      # where they are in a tape's table; the other keys are tuples


cdef BaseArray copy_of(cnp.ndarray values):
    cdef View view
    cdef Buffer buffer
    cdef int k
    if cnp.PyArray_NDIM(values) > MAX_DIMS:
        raise ActiveError(f"x: an Array has at most {MAX_DIMS} dimensions, got {cnp.PyArray_NDIM(values)}")
    if not cnp.PyArray_ISCARRAY_RO(values):
        values = np.array(values, dtype=np.float64, order="C")
    view.ndim = cnp.PyArray_NDIM(values)
    for k in range(view.ndim):
        view.shape[k] = cnp.PyArray_DIM(values, k)
    set_contiguous(&view)
    buffer = new_buffer(view.size)
    if view.size:
        memcpy(buffer.data, cnp.PyArray_DATA(values), view.size * sizeof(double))
    return new_array(new_storage(buffer, None, False), &view)


cdef bint is_block(cnp.ndarray values) noexcept:
    """Whether the values lie as in an Array of one's own."""
    return (cnp.PyArray_TYPE(values) == cnp.NPY_DOUBLE and cnp.PyArray_ISCARRAY_RO(values)
            and cnp.PyArray_NDIM(values) <= MAX_DIMS)


cdef BaseArray snapshot(values):
    cdef cnp.ndarray array = values
    cdef bint backwards = False
    cdef int k
    if is_block(array) and not is_frozen(values):
        return copy_of(array)
    demand_precision(values)
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    if values.flags.c_contiguous:
        return from_ndarray(values if is_frozen(values) else np.array(values, dtype=dtype, order="C"))
    # Laid out as it is: NumPy's loops and the order of the result, and so of sums over it, depend on that.
    for k in range(cnp.PyArray_NDIM(array)):
        backwards |= cnp.PyArray_STRIDE(array, k) < 0
    if not backwards:
        return from_ndarray(np.array(values, dtype=dtype, order="K"))
    back = tuple([slice(None, None, -1 if stride < 0 else None) for stride in values.strides])
    kept = from_ndarray(np.array(values[back], dtype=dtype, order="K"))
    plain = doubles_of(kept)
    turned = shown_as(kept, plain, plain[back])
    turned.owner, turned.readonly = None, False      # nobody else has what it shows
    return turned


cdef bint is_frozen(object values):
    while isinstance(values, ndarray):
        if cnp.PyArray_CHKFLAGS(values, cnp.NPY_ARRAY_WRITEABLE):      # whose flags may warn who asks
            return False
        values = values.base
    # Not of memory that an array owns: its flag may be set back, and views made before it was set can write.
    return type(values) is bytes or type(values) is Buffer


class _Source(ref):
    """A plain array that a copy was made of; it takes the copy from the tape when it dies."""
    __slots__ = ("copy", "place", "epoch")


def _gone(source):
    cdef PyObject* tape = tape_of_epoch(source.epoch)
    if tape != NULL and (<BaseTape>tape).constants.get(source.place) is source:
        del (<BaseTape>tape).constants[source.place]


cdef BaseArray constant(Recorder* r, values):
    cdef dict known
    cdef BaseArray copy = None
    cdef list last
    cdef Py_ssize_t k
    if r == NULL or cnp.PyArray_TYPE(<cnp.ndarray>values) != cnp.NPY_DOUBLE or values.size < WORTH_COMPARING or (
            is_frozen(values)):
        return snapshot(values)
    shape, strides = values.shape, values.strides
    place = <size_t>cnp.PyArray_DATA(<cnp.ndarray>values), shape, strides
    known = (<BaseTape>r.tape).constants
    source = known.get(place)
    if source is not None:
        copy = source.copy
        if same_bits(values, doubles_of(copy)):
            return copy
        del known[place], source
        copy = None
    last = known.setdefault(BY_NUMBERS, [])
    for k in reversed(range(len(last))):
        if last[k][1] == shape and last[k][2] == strides and same_bits(values, doubles_of(<BaseArray>last[k][0])):
            copy = last.pop(k)[0]
            break
    if copy is None:
        copy = snapshot(values)
    last.append((copy, shape, strides))
    if len(last) > LAST:
        del last[0]
        drop_unused(known, last)
    source = _Source(owner_of(values), _gone)
    source.copy, source.place, source.epoch = copy, place, <int64_t>r.epoch
    known[place] = source
    return copy


cdef object owner_of(object values):
    """The array whose memory a view shows; the last one, where that is not an array's."""
    while isinstance((<object>values).base, ndarray):
        values = values.base
    return values


cdef int drop_unused(dict known, list last) except -1:
    """Forget the copies that neither a record nor an expression holds, but for the last ones."""
    cdef list kept = [entry[0] for entry in last]
    for place, source in list(known.items()):
        if place is not BY_NUMBERS and owns_buffer((<BaseArray>source.copy).storage) and not any(
                [source.copy is copy for copy in kept]):
            del known[place]
    return 0


cdef bint same_bits(cnp.ndarray a, cnp.ndarray b):
    if cnp.PyArray_ISCARRAY_RO(a) and cnp.PyArray_ISCARRAY_RO(b):
        return memcmp(cnp.PyArray_DATA(a), cnp.PyArray_DATA(b), cnp.PyArray_NBYTES(a)) == 0
    return np.array_equal((<object>a).view(np.int64), (<object>b).view(np.int64))


cdef object frozen_copy(Recorder* r, cnp.ndarray values):
    return doubles_of(constant(r, values)) if is_block(values) else np.array(values)


def places_along(Py_ssize_t size, index):
    """The elements that an index of a vector chooses, by positions that are not negative.

    Parameters
    ----------
    size : int
        Of the vector.
    index : ndarray of int
        As NumPy takes it.

    Returns
    -------
    ndarray of intp
        Read-only, in memory that nobody can write to: it need not be copied where it is kept. One for all uses of an
        index that holds the same numbers.

    Raises
    ------
    IndexError
        As NumPy's, where an index is out of bounds.
    """
    cdef cnp.ndarray integers = np.ascontiguousarray(index, np.intp)
    cdef const Py_ssize_t* given = <const Py_ssize_t*>cnp.PyArray_DATA(integers)
    cdef Py_ssize_t count = cnp.PyArray_SIZE(integers)
    cdef Buffer places
    if count >= WORTH_COMPARING and loop_within(given, count, size):
        return frozen_copy(current(), (<object>integers).view(np.float64)).view(np.intp)
    places = new_buffer(count)
    if not loop_places(given, count, size, <Py_ssize_t*>places.data):
        np.empty(size, bool)[index]
    result = cnp.PyArray_New(ndarray, cnp.PyArray_NDIM(integers), cnp.PyArray_DIMS(integers), cnp.NPY_INTP, NULL,
                             places.data, 0, cnp.NPY_ARRAY_CARRAY_RO, <object>NULL)
    Py_INCREF(places)
    cnp.PyArray_SetBaseObject(result, places)
    return result
