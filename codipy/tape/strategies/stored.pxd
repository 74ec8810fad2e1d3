# SPDX-License-Identifier: Apache-2.0
# A scalar statement as the strategies that keep values store it: how many items it has, its operands, its partials.
#
# `primal` stores a handle: that of a program, or one of the negative ones below. `simple` stores the code of an operation;
# from OP_COUNT on it marks a statement made by hand, of code - OP_COUNT arguments.
from libc.stdint cimport int32_t

from codipy.operations.kernels cimport OP_COUNT, op_arity, op_partials_any
from codipy.programs.program cimport BARE, Program, program_at, program_jacobian, program_value

cdef enum:
    ELEMENT = -1             # copies an array's element: one argument, one constant, its value, which a replay renews
    HANDMADE = -1            # HANDMADE - n, n > 0: made by hand, of n arguments and n + 1 constants: Jacobians, then the value


cdef inline int32_t stored_arguments(Program** programs, int32_t handle) noexcept nogil:
    """How many identifiers the statement of a handle stores."""
    return program_at(programs, handle).active if handle >= 0 else 1 if handle == ELEMENT else HANDMADE - handle


cdef inline int32_t operation_arguments(int32_t code) noexcept nogil:
    """How many arguments the statement of an operation's code has."""
    code &= BARE
    return op_arity(code) if code < OP_COUNT else code - OP_COUNT


cdef inline void load_leaves(const Program* program, const double* primals, const int32_t* arguments,
                             const double* constants, double* registers) noexcept nogil:
    """The values of a statement's leaves; a caller that reads beyond them has cleared registers 1 and 2 before."""
    cdef int32_t i, active = 0, passive = 0
    for i in range(program.leaves):
        if program.is_active[i]:
            registers[i] = primals[arguments[active]]
            active += 1
        else:
            registers[i] = constants[passive]
            passive += 1


cdef inline void leaf_partials(const Program* program, double* registers, double result, double* jacobian) noexcept nogil:
    """Partials by the leaves, which are in the registers; `result` is the statement's stored value."""
    if program.length == 1:
        op_partials_any(program.code, registers[0], registers[1], registers[2], result, jacobian)
    else:
        program_value(program, registers, False)
        program_jacobian(program, registers, jacobian)
