# SPDX-License-Identifier: Apache-2.0
# The Jacobians of many scalar statements that are stored by value, before a sweep back passes them.
#
# No Jacobian waits for an adjoint. So those of a few hundred statements are computed first, side by side where programs
# are equal, by loops that take whole vectors; the sweep then does what it does over stored Jacobians. One by one, each
# operation costs a jump that the processor cannot foresee: `python benchmarks/run.py values-lorenz`.
from libc.stdint cimport int16_t, int32_t, uint8_t

cdef enum:
    STRETCH = 256                # statements that are looked at together, at most ...
    ARGUMENTS = 1024             # ... and their arguments
    SLOTS = 512                  # of the table that finds equal programs: a power of two above STRETCH
    FEW = 4                      # equal programs: below, one by one

# Statements of one program in a stretch.
cdef struct Equal:
    int32_t handle
    int16_t head                 # one more than the number of the statement that was met last, 0 where there is none

cdef struct Stretch:
    int32_t arguments, constants         # how many items its statements have in these streams
    uint8_t counts[STRETCH]              # arguments of a statement; the last statement is the first here
    double jacobians[ARGUMENTS]          # as the arguments lie in their stream; the last one is the last number
    int32_t first[STRETCH]               # where a statement's arguments and constants begin, from the streams' end:
    int32_t constant[STRETCH]            # negative
    double values[STRETCH]               # of the statements' results
    int16_t following[STRETCH]           # the next statement of the same program, as `head`
    int16_t used[STRETCH]                # slots in use
    Equal slots[SLOTS]
    double registers[64 * 64]            # TOGETHER_ROWS rows of TOGETHER numbers
    double bars[66 * 64]

# Where a stretch ends: one past its last item in each stream, and the identifier of its last statement.
cdef struct Ends:
    const int32_t* handles
    const int32_t* arguments
    const double* constants
    const int32_t* results               # with reuse
    const double* overwritten            # with reuse
    int32_t lhs

# NULL if there is no memory: then statements go one by one. Freed with free().
cdef Stretch* new_stretch() noexcept nogil
# The Jacobians of as many of the last `most` statements as fit: returns how many, 0 where the last one was made by hand.
# With reuse the primal values become those before these statements.
cdef Py_ssize_t fill_stretch(Stretch* stretch, const Ends* ends, double* primals, Py_ssize_t most,
                             bint reuse) noexcept nogil
# How many statements there must be in a row.
cdef Py_ssize_t least_together() noexcept nogil
