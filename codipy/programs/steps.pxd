# SPDX-License-Identifier: Apache-2.0
# The sweep back through the steps of one scalar program, of first order and for second.
from libc.stdint cimport int32_t, uint8_t

from codipy.operations.kernels cimport op_arity, op_curved, op_partials_any, op_second_any
from codipy.programs.program cimport Instruction, Program

# What second order knows of a step before, and what it asks for.
cdef struct Bent:
    double partials[3]
    double curvatures[6]         # the adjoint times second partials: xx, xy, yy, xz, yz, zz
    uint8_t flows                # bits: operands through which a derivative flows


cdef inline int curvature(int k, int j) noexcept nogil:
    """Where the second partial by two operands stands."""
    cdef int low = min(k, j), high = max(k, j)
    return low + high * (high + 1) // 2


cdef inline void pull_steps(const Program* program, const double* values, Bent* bent, double* bars) noexcept nogil:
    """The adjoints of all registers from that of the root, which is there; the others are 0.

    `bent`, a literal NULL at first order: a row for each step, where the curvatures of those that have an adjoint are
    filled in. A zero adjoint or a zero partial propagates nothing (inf * 0 is no NaN here).
    """
    cdef double computed[3]
    cdef double second[6]
    cdef const double* partials = computed
    cdef const Instruction* step
    cdef int32_t i, j, k
    cdef double bar
    for i in range(program.length - 1, -1, -1):
        bar = bars[program.leaves + i]
        if bar == 0.0 or bent != NULL and not bent[i].flows:
            continue
        step = &program.instructions[i]
        if bent == NULL:
            op_partials_any(step.code, values[step.sources[0]], values[step.sources[1]], values[step.sources[2]],
                            values[program.leaves + i], computed)
        else:
            partials = bent[i].partials
        if bent != NULL and op_curved[step.code]:
            op_second_any(step.code, values[step.sources[0]], values[step.sources[1]], values[step.sources[2]],
                          values[program.leaves + i], second)
            for k in range(3):
                for j in range(k + 1):
                    if bent[i].flows >> k & 1 and bent[i].flows >> j & 1:
                        bent[i].curvatures[curvature(k, j)] = (
                            bar * second[curvature(k, j)] if second[curvature(k, j)] != 0.0 else 0.0)
        for k in range(op_arity(step.code) if bent == NULL else 3):
            if (bent == NULL or bent[i].flows >> k & 1) and partials[k] != 0.0:
                bars[step.sources[k]] += bar * partials[k]
