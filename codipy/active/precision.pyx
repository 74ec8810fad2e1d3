# SPDX-License-Identifier: Apache-2.0
"""float32 and float64: which of them a result is, and values in float32."""
import sys

import numpy as np

from libc.string cimport memcpy
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.active.array_type cimport Array, new_array
from codipy.active.elementwise cimport array_of, pending_of
from codipy.active.packing cimport from_ndarray
from codipy.active.pending cimport Pending
from codipy.active.storage cimport new_storage
from codipy.active.view cimport MAX_NDIM, View, set_contiguous
from codipy.data.buffer cimport Buffer, new_buffer
from codipy.active.views cimport doubles_of, shown_as
from codipy.operations.kernels cimport OP_SCALE, op_value_any
from codipy.programs.tiles cimport ROUND_RESULT
from codipy.tape.activity cimport current
from codipy.tape.recorder cimport Recorder

from codipy.operations import TABLE
from codipy.programs.tiles import ufunc_of

cnp.import_array()


cdef Strength strength_of(x):
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return WEAK
    return SINGLE if dtype.char == "f" else WEAK if dtype.char in "?bBhHe" else DOUBLE


cdef bint is_single_result(int code, int n, Source* sources, PyObject** operands):
    """Of ldexp the first operand alone has a say."""
    cdef int k
    cdef bint single = False
    for k in range(1 if code == OP_SCALE else n):
        if sources[k].strength == UNKNOWN:
            sources[k].strength = strength_of(<object>operands[k])
        if sources[k].strength == DOUBLE:
            return False
        single |= sources[k].strength == SINGLE
    return single


cdef object single_value(int code, int n, const double* values):
    ufunc = ufunc_of(TABLE[code])
    if ufunc is None:
        return np.float32(op_value_any(code, values[0], values[1] if n > 1 else 0.0, values[2] if n > 2 else 0.0))
    if code == OP_SCALE:
        return ufunc(np.float32(values[0]), int(values[1]))
    return ufunc(*[np.float32(values[k]) for k in range(n)])


cdef Array copy_of(cnp.ndarray values):
    cdef View view
    cdef Buffer buffer
    cdef int k
    if cnp.PyArray_NDIM(values) > MAX_NDIM:
        raise ValueError(f"x: an Array has at most {MAX_NDIM} dimensions, got {cnp.PyArray_NDIM(values)}")
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


cdef object frozen_copy(cnp.ndarray values):
    return doubles_of(copy_of(values)) if is_block(values) else np.array(values)


cdef bint is_block(cnp.ndarray values) noexcept:
    """Whether the values lie as in an Array of one's own."""
    return (cnp.PyArray_TYPE(values) == cnp.NPY_DOUBLE and cnp.PyArray_ISCARRAY_RO(values)
            and cnp.PyArray_NDIM(values) <= MAX_NDIM)


cdef Array snapshot(values):
    if values.dtype.char in "gF":
        raise TypeError("long double arrays beside an Array are not supported: use astype(float)")
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    if is_block(values) and not is_frozen(values):
        return copy_of(values)
    if values.flags.c_contiguous:
        return from_ndarray(values if is_frozen(values) else np.array(values, dtype=dtype, order="C"))
    # Laid out as it is: NumPy's loops and the order of the result, and so of sums over it, depend on that.
    back = tuple([slice(None, None, -1 if stride < 0 else None) for stride in values.strides])
    kept = from_ndarray(np.array(values[back], dtype=dtype, order="K"))
    return shown_as(kept, doubles_of(kept)[back])


cdef bint is_refused(object x):
    if type(x) is np.ndarray or not isinstance(x, np.ndarray):
        return False
    # Nobody has a masked array before this module is imported, which takes longer than all of codipy's array layer.
    masked = sys.modules.get("numpy.ma")
    return isinstance(x, np.matrix) or masked is not None and isinstance(x, masked.MaskedArray)


cdef bint is_frozen(object values):
    while isinstance(values, np.ndarray):
        if values.flags.writeable:
            return False
        values = values.base
    return values is None or type(values) is bytes or type(values) is Buffer


cdef Array rounded(Array a):
    cdef Recorder* r = current()
    cdef View shape = a.geometry
    set_contiguous(&shape)
    cdef Pending p = pending_of(r, <PyObject*>a, &shape)
    p.single = ROUND_RESULT
    return array_of(r, p, &shape)
