# SPDX-License-Identifier: Apache-2.0
"""Arrays as inputs and outputs of a recording, and their gradients."""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy, memset
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.arrays.compute cimport materialise
from codipy.active.arrays.constants cimport copy_of, snapshot
from codipy.active.arrays.conversion cimport converted
from codipy.active.arrays.packing cimport gather, identifiers
from codipy.active.arrays.plain cimport ndarray_of
from codipy.active.core.base_array cimport EMPTY, BaseArray, is_array
from codipy.active.storage.block cimport Block, append_block, is_of_input, new_block
from codipy.active.storage.storage cimport Storage, is_unread
from codipy.active.storage.view cimport is_contiguous, is_injective, shape_tuple
from codipy.tape.activity cimport current, tape_of_epoch
from codipy.tape.adjoints cimport WORTH_LEAVING, AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.records.mark cimport new_mark
from codipy.tape.strategies.forward cimport Forward

from codipy.errors import NoTangent, TapeError
from codipy.tape.strategies.forward import TOO_LATE, seed_rows

cnp.import_array()

cdef enum:
    PIECE = 4096                 # adjoints that are cleared while they are in the cache


cdef BaseArray register_array(BaseTape tape, object x):
    """Make an Array, or of a plain array a new one, an input: identifiers of its own."""
    cdef BaseArray array, copy
    cdef Storage storage
    cdef Block block
    tape.demand_recording("register_input()")
    try:
        if is_array(x):
            array = x
        elif cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(x):
            array = copy_of(x)
        elif cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE or cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT:
            array = snapshot(x)
        else:
            array = converted(x)
        if array is not x:
            demand_own_elements(x)
    except TypeError as error:
        raise TypeError(f"x: {error}") from error
    materialise(array)
    if array.storage is EMPTY or array.geometry.size != array.storage.buffer.size:     # a view: what is registered is a storage of its own
        copy = converted(array.value)
        array.storage, array.geometry, array.owner = copy.storage, copy.geometry, None
    storage = array.storage
    if tape.recorder.carries:
        block = new_block(tape, storage.buffer.size, True)
        (<Forward>tape.store).note_input(&tape.recorder, block.base)
    else:
        block = append_block(tape, new_mark(storage.buffer if tape.recorder.keeps_values else None), storage.buffer.size, True)
    storage.drop_identifiers()
    storage.block = storage.input = block
    storage.output = None
    array.pending = None
    return array


cdef int demand_own_elements(object x) except -1:
    """Raise for a plain array of several axes that shows a number in several places.

    Its copy has to lie in some order, and functions that look at it (``x.ravel("K")``, sums in their last bits) would
    find another one than in the array itself.
    """
    cdef Py_ssize_t step, k, count = 0, reached = 0
    if cnp.PyArray_NDIM(x) < 2 or cnp.PyArray_IS_C_CONTIGUOUS(x):
        return 0
    axes = sorted([(abs(step), k) for step, k in zip(x.strides, x.shape) if k > 1])
    for step, k in axes:
        count += step < reached or step == 0
        reached = max(reached, step * (k - 1) + cnp.PyArray_ITEMSIZE(x))
    if count and len(axes) > 1:
        raise ValueError(f"x: an array of shape {x.shape} that shows a number in several places, as np.broadcast_to and "
                         "sliding_window_view make it, cannot be an input, since its copy lies in another order: pass "
                         "x.copy()")
    return 0


def was_overwritten(BaseArray array not None):
    """Whether an Array that was registered has been written to since, itself or by a view of it.

    Parameters
    ----------
    array : Array
        An input or an output.

    Returns
    -------
    bool
    """
    cdef Storage storage = array.storage
    return (storage.input is not None and storage.block is not storage.input
            or storage.output is not None and storage.block is not storage.output)


def is_written(x):
    """Whether something is an Array that was written to since it was made, or a view of it was.

    Parameters
    ----------
    x : object
        Anything else is not.

    Returns
    -------
    bool
    """
    return is_array(x) and (<BaseArray>x).storage.overwritten


def has_values_of(BaseArray x not None, array not None):
    """Whether an Array that nobody has written to shows the numbers of a plain array, bit for bit if that is contiguous.

    Parameters
    ----------
    x : Array
        An input.
    array : ndarray
        Of the same shape.

    Returns
    -------
    bool
    """
    cdef cnp.ndarray plain = array
    if (cnp.PyArray_TYPE(plain) == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(plain)
            and is_contiguous(&x.geometry) and x.geometry.size == plain.size):
        return not memcmp(x.storage.buffer.data + x.geometry.offset, cnp.PyArray_DATA(plain), plain.size * sizeof(double))
    return np.array_equal(ndarray_of(x), plain, equal_nan=True)


cdef BaseArray output_array(BaseTape tape, BaseArray y):
    """Give a result identifiers of its own, which no later array uses."""
    cdef BaseArray copy
    tape.demand_recording("register_output()")
    materialise(y)
    if y.geometry.size == 0:        # no element, no identifier
        return y
    if y.storage.input is not None and y.storage.block is not y.storage.input:
        raise TapeError("y is an input that was written to in place since, and cannot show the gradient of both: register "
                        "a copy, tape.register_output(y.copy())")
    injective = is_injective(&y.geometry)        # else one element has several seeds, and they are added
    if injective and y.storage.block is not None and (y.storage.block.is_input or y.storage.output is y.storage.block):
        return y
    if y.storage.identifiers != NULL:
        y.storage.make_clean(tape)
    if y.storage.block is None:
        return y
    if not injective or y.geometry.size != y.storage.buffer.size or y.storage.block.lent:
        copy = gather(np.array(ndarray_of(y)), identifiers(y))
        y.storage, y.geometry, y.owner = copy.storage, copy.geometry, None
    y.storage.block.lent = True          # its adjoints are read after the sweep
    y.storage.output = y.storage.block
    return y


cdef int demand_stored(BaseArray array, str what) except -1:
    if array.pending is not None:
        raise TapeError(f"the Array has no {what} of its own, it is part of a larger statement: call "
                        "tape.register_output() on it while recording")
    return 0


cdef Block block_of(BaseArray array, str what):
    """The identifiers where adjoints and values are read and set, or an error that says what is missing."""
    cdef Storage storage
    cdef Block block
    cdef PyObject* found
    if array.pending is not None:
        if current() != NULL:
            materialise(array)
        demand_stored(array, what)
    storage = array.storage
    block = storage.input if storage.input is not None else storage.block
    if block is None and storage.output is not None:
        block = storage.output
    if storage.identifiers != NULL and storage.input is None:
        raise TapeError(f"the Array has no {what}: its elements were written one by one; call "
                        "tape.register_output() on it while recording")
    if block is None:
        raise TapeError(f"the Array has no {what}, it is passive: register it with tape.register_input(), or a "
                        "result with tape.register_output(), while the tape records")
    found = tape_of_epoch(block.epoch)
    if found == NULL:
        raise TapeError(f"the Array has no {what}: its tape no longer exists")
    if not (<BaseTape>found).is_valid(block.epoch):
        raise TapeError(f"the Array has no {what}: its tape was reset since; record again")
    (<BaseTape>found).demand_recorded(f"the {what} of an Array")
    return block


cdef BaseTape tape_of(Block block):
    return <BaseTape>tape_of_epoch(block.epoch)


cdef tuple adjoint_slots(BaseArray array):
    """The tape and the identifiers where the adjoints of an array are read and set."""
    cdef Block block = block_of(array, "gradient")
    if not is_injective(&array.geometry):
        raise TapeError("the Array has no gradient of its own: it shows elements of its base more than once; call "
                        "tape.register_output() on it while recording")
    return tape_of(block), places_of(array) + np.int32(block.base)


cdef object places_of(BaseArray array):
    """Where in the storage the elements stand."""
    if is_contiguous(&array.geometry):
        return np.arange(array.geometry.offset, array.geometry.offset + array.geometry.size, dtype=np.int32)
    index = np.lib.stride_tricks.as_strided(
        np.arange(array.storage.buffer.size, dtype=np.int32)[array.geometry.offset if array.geometry.size else 0:],
        shape_tuple(&array.geometry), [4 * array.geometry.strides[k] for k in range(array.geometry.ndim)])
    return np.ascontiguousarray(index).reshape(-1)


cdef int demand_adjoints(BaseArray array, AdjointVector adjoints) except -1:
    cdef Block block
    demand_stored(array, "gradient")     # a statement made now would have none, whatever the larger one had
    adjoints.consumed.demand_swept()
    if adjoints.consumed.is_whole() or array.geometry.size == 0:
        return 0
    block = block_of(array, "gradient")
    if not is_of_input(block):
        adjoints.consumed.demand("the Array", adjoint_slots(array)[1], block.epoch, block.scattered, tape_of(block).shares())
    return 0


cdef int note_seed(BaseArray array, AdjointVector adjoints) except -1:
    cdef Block block
    cdef BaseTape tape
    if array.geometry.size == 0:
        return 0
    block = block_of(array, "gradient")
    tape = tape_of(block)
    if not is_of_input(block) and not adjoints.consumed.is_whole():
        adjoints.consumed.seed(adjoint_slots(array)[1], block.epoch, block.scattered, tape.recorder.epoch, tape.largest())
        tape.look_back()
    tape.hold_for(adjoints)
    return 0


cdef object get_gradient(BaseArray array):
    """A new array of the adjoints in the tape's own vector."""
    demand_stored(array, "gradient")     # as there
    cdef Block block = block_of(array, "gradient")
    cdef AdjointVector vector = tape_of(block).adjoint_vector
    demand_adjoints(array, vector)
    cdef Py_ssize_t last = block.base + block.size - 1 - vector.first
    if last < vector.slots and is_contiguous(&array.geometry):
        result = cnp.PyArray_SimpleNew(array.geometry.ndim, <cnp.npy_intp*>array.geometry.shape, cnp.NPY_DOUBLE)
        if array.geometry.size:
            memcpy(cnp.PyArray_DATA(result), vector.slot(block.base) + array.geometry.offset,
                   array.geometry.size * sizeof(double))
        return result
    return vector.read(adjoint_slots(array)[1])[:, 0].reshape(shape_tuple(&array.geometry))


def take_gradients(list inputs not None):
    """The gradients of inputs whose adjoints nobody reads again before the tape is reset.

    Those of large arrays are set to 0 piece by piece, as they are read: a reset finds them in the cache no longer.

    Parameters
    ----------
    inputs : list of Real and Array
        Of one tape, as it registered them.

    Returns
    -------
    list of float and ndarray
    """
    cdef Py_ssize_t k, last = -1
    cdef bint ascend = True
    cdef list gradients = [None] * len(inputs)
    for x in inputs:
        if is_array(x):
            ascend &= block_of(<BaseArray>x, "gradient").base > last
            last = block_of(<BaseArray>x, "gradient").base
    for k in range(len(inputs) - 1, -1, -1):     # from the last slots to the first
        x = inputs[k]
        gradients[k] = take_gradient(<BaseArray>x) if ascend and is_array(x) else x.gradient
    return gradients


cdef object take_gradient(BaseArray array):
    demand_stored(array, "gradient")
    cdef Block block = block_of(array, "gradient")
    cdef AdjointVector vector = tape_of(block).adjoint_vector
    cdef Py_ssize_t done = 0, n
    cdef double* adjoints = vector.slot(<int32_t>(block.base + block.size - 1))
    cdef double* to
    if block.size < WORTH_LEAVING or block.size != array.geometry.size or not block.is_input or adjoints == NULL or (
            not is_contiguous(&array.geometry)):
        return get_gradient(array)
    demand_adjoints(array, vector)
    result = cnp.PyArray_SimpleNew(array.geometry.ndim, <cnp.npy_intp*>array.geometry.shape, cnp.NPY_DOUBLE)
    to, adjoints = <double*>cnp.PyArray_DATA(result), vector.slot(block.base)
    while done < block.size:
        n = min(block.size - done, <Py_ssize_t>PIECE)
        memcpy(to + done, adjoints + done, n * sizeof(double))
        memset(adjoints + done, 0, n * sizeof(double))
        done += n
    vector.leave(block.base - 1, <int32_t>(block.base + block.size - 1))
    return result


# ---- Tangents, on a tape of the strategy `forward` ----

cdef BaseTape forward_tape_of(BaseArray a):
    cdef Storage storage = a.storage
    cdef PyObject* found
    cdef int64_t epoch
    if storage.identifiers == NULL and storage.block is None:
        raise NoTangent("the Array has no tangent, it is passive: it depends on no input")
    epoch = storage.epoch if storage.identifiers != NULL else storage.block.epoch
    found = tape_of_epoch(epoch)
    if found == NULL:
        raise NoTangent("the Array has no tangent: its tape no longer exists")
    (<BaseTape>found).demand_forward("the Array", epoch)
    return <BaseTape>found


cdef object get_tangent(BaseArray a):
    """A new array; of what was written in place since: what stands there now."""
    cdef Storage storage
    cdef BaseTape tape
    cdef Py_ssize_t i, width
    if (a.pending is not None or a.kept is not None) and current() != NULL:
        materialise(a)
    demand_stored(a, "tangent")
    storage, tape = a.storage, forward_tape_of(a)
    width = tape.recorder.width
    places = places_of(a)
    if storage.identifiers == NULL:
        places += np.int32(storage.block.base)
    else:
        places = np.array([storage.identifiers[i] for i in places], np.int32)
    return tape.adjoint_vector.read(places).reshape(shape_tuple(&a.geometry) + ((width,) if width > 1 else ()))


cdef int set_tangent(BaseArray a, object seed) except -1:
    cdef BaseTape tape
    demand_stored(a, "tangent")
    if a.storage.input is None:
        raise TapeError("the Array is no input: only the tangents of inputs can be set")
    tape = forward_tape_of(a)
    if not is_injective(&a.geometry):
        raise TapeError("the Array shows elements of its base more than once: set the tangent of the base")
    rows = seed_rows(seed, shape_tuple(&a.geometry), tape.recorder.width)
    if a.storage.identifiers != NULL or not is_unread(a.storage) or not (<Forward>tape.store).is_seedable(
            &tape.recorder, a.storage.input.base):
        raise TapeError(TOO_LATE)
    tape.adjoint_vector.write(places_of(a) + np.int32(a.storage.block.base), rows)
    return 0


cdef int set_gradient(BaseArray a, object seed) except -1:
    tape, ids = adjoint_slots(a)
    rows = np.ascontiguousarray(np.broadcast_to(np.asarray(seed, dtype=np.float64), a.shape)).reshape(-1, 1)
    (<BaseTape>tape).demand_idle("setting a gradient")
    (<BaseTape>tape).adjoint_vector.ensure((<BaseTape>tape).largest())
    note_seed(a, tape.adjoint_vector)
    tape.adjoint_vector.write(ids, rows)
    return 0
