# SPDX-License-Identifier: Apache-2.0
# An array statement on the tape: a program over views of values and identifiers.
from libc.stdint cimport int32_t
from cpython.object cimport PyObject
cimport cython

from codipy.programs.interned cimport ArrayProgram
from codipy.programs.tiles cimport Operand
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.records.record cimport Record
from codipy.tape.records.replay cimport Replay


# One argument. Its strides, in elements, stand in the statement's table.
cdef struct Argument:
    PyObject* owner          # keeps `data` alive (a reference of ours), or NULL: `number`, or the values are not needed
    const double* data       # first value
    double number            # a scalar's value
    int32_t identifier       # of the first element; 0: passive


# Values: the sweep computes the temporaries again from the arguments. Jacobians: `data` points at the partials, one
# for each element of the result, and there is no program. What the strategies store differs only in that.
@cython.final
cdef class Statement(Record):
    cdef ArrayProgram program        # None: Jacobians
    cdef int ndim
    cdef int count                   # arguments
    cdef int32_t identifier          # of the result's first element
    cdef Py_ssize_t sums             # 0, or the result is summed over the axes along which its stride is 0: so many sums,
    cdef double scale                # ... which are contiguous, each times this
    cdef Py_ssize_t* shape           # ndim numbers, then the result's strides, then those of each argument
    cdef Argument* arguments

    cdef int run(self, AdjointVector adjoints, bint reverse, bint keep) except -1
    cdef int run_sums(self, AdjointVector adjoints, Operand* operands, bint reverse, bint keep) except -1
    cdef int refresh(self, Argument* argument, const Py_ssize_t* strides, Replay replay) except -1

cdef Statement new_statement(ArrayProgram program, int ndim, int count)
