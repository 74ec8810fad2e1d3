# SPDX-License-Identifier: Apache-2.0
# A pending array expression: operations on views, not computed yet.
#
# Leaves hold the Buffers and Blocks that they read, and both are immutable while they are shared. So an expression
# means the same whenever it is computed, however often, whatever is written in the meantime.
from libc.stdint cimport int32_t, int64_t
from cpython.object cimport PyObject
cimport cython

from codipy.active.storage.view cimport View
from codipy.data.buffer cimport Buffer
from codipy.programs.tiles cimport MAX_DIMS, Operand, Step, TileProgram
from codipy.tape.recorder cimport Recorder

cdef enum:
    MOST_LEAVES = 16             # a Jacobian statement has two operands for each: MAX_OPERANDS
    MOST_STEPS = 40
    FEW = 2                      # leaves and steps that an expression has room for in itself

cdef struct Leaf:
    PyObject* buffer             # Buffer, a reference of ours; NULL: `number`
    PyObject* owner              # Block or Real whose identifier it is, a reference of ours; NULL: passive
    const double* data
    double number
    int32_t identifier           # of the first element; 0: passive
    Py_ssize_t strides[MAX_DIMS]

# In a step of a pending expression a source k >= 0 is a leaf, and k < 0 the step number -k - 1.
@cython.final
cdef class Pending:
    cdef Leaf* leaves            # owner of leaves and steps, one block of memory, unless they are the next two
    cdef Step* steps
    cdef Leaf few_leaves[FEW]
    cdef Step few_steps[FEW]
    cdef int leaf_count
    cdef int step_count
    cdef bint active             # some leaf is
    cdef bint slow               # its value takes an operation that is slow to compute
    cdef bint waits              # it may be computed in another place than it was written
    cdef int single              # ROUND_*: what is rounded to float32
    cdef int64_t epoch           # of the recording when it was made
    cdef int32_t spot            # where it was made, in a profiled recording
    cdef object rules            # NumPy's for floating-point errors when it was made; None: those in force

    cdef int append(self, const Leaf* leaf, int ndim) except -1
    cdef void load(self, TileProgram* program, Operand* operands, int ndim) noexcept

cdef Pending new_pending(int leaves, int steps)
