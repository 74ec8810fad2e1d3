# SPDX-License-Identifier: Apache-2.0
# From expressions to values and to statements on the tape.
from libc.stdint cimport int32_t

from codipy.active.core.pending cimport Pending
from codipy.active.storage.view cimport View
from codipy.programs.tiles cimport MAX_OPERANDS, Operand, TileProgram
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.statement cimport Statement


# An expression as the tiles take it, for those who run it and put it on the tape.
cdef struct Loaded:
    TileProgram program
    Operand operands[MAX_OPERANDS]

# The values of an expression, into memory with these strides (in elements): the floating-point flags that are up.
cdef int run_values(Pending p, const View* shape, double* out, const Py_ssize_t* strides) except -1
# What sweeps need of an expression by value; with `replays` also the values of passive arguments.
cdef Statement value_statement(Pending p, const TileProgram* program, const View* shape, bint replays)
# A statement whose result has these identifiers; `before`: largest() from before they were taken.
cdef int record(Recorder* r, Pending p, const View* shape, int32_t identifier, const Py_ssize_t* strides,
                int32_t before) except -1
# The values of a statement that was recorded just now: where there is no memory for them, the statement is taken back.
cdef int run_recorded(Recorder* r, Pending p, const View* shape, double* out, const Py_ssize_t* strides,
                      int32_t before) except -1
cdef int run_loaded(const Loaded* loaded, const View* shape, double* out, const Py_ssize_t* strides) except -1
# The statement whose result lies so; its identifiers are to be named.
cdef Statement statement_of(Recorder* r, Pending p, const Loaded* loaded, const View* shape, const Py_ssize_t* strides)
