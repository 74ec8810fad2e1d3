# SPDX-License-Identifier: Apache-2.0
"""The strategies `primal` and `primal-reuse`: a statement stores its program, the values live beside the tape.

The Jacobians that a sweep needs are recomputed from the primal values. With reuse an identifier's value is
overwritten while recording; a statement keeps what it overwrote, and a reverse walk puts it back.
"""
from libc.stdint cimport int32_t
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdlib cimport free
from libc.string cimport memcpy
cimport cython

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, Span, regions_between
from codipy.data.stream cimport Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.identifiers.reuse cimport ReuseIdentifiers
from codipy.operations.kernels cimport OP_IDENTITY, op_partial
from codipy.programs.program cimport (
    ARGUMENT, CONSTANT, INPUT, MAX_LEAVES, MAX_LENGTH, Program, intern_program, program_at, program_blocks,
    program_jacobian, program_value)
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.recorder cimport (
    Entry, PRIMAL, Recorder, assign_identifier, grow_primals, push_primal, push_primal_result, reserve_statement)
from codipy.tape.records.replay cimport Replay
from codipy.tape.strategies.stored cimport ELEMENT, HANDMADE, leaf_partials, load_leaves
from codipy.tape.strategies.strategy cimport Strategy, accumulate
from codipy.tape.strategies.together cimport ARGUMENTS as STRETCH_ARGUMENTS, STRETCH, Ends, Stretch, fill_stretch, least_together, new_stretch
from codipy.tape.sweeps.walk cimport REVERSE, TANGENTS, VALUES, Bounds, Mode, Sweep, walk, walk_regions

cdef extern from "codipy/inline.h":
    pass


@cython.final
cdef class Primal(Strategy):
    """Primal(reuse, chunk_size)
    --

    Streams, identifiers and sweeps of `primal` and `primal-reuse`.
    """
    def __cinit__(self, bint reuse, chunk_size):
        statements = Stream("statement entries", ["i4", "i4", "f8"] if reuse else ["i4"], chunk_size)
        arguments = Stream("argument identifiers", ["i4"], chunk_size, statements)
        self.root = Stream("passive constants", ["f8"], chunk_size, arguments)
        self.streams = (self.root, arguments, statements)
        self.linear = None if reuse else LinearIdentifiers()
        self.reusing = ReuseIdentifiers() if reuse else None
        self.first = 1

    cdef void connect(self, Recorder* r) noexcept:
        Strategy.connect(self, r)
        r.kind = PRIMAL
        r.keeps_values = r.values_by_identifier = True
        r.values_move = r.reuse

    cdef int32_t push_input(self, Recorder* r, double value) except -1:
        cdef int32_t lhs
        if r.reuse:
            lhs = self.fresh_input()
            if lhs >= r.primals_size:
                try:
                    grow_primals(r, lhs)
                except BaseException:
                    self.reusing.release(self.inputs.pop())
                    self.reusing.release(lhs)
                    raise
            r.primals[lhs] = value
            return lhs
        reserve_statement(r, 0, 0)
        lhs = assign_identifier(r)
        push_primal_result(r, INPUT, lhs, value)
        return lhs

    cdef int32_t push_copy(self, Recorder* r, int32_t source, double value) except -1:
        cdef Entry entry
        entry.number, entry.identifier = value, source
        return push_primal(r, &entry, intern_program(OP_IDENTITY, ARGUMENT if source else CONSTANT, 0, 0), value)

    cdef int32_t push_handmade(self, Recorder* r, double value, const Entry* entries, Py_ssize_t count) except -1:
        cdef int32_t lhs
        cdef Py_ssize_t i
        cdef Position here = self.root.position() if self.handmade is None else self.handmade
        reserve_statement(r, count, count + 1)
        lhs = assign_identifier(r)
        for i in range(count):
            (<int32_t*>r.arguments.fields[0])[r.arguments.used + i] = entries[i].identifier
            (<double*>r.constants.fields[0])[r.constants.used + i] = entries[i].number
        (<double*>r.constants.fields[0])[r.constants.used + count] = value
        r.arguments.used += count
        r.constants.used += count + 1
        push_primal_result(r, HANDMADE - <int32_t>count, lhs, value)
        self.handmade = here
        return lhs

    cdef int32_t push_element(self, Recorder* r, int32_t source, double value) except -1:
        # No value is kept by identifier for arrays: an ordinary copy would read one in each sweep.
        cdef int32_t lhs
        reserve_statement(r, 1, 1)
        lhs = assign_identifier(r)
        (<int32_t*>r.arguments.fields[0])[r.arguments.used] = source
        (<double*>r.constants.fields[0])[r.constants.used] = value
        r.arguments.used += 1
        r.constants.used += 1
        push_primal_result(r, ELEMENT, lhs, value)
        return lhs

    cdef int roll_back(self, Recorder* r, Position position, int32_t largest) except -1:
        if r.reuse:
            self.restore(r.primals, position)
        return Strategy.roll_back(self, r, position, largest)

    cdef bint gather(self, Recorder* r) except? True:
        return True

    cdef int reverse(self, Recorder* r, AdjointVector adjoints, Position start, Position end, Bounds bounds,
                     bint keep) except -1:
        # With reuse the walk restores overwritten values, on a copy, so that the tape is read only and can be swept
        # again; it begins at the end of the recording even where `end` is earlier.
        cdef double* primals = r.primals
        cdef Sweep sweep
        if r.reuse:
            primals = self.copy_of_primals(r)
        try:
            if r.reuse and end is not None:
                self.restore(primals, end)
            sweep = Sweep(REVERSE, adjoints.origin(), adjoints.width, primals, bounds.end, r.reuse, keep, False)
            walk(r, self.root, start, end, bounds, adjoints,
                 reverse_wide if adjoints.width > 1 else reverse_reuse if r.reuse else reverse_linear, &sweep)
        finally:
            if r.reuse:
                PyMem_RawFree(primals)
        return 0

    cdef double* copy_of_primals(self, Recorder* r) except NULL:
        """A copy of the primal vector; the caller frees it."""
        cdef double* primals = <double*>PyMem_RawMalloc((r.primals_size + 1) * sizeof(double))
        if primals == NULL:
            raise MemoryError(f"no memory for a copy of {r.primals_size} primal values")
        if r.primals_size:       # memcpy wants no NULL, not even for no bytes
            memcpy(primals, r.primals, r.primals_size * sizeof(double))
        return primals

    cdef int restore(self, double* primals, Position position) except -1:
        """Undo on `primals` what the statements after `position` (None: all of them) wrote; reuse only."""
        cdef Regions regions = regions_between(self.root, position, None)
        cdef Py_ssize_t s
        cdef const Span* statements
        with nogil:
            while regions.next_reverse():
                statements = &regions.spans[2]
                for s in range(statements.end - 1, statements.begin - 1, -1):
                    primals[(<const int32_t*>statements.fields[1])[s]] = (<const double*>statements.fields[2])[s]
        return 0

    cdef int forward(self, Recorder* r, AdjointVector adjoints, Position start, Position end,
                     Bounds bounds) except -1:
        cdef double* primals = r.primals
        cdef Sweep sweep
        if r.reuse:
            primals = self.copy_of_primals(r)
        try:
            if r.reuse:
                self.restore(primals, start)
            sweep = Sweep(TANGENTS, adjoints.origin(), adjoints.width, primals, bounds.start, r.reuse, False, False)
            walk(r, self.root, start, end, bounds, adjoints, forward_any, &sweep)
        finally:
            if r.reuse:
                PyMem_RawFree(primals)
        return 0

    cdef int primal(self, Recorder* r, Position start, Position end, Bounds bounds) except -1:
        self.demand_recomputable()
        cdef Regions regions = regions_between(self.root, start, end), later
        cdef Replay replay = <Replay>r.replay
        if replay.begun and r.reuse:
            replay.make_room(bounds.end + 1)
        elif replay.begun and bounds.end >= r.primals_size:
            grow_primals(r, bounds.end)
        replay.values = r.primals
        if r.reuse:
            # Inputs keep their value: their identifiers are never reused. Once values are taken back nothing may fail
            # until all are there again, so what allocates comes first and Ctrl-C waits.
            later = regions_between(self.root, self.root.position() if end is None else end, None)
            exchange(r.primals, regions_between(self.root, start, None), True)
            if replay.begun:
                self.hand_over(r, replay)
        cdef Sweep sweep = Sweep(VALUES, replay.values, 1, r.primals, bounds.start, r.reuse, False, r.reuse)
        try:
            if bounds.first < bounds.last:
                walk(r, self.root, start, end, bounds, None, values_again, &sweep)
            else:
                walk_regions(regions, values_again, &sweep)
        finally:
            # A record may have failed: then only a replay of the whole recording is allowed, which writes all anew.
            if r.reuse:
                exchange(r.primals, later, False)
        return 0

    cdef int hand_over(self, Recorder* r, Replay replay) except -1:
        """The scalars' values to the replay's own vector, when r.primals is as it was at the start (reuse only)."""
        cdef int32_t identifier
        replay.values = replay.own
        if not replay.continued and r.primals_size:
            memcpy(replay.own, r.primals, min(replay.slots, r.primals_size) * sizeof(double))
        for identifier in self.inputs:       # those of now, recorded since the vector was filled, too
            if identifier < min(replay.slots, r.primals_size):
                replay.own[identifier] = r.primals[identifier]
        return 0


cdef int exchange(double* primals, Regions regions, bint reverse) except -1:
    """Exchange what the statements wrote for what they overwrote; once in each direction leaves all as it was."""
    cdef Py_ssize_t i, s, n
    cdef double* overwritten
    cdef double value
    cdef int32_t result
    with nogil:
        while regions.next_reverse() if reverse else regions.next_forward():
            overwritten = <double*>regions.spans[2].fields[2]
            n = regions.spans[2].end - regions.spans[2].begin
            for i in range(n):
                s = regions.spans[2].end - 1 - i if reverse else regions.spans[2].begin + i
                result = (<const int32_t*>regions.spans[2].fields[1])[s]
                value = primals[result]
                primals[result] = overwritten[s]
                overwritten[s] = value
    return 0


# ---- The kernels; their parameters are those of Sweep. ----

cdef inline void jacobian_of(const Program* program, const double* primals, const int32_t* arguments,
                             const double* constants, double result, double* jacobian) noexcept nogil:
    """Partials with respect to the leaves; `result` is the statement's stored value."""
    cdef double registers[MAX_LEAVES + MAX_LENGTH]
    if program.leaves == 1 and program.length == 1:
        jacobian[0] = op_partial(program.code, 0, primals[arguments[0]], 0.0, 0.0, result)
        return
    registers[1] = registers[2] = 0.0
    load_leaves(program, primals, arguments, constants, registers)
    leaf_partials(program, registers, result, jacobian)


cdef inline void reverse_region(const Span* spans, double* primals, double* origin, Py_ssize_t width, int32_t lhs,
                                bint reuse, bint keep, Py_ssize_t* cursors) noexcept nogil:
    cdef const double* constants = <const double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* handles = <const int32_t*>spans[2].fields[0]
    cdef const int32_t* results = <const int32_t*>spans[2].fields[1]
    cdef const double* overwritten = <const double*>spans[2].fields[2]
    cdef Py_ssize_t c = spans[0].end, a = spans[1].end, s = spans[2].end, begin = spans[2].begin, stop, i, d, count, flows
    cdef int32_t handle, result, leaf
    cdef const Program* program
    cdef Program** programs = program_blocks()
    cdef double jacobian[MAX_LEAVES]
    cdef double* bars
    cdef double* known
    cdef double value
    cdef bint any_bar
    cdef Ends ends
    # While the adjoints of most statements are zero, their Jacobians are not worth anything.
    cdef bint dense = True
    cdef Stretch* stretch = new_stretch() if s - begin >= least_together() else NULL
    while s > begin:
        count = flows = 0
        if stretch != NULL and dense:
            ends = Ends(handles + s, arguments + a, constants + c, NULL, NULL, lhs)
            if reuse:
                ends.results, ends.overwritten = results + s, overwritten + s
            count = fill_stretch(stretch, &ends, primals, s - begin, reuse)
        if count:
            known = stretch.jacobians + STRETCH_ARGUMENTS
            for i in range(count):
                result = results[s - 1 - i] if reuse else lhs
                lhs -= 1
                known -= stretch.counts[i]
                a -= stretch.counts[i]
                bars = origin + width * result
                any_bar = False
                for d in range(width):
                    any_bar |= bars[d] != 0.0
                if not any_bar or handles[s - 1 - i] == INPUT:
                    continue
                flows += 1
                for d in range(stretch.counts[i]):
                    accumulate(origin + width * arguments[a + d], bars, known[d], width)
                if not keep:
                    for d in range(width):
                        bars[d] = 0.0
            c -= stretch.constants
            s -= count
            dense = 2 * flows >= count
            continue
        stop = max(begin, s - STRETCH) if stretch != NULL else begin
        count = s - stop
        while s > stop:
            s -= 1
            handle = handles[s]
            result = results[s] if reuse else lhs
            lhs -= 1
            if handle == INPUT:
                continue
            value = primals[result]
            if reuse:
                primals[result] = overwritten[s]
            bars = origin + width * result
            any_bar = False
            for d in range(width):
                any_bar |= bars[d] != 0.0
            flows += any_bar
            if handle == ELEMENT:
                a -= 1
                c -= 1
                accumulate(origin + width * arguments[a], bars, 1.0, width)
            elif handle < HANDMADE:
                a -= HANDMADE - handle
                c -= HANDMADE - handle + 1
                for i in range(HANDMADE - handle):
                    accumulate(origin + width * arguments[a + i], bars, constants[c + i], width)
            else:
                program = program_at(programs, handle)
                a -= program.active
                c -= program.passive
                if any_bar and program.active:     # an output that depends on nothing has no argument to read
                    jacobian_of(program, primals, arguments + a, constants + c, value, jacobian)
                    leaf = 0
                    for i in range(program.active):
                        while not program.is_active[leaf]:
                            leaf += 1
                        accumulate(origin + width * arguments[a + i], bars, jacobian[leaf], width)
                        leaf += 1
            if any_bar and not keep:
                for d in range(width):
                    bars[d] = 0.0
        dense = 2 * flows >= count
    free(stretch)
    cursors[0], cursors[1], cursors[2] = c, a, s


cdef inline void forward_region(const Span* spans, double* primals, double* origin, Py_ssize_t width, int32_t lhs,
                                bint reuse, Mode mode, Py_ssize_t* cursors) noexcept nogil:
    # TANGENTS or VALUES, a literal. In VALUES `origin` are the values of arrays too.
    cdef double* constants = <double*>spans[0].fields[0]
    cdef const int32_t* arguments = <const int32_t*>spans[1].fields[0]
    cdef const int32_t* handles = <const int32_t*>spans[2].fields[0]
    cdef const int32_t* results = <const int32_t*>spans[2].fields[1]
    cdef double* overwritten = <double*>spans[2].fields[2]
    cdef Py_ssize_t c = spans[0].begin, a = spans[1].begin, s, d
    cdef int32_t handle, result, i, leaf
    cdef const Program* program
    cdef Program** programs = program_blocks()
    cdef double registers[MAX_LEAVES + MAX_LENGTH]
    cdef double jacobian[MAX_LEAVES]
    cdef double* dots
    cdef double value
    registers[0] = registers[1] = registers[2] = 0.0
    for s in range(spans[2].begin, spans[2].end):
        handle = handles[s]
        lhs += 1
        result = results[s] if reuse else lhs
        if handle == INPUT:
            continue
        dots = origin + width * result
        for d in range(width if mode == TANGENTS else 0):
            dots[d] = 0.0
        if handle == ELEMENT:
            if mode == TANGENTS:
                accumulate(dots, origin + width * arguments[a], 1.0, width)
            else:
                constants[c] = origin[arguments[a]]
            value = constants[c]
            a += 1
            c += 1
        elif handle < HANDMADE:
            for i in range(HANDMADE - handle if mode == TANGENTS else 0):
                accumulate(dots, origin + width * arguments[a + i], constants[c + i], width)
            a += HANDMADE - handle
            c += HANDMADE - handle + 1
            value = constants[c - 1]
        else:
            program = program_at(programs, handle)
            load_leaves(program, primals, arguments + a, constants + c, registers)
            value = program_value(program, registers, True)
            if mode == TANGENTS:
                program_jacobian(program, registers, jacobian)
                leaf = 0
                for i in range(program.active):
                    while not program.is_active[leaf]:
                        leaf += 1
                    accumulate(dots, origin + width * arguments[a + i], jacobian[leaf], width)
                    leaf += 1
            a += program.active
            c += program.passive
        if reuse and mode == VALUES:
            overwritten[s] = primals[result]
        if reuse or mode == VALUES:
            primals[result] = value
        if mode == VALUES:
            origin[result] = value
    cursors[0], cursors[1], cursors[2] = c, a, spans[2].end


cdef void reverse_linear(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.primals, sweep.origin, 1, sweep.lhs, False, sweep.keep, cursors)


cdef void reverse_reuse(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.primals, sweep.origin, 1, sweep.lhs, True, sweep.keep, cursors)


cdef void reverse_wide(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    reverse_region(spans, sweep.primals, sweep.origin, sweep.width, sweep.lhs, sweep.reuse, sweep.keep, cursors)


cdef void forward_any(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.primals, sweep.origin, sweep.width, sweep.lhs, sweep.reuse, TANGENTS, cursors)


cdef void values_again(const Span* spans, const Sweep* sweep, Py_ssize_t* cursors) noexcept nogil:
    forward_region(spans, sweep.primals, sweep.origin, 1, sweep.lhs, sweep.reuse, VALUES, cursors)
