# SPDX-License-Identifier: Apache-2.0
# Elementwise operations on arrays: how they become pending expressions, and expressions statements.
from libc.stdint cimport int32_t
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.pending cimport Leaf, Pending
from codipy.active.storage cimport Storage
from codipy.active.view cimport MAX_NDIM, View
from codipy.tape.recorder cimport Recorder

# One operation of the table on operands that broadcast; NotImplemented where one is no number or array.
cdef object operate(int code, int n, PyObject** operands)
# The same for a caller that knows which operands nobody else can see again, so that their expressions are merged.
cdef object operate_on(int code, int n, PyObject** operands, const bint* spare)
# Compute a pending array and, where it is active and a tape records, put it on the tape.
cdef int materialise(Array a) except -1
# Identifiers of an expression that was made earlier must still be on the tape.
cdef int check_owners(Recorder* r, Pending p) except -1
# The same for who wants its values: where it cannot go on a tape (nothing records, it is stale) only they are computed.
cdef int settle(Array a) except -1
cdef int materialise_in_passive(Array a) except -1
# 1: identifiers of a storage that is clean take part in the recording r (NULL: none); 0: as passive values; else an error.
cdef int admit_block(Recorder* r, Storage storage) except -1
# The array of an expression, laid out as the shape's strides say; it waits, unless each operation is a statement.
cdef Array array_of(Recorder* r, Pending p, View* shape)
ctypedef Py_ssize_t[MAX_NDIM] Strides
# The strides that NumPy gives a result of this shape (order "K"), of operands with these strides.
cdef void keep_order(int count, Strides* operands, View* shape) noexcept
# A pending expression of the shape `shape` that is only this operand; None where it is no number or array.
cdef Pending pending_of(Recorder* r, PyObject* x, View* shape)
