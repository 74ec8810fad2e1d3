# SPDX-License-Identifier: Apache-2.0
"""A recording as a list of steps, for those who run it again by other means: `primal` with linear identifiers.

A set of identifiers is (first, shape, strides), in elements. Values are plain arrays and numbers.
"""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
cimport numpy as cnp

from codipy.data.plain cimport plain_array
from codipy.data.position cimport Position
from codipy.data.region cimport Regions, regions_between
from codipy.operations.kernels cimport OP_IDENTITY
from codipy.programs.program cimport ARGUMENT, Program, intern_program, program_at, program_blocks
from codipy.tape.base cimport BaseTape
from codipy.tape.call cimport Call
from codipy.tape.gather cimport Gather
from codipy.tape.mark cimport Mark
from codipy.tape.record cimport Record
from codipy.tape.recorder cimport PRIMAL
from codipy.tape.reduction cimport Reduction
from codipy.tape.statement cimport Argument, Statement

from codipy.errors import TapeError, UndifferentiableError

cnp.import_array()

cdef enum:
    ELEMENT = -1                 # see tape/primal.pyx


def steps(BaseTape tape not None):
    """The steps of a recording, in their order.

    Parameters
    ----------
    tape : Tape
        Of the strategy ``primal``.

    Returns
    -------
    list of tuple
        ``("scalar", identifier, handle, arguments, constants)``: a program of `codipy.programs`, 0 for an input;
        ``("block", first, size)``: identifiers for the results of the next steps, which may set them in parts, and again
        when nobody reads the former values any more;
        ``("input", first, values)``;
        ``("array", result, program, operands)``: an operand is its identifiers, or a value;
        ``("sum", result, argument, axes, scale)``;
        ``("move", first, sources, constants)``: for each element what it is a copy of, 0 for one of the constants;
        ``("call", results, primitive, args, kwargs, argnums, arguments)``, None for a result without derivative.

    Raises
    ------
    TapeError
        For another strategy.
    UndifferentiableError
        For statements that were made by hand, and records of the user's.
    """
    cdef list found = []
    cdef Record record
    cdef Position here = tape.root_begin
    cdef int32_t lhs = tape.store.first - 1, opened = 0      # the largest identifier of a record so far
    if tape.recorder.kind != PRIMAL or tape.recorder.reuse:
        raise TapeError("the steps of a recording can be read on a tape of strategy='primal' only")
    for record in tape.records.items:
        if record.place is not here:
            lhs = add_scalars(tape, here, record.place, lhs, found)
            here = record.place
        if record.after > opened and type(record) is not Mark:     # several records may fill one block
            opened = max(opened, record.before)
            found.append(("block", opened + 1, record.after - opened))
        opened = max(opened, record.after)
        found.append(of_record(record))
        lhs = record.after
    add_scalars(tape, here, None, lhs, found)
    return found


def values(BaseTape tape not None):
    """The values of scalar statements, by identifier.

    Parameters
    ----------
    tape : Tape
        As in `steps`.

    Returns
    -------
    ndarray
        0 where an identifier is of no such statement.
    """
    cdef Py_ssize_t size = tape.largest() + 1, known = min(size, tape.recorder.primals_size)
    cdef cnp.ndarray found = np.zeros(size)
    if known > 1:
        memcpy(<double*>cnp.PyArray_DATA(found) + 1, tape.recorder.primals + 1, (known - 1) * sizeof(double))
    return found


cdef int32_t add_scalars(BaseTape tape, Position start, Position end, int32_t lhs, list found) except -1:
    cdef Regions regions = regions_between(tape.store.root, start, end)
    cdef const double* constants
    cdef const int32_t* arguments
    cdef const int32_t* handles
    cdef const Program* program
    cdef int32_t identity = intern_program(OP_IDENTITY, ARGUMENT, 0, 0)
    cdef Py_ssize_t c, a, s, i
    while regions.next_forward():
        constants = <const double*>regions.spans[0].fields[0]
        arguments = <const int32_t*>regions.spans[1].fields[0]
        handles = <const int32_t*>regions.spans[2].fields[0]
        c, a = regions.spans[0].begin, regions.spans[1].begin
        for s in range(regions.spans[2].begin, regions.spans[2].end):
            lhs += 1
            if handles[s] == ELEMENT:
                found.append(("scalar", lhs, identity, [arguments[a]], []))
                a += 1
                c += 1
                continue
            if handles[s] < 0:
                raise UndifferentiableError("a statement that was made by hand (push_statement) has no derivative that "
                                            "is known: its Jacobians are numbers")
            program = program_at(program_blocks(), handles[s])
            found.append(("scalar", lhs, handles[s], [arguments[a + i] for i in range(program.active)],
                          [constants[c + i] for i in range(program.passive)]))
            a += program.active
            c += program.passive
    return lhs


def step_of(Record record not None):
    """One of these steps, of a record."""
    return of_record(record)


cdef tuple of_record(Record record):
    if type(record) is Statement:
        return of_statement(<Statement>record)
    if type(record) is Call:
        return of_call(<Call>record)
    if type(record) is Reduction:
        return of_sum(<Reduction>record)
    if type(record) is Gather:
        return of_movement(<Gather>record)
    if type(record) is Mark:
        values = np.empty((<Mark>record).values.size)
        for i in range((<Mark>record).values.size):
            values[i] = (<Mark>record).values.data[i]
        return "input", (<Mark>record).base, values
    raise UndifferentiableError(f"{type(record).__name__}, a record of the user's, cannot be differentiated again")


cdef tuple identifiers_of(int32_t first, int ndim, const Py_ssize_t* shape, const Py_ssize_t* strides):
    return first, tuple([shape[k] for k in range(ndim)]), tuple([strides[k] for k in range(ndim)])


cdef tuple of_statement(Statement record):
    cdef Py_ssize_t* strides = record.shape + 2 * record.ndim
    cdef Argument* argument
    cdef list operands = []
    cdef int k
    for k in range(record.count):
        argument = record.arguments + k
        if argument.identifier:
            operands.append(identifiers_of(argument.identifier, record.ndim, record.shape, strides))
        elif argument.data == NULL:
            operands.append(argument.number)
        else:
            operands.append(plain_array(argument.data, record.ndim, record.shape, strides, 1, False, <object>argument.owner))
        strides += record.ndim
    return ("array", identifiers_of(record.identifier, record.ndim, record.shape, record.shape + record.ndim),
            record.program, operands)


cdef tuple of_sum(Reduction record):
    cdef list shape = [], strides = []
    cdef int k
    for k in range(record.ndim):
        if record.result_strides[k]:
            shape.append(record.shape[k])
            strides.append(record.result_strides[k])
    return ("sum", (record.result, tuple(shape), tuple(strides)),
            identifiers_of(record.argument, record.ndim, record.shape, record.strides),
            tuple([k for k in range(record.ndim) if record.result_strides[k] == 0]), record.scale)


cdef tuple of_movement(Gather record):
    cdef const double* constants = record.constants()
    cdef Py_ssize_t i = 0, r, n, passive = record.passive()
    sources = np.zeros(record.size, np.int32)
    for r in range(record.runs if record.runs else record.size):
        n = record.sources[2 * r + 1] if record.runs else 1
        if record.sources[2 * r if record.runs else r]:
            sources[i:i + n] = np.arange(n) + record.sources[2 * r if record.runs else r]
        i += n
    values = np.empty(passive)
    for i in range(passive):
        values[i] = constants[i]
    return "move", record.base, sources, values


cdef tuple of_call(Call record):
    cdef list slots = [None if record.slots[k].ndim < 0 else identifiers_of(
        record.slots[k].first, record.slots[k].ndim, record.slots[k].shape, record.slots[k].strides)
        for k in range(record.arguments + record.results)]
    return ("call", slots[record.arguments:], record.primitive, record.args, record.kwargs, record.argnums,
            slots[:record.arguments])
