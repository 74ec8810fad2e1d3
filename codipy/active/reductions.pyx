# SPDX-License-Identifier: Apache-2.0
"""Sums and means of arrays: NumPy's own summation, and a broadcast in reverse."""
import numpy as np

from libc.stdint cimport int32_t

from codipy.active.array_type cimport Array
from codipy.active.block cimport Block, new_block
from codipy.active.elementwise cimport admit_block, materialise
from codipy.active.elements cimport element
from codipy.active.kinds cimport DOUBLE, SINGLE
from codipy.active.packing cimport from_ndarray, readable
from codipy.active.real cimport OWNS, Real, new_identified
from codipy.active.view cimport MAX_NDIM
from codipy.active.views cimport ndarray_of
from codipy.tape.activity cimport current
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport PRIMAL, Recorder
from codipy.tape.reduction cimport Reduction

cdef object numpy_sum = np.add.reduce


cdef object add_reduce_as_asked(tuple args, dict kwargs, bint mean):
    cdef Py_ssize_t count = len(args), known = 0
    axis, keepdims = None, False
    if not 1 <= count <= 2 or type(args[0]) is not Array:
        return NotImplemented
    if count == 2:
        axis = args[1]
    elif "axis" in kwargs:
        axis, known = kwargs["axis"], 1
    if "keepdims" in kwargs:
        keepdims, known = kwargs["keepdims"], known + 1
    if known < len(kwargs) or type(keepdims) is not bool:
        return NotImplemented
    return add_reduce(<Array>args[0], axis, keepdims, mean)


cdef object add_reduce(Array a, axis, bint keepdims, bint mean):
    cdef Recorder* r = current()
    cdef BaseTape tape
    cdef Reduction record
    cdef Block block
    cdef Array shown
    cdef Py_ssize_t count = 1, size = 1
    cdef int32_t before
    cdef int k, j
    cdef bint summed[MAX_NDIM]
    materialise(a)
    if mean and a.geometry.ndim == 0 and axis is not None:
        np.mean(ndarray_of(a), axis)     # which has no axes 0 and -1 here, as sums have
    value = numpy_sum(ndarray_of(a), axis, None, None, keepdims)     # first: it says what is wrong with axis
    if a.storage.identifiers != NULL:
        a = readable(r, a)
    for k in range(a.geometry.ndim):
        summed[k] = axis is None
    if axis is not None and a.geometry.ndim:     # NumPy allows the axes 0 and -1 of what has none
        for k in axis if isinstance(axis, tuple) else (axis,):
            summed[k if k >= 0 else k + a.geometry.ndim] = True
    for k in range(a.geometry.ndim):
        if summed[k]:
            count *= a.geometry.shape[k]
    if mean:
        if isinstance(value, np.ndarray):
            value = np.true_divide(value, np.intp(count), out=value, casting="unsafe")
        elif a.storage.single:       # as NumPy: in double, then rounded
            value = type(value)(value / np.intp(count))
        else:
            value = value / count
    if a.storage.block is None:
        if a.pending is not None:
            admit_block(r, None)
        return value
    if not admit_block(r, a.storage.block):
        return value
    tape = <BaseTape>r.tape
    tape.demand_recording("an array operation")
    record = Reduction.__new__(Reduction)
    record.ndim, record.argument = a.geometry.ndim, a.storage.block.base + <int32_t>a.geometry.offset
    record.scale = 1.0 / count if mean else 1.0
    for k in range(a.geometry.ndim - 1, -1, -1):
        record.shape[k], record.strides[k] = a.geometry.shape[k], a.geometry.strides[k]
        record.result_strides[k] = 0
        if not summed[k]:
            size *= a.geometry.shape[k]
    record.size, record.single = size, a.storage.single
    single = not isinstance(value, np.ndarray)
    if single and not (r.kind == PRIMAL and r.reuse):
        result = new_identified(value, r.epoch, tape.new_copy(0, value), OWNS if r.reuse else 0,
                                SINGLE if a.storage.single else DOUBLE)
        record.result = (<Real>result).identifier
        tape.push_record(record, tape.largest())
        return result
    # Where sweeps compute the scalars' values again, a Real's is a constant that a replay has to renew: an element's.
    shown = from_ndarray(np.array(value) if single else value)
    j = 0
    for k in range(a.geometry.ndim):
        if not summed[k]:
            record.result_strides[k] = shown.geometry.strides[j]
        j += keepdims or not summed[k]
    before = tape.largest()
    block = new_block(tape, size)
    try:
        record.result = block.base
        tape.push_record(record, before)
    except BaseException:
        tape.withdraw_block(before)
        raise
    shown.storage.block = block
    return element(shown, 0) if single else shown
