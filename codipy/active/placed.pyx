# SPDX-License-Identifier: Apache-2.0
"""Variables of a tape that was put together: like those of another tape, under other identifiers."""
import numpy as np

from libc.stdint cimport int32_t

from codipy.active.arrays.packing cimport from_ndarray
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.core.base_real cimport IS_INPUT, IS_OUTPUT, OF_INPUT
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport block_on
from codipy.active.storage.storage cimport Storage
from codipy.active.storage.view cimport View
from codipy.tape.base cimport BaseTape

from codipy.errors import TapeError


def is_variable(x):
    """Whether x is a Real or an Array."""
    return is_array(x) or type(x) is Real


def placed(x, BaseTape tape not None, identifiers, bint is_input):
    """A variable of a tape.

    Parameters
    ----------
    x : Real or Array
        What it is like: value, dtype, shape. Nothing of it is changed.
    tape : Tape
        Whose recording is whole: nobody has got any of the identifiers since.
    identifiers : int or ndarray of int
        Of the shape of `x`; 0 where it is passive, then all of them are.
    is_input : bool
        Whether it is an input, or an output.

    Returns
    -------
    Real or Array

    Raises
    ------
    TapeError
        If the identifiers of an array are not side by side.
    """
    cdef int flags = IS_INPUT | OF_INPUT if is_input else IS_OUTPUT
    cdef BaseArray array
    cdef Storage storage
    cdef View view
    cdef int32_t first
    if not is_array(x):
        if not identifiers:
            return Real(x.value)
        return new_identified((<Real>x).primal, tape.recorder.epoch, identifiers, flags, (<Real>x).kind)
    values = x.value
    numbers = np.asarray(identifiers)
    if not numbers.any():
        return from_ndarray(np.array(values))
    first = numbers.min()
    if numbers.max() - first + 1 != numbers.size or np.unique(numbers).size != numbers.size:
        raise TapeError("an array is no variable of the new tape as it stands, its identifiers are not side by side, as those "
                        "of a column of an input: record `y = tape.register_output(y.copy())`")
    lying = np.empty(numbers.size, values.dtype)
    lying[(numbers - first).reshape(-1)] = values.reshape(-1)
    array = from_ndarray(lying)
    storage = array.storage
    storage.block = block_on(tape, first, numbers.size, tape.recorder.epoch)
    storage.block.is_input = is_input
    if is_input:
        storage.input = storage.block
    else:
        storage.output = storage.block
    show(&view, numbers, first)
    return new_array(storage, &view)


def shown(BaseArray source, identifiers):
    """A view of a variable that is placed.

    Parameters
    ----------
    source : Array
        As `placed` returns it.
    identifiers : ndarray of int
        Of the elements, in the view's shape.

    Returns
    -------
    Array or None
        None where no view of it has these identifiers.
    """
    cdef Storage storage = source.storage
    cdef View view
    numbers = np.asarray(identifiers)
    if storage.block is None or numbers.size == 0 or not (
            storage.block.base <= numbers.min() and numbers.max() < storage.block.base + storage.block.size):
        return None
    show(&view, numbers, storage.block.base)
    strides = [view.strides[k] for k in range(view.ndim)]
    at = sum([index * stride for index, stride in zip(np.indices(numbers.shape), strides)])
    return new_array(storage, &view) if np.array_equal(numbers - storage.block.base, view.offset + at) else None


cdef int show(View* view, numbers, int32_t first) except -1:
    """The view that has these identifiers, where the first element of the storage has that one."""
    cdef int k
    view.ndim, view.size, view.offset = numbers.ndim, numbers.size, <int32_t>numbers.reshape(-1)[0] - first
    for k in range(view.ndim):
        view.shape[k] = numbers.shape[k]
        along = np.moveaxis(numbers, k, 0).reshape(numbers.shape[k], -1)
        view.strides[k] = along[1, 0] - along[0, 0] if view.shape[k] > 1 else 1
    return 0
