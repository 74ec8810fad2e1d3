# SPDX-License-Identifier: Apache-2.0
# Elementwise operations on arrays: how they become pending expressions, and expressions statements.
from libc.stdint cimport int32_t
from cpython.object cimport PyObject

from codipy.active.array_type cimport Array
from codipy.active.block cimport Block
from codipy.active.pending cimport Leaf, Pending
from codipy.active.view cimport View
from codipy.tape.recorder cimport Recorder

# One operation of the table on operands that broadcast; NotImplemented where one is no number or array.
cdef object operate(int code, int n, PyObject** operands)
# Compute a pending array and, where it is active and a tape records, put it on the tape.
cdef int materialise(Array a) except -1
# 1: identifiers of this block take part in the recording r (NULL: none); 0: as passive values; else an error.
cdef int admit_block(Recorder* r, Block block) except -1
# A pending expression of the shape `shape` that is only this operand; None where it is no number or array.
cdef Pending pending_of(Recorder* r, PyObject* x, View* shape)
# The values of an expression, into memory with these strides (in elements).
cdef int run_values(Pending p, const View* shape, double* out, const Py_ssize_t* strides) except -1
# A statement whose result has these identifiers; `before`: largest() from before they were taken.
cdef int record(Recorder* r, Pending p, const View* shape, int32_t identifier, const Py_ssize_t* strides,
                int32_t before) except -1
