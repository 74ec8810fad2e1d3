# SPDX-License-Identifier: Apache-2.0
"""A recording of any strategy as a list of entries, one for each statement, for those who look at it."""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy
cimport numpy as cnp

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, Span, regions_between
from codipy.operations.kernels cimport OP_COUNT, OP_IDENTITY
from codipy.programs.program cimport (
    ARGUMENT, BARE, CONSTANT, INPUT, MAX_LEAVES, MAX_LENGTH, Program, intern_program, program_at, program_blocks,
    program_jacobian, program_value)
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport INPUT_TAG, JACOBIAN, PRIMAL, SIMPLE
from codipy.tape.records.mark cimport Mark
from codipy.tape.records.record cimport Record
from codipy.tape.strategies.stored cimport ELEMENT, HANDMADE, operation_arguments, stored_arguments

from codipy.data.plain import array_on
from codipy.programs.program import instructions
from codipy.tape.contents.contents import Calling, Choosing, Expression, Input, Movement, Summation, Values, values_of
from codipy.tape.contents.dissect import described
from codipy.tape.contents.entry import Entry, Operand, Slots

cnp.import_array()


def entries(BaseTape tape not None):
    """Every statement of a recording, in order.

    Parameters
    ----------
    tape : Tape
        Of any strategy that keeps a recording.

    Returns
    -------
    list of Entry
        With values where the tape keeps them, and Jacobians of numbers; inputs that have no statement (numbers where
        identifiers are reused, and under `simple`) come first.

    Raises
    ------
    TapeError
        For strategy 'forward', and where a recording is counted.
    """
    cdef list found = []
    cdef Record record
    cdef Position here = tape.root_begin
    tape.demand_recorded("reading the statements of a tape")
    cdef _Reader reader = _Reader()
    reader.tape = tape
    if tape.recorder.reuse and tape.recorder.kind == PRIMAL:
        reader.restore()
    for identifier in tape.store.inputs or ():
        found.append(Entry("input", (Slots(identifier),),
                           value=tape.recorder.primals[identifier] if tape.recorder.values_by_identifier else None))
    reader.lhs = tape.store.first - 1
    if tape.recorder.kind == SIMPLE:
        tape.store.gather(&tape.recorder)
        reader.lhs = 0
    for record in tape.records.items:
        if record.place is not here:
            reader.scalars(here, record.place, found)
            here = record.place
        if tape.recorder.kind == SIMPLE:
            reader.inputs_up_to(record.before, found)
        reader.lhs = record.after
        entry = entry_of(record, tape)
        # The number that a sum gives has a statement of its own before it, which only names it.
        last = found[len(found) - 1] if found else None
        if last is not None and entry.kind == "sum" and last.record is None and last.results == entry.results:
            found[len(found) - 1] = last._replace(kind="place")
        found.append(entry)
    reader.scalars(here, None, found)
    if tape.recorder.kind == SIMPLE:
        reader.inputs_up_to(tape.largest(), found)
    return found


def operands(BaseTape tape not None):
    """How many active and passive operands each statement has.

    Parameters
    ----------
    tape : Tape
        Of a strategy that keeps values.

    Returns
    -------
    ndarray of int64
        A row for each statement of the tape, in order: active, passive. Zeros for inputs, and for what only names or copies.
    """
    cdef cnp.ndarray found = np.zeros((tape.statements, 2), np.int64)
    cdef int64_t* row = <int64_t*>cnp.PyArray_DATA(found)
    cdef Position here = tape.root_begin
    cdef Record record
    for record in tape.records.items:
        if record.place is not here:
            row = count_operands(tape, here, record.place, row)
            here = record.place
        if type(record) is not Mark:
            for operand in entry_of(record, tape).operands:
                row[operand.slots is None] += 1
        row += 2
    count_operands(tape, here, None, row)
    return found


cdef int64_t* count_operands(BaseTape tape, Position start, Position end, int64_t* row) except NULL:
    cdef Regions regions = regions_between(tape.store.root, start, end)
    cdef const int32_t* identifiers
    cdef const Program* program
    cdef int32_t code
    cdef Py_ssize_t a, s, i, count
    while regions.next_forward():
        identifiers, a = <const int32_t*>regions.spans[1].fields[0], regions.spans[1].begin
        for s in range(regions.spans[2].begin, regions.spans[2].end):
            code = (<const int32_t*>regions.spans[2].fields[0])[s]
            if tape.recorder.kind == SIMPLE:
                count = operation_arguments(code)
                for i in range(count if code & BARE != OP_IDENTITY else 0):
                    row[identifiers[a + i] == 0] += 1
                a += count + 1
            elif code < HANDMADE:
                row[0] += HANDMADE - code
            elif code >= 0:
                program = program_at(program_blocks(), code)
                if program.length and not (program.length == 1 and program.code == OP_IDENTITY):
                    row[0] += program.active
                    row[1] += program.passive
            row += 2
    return row


def pull(BaseTape tape not None, Record record not None, AdjointVector adjoints not None, results, bars):
    """Sweep back over one array's statement.

    Parameters
    ----------
    tape : Tape
    record : Record
        One of its records.
    adjoints : Adjoints
        Of one direction; all are 0.
    results : ndarray of int
        The identifiers of its results ...
    bars : ndarray of float
        ... and their adjoints, which stay.
    """
    adjoints.ensure(tape.largest())
    adjoints.write(results, bars[:, None])
    record.reverse(adjoints, True)


cdef object entry_of(Record record, BaseTape tape):
    step = described(record)
    if step is not None:
        return _KINDS[type(step)](step, record, tape)
    results, operands = [[run(lowest, highest + 1 - lowest) for lowest, highest in those] for those in record.named]
    return Entry("record", tuple(results), tuple([Operand(slots) for slots in operands]), name=type(record).__name__,
                 record=record)


cdef class _Reader:
    """_Reader()
    --

    Where a walk over the scalar statements has come.
    """
    cdef BaseTape tape
    cdef int32_t lhs             # the last identifier, where they are linear
    cdef object own              # with moving values: those of the arguments and the result of each program
    cdef Py_ssize_t next         # of them

    cdef int scalars(self, Position start, Position end, list found) except -1:
        cdef Regions regions = regions_between(self.tape.store.root, start, end)
        while regions.next_forward():
            if self.tape.recorder.kind == JACOBIAN:
                self.jacobians(regions.spans, found)
            elif self.tape.recorder.kind == SIMPLE:
                self.operations(regions.spans, found)
            else:
                self.programs(regions.spans, found)
        return 0

    cdef int jacobians(self, const Span* spans, list found) except -1:
        cdef const double* jacobians = <const double*>spans[0].fields[0]
        cdef const int32_t* arguments = <const int32_t*>spans[0].fields[1]
        cdef const uint8_t* counts = <const uint8_t*>spans[1].fields[0]
        cdef const int32_t* results = <const int32_t*>spans[1].fields[1]
        cdef Py_ssize_t a = spans[0].begin, s, i
        for s in range(spans[1].begin, spans[1].end):
            self.lhs += 1
            result = (Slots(results[s] if self.tape.recorder.reuse else self.lhs),)
            if counts[s] == INPUT_TAG and not self.tape.recorder.reuse:
                found.append(Entry("input", result))
                continue
            found.append(Entry("statement", result, tuple([
                Operand(Slots(arguments[a + i]), None, jacobians[a + i]) for i in range(counts[s])])))
            a += counts[s]
        return 0

    cdef int operations(self, const Span* spans, list found) except -1:
        cdef const double* primals = <const double*>spans[0].fields[0]
        cdef const int32_t* identifiers = <const int32_t*>spans[1].fields[0]
        cdef const int32_t* codes = <const int32_t*>spans[2].fields[0]
        cdef Py_ssize_t p = spans[0].begin, a = spans[1].begin, s, i, count
        cdef int32_t parts[3]
        for s in range(spans[2].begin, spans[2].end):
            count = operation_arguments(codes[s])
            self.inputs_up_to(identifiers[a + count] - 1, found)
            self.lhs = identifiers[a + count]
            if codes[s] & BARE >= OP_COUNT:
                found.append(handmade(self.lhs, [identifiers[a + i] for i in range(count)],
                                      [primals[p + i] for i in range(count)], None))
            else:
                for i in range(3):
                    parts[i] = (ARGUMENT if identifiers[a + i] else CONSTANT) if i < count else 0
                found.append(of_program(intern_program(codes[s], parts[0], parts[1], parts[2]), self.lhs,
                                        [identifiers[a + i] for i in range(count)], primals + p, None))
            a += count + 1
            p += count
        return 0

    cdef int inputs_up_to(self, int32_t last, list found) except -1:
        """Inputs of `simple` are identifiers that no operation and no record has made."""
        cdef double value
        while self.lhs < last:
            self.lhs += 1
            value = self.tape.recorder.primals[self.lhs]
            found.append(Entry("input", (Slots(self.lhs),), value=value if value == value else None))
        return 0

    cdef int programs(self, const Span* spans, list found) except -1:
        cdef const double* constants = <const double*>spans[0].fields[0]
        cdef const int32_t* arguments = <const int32_t*>spans[1].fields[0]
        cdef const int32_t* handles = <const int32_t*>spans[2].fields[0]
        cdef const int32_t* results = <const int32_t*>spans[2].fields[1]
        cdef Py_ssize_t c = spans[0].begin, a = spans[1].begin, s, i, count
        cdef const Program* program
        cdef double leaves[MAX_LEAVES]
        cdef list identifiers
        cdef int32_t active, passive
        for s in range(spans[2].begin, spans[2].end):
            self.lhs += 1
            result = results[s] if self.tape.recorder.reuse else self.lhs
            if handles[s] == INPUT:
                found.append(Entry("input", (Slots(result),), value=self.value(result)))
            elif handles[s] == ELEMENT:
                found.append(Entry("element", (Slots(result),), (Operand(Slots(arguments[a]), constants[c], 1.0),),
                                   constants[c], name="element"))
                a += 1
                c += 1
            elif handles[s] < HANDMADE:
                count = HANDMADE - handles[s]
                found.append(handmade(result, [arguments[a + i] for i in range(count)],
                                      [constants[c + i] for i in range(count)], constants[c + count]))
                a += count
                c += count + 1
            else:
                program = program_at(program_blocks(), handles[s])
                identifiers, active, passive = [], 0, 0
                for i in range(program.leaves):
                    if program.is_active[i]:
                        identifiers.append(arguments[a + active])
                        leaves[i] = self.value(arguments[a + active])
                        active += 1
                    else:
                        identifiers.append(0)
                        leaves[i] = constants[c + passive]
                        passive += 1
                found.append(of_program(handles[s], result, identifiers, leaves, self.value(result)))
                a += active
                c += passive
        return 0

    cdef object value(self, int32_t identifier):
        if self.own is None:
            return self.tape.recorder.primals[identifier]
        self.next += 1
        return self.own[self.next - 1]

    cdef int restore(self) except -1:
        """Where values move: those that each program was given, and gave, from the last back to the first."""
        cdef Regions regions = regions_between(self.tape.store.root, None, None)
        cdef Py_ssize_t size = self.tape.recorder.primals_size, a, s, i
        cdef cnp.ndarray copy = np.empty(size + 1)
        cdef double* primals = <double*>cnp.PyArray_DATA(copy)
        cdef const Span* spans
        cdef const int32_t* arguments
        cdef int32_t handle, result, count
        cdef list found = []
        if size:
            memcpy(primals, self.tape.recorder.primals, size * sizeof(double))
        while regions.next_reverse():
            spans = regions.spans
            arguments = <const int32_t*>spans[1].fields[0]
            a = spans[1].end
            for s in range(spans[2].end - 1, spans[2].begin - 1, -1):
                handle, result = (<const int32_t*>spans[2].fields[0])[s], (<const int32_t*>spans[2].fields[1])[s]
                count = stored_arguments(program_blocks(), handle)
                if handle >= 0:      # copies of elements and what is made by hand read no slot: of an array there is none
                    found.append(primals[result])
                primals[result] = (<const double*>spans[2].fields[2])[s]
                for i in range(1, count + 1 if handle >= 0 else 0):
                    found.append(primals[arguments[a - i]])
                a -= count
        found.reverse()
        self.own, self.next = found, 0
        return 0


cdef object handmade(int32_t result, list identifiers, list jacobians, value):
    return Entry("handmade", (Slots(result),), tuple([
        Operand(Slots(identifier), None, jacobian) for identifier, jacobian in zip(identifiers, jacobians)]), value)


cdef object of_program(int32_t handle, int32_t result, list identifiers, const double* leaves, value):
    """A statement of numbers; its value is computed where it is not known."""
    cdef const Program* program = program_at(program_blocks(), handle)
    cdef double registers[MAX_LEAVES + MAX_LENGTH]
    cdef double jacobian[MAX_LEAVES]
    cdef double computed
    cdef int32_t i
    registers[0] = registers[1] = registers[2] = 0.0
    for i in range(program.leaves):
        registers[i] = leaves[i]
    computed = program_value(program, registers, True)
    program_jacobian(program, registers, jacobian)
    return Entry("statement", (Slots(result),), tuple([
        Operand(Slots(identifier) if identifier else None, leaves[i], jacobian[i] if identifier else None)
        for i, identifier in enumerate(identifiers)]), computed if value is None else value,
        [(code, sources) for code, _, sources in instructions(handle)[1]])


# ---- Records ----

cdef object run(int32_t first, Py_ssize_t size):
    return Slots(first, (size,), (1,))


cdef str summed(double scale):
    return "sum" if scale == 1.0 else "mean"


cdef object active_slots(tuple shape, operand):
    return Slots(operand.identifier, shape, operand.strides) if operand.identifier else None


def _of_expression(step, record, BaseTape tape):
    half = len(step.operands) // 2
    shape, operands = step.shape, step.operands
    if not tape.by_value and operands and operands[half].identifier:     # partials: see `jacobian_statement`
        steps = None
        found = [Operand(active_slots(shape, operand), None, values_of(shape, partials)
                         if isinstance(partials.values, Values) else None)
                 for partials, operand in zip(operands[:half], operands[half:])]
    else:
        steps = step.program.steps
        found = [Operand(active_slots(shape, operand), kept_values(shape, operand, tape.recorder.keeps_values))
                 for operand in operands]
    result = Slots(step.result, shape, step.strides)
    return Entry("sum" if step.sums else "statement", (result.of_sum() if step.sums else result,), tuple(found), steps=steps,
                 name=summed(step.scale) if step.sums else "", record=record)


cdef object kept_values(tuple shape, operand, bint replays):
    """None where there are none: a number has no memory of its own, nor has an array that no sweep reads, of which the
    number is 0."""
    if isinstance(operand.values, Values):
        return values_of(shape, operand)
    return operand.values if operand.values != 0.0 or replays and not operand.identifier else None


def _of_sum(step, record, _):
    result = Slots(step.result, step.argument.shape, step.strides).of_sum()
    return Entry("sum", (result,), (Operand(step.argument),), name=summed(step.scale), record=record)


def _of_movement(step, record, _):
    operands, passive = [], 0
    ones = np.ones_like(step.sources)
    for first, count in (step.sources if step.runs else np.stack([step.sources, ones], 1)).reshape(-1, 2).tolist():
        if first:
            operands.append(Operand(run(first, count)))
        else:
            operands.append(Operand(None, None if step.constants is None else step.constants[passive:passive + count]))
            passive += count
    return Entry("movement", (run(step.result, step.size),), tuple(operands), name="copy", record=record)


def _of_choice(step, record, _):
    return Entry("choice", (run(step.result, len(step.chosen)),),
                 tuple([Operand(active_slots(step.shape, operand)) for operand in step.operands]), name="choose",
                 record=record)


def _of_call(step, record, _):
    active = dict(zip(step.argnums, step.arguments))
    return Entry("call", tuple(step.results),
                 tuple([Operand(active.get(k), known(value)) for k, value in enumerate(step.args)]),
                 known(step.out), name=step.primitive.name, record=record)


def _of_input(step, record, _):
    values = None if step.values is None else array_on(step.values, 0, (step.values.size,), (1,)).copy()
    return Entry("input", (run(step.first, step.after - step.before if values is None else values.size),),
                 value=values, record=record)


cdef object known(value):
    """A value of a call; None where only its shape is kept, as zeros without memory, in a tuple of results too."""
    if isinstance(value, tuple):
        return tuple([known(part) for part in value])
    return None if isinstance(value, np.ndarray) and value.ndim and not any(value.strides) and value.size else value


_KINDS = {Expression: _of_expression, Summation: _of_sum, Movement: _of_movement, Choosing: _of_choice,
          Calling: _of_call, Input: _of_input}
