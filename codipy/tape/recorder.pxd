# SPDX-License-Identifier: Apache-2.0
# The hot state of a recording tape, and the three kernels that push a statement onto its streams.
#
# A Recorder is plain memory inside its Tape: no reference counts, no virtual calls. Everything borrowed here lives
# as long as the tape does. The pushes never allocate: room is made first, from the innermost stream to the root, so
# a statement is whole on the tape or not at all.
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy
from cpython.object cimport PyObject

from codipy.data.stream cimport Cursor, Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.programs.program cimport Program, program_at

cdef enum StrategyKind:
    JACOBIAN                 # an entry's number is the Jacobian
    PRIMAL                   # an entry's number is the argument's primal value
    SIMPLE                   # as PRIMAL, and passive arguments are stored like active ones
    FORWARD                  # there are no entries: a result's tangents are computed at once

cdef enum:
    INPUT_TAG = 255          # argument count of a Jacobian statement that marks an input
    MAX_ARGUMENTS = 254      # the argument count is one byte

# One argument of a pending expression or of a statement about to be pushed.
cdef struct Entry:
    double number            # see StrategyKind
    int32_t identifier       # 0: a passive constant (never in JACOBIAN)

cdef struct Recorder:
    int64_t epoch            # variables of this epoch are valid at once; of others, ask the tape
    StrategyKind kind
    bint plain               # JACOBIAN, linear, by statement: the default, for which operators have a path of their own
    bint noted               # the same, but profiled
    bint eager               # operation granularity: every result is pushed when it is made
    bint reuse               # identifiers are handed back when their variable dies
    # What the layers above may ask, instead of which strategy it is: see BaseTape's constructor.
    bint keeps_values        # what is recorded can be computed again: numbers are values, records keep passive ones too
    bint values_by_identifier   # `primals` has the value of each identifier ...
    bint values_move         # ... which a later owner of the identifier overwrites, so an element gets one of its own
    bint names_results       # every result has an identifier of its own: an output needs no copy
    bint carries             # nothing is recorded: Reals carry their tangents, and a record runs forward at once
    bint apart               # Reals are made and pushed in other ways: they are carried, or their spots noted
    bint skip_zero           # zero Jacobians are not stored
    bint skip_invalid        # NaN and infinite Jacobians are not stored
    Cursor* statements       # innermost stream: argument counts, program handles or operation codes
    Cursor* arguments        # Jacobian + identifier, or identifier
    Cursor* constants        # value strategies: passive constants (PRIMAL) or argument primals (SIMPLE)
    double* primals          # PRIMAL: the primal value of each identifier
    Py_ssize_t primals_size  # slots allocated in primals
    double* tangents         # FORWARD: `width` for each identifier; that of 0, which is passive, has zeros
    Py_ssize_t tangents_size # identifiers that have some
    Py_ssize_t width         # directions
    int carried              # FORWARD: size class of a Real that carries so many; negative: they stand by identifier
    int64_t steps            # FORWARD: records and reads of elements so far: see Forward
    Program** programs       # where the process keeps the statement programs
    PyObject* linear         # LinearIdentifiers, or NULL
    PyObject* reusing        # ReuseIdentifiers, or NULL
    PyObject* streams[3]     # the Streams of the three cursors, in the order of their reservation
    PyObject* records        # its Records, which are steps of the recording too
    PyObject* waiting        # its WaitingBlocks
    PyObject* replay         # its Replay, what evaluate_primal() made of them
    PyObject* tangent_vector # FORWARD: the AdjointVector that `tangents` lie in
    PyObject* tape           # the tape that this recorder is part of
    PyObject* journal        # its Journal, or NULL: see BaseTape._keep_journal
    # Behind what statements need: see BaseTape._count_only.
    bint counts              # nothing is kept: the streams count, and records are counted and dropped
    double* window           # PRIMAL that counts, linear: the slots of the last identifiers. `primals` lies so far before it
                             # that theirs are in it; a recording reads no other ...
    Py_ssize_t primals_counted   # ... and so many would be allocated


# Slow paths, in recorder.pyx: open chunks, innermost stream first, and grow the primal vector.
cdef int make_room(Recorder* r, Py_ssize_t arguments, Py_ssize_t constants) except -1
cdef int grow_primals(Recorder* r, Py_ssize_t identifier) except -1
cdef int grow_tangents(Recorder* r, Py_ssize_t identifier) except -1


# For assertions, in recorder.pyx: whether nobody else may be given these identifiers now.
cdef bint is_live(Recorder* r, Py_ssize_t first, Py_ssize_t n)
cdef bint are_live(Recorder* r, const Entry* entries, Py_ssize_t count)


cdef inline int reserve_statement(Recorder* r, Py_ssize_t arguments, Py_ssize_t constants) except -1:
    if (r.statements.used >= r.statements.limit or r.arguments.used + arguments > r.arguments.limit
            or (r.kind != JACOBIAN and r.constants.used + constants > r.constants.limit)):
        return make_room(r, arguments, constants)
    return 0


cdef inline double* tangents_at(Recorder* r, int32_t identifier) noexcept:
    return r.tangents + identifier * r.width


cdef inline int32_t assign_identifier(Recorder* r) except -1:
    """The identifier of the next statement's result; with room for its value, or its tangents, as well."""
    cdef int32_t identifier
    if r.reuse:
        identifier = (<ReuseIdentifiers>r.reusing).assign()
    else:
        identifier = (<LinearIdentifiers>r.linear).assign()
    if r.kind == PRIMAL and identifier >= r.primals_size or r.kind == FORWARD and identifier >= r.tangents_size:
        try:
            if r.kind == PRIMAL:
                grow_primals(r, identifier)
            else:
                grow_tangents(r, identifier)
        except BaseException:
            withdraw_identifier(r, identifier)
            raise
    return identifier


cdef inline void withdraw_identifier(Recorder* r, int32_t identifier) noexcept:
    if r.reuse:
        (<ReuseIdentifiers>r.reusing).release(identifier)
    else:
        (<LinearIdentifiers>r.linear).state.largest -= 1


cdef inline Py_ssize_t drop_invalid(double* jacobians, int32_t* identifiers, Py_ssize_t count) noexcept:
    """Keep the finite Jacobians; returns how many."""
    cdef Py_ssize_t i, kept = 0
    for i in range(count):
        jacobians[kept] = jacobians[i]
        identifiers[kept] = identifiers[i]
        kept += isfinite(jacobians[i])
    return kept


cdef inline int32_t push_jacobian(Recorder* r, const Entry* entries, Py_ssize_t count, bint plain) except -1:
    """Push `count` <= MAX_ARGUMENTS arguments as one statement; returns the result's identifier.

    `plain` is the recorder's, as a literal where it is known.
    """
    assert are_live(r, entries, count), "an argument is an identifier that is free"
    reserve_statement(r, count, 0)
    cdef int32_t lhs = (<LinearIdentifiers>r.linear).assign() if plain else assign_identifier(r)
    cdef double* jacobians = (<double*>r.arguments.fields[0]) + r.arguments.used
    cdef int32_t* identifiers = (<int32_t*>r.arguments.fields[1]) + r.arguments.used
    cdef int keep_zero = not r.skip_zero
    cdef Py_ssize_t i, kept = 0
    cdef uint64_t bits
    for i in range(count):
        jacobians[kept] = entries[i].number
        identifiers[kept] = entries[i].identifier
        # Whether the number is not +-0, without a branch and without a comparison that knows NaN.
        memcpy(&bits, &entries[i].number, sizeof(bits))
        kept += ((bits << 1) != 0) | keep_zero
    if r.skip_invalid:
        kept = drop_invalid(jacobians, identifiers, kept)
    r.arguments.used += kept
    (<uint8_t*>r.statements.fields[0])[r.statements.used] = <uint8_t>kept
    if not plain and r.reuse:
        (<int32_t*>r.statements.fields[1])[r.statements.used] = lhs
    r.statements.used += 1
    return lhs


cdef inline int32_t push_primal(Recorder* r, const Entry* entries, int32_t handle, double value) except -1:
    """Push the program `handle` applied to the entries, in the order of its leaves."""
    cdef const Program* program = program_at(r.programs, handle)
    assert are_live(r, entries, program.leaves), "an argument is an identifier that is free"
    reserve_statement(r, program.active, program.passive)
    cdef int32_t lhs = assign_identifier(r)
    cdef int32_t* identifiers = (<int32_t*>r.arguments.fields[0]) + r.arguments.used
    cdef double* constants = (<double*>r.constants.fields[0]) + r.constants.used
    cdef Py_ssize_t i, active = 0, passive = 0
    for i in range(program.leaves):
        if program.is_active[i]:
            identifiers[active] = entries[i].identifier
            active += 1
        else:
            constants[passive] = entries[i].number
            passive += 1
    r.arguments.used += active
    r.constants.used += passive
    push_primal_result(r, handle, lhs, value)
    return lhs


cdef inline void push_primal_result(Recorder* r, int32_t handle, int32_t lhs, double value) noexcept:
    (<int32_t*>r.statements.fields[0])[r.statements.used] = handle
    if r.reuse:
        (<int32_t*>r.statements.fields[1])[r.statements.used] = lhs
        (<double*>r.statements.fields[2])[r.statements.used] = r.primals[lhs]
    r.statements.used += 1
    r.primals[lhs] = value


cdef inline int32_t push_simple(Recorder* r, const Entry* entries, Py_ssize_t count, int32_t code) except -1:
    """Push one operation: its code, the identifiers of its arguments and result, its arguments' primals."""
    assert are_live(r, entries, count), "an argument is an identifier that is free"
    reserve_statement(r, count + 1, count)
    cdef int32_t lhs = assign_identifier(r)
    cdef int32_t* identifiers = (<int32_t*>r.arguments.fields[0]) + r.arguments.used
    cdef double* primals = (<double*>r.constants.fields[0]) + r.constants.used
    cdef Py_ssize_t i
    for i in range(count):
        identifiers[i] = entries[i].identifier
        primals[i] = entries[i].number
    identifiers[count] = lhs
    r.arguments.used += count + 1
    r.constants.used += count
    (<int32_t*>r.statements.fields[0])[r.statements.used] = code
    r.statements.used += 1
    return lhs


cdef inline int32_t push_expression(Recorder* r, const Entry* entries, Py_ssize_t count, int32_t handle,
                                    double value) except -1:
    """Push a pending expression as a statement, whatever the strategy."""
    if r.kind == JACOBIAN:
        return push_jacobian(r, entries, count, False)
    if r.kind == PRIMAL:
        return push_primal(r, entries, handle, value)
    cdef const Program* program = program_at(r.programs, handle)
    return push_simple(r, entries, count, program.code | program.flags)
