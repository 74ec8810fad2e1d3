# SPDX-License-Identifier: Apache-2.0
"""Intern statement programs and run them: value and Jacobian."""
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from codipy.operations.kernels cimport op_arity, op_value_any
from codipy.programs.steps cimport pull_steps
from codipy.programs.tiles cimport tiles_number
from codipy.operations import TABLE

cdef enum:
    BLOCKS = 2048            # of programs; they never move; at most a million distinct programs ...
    MOST = 2040 * 512        # ... of several operations: single ones, a few hundred, always find room
    FIRST = 3                # handles below are INPUT, ARGUMENT, CONSTANT

cdef Program* blocks[BLOCKS]
cdef int32_t interned = 0            # handles given out, the three leaves included
cdef int32_t most = MOST             # from here on expressions are pushed operation by operation
cdef int32_t* slots = NULL           # open addressing: handle or 0
cdef Py_ssize_t slots_mask = 0


cdef Program** program_blocks() noexcept nogil:
    return blocks


cdef inline const Program* program_of(int32_t handle) noexcept nogil:
    return program_at(blocks, handle)


cdef inline Py_ssize_t slot_of(int32_t code, int32_t a, int32_t b, int32_t c) noexcept:
    # One multiplication (Fibonacci hashing): this runs once for every operation that is recorded by value.
    cdef uint64_t key = (<uint64_t>a << 40) ^ (<uint64_t>b << 20) ^ (<uint64_t>c << 8) ^ <uint64_t>code
    return <Py_ssize_t>((key * 0x9E3779B97F4A7C15ull) >> 32) & slots_mask


cdef int32_t intern_program(int32_t code, int32_t a, int32_t b, int32_t c) except -1:
    cdef Py_ssize_t i = slot_of(code, a, b, c)
    cdef const Program* p
    while slots[i]:
        p = program_of(slots[i])
        if p.code | p.flags == code and p.parts[0] == a and p.parts[1] == b and p.parts[2] == c:
            return slots[i]
        i = (i + 1) & slots_mask
    return add_program(code, a, b, c)


cdef int32_t add_program(int32_t code, int32_t a, int32_t b, int32_t c) except -1:
    cdef int32_t[3] parts = [a, b, c]
    cdef int32_t arity = op_arity(code & BARE), leaves = 0, length = 1, k, j, s, leaf, step
    cdef int32_t roots[3]
    cdef const Program* part
    cdef Program* new
    cdef int32_t handle
    for k in range(arity):
        leaves += program_of(parts[k]).leaves
        length += program_of(parts[k]).length
    if leaves > MAX_LEAVES or length > MAX_LENGTH or (length > 1 and interned >= most):
        return 0
    cdef Instruction* instructions = <Instruction*>calloc(length, sizeof(Instruction))
    if instructions == NULL:
        raise MemoryError("no memory for a statement program")
    try:
        handle = new_slot()
    except BaseException:
        free(instructions)
        raise
    new = <Program*>program_of(handle)
    new.code, new.flags = code & BARE, code & ~BARE
    new.leaves, new.length, new.instructions = leaves, length, instructions
    new.parts[0], new.parts[1], new.parts[2] = a, b, c
    leaf, step = 0, 0
    for k in range(arity):
        part = program_of(parts[k])
        for j in range(part.length):
            instructions[step + j].code = part.instructions[j].code
            instructions[step + j].flags = part.instructions[j].flags
            for s in range(3):
                instructions[step + j].sources[s] = moved(part.instructions[j].sources[s], part.leaves,
                                                          leaf, leaves + step)
        for j in range(part.leaves):
            new.is_active[leaf + j] = part.is_active[j]
        new.active += part.active
        new.passive += part.passive
        leaf += part.leaves
        step += part.length
        roots[k] = leaf - 1 if part.length == 0 else leaves + step - 1
    instructions[step].code, instructions[step].flags = new.code, new.flags
    for k in range(arity):
        instructions[step].sources[k] = roots[k]
    insert_slot(handle)
    return handle


cdef inline int32_t moved(int32_t register, int32_t leaves, int32_t leaf, int32_t step) noexcept:
    # A part's leaves come first in its own registers; here they start at `leaf`, its results at `step`.
    return register + leaf if register < leaves else register - leaves + step


cdef int32_t new_slot() except -1:
    global interned
    cdef int32_t block = interned // BLOCK
    assert block < BLOCKS
    if 2 * (interned + 1) > slots_mask:
        grow_slots()
    if blocks[block] == NULL:
        blocks[block] = <Program*>calloc(BLOCK, sizeof(Program))
        if blocks[block] == NULL:
            raise MemoryError("no memory for statement programs")
    interned += 1
    return interned - 1


cdef int grow_slots() except -1:
    global slots, slots_mask
    cdef Py_ssize_t size = 2 * (slots_mask + 1)
    cdef int32_t* larger = <int32_t*>calloc(size, sizeof(int32_t))
    cdef int32_t handle
    if larger == NULL:
        raise MemoryError("no memory for the table of statement programs")
    free(slots)
    slots, slots_mask = larger, size - 1
    for handle in range(FIRST, interned):
        insert_slot(handle)
    return 0


cdef void insert_slot(int32_t handle) noexcept:
    cdef const Program* p = program_of(handle)
    cdef Py_ssize_t i = slot_of(p.code | p.flags, p.parts[0], p.parts[1], p.parts[2])
    while slots[i]:
        i = (i + 1) & slots_mask
    slots[i] = handle


cdef double value_of_numpy(int32_t flagged, double x, double y, double z, bint exactly) noexcept nogil:
    cdef double[3] u = [x, y, z]
    cdef double value
    if exactly:
        return tiles_number(flagged & BARE, flagged & OF_SINGLE != 0, u)
    value = op_value_any(flagged & BARE, x, y, z)
    return <float>value if flagged & OF_SINGLE else value


cdef double program_value(const Program* program, double* registers, bint exactly) noexcept nogil:
    """Run forward; registers[:leaves] are given, the rest is filled; returns the value of the root."""
    cdef int32_t i
    cdef const Instruction* step = program.instructions
    cdef double* result = registers + program.leaves
    for i in range(program.length):
        if step[i].flags:
            result[i] = value_of_numpy(step[i].code | step[i].flags, registers[step[i].sources[0]],
                                       registers[step[i].sources[1]], registers[step[i].sources[2]], exactly)
            continue
        result[i] = op_value_any(step[i].code, registers[step[i].sources[0]], registers[step[i].sources[1]],
                                 registers[step[i].sources[2]])
    return result[program.length - 1]


cdef void program_jacobian(const Program* program, double* registers, double* jacobian) noexcept nogil:
    """Partials of the root with respect to each leaf; registers as program_value left them."""
    cdef double bars[MAX_LEAVES + MAX_LENGTH]
    cdef int32_t i, leaves = program.leaves
    memset(bars, 0, (leaves + program.length) * sizeof(double))
    bars[leaves + program.length - 1] = 1.0
    pull_steps(program, registers, NULL, bars)
    for i in range(leaves):
        jacobian[i] = bars[i]


def describe(int32_t handle):
    """The expression of a program as text, leaves as u0, u1, ... (active) and c0, c1, ... (passive).

    Examples
    --------
    >>> from codipy.programs.program import describe
    >>> describe(1)
    'u0'
    """
    if not 0 <= handle < interned:
        raise ValueError(f"handle must be in 0..{interned - 1}, got {handle}")
    counters = [0, 0]
    return _describe(handle, counters)


cdef str _describe(int32_t handle, list counters):
    if handle == INPUT:
        return "input"
    cdef const Program* p = program_of(handle)
    cdef int which
    if handle < FIRST:
        which = 0 if handle == ARGUMENT else 1
        counters[which] += 1
        return f"{'uc'[which]}{counters[which] - 1}"
    parts = [_describe(p.parts[k], counters) for k in range(op_arity(p.code))]
    return f"{TABLE[p.code].name}({', '.join(parts)})"


def instructions(int32_t handle):
    """The leaves and the steps of a program.

    Parameters
    ----------
    handle : int
        Of a program that this process has interned.

    Returns
    -------
    tuple
        For each leaf whether it is an active argument, a list; and a list of (code, rounded to float32, registers), where
        registers are first the leaves, then one for each step.

    Examples
    --------
    >>> from codipy.programs.program import instructions
    >>> instructions(1)
    ([True], [])
    """
    if not 0 <= handle < interned:
        raise ValueError(f"handle must be in 0..{interned - 1}, got {handle}")
    cdef const Program* p = program_of(handle)
    return ([bool(p.is_active[k]) for k in range(p.leaves)],
            [(p.instructions[k].code, bool(p.instructions[k].flags & OF_SINGLE),
              [p.instructions[k].sources[a] for a in range(op_arity(p.instructions[k].code))]) for k in range(p.length)])


def parts_of(int32_t handle):
    """The operation at the root of a program, and the programs of its operands.

    Parameters
    ----------
    handle : int
        Of a program that this process has interned, no leaf.

    Returns
    -------
    tuple
        Code, whether the value is rounded to float32, whether it is that of NumPy's loop, and a list of handles.

    Examples
    --------
    >>> from codipy.programs.program import describe, parts_of, program_of_parts
    >>> handle = program_of_parts(0, False, False, [1, 2])
    >>> describe(handle), parts_of(handle)
    ('add(u0, c0)', (0, False, False, [1, 2]))
    """
    if not FIRST <= handle < interned:
        raise ValueError(f"handle must be in {FIRST}..{interned - 1}, got {handle}")
    cdef const Program* p = program_of(handle)
    return p.code, bool(p.flags & OF_SINGLE), bool(p.flags & OF_NUMPY), [p.parts[k] for k in range(op_arity(p.code))]


def program_of_parts(code, single, of_numpy, parts):
    """The handle of an operation on programs: `parts_of` the other way.

    Parameters
    ----------
    code : int
        Of the table of operations.
    single, of_numpy : bool
        As `parts_of` says them.
    parts : list of int
        Handles of programs or of the leaves 1, an active argument, and 2, a passive one.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such operation or program, or the result would be longer than programs are.
    """
    cdef int32_t[3] handles = [0, 0, 0]
    cdef int32_t handle
    cdef int k
    if not 0 <= code < len(TABLE) or len(parts) != TABLE[code].arity:
        raise ValueError(f"there is no operation {code} of {len(parts)} operands")
    for k in range(<int>len(parts)):
        if not ARGUMENT <= parts[k] < interned:
            raise ValueError(f"there is no program {parts[k]}")
        handles[k] = parts[k]
    handle = intern_program(code | (OF_SINGLE if single else 0) | (OF_NUMPY if of_numpy else 0), handles[0], handles[1],
                            handles[2])
    if not handle:
        raise ValueError(f"no program has more than {MAX_LEAVES} leaves or {MAX_LENGTH} operations, and a process has no "
                         f"more than {most}")
    return handle


def _limit(n=MOST):
    """Set how many programs there may be before expressions of several operations are split, for tests."""
    global most
    most = min(n, MOST)


def count():
    """How many distinct programs this process has interned, the three leaf programs included."""
    return interned


cdef int _start() except -1:
    global slots, slots_mask
    slots_mask = 1023
    slots = <int32_t*>calloc(slots_mask + 1, sizeof(int32_t))
    if slots == NULL:
        raise MemoryError("no memory for the table of statement programs")
    cdef int32_t handle
    cdef Program* leaf
    for handle in range(FIRST):
        new_slot()
        leaf = <Program*>program_of(handle)
        leaf.code = -1
        if handle != INPUT:
            leaf.leaves = 1
            leaf.is_active[0] = handle == ARGUMENT
            leaf.active = handle == ARGUMENT
            leaf.passive = handle == CONSTANT
    return 0


_start()
