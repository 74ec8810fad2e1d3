# SPDX-License-Identifier: Apache-2.0
# The primal-value strategies: a statement stores its program, its arguments' identifiers and its constants.
from codipy.data.position cimport Position
from codipy.tape.recorder cimport Recorder
from codipy.tape.records.replay cimport Replay
from codipy.tape.strategies.strategy cimport Strategy
cimport cython


# Streams: constants (f8) nesting arguments (i4) nesting statements (i4 handle[, i4 lhs, f8 overwritten primal]).
# The primal value of every identifier of a scalar is in the recorder's primal vector. A handle -1 - n, n > 0, marks a
# statement made by hand: n arguments whose Jacobians are its first n constants, its value the last. Handle -1 copies an
# element of an array: one argument, one constant, its value.
@cython.final
cdef class Primal(Strategy):
    cdef double* copy_of_primals(self, Recorder* r) except NULL
    cdef int hand_over(self, Recorder* r, Replay replay) except -1
    cdef int restore(self, double* primals, Position position) except -1
