# SPDX-License-Identifier: Apache-2.0
"""The Jacobians of many scalar statements that are stored by value, before a sweep back passes them."""
from libc.stdint cimport int16_t, int32_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

from codipy.programs.program cimport INPUT, MAX_LEAVES, Program, program_at, program_blocks
from codipy.programs.tiles cimport TOGETHER, ScalarStep, scalars_together
from codipy.tape.strategies.stored cimport ELEMENT, leaf_partials

cdef enum:
    IN_A_ROW = 16                # statements of one program, from which on nothing is sorted

cdef Py_ssize_t least = 32


cdef Py_ssize_t least_together() noexcept nogil:
    return least


def _together_from(Py_ssize_t statements):
    """For tests: compute Jacobians together where so many statements follow one another; returns what it was."""
    global least
    before = least
    least = statements
    return before


cdef Stretch* new_stretch() noexcept nogil:
    cdef Stretch* stretch = <Stretch*>malloc(sizeof(Stretch))
    if stretch != NULL:
        memset(stretch.slots, 0, sizeof(stretch.slots))
    return stretch


# Some statements of one program.
cdef struct Some:
    Py_ssize_t n
    int16_t members[64]          # TOGETHER numbers of statements
    int32_t first[64]            # where their arguments begin


cdef inline void load(Stretch* stretch, const Program* program, const Ends* ends, const double* primals,
                      const Some* some, bint reuse) noexcept nogil:
    """The rows of the leaves, and of the values where these are kept."""
    cdef double* row = stretch.registers
    cdef const double* known = stretch.jacobians + ARGUMENTS
    cdef const double* constants = ends.constants
    cdef const int32_t* arguments = ends.arguments
    cdef int32_t r
    cdef Py_ssize_t j, n = some.n
    for r in range(program.leaves):
        if not program.is_active[r]:
            for j in range(n):
                row[j] = constants[stretch.constant[some.members[j]]]
            constants += 1
        elif reuse:
            for j in range(n):
                row[j] = known[some.first[j]]
            known += 1
        else:
            for j in range(n):
                row[j] = primals[arguments[some.first[j]]]
            arguments += 1
        row += TOGETHER
    if program.length == 1:
        for j in range(n):
            row[j] = stretch.values[some.members[j]]


cdef inline void store(Stretch* stretch, const Program* program, const double* numbers, Py_ssize_t distance,
                       const Some* some) noexcept nogil:
    cdef double* to = stretch.jacobians + ARGUMENTS
    cdef int32_t r
    cdef Py_ssize_t j, n = some.n
    for r in range(program.leaves):
        if program.is_active[r]:
            for j in range(n):
                to[some.first[j]] = numbers[j]
            to += 1
        numbers += distance


cdef void single(Stretch* stretch, const Program* program, const Ends* ends, const double* primals, int16_t member,
                 bint reuse) noexcept nogil:
    cdef Some some
    cdef double registers[64]
    cdef double jacobian[MAX_LEAVES]
    cdef int32_t r
    some.n, some.members[0], some.first[0] = 1, member, stretch.first[member]
    registers[1] = registers[2] = 0.0
    load(stretch, program, ends, primals, &some, reuse)
    for r in range(program.leaves):
        registers[r] = stretch.registers[r * TOGETHER]
    leaf_partials(program, registers, stretch.values[member], jacobian)
    store(stretch, program, jacobian, 1, &some)


cdef inline void equal(Stretch* stretch, const Program* program, const Ends* ends, const double* primals, int16_t member,
                       bint reuse) noexcept nogil:
    """All statements of one program, of which `member` is the last."""
    cdef Some some
    while member >= 0:
        some.n = 0
        while member >= 0 and some.n < TOGETHER:
            some.members[some.n], some.first[some.n] = member, stretch.first[member]
            some.n += 1
            member = stretch.following[member] - 1
        if some.n >= FEW:
            load(stretch, program, ends, primals, &some, reuse)
            scalars_together(<const ScalarStep*>program.instructions, program.length, program.leaves, program.is_active,
                             some.n, stretch.registers, stretch.bars)
            store(stretch, program, stretch.bars, TOGETHER, &some)
            continue
        while some.n:
            some.n -= 1
            single(stretch, program, ends, primals, some.members[some.n], reuse)


cdef Py_ssize_t row(Stretch* stretch, const Program* program, const Ends* ends, const double* primals, Py_ssize_t i,
                    Py_ssize_t most, int32_t a, int32_t c) noexcept nogil:
    """Statements of one program in a row, whose items lie one behind the other, are not sorted: how many, 0 for few."""
    cdef double* to = stretch.registers
    cdef double* jacobians
    cdef const double* bars = stretch.bars
    cdef const double* constants
    cdef const int32_t* arguments
    cdef const int32_t* handles = ends.handles - 1 - i
    cdef int32_t r
    cdef Py_ssize_t j, n = 1, active = program.active, passive = program.passive
    if not active:
        return 0
    most = min(most - i, <Py_ssize_t>TOGETHER, (ARGUMENTS + a) // active)
    while n < most and (handles - n)[0] == handles[0]:
        n += 1
    if n < IN_A_ROW or n > most:
        return 0
    jacobians = stretch.jacobians + ARGUMENTS + a - n * active
    arguments, constants = ends.arguments + a - n * active, ends.constants + c - n * passive
    for r in range(program.leaves):
        if program.is_active[r]:
            for j in range(n):
                to[j] = primals[arguments[j * active]]
            arguments += 1
        else:
            for j in range(n):
                to[j] = constants[j * passive]
            constants += 1
        to += TOGETHER
    if program.length == 1:
        memcpy(to, primals + ends.lhs - i - n + 1, n * sizeof(double))
    scalars_together(<const ScalarStep*>program.instructions, program.length, program.leaves, program.is_active, n,
                     stretch.registers, stretch.bars)
    for r in range(program.leaves):
        if program.is_active[r]:
            if active == 1:
                memcpy(jacobians, bars, n * sizeof(double))
            else:
                for j in range(n):
                    jacobians[j * active] = bars[j]
            jacobians += 1
        bars += TOGETHER
    memset(stretch.counts + i, program.active, n)
    return n


cdef Py_ssize_t fill_rows(Stretch* stretch, const Ends* ends, const double* primals, Py_ssize_t most) noexcept nogil:
    """As fill, of statements that begin with many of one program; 0 where they do not."""
    cdef Program** programs = program_blocks()
    cdef const Program* program
    cdef Py_ssize_t i = 0, last, n
    cdef int32_t a = 0, c = 0, handle
    most = min(most, STRETCH)
    while i < most:
        last = -1 - i
        handle = ends.handles[last]
        if handle == INPUT or handle <= ELEMENT:
            break
        program = program_at(programs, handle)
        n = row(stretch, program, ends, primals, i, most, a, c)
        if not n:
            break
        a -= <int32_t>n * program.active
        c -= <int32_t>n * program.passive
        i += n
    stretch.arguments, stretch.constants = -a, -c
    return i


cdef inline Py_ssize_t fill(Stretch* stretch, const Ends* ends, double* primals, Py_ssize_t most, bint reuse) noexcept nogil:
    cdef Program** programs = program_blocks()
    cdef const Program* program = NULL
    cdef Equal* slot = NULL
    cdef Py_ssize_t i = 0, k, last, used = 0
    cdef int32_t a = 0, c = 0, handle, result, known = INPUT
    cdef double value
    most = min(most, STRETCH)
    while i < most and ARGUMENTS + a >= MAX_LEAVES:
        last = -1 - i
        handle = ends.handles[last]
        if handle < ELEMENT:
            break
        stretch.counts[i] = 0
        if handle == INPUT:
            i += 1
            continue
        result = ends.results[last] if reuse else ends.lhs - <int32_t>i
        value = primals[result]
        if reuse:
            primals[result] = ends.overwritten[last]
        if handle == ELEMENT:
            a -= 1
            c -= 1
            stretch.counts[i] = 1
            stretch.jacobians[ARGUMENTS + a] = 1.0
            i += 1
            continue
        if handle != known:
            program, known = program_at(programs, handle), handle
            slot = stretch.slots + (handle & (SLOTS - 1))
            while slot.head and slot.handle != handle:
                slot = slot + 1 if slot + 1 < stretch.slots + SLOTS else stretch.slots
        a -= program.active
        c -= program.passive
        if program.active:
            stretch.counts[i] = <uint8_t>program.active
            stretch.first[i], stretch.constant[i], stretch.values[i] = a, c, value
            if reuse:
                for k in range(program.active):
                    stretch.jacobians[ARGUMENTS + a + k] = primals[ends.arguments[a + k]]
            if not slot.head:
                slot.handle = handle
                stretch.used[used] = <int16_t>(slot - stretch.slots)
                used += 1
            stretch.following[i] = slot.head
            slot.head = <int16_t>(i + 1)
        i += 1
    for k in range(used):
        slot = stretch.slots + stretch.used[k]
        equal(stretch, program_at(programs, slot.handle), ends, primals, slot.head - 1, reuse)
        slot.head = 0
    stretch.arguments, stretch.constants = -a, -c
    return i


cdef Py_ssize_t fill_stretch(Stretch* stretch, const Ends* ends, double* primals, Py_ssize_t most,
                             bint reuse) noexcept nogil:
    cdef Py_ssize_t filled = 0 if reuse else fill_rows(stretch, ends, primals, most)
    if filled:
        return filled
    return fill(stretch, ends, primals, most, True) if reuse else fill(stretch, ends, primals, most, False)
