# SPDX-License-Identifier: Apache-2.0
# Elementwise operations on arrays: how they become pending expressions.
from cpython.object cimport PyObject

from codipy.active.core.base_array cimport BaseArray
from codipy.active.core.pending cimport Pending
from codipy.active.storage.view cimport View
from codipy.programs.tiles cimport MAX_DIMS
from codipy.tape.recorder cimport Recorder

# One operation of the table on operands that broadcast; NotImplemented where one is no number or array.
cdef object operate(int code, int n, PyObject** operands)
# The same for a caller that knows which operands nobody else can see again, so that their expressions are merged.
cdef object operate_on(int code, int n, PyObject** operands, const bint* spare)
# The array of an expression, laid out as the shape's strides say; it waits, unless each operation is a statement.
cdef BaseArray array_of(Recorder* r, Pending p, View* shape)
ctypedef Py_ssize_t[MAX_DIMS] Strides
# The strides that NumPy gives a result of this shape (order "K"), of operands with these strides.
cdef void keep_order(int count, Strides* operands, View* shape) noexcept
# A pending expression of the shape `shape` that is only this operand; None where it is no number or array.
cdef Pending pending_of(Recorder* r, PyObject* x, View* shape)
