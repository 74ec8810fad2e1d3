# SPDX-License-Identifier: Apache-2.0
# From expressions to values and to statements on the tape.
from libc.stdint cimport int32_t

from codipy.active.pending cimport Pending
from codipy.active.view cimport View
from codipy.tape.recorder cimport Recorder

# The values of an expression, into memory with these strides (in elements): the floating-point flags that are up.
cdef int run_values(Pending p, const View* shape, double* out, const Py_ssize_t* strides) except -1
# A statement whose result has these identifiers; `before`: largest() from before they were taken.
cdef int record(Recorder* r, Pending p, const View* shape, int32_t identifier, const Py_ssize_t* strides,
                int32_t before) except -1
