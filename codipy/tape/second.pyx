# SPDX-License-Identifier: Apache-2.0
"""Second order by sweeps: what flows into inputs' adjoints when inputs move, several directions at once.

A gradient's sweep back is a program of the values that the recording kept. Its derivative along tangents T of the inputs
takes two sweeps: one forward, which gives T of every value, and one back, which gives the tangents D of all adjoints A.
A statement w = phi(u) adds to D of an argument what D of w carries through the first partial, and A of w times the
second partials times T. What is linear (movements, sums) treats D as it does A. docs/design/nested.md says more.

Identifiers are linear and none serves twice, so that T of an operand is still there when the sweep back passes.
"""
import numpy as np

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset
from cpython.exc cimport PyErr_CheckSignals
cimport cython
cimport numpy as cnp

from codipy.data.buffer cimport Buffer, new_buffer
from codipy.data.position cimport Position
from codipy.data.region cimport Span, regions_between
from codipy.operations.kernels cimport op_active, op_arity, op_curved, op_partials_any
from codipy.programs.program cimport (
    INPUT, MAX_LEAVES, MAX_LENGTH, Instruction, Program, program_at, program_blocks, program_value)
from codipy.programs.steps cimport Bent, curvature, pull_steps
from codipy.programs.tiles cimport MAX_OPERANDS, Lanes, Operand, second_bars, second_tangents
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport PRIMAL
from codipy.tape.records.call cimport Call
from codipy.tape.records.gather cimport Gather
from codipy.tape.records.mark cimport Mark
from codipy.tape.records.record cimport Record
from codipy.tape.records.reduction cimport Reduction
from codipy.tape.records.slots cimport adjoint_view
from codipy.tape.records.statement cimport Argument, Statement
from codipy.tape.strategies.stored cimport ELEMENT, load_leaves
from codipy.tape.sweeps.sweep cimport sweep
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, Sweep, walk_regions

from codipy.errors import TapeError, UndifferentiableError

cnp.import_array()

cdef extern from "codipy/inline.h":
    pass

cdef enum:
    REGISTERS = MAX_LEAVES + MAX_LENGTH
    ROW = 32                     # directions of scalar statements that are computed side by side
    NEVER_AGAIN = 0x7fffffff


def allow_second(BaseTape tape not None):
    """Let every identifier of the next recording serve once: what is written in place gets new ones.

    Parameters
    ----------
    tape : Tape
        Empty, of the strategy ``primal``.
    """
    tape.twice = True
    tape.held = NEVER_AGAIN


def has_second(BaseTape tape not None):
    """Whether the sweeps of second order know all that a tape has recorded; raises where nobody does.

    Parameters
    ----------
    tape : Tape
        See `allow_second`.

    Returns
    -------
    bool

    Raises
    ------
    UndifferentiableError
        For statements that were made by hand, and records of the user's.
    """
    cdef Record record
    if tape.recorder.kind != PRIMAL or tape.recorder.reuse or tape.recycle or tape.shared:
        return False
    if tape.store.handmade is not None:
        raise UndifferentiableError("a statement that was made by hand (push_statement) has no derivative that "
                                    "is known: its Jacobians are numbers")
    for record in tape.records.items:
        if type(record) is Statement:
            if (<Statement>record).sums:
                return False
        elif type(record) not in (Gather, Reduction, Mark, Call):
            raise UndifferentiableError(f"{type(record).__name__}, a record of the user's, cannot be differentiated again")
    return True


# What the walk's kernels get; `walk` comes first.
cdef struct Second:
    Sweep walk
    const double* bars           # A, where identifier 0 would be ...
    double* dots                 # ... and T in the first direction
    double* rows                 # of scalar statements: T, then D, of each register in up to ROW directions
    Lanes lanes


@cython.final
cdef class SecondOrder:
    """SecondOrder(tape, output, curved)
    --

    The recording of a number, swept back once, for Hessians times vectors.

    Parameters
    ----------
    tape : Tape
        Recorded after `allow_second`, with `has_second`; it may not record meanwhile, and is not reset as long as this
        is used.
    output : int
        The number's identifier.
    curved : callable
        ``curved(key, primitive, args, kwargs, argnums, out, bars, tangents, moved)``: how what a call's rule gives for the
        cotangents `bars` changes when its arguments and results have these tangents, a list with one for each of
        `argnums`, or None. `key` tells calls of this recording apart.
    """
    cdef BaseTape tape
    cdef AdjointVector bars, lane
    cdef Buffer kept             # the memory of `bars`
    cdef Buffer numbers          # T in all directions, then D in all
    cdef Buffer room             # of the rows of scalar statements
    cdef Py_ssize_t used         # doubles of `numbers` in the last sweeps
    cdef object curved

    def __init__(self, BaseTape tape not None, int32_t output, curved):
        self.tape, self.curved = tape, curved
        self.bars, self.lane = AdjointVector(), AdjointVector()
        self.bars.first = self.lane.first = tape.store.first
        self.bars.serial = self.lane.serial = tape.serial
        self.bars.resets = tape.resets
        self.room = new_buffer(2 * REGISTERS * ROW)
        self.kept = zeros(tape.largest() - tape.store.first + 1)
        self.bars.numbers, self.bars.slots = self.kept.data, self.kept.size
        self.bars.capacity = self.kept.size
        self.bars.slot(output)[0] = 1.0
        sweep(tape, REVERSE, None, None, self.bars, True)

    def __dealloc__(self):
        if self.bars is not None:
            self.bars.numbers = NULL         # ours
        if self.lane is not None:
            self.lane.numbers = NULL

    @property
    def slots(self):
        """How many identifiers there are."""
        return self.bars.slots

    def gradient(self, identifiers):
        """The number's derivatives by some identifiers: a new array of their shape."""
        cdef cnp.ndarray rows = self.bars.read(identifiers)
        return rows.reshape(np.shape(identifiers))

    def products(self, identifiers, tangents):
        """Hessian times vectors.

        Parameters
        ----------
        identifiers : ndarray of int32
            Of the inputs, one axis.
        tangents : ndarray
            Directions by identifiers.

        Returns
        -------
        ndarray
            A new one, of the shape of `tangents`.
        """
        cdef cnp.ndarray known = np.ascontiguousarray(identifiers, np.int32)
        cdef cnp.ndarray given = np.ascontiguousarray(tangents, np.float64)
        if given.ndim != 2 or given.shape[1] != known.size:
            raise ValueError(f"tangents of shape {(<object>given).shape} for {known.size} identifiers")
        return self.swept(known, <const double*>cnp.PyArray_DATA(given), 0, given.shape[0])

    def rows(self, identifiers, Py_ssize_t first, Py_ssize_t after):
        """Rows of the Hessian: its products with unit vectors, which are never formed.

        Parameters
        ----------
        identifiers : ndarray of int32
            Of the inputs, one axis.
        first, after : int
            The first of these rows, and the one behind the last.

        Returns
        -------
        ndarray
            A new one.
        """
        cdef cnp.ndarray known = np.ascontiguousarray(identifiers, np.int32)
        if not 0 <= first <= after <= known.size:
            raise ValueError(f"rows {first} to {after} of {known.size}")
        return self.swept(known, NULL, first, after - first)

    cdef cnp.ndarray swept(self, cnp.ndarray known, const double* source, Py_ssize_t first, Py_ssize_t count):
        """Products with vectors, or, where there are none, with so many unit vectors from one on."""
        cdef Py_ssize_t slots = self.bars.slots, d, i, n = cnp.PyArray_SIZE(known)
        cdef cnp.ndarray result = np.empty((count, n))
        cdef const int32_t* at = <const int32_t*>cnp.PyArray_DATA(known)
        cdef double* to = <double*>cnp.PyArray_DATA(result)
        cdef Second second
        cdef double* row
        if not count or not n:
            return result
        if self.tape.resets != self.bars.resets:
            raise TapeError("the tape was reset since this was recorded: record again")
        self.clear(2 * count * slots)
        second.lanes.lanes, second.lanes.plane, second.lanes.bars = count, slots, count * slots
        second.dots = self.numbers.data - self.tape.store.first
        second.bars, second.rows = self.bars.origin(), self.room.data
        for d in range(count):
            row = second.dots + d * slots
            for i in range(n):
                row[at[i]] = source[d * n + i] if source != NULL else <double>(i == first + d)
        second.walk = Sweep(TANGENTS, NULL, count, self.tape.recorder.primals, 0, False, True, False)
        self.tape.sweeps += 1
        self.tape.store.root.lock()
        try:
            self.walk(&second)
            second.walk.mode, second.walk.lhs = REVERSE, self.tape.largest()
            self.walk(&second)
        finally:
            self.lane.numbers = NULL
            self.tape.store.root.unlock()
            self.tape.sweeps -= 1
        for d in range(count):
            row = second.dots + (count + d) * slots
            for i in range(n):
                to[d * n + i] = row[at[i]]
        return result

    cdef int clear(self, Py_ssize_t room) except -1:
        """Room for so many numbers, of which the second half, D, are 0; T is assigned before it is read."""
        if room == self.used:
            memset(self.numbers.data + room // 2, 0, room // 2 * sizeof(double))
            return 0
        self.used = 0
        if self.numbers is None or room > self.numbers.size:
            self.numbers = None      # first: its memory may serve
            self.numbers = zeros(room)
        else:
            memset(self.numbers.data, 0, room * sizeof(double))
        self.used = room
        return 0

    # ---- The walk: as in tape/sweeps/walk.pyx ----

    cdef int walk(self, Second* second) except -1:
        cdef BaseTape tape = self.tape
        cdef Position here, start = tape.root_begin
        cdef list records = tape.records.items
        cdef Py_ssize_t i, count = len(records)
        cdef Record record
        cdef Sweep* carried = &second.walk
        cdef bint reverse = carried.mode == REVERSE
        here = tape.store.root.position() if reverse else start
        for i in range(count):
            record = records[count - 1 - i if reverse else i]
            if record.place is not here:
                if record.place.compare(here):
                    walk_regions(regions_between(tape.store.root, record.place, here) if reverse else
                                 regions_between(tape.store.root, here, record.place),
                                 scalars_back if reverse else scalars_forward, carried)
                here = record.place
            if reverse:
                self.back(record, second, i)
            else:
                self.forward(record, second)
            carried.lhs = record.before if reverse else record.after
            if i & 0xFF == 0:
                PyErr_CheckSignals()
        if reverse:
            walk_regions(regions_between(tape.store.root, start, here), scalars_back, carried)
        else:
            walk_regions(regions_between(tape.store.root, here, None), scalars_forward, carried)
        return 0

    cdef void show(self, Second* second, Py_ssize_t lane, bint bars) noexcept:
        """Let `self.lane` be T, or D, in one direction."""
        self.lane.numbers = self.numbers.data + lane * second.lanes.plane + (second.lanes.bars if bars else 0)
        self.lane.slots = self.lane.capacity = second.lanes.plane

    cdef int forward(self, Record record, Second* second) except -1:
        cdef Py_ssize_t d
        if type(record) is Statement:
            return statement(<Statement>record, second, False)
        for d in range(second.lanes.lanes):
            self.show(second, d, False)
            record.forward(self.lane)
        return 0

    cdef int back(self, Record record, Second* second, Py_ssize_t number) except -1:
        cdef Py_ssize_t d
        if type(record) is Statement:
            return statement(<Statement>record, second, True)
        for d in range(second.lanes.lanes):
            self.show(second, d, True)
            record.reverse(self.lane, True)
        if type(record) is Call:
            self.bend(<Call>record, second, number)
        return 0

    cdef int bend(self, Call call, Second* second, Py_ssize_t number) except -1:
        """Add what flows through the rule of a call because its arguments move."""
        cdef Py_ssize_t d, k
        cdef list bars = [adjoint_view(<double*>second.bars, call.slots + call.arguments + k, 1) for k in range(call.results)]
        if not any([bar is not None and np.any(bar) for bar in bars]):
            return 0
        for d in range(second.lanes.lanes):
            dots = [adjoint_view(second.dots + d * second.lanes.plane, call.slots + k, 1) for k in range(call.arguments)]
            if not any([np.any(dot) for dot in dots]):
                continue
            found = self.curved(number, call.primitive, call.args, call.kwargs, call.argnums, call.out, bars, dots,
                                [adjoint_view(second.dots + d * second.lanes.plane, call.slots + call.arguments + k, 1)
                                 for k in range(call.results)])
            for k in range(call.arguments):
                if found[k] is not None:
                    view = adjoint_view(second.dots + d * second.lanes.plane + second.lanes.bars, call.slots + k, 1)
                    view += found[k]
        return 0


cdef Buffer zeros(Py_ssize_t size):
    cdef Buffer new = new_buffer(size)       # of the pool: what is not warm costs as much as the sweeps
    memset(new.data, 0, size * sizeof(double))
    return new


cdef int statement(Statement record, Second* second, bint reverse) except -1:
    cdef Operand operands[MAX_OPERANDS]
    cdef Py_ssize_t* strides = record.shape + 2 * record.ndim
    cdef Argument* argument
    cdef Operand* operand
    cdef int i, k
    for k in range(record.count):
        argument, operand = record.arguments + k, operands + k
        for i in range(record.ndim):
            operand.strides[i] = strides[i] * sizeof(double) if argument.data != NULL else 0
            operand.adjoint_strides[i] = strides[i]
        operand.data = <const char*>(argument.data if argument.data != NULL else &argument.number)
        operand.adjoint = second.dots + argument.identifier if argument.identifier else NULL
        strides += record.ndim
    if reverse:
        second_bars(&record.program.second, &record.program.tiles, operands, record.ndim, record.shape, &second.lanes,
                    second.bars + record.identifier, second.dots + second.lanes.bars + record.identifier,
                    record.shape + record.ndim)
    else:
        second_tangents(&record.program.second, &record.program.tiles, operands, record.ndim, record.shape, &second.lanes,
                        second.dots + record.identifier, record.shape + record.ndim)
    return 0


# ---- Scalar statements -----------------------------------------------------------------------------------------------

# One statement: what is the same in all directions.
cdef struct Scalar:
    double values[REGISTERS]             # first the leaves, then one for each operation
    uint8_t active[REGISTERS]
    double bars[REGISTERS]               # A
    Bent steps[MAX_LENGTH]


cdef inline void load(Scalar* scalar, const Program* program, const double* primals, const int32_t* arguments,
                      const double* constants) noexcept nogil:
    cdef int32_t i, k
    cdef const Instruction* step
    cdef Bent* bent
    cdef double* values = scalar.values
    values[1] = values[2] = 0.0
    load_leaves(program, primals, arguments, constants, values)
    for i in range(program.leaves):
        scalar.active[i] = program.is_active[i]
    program_value(program, values, False)
    for i in range(program.length):
        step, bent = &program.instructions[i], &scalar.steps[i]
        bent.flows = 0
        for k in range(op_arity(step.code)):
            if op_active[step.code] >> k & 1 and scalar.active[step.sources[k]]:
                bent.flows |= 1 << k
        scalar.active[program.leaves + i] = bent.flows != 0
        if bent.flows:
            op_partials_any(step.code, values[step.sources[0]], values[step.sources[1]], values[step.sources[2]],
                            values[program.leaves + i], bent.partials)


cdef inline void pull(Scalar* scalar, const Program* program, double bar) noexcept nogil:
    """The adjoints of all operations, and the curvatures."""
    cdef int32_t last = program.leaves + program.length
    memset(scalar.bars, 0, last * sizeof(double))
    scalar.bars[last - 1] = bar
    pull_steps(program, scalar.values, scalar.steps, scalar.bars)


# Numbers of several directions lie side by side: a row for each register, and a statement is computed row by row.

cdef inline void add_row(double* to, const double* flow, double factor, Py_ssize_t n) noexcept nogil:
    """Adds what flows through a factor. Zero times anything is zero."""
    cdef Py_ssize_t j
    if factor - factor == 0.0:
        for j in range(n):
            to[j] += flow[j] * factor
    else:
        for j in range(n):
            if flow[j] != 0.0:
                to[j] += flow[j] * factor


cdef inline void clear_row(double* to, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        to[j] = 0.0


cdef inline void load_tangents(const Program* program, const double* vector, Py_ssize_t plane, const int32_t* arguments,
                               double* dots, Py_ssize_t n, Py_ssize_t width) noexcept nogil:
    """The tangents of the leaves that are active: no other is read."""
    cdef int32_t i, active = 0
    cdef Py_ssize_t j
    for i in range(program.leaves):
        if program.is_active[i]:
            for j in range(n):
                dots[i * width + j] = vector[arguments[active] + j * plane]
            active += 1


cdef inline void push(const Scalar* scalar, const Program* program, double* dots, Py_ssize_t n,
                      Py_ssize_t width) noexcept nogil:
    """The tangents of all operations that have one from those of the leaves."""
    cdef int32_t i, k
    cdef const Instruction* step
    for i in range(program.length):
        step = &program.instructions[i]
        clear_row(dots + (program.leaves + i) * width, n)
        for k in range(3):
            if scalar.steps[i].flows >> k & 1 and scalar.steps[i].partials[k] != 0.0:
                add_row(dots + (program.leaves + i) * width, dots + step.sources[k] * width, scalar.steps[i].partials[k], n)


cdef inline void bend(const Scalar* scalar, const Program* program, const double* dots, double* flows, Py_ssize_t n,
                      Py_ssize_t width) noexcept nogil:
    """The tangents of the leaves' adjoints; that of the root's is given, the others are 0."""
    cdef int32_t i, j, k
    cdef const Instruction* step
    cdef const Bent* bent
    cdef double bar, partial
    for i in range(program.length - 1, -1, -1):
        step, bent = &program.instructions[i], &scalar.steps[i]
        bar = scalar.bars[program.leaves + i]
        for k in range(3):
            if not bent.flows >> k & 1:
                continue
            partial = bent.partials[k]
            if partial != 0.0 and (bar != 0.0 or partial - partial == 0.0):
                add_row(flows + step.sources[k] * width, flows + (program.leaves + i) * width, partial, n)
            if bar == 0.0 or not op_curved[step.code]:
                continue
            for j in range(3):
                if bent.flows >> j & 1:
                    add_row(flows + step.sources[k] * width, dots + step.sources[j] * width,
                            bent.curvatures[curvature(k, j)], n)


cdef inline void forward_region(const Span* spans, const Sweep* carried, Py_ssize_t* cursors, bint one) noexcept nogil:
    # `one`, a literal: there is one direction. Then rows are numbers, and nothing loops.
    cdef const Second* second = <const Second*>carried
    cdef const double* constants = <const double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* handles = <const int32_t*>spans[2].fields[0]
    cdef Py_ssize_t c = spans[0].begin, a = spans[1].begin, s, d, j, n, plane = second.lanes.plane
    cdef Py_ssize_t lanes = 1 if one else second.lanes.lanes, width = 1 if one else ROW
    cdef int32_t lhs = carried.lhs, handle
    cdef const Program* program
    cdef Program** programs = program_blocks()
    cdef Scalar scalar
    cdef double numbers[REGISTERS]
    cdef double* dots = &numbers[0] if one else second.rows
    cdef double* vector
    for s in range(spans[2].begin, spans[2].end):
        handle = handles[s]
        lhs += 1
        if handle == INPUT:
            continue
        if handle == ELEMENT:
            for d in range(lanes):
                second.dots[lhs + d * plane] = second.dots[arguments[a] + d * plane] if arguments[a] else 0.0
            a += 1
            c += 1
            continue
        program = program_at(programs, handle)
        if not program.active:
            for d in range(lanes):
                second.dots[lhs + d * plane] = 0.0
        else:
            load(&scalar, program, carried.primals, arguments + a, constants + c)
            d = 0
            while d < lanes:
                n = 1 if one else min(width, lanes - d)
                vector = second.dots + d * plane
                load_tangents(program, vector, plane, arguments + a, dots, n, width)
                push(&scalar, program, dots, n, width)
                for j in range(n):
                    vector[lhs + j * plane] = dots[(program.leaves + program.length - 1) * width + j]
                d += n
        a += program.active
        c += program.passive
    cursors[0], cursors[1], cursors[2] = c, a, spans[2].end


cdef inline void back_region(const Span* spans, const Sweep* carried, Py_ssize_t* cursors, bint one) noexcept nogil:
    cdef const Second* second = <const Second*>carried
    cdef const double* constants = <const double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* handles = <const int32_t*>spans[2].fields[0]
    cdef Py_ssize_t c = spans[0].end, a = spans[1].end, s = spans[2].end, d, j, n, plane = second.lanes.plane
    cdef Py_ssize_t lanes = 1 if one else second.lanes.lanes, width = 1 if one else ROW
    cdef int32_t lhs = carried.lhs + 1, handle, i, leaf, last
    cdef const Program* program
    cdef Program** programs = program_blocks()
    cdef Scalar scalar
    cdef double numbers[2 * REGISTERS]
    cdef double* dots = &numbers[0] if one else second.rows
    cdef double* flows = dots + REGISTERS * width
    cdef double* vector
    cdef double* bent
    cdef double bar
    cdef bint idle
    while s > spans[2].begin:
        s -= 1
        lhs -= 1
        handle = handles[s]
        if handle == INPUT:
            continue
        if handle == ELEMENT:
            a -= 1
            c -= 1
            for d in range(lanes):
                bent = second.dots + second.lanes.bars + d * plane
                if arguments[a]:
                    bent[arguments[a]] += bent[lhs]
            continue
        program = program_at(programs, handle)
        a -= program.active
        c -= program.passive
        bar = second.bars[lhs]
        idle = bar == 0.0
        for d in range(lanes):
            idle &= second.dots[second.lanes.bars + d * plane + lhs] == 0.0
        if idle or not program.active:
            continue
        load(&scalar, program, carried.primals, arguments + a, constants + c)
        pull(&scalar, program, bar)
        last = program.leaves + program.length - 1
        d = 0
        while d < lanes:
            n = 1 if one else min(width, lanes - d)
            vector = second.dots + d * plane
            bent = vector + second.lanes.bars
            load_tangents(program, vector, plane, arguments + a, dots, n, width)
            push(&scalar, program, dots, n, width)
            for i in range(last):
                clear_row(flows + i * width, n)
            for j in range(n):
                flows[last * width + j] = bent[lhs + j * plane]
            bend(&scalar, program, dots, flows, n, width)
            leaf = 0
            for i in range(program.leaves):
                if program.is_active[i]:
                    for j in range(n):
                        bent[arguments[a + leaf] + j * plane] += flows[i * width + j]
                    leaf += 1
            d += n
    cursors[0], cursors[1], cursors[2] = c, a, s


cdef void scalars_forward(const Span* spans, const Sweep* carried, Py_ssize_t* cursors) noexcept nogil:
    if (<const Second*>carried).lanes.lanes == 1:
        forward_region(spans, carried, cursors, True)
    else:
        forward_region(spans, carried, cursors, False)


cdef void scalars_back(const Span* spans, const Sweep* carried, Py_ssize_t* cursors) noexcept nogil:
    if (<const Second*>carried).lanes.lanes == 1:
        back_region(spans, carried, cursors, True)
    else:
        back_region(spans, carried, cursors, False)
