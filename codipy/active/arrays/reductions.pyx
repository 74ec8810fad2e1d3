# SPDX-License-Identifier: Apache-2.0
"""Sums and means of arrays: NumPy's own summation, and a broadcast in reverse."""
import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.arrays.compute cimport admit_block, check_owners, materialise
from codipy.active.arrays.elements cimport element
from codipy.active.arrays.floating cimport report
from codipy.active.arrays.packing cimport from_ndarray, readable
from codipy.active.arrays.plain cimport ndarray_of
from codipy.active.arrays.statements cimport Loaded, run_loaded, run_values, value_statement
from codipy.active.core.base_array cimport BaseArray, is_array, new_array
from codipy.active.core.base_real cimport OWNS
from codipy.active.core.pending cimport Pending
from codipy.active.recordings.over cimport is_over, no_recording
from codipy.active.scalar.kinds cimport DOUBLE, SINGLE
from codipy.active.scalar.real cimport Real, new_identified
from codipy.active.storage.block cimport append_block
from codipy.active.storage.storage cimport Py_REFCNT, new_storage
from codipy.active.storage.view cimport View, is_contiguous
from codipy.data.buffer cimport new_buffer
from codipy.programs.tiles cimport MAX_DIMS, ROUND_NONE
from codipy.tape.activity cimport current, is_passive
from codipy.tape.base cimport BaseTape
from codipy.tape.provenance.journal cimport begins
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.reduction cimport Reduction
from codipy.tape.records.silence cimport in_silence
from codipy.tape.records.statement cimport Statement

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once

cdef extern from "Python.h":
    PyObject* PyTuple_GET_ITEM(object items, Py_ssize_t i)

cdef enum:
    SHORT = 256                  # elements: of fewer, a statement and its sums along an axis take less than both together
    PART = 65536                 # elements that are summed while they are in the cache

cdef object numpy_sum = np.add.reduce


# How often a temporary argument is referred to while it is summed: by NumPy's door, by that of rebound code. Found out by
# asking, as for operators; a wrong one makes an expression be computed twice.
cdef Py_ssize_t[2] temporary_count = [0, 0]
cdef list seen = None            # while that is found out


def learn_sums(int door, add_temporary, add_variable):
    """Find out how often a door refers to what it is to sum.

    Parameters
    ----------
    door : int
        0 for NumPy's, 1 for that of rebound code.
    add_temporary, add_variable : callable
        Sum an Array that nobody else refers to, and one that is somebody's variable.
    """
    global seen
    seen = []
    try:
        add_temporary()
        add_variable()
        if seen[0] < seen[1]:        # where the interpreter lends references, the two cannot be told
            temporary_count[door] = seen[0]
    finally:
        seen = None


cdef object add_reduce_as_asked(tuple args, dict kwargs, bint mean, int door):
    cdef Py_ssize_t count = len(args), known = 0
    cdef PyObject* first
    axis, keepdims = None, False
    if not 1 <= count <= 2 or not is_array(args[0]):
        return NotImplemented
    if count == 2:
        axis = args[1]
    elif "axis" in kwargs:
        axis, known = kwargs["axis"], 1
    if "keepdims" in kwargs:
        keepdims, known = kwargs["keepdims"], known + 1
    if known < len(kwargs) or type(keepdims) is not bool:
        return NotImplemented
    first = PyTuple_GET_ITEM(args, 0)
    if seen is not None:
        seen.append(Py_REFCNT(first))
    return add_reduce(<BaseArray>first, axis, keepdims, mean, Py_REFCNT(first) == temporary_count[door])


cdef bint is_summed_at_once(Recorder* r, BaseArray a, axis) noexcept:
    """Whether a waiting expression is summed without a place of its own on the tape.

    Its elements then need no identifiers, and back every element takes the adjoint of its sum from one place: of large
    arrays that is half of the memory that the sum goes through. Small sums along an axis have short ways of their own.
    """
    cdef Pending p = a.pending
    if p is None or r == NULL or not p.active or not p.waits or a.kept is not None or a.storage is not None:
        return False
    if r.keeps_values or not (<BaseTape>r.tape).by_value or p.single != ROUND_NONE:
        return False
    return a.geometry.size > SHORT or a.geometry.size > 0 and axis is None


cdef object add_reduce(BaseArray a, axis, bint keepdims, bint mean, bint spare):
    cdef Recorder* r = current()
    cdef BaseTape tape
    cdef Reduction record
    cdef Pending waiting = None
    cdef BaseArray shown, source = a
    cdef object value = None
    cdef Py_ssize_t count = 1, size = 1
    cdef int k, j
    cdef bint summed[MAX_DIMS]
    begins(r)
    if spare and is_summed_at_once(r, a, axis):
        waiting = a.pending
        value = sums_of_parts(r, a, axis, keepdims)
        if value is None:
            a = values_of(r, a)
    else:
        materialise(a)
    if mean and a.geometry.ndim == 0 and axis is not None:
        np.mean(ndarray_of(a), axis)     # which has no axes 0 and -1 here, as sums have
    # First: it says what is wrong with axis. NumPy may fail without an exception where no memory is left; a call with a
    # tuple looks, but not with one that is written out in the call; one without would end in a crash from Python 3.12 on.
    if value is None:
        arguments = (ndarray_of(a), axis, None, None, keepdims)
        value = numpy_sum(*arguments)
    if waiting is None and a.storage.identifiers != NULL:
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
        if count == 0:       # NumPy says so, and divides
            value = np.mean(ndarray_of(a), axis, keepdims=keepdims)
        elif isinstance(value, ndarray):
            value = np.true_divide(value, np.intp(count), out=value, casting="unsafe")
        elif waiting is None and a.storage.single:       # as NumPy: in double, then rounded
            value = type(value)(value / np.intp(count))
        else:
            value = value / count
    if waiting is not None:
        pass
    elif a.storage.block is None:
        if a.pending is not None and r == NULL and not is_passive() and not is_over(a.pending.epoch):
            raise no_recording(a.pending.epoch, "an active Array is summed")
        return value
    elif not admit_block(r, a.storage):
        return value
    tape = <BaseTape>r.tape
    tape.demand_recording("an array operation")
    record = Reduction.__new__(Reduction)
    record.ndim, record.argument = a.geometry.ndim, 0
    if waiting is None:
        record.argument = a.storage.block.base + <int32_t>a.geometry.offset
    record.scale = 1.0 / count if mean else 1.0
    for k in range(a.geometry.ndim - 1, -1, -1):
        record.shape[k], record.strides[k] = a.geometry.shape[k], a.geometry.strides[k]
        record.result_strides[k] = 0
        if not summed[k]:
            size *= a.geometry.shape[k]
    record.size, record.single = size, waiting is None and a.storage.single
    single = not isinstance(value, ndarray)
    if single and not r.values_move:
        result = new_identified(value, r.epoch, tape.new_copy(0, value), OWNS if r.reuse else 0,
                                SINGLE if record.single else DOUBLE)
        record.result = (<Real>result).identifier
        tape.append(record if waiting is None else sum_of(waiting, record, source), tape.largest())
        return result
    # Where sweeps compute the scalars' values again, a Real's is a constant that a replay has to renew: an element's.
    shown = from_ndarray(np.array(value) if single else value)
    j = 0
    for k in range(a.geometry.ndim):
        if not summed[k]:
            record.result_strides[k] = shown.geometry.strides[j]
        j += keepdims or not summed[k]
    shown.storage.block = append_block(tape, record if waiting is None else sum_of(waiting, record, source), size)
    return element(shown, 0) if single else shown


cdef BaseArray values_of(Recorder* r, BaseArray a):
    cdef BaseArray values
    cdef int flags
    check_owners(r, a.pending)
    (<BaseTape>r.tape).demand_idle("an array operation")
    values = new_array(new_storage(new_buffer(a.geometry.size), None, False), &a.geometry)
    flags = run_values(a.pending, &a.geometry, values.storage.buffer.data, a.geometry.strides)
    if flags:
        report(a.pending, &a.geometry, flags)
    return values


cdef object sums_of_parts(Recorder* r, BaseArray a, object axis, bint keepdims):
    """The sums of what waits along an axis that is not the first, a few rows after the other; None where NumPy is to sum all.

    So values that only sums need never leave the cache. Each sum is NumPy's of the same elements in the same order.
    Warnings are NumPy's too: of sums that are not finite, where there may be some, those of all at once.
    """
    cdef View* whole = &a.geometry
    cdef View part = whole[0]
    cdef Loaded loaded
    cdef Py_ssize_t rows, first, at, k
    cdef int flags = 0, along, i
    cdef cnp.ndarray room, found
    cdef const double* sums
    if type(axis) is not int or whole.ndim < 2 or whole.size < 2 * PART or not is_contiguous(whole):
        return None
    at = axis
    along = <int>(at + whole.ndim if at < 0 else at)
    rows = max(PART // (whole.size // whole.shape[0]), 1)
    if not 0 < along < whole.ndim or 2 * rows > whole.shape[0]:
        return None
    check_owners(r, a.pending)
    (<BaseTape>r.tape).demand_idle("an array operation")
    a.pending.load(&loaded.program, loaded.operands, whole.ndim)
    found = np.empty([1 if i == along else whole.shape[i] for i in range(whole.ndim) if keepdims or i != along])
    part.shape[0], part.offset = rows, 0
    part.size = whole.size // whole.shape[0] * rows
    room = np.empty([part.shape[i] for i in range(whole.ndim)])
    for first in range(0, whole.shape[0], rows):
        if whole.shape[0] - first < rows:
            part.shape[0] = whole.shape[0] - first
            room = room[:part.shape[0]]
        flags |= run_loaded(&loaded, &part, <double*>cnp.PyArray_DATA(room), whole.strides)
        in_silence(numpy_sum, (room, along, None, found[first:first + rows], keepdims))
        for k in range(a.pending.leaf_count):
            loaded.operands[k].data += rows * loaded.operands[k].strides[0]
    sums = <const double*>cnp.PyArray_DATA(found)
    for k in range(cnp.PyArray_SIZE(found)):
        if not isfinite(sums[k]):
            return None
    if flags:
        report(a.pending, whole, flags)
    return found


cdef Statement sum_of(Pending p, Reduction sums, BaseArray a):
    """The statement whose result is summed, instead of a statement and this record of its sums."""
    cdef Loaded loaded
    cdef Statement statement
    p.load(&loaded.program, loaded.operands, a.geometry.ndim)
    statement = value_statement(p, &loaded.program, &a.geometry, False)
    statement.identifier, statement.sums, statement.scale = sums.result, sums.size, sums.scale
    memcpy(statement.shape, a.geometry.shape, a.geometry.ndim * sizeof(Py_ssize_t))
    memcpy(statement.shape + a.geometry.ndim, sums.result_strides, a.geometry.ndim * sizeof(Py_ssize_t))
    return statement
