# SPDX-License-Identifier: Apache-2.0
"""A recording as a list of steps, for those who run it again by other means: `primal` with linear identifiers.

A set of identifiers is (first, shape, strides), in elements. Values are plain arrays and numbers.
"""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
cimport numpy as cnp

from codipy.data.position cimport Position
from codipy.data.region cimport Regions, regions_between
from codipy.operations.kernels cimport OP_IDENTITY
from codipy.programs.program cimport ARGUMENT, Program, intern_program, program_at, program_blocks
from codipy.tape.base cimport BaseTape
from codipy.tape.recorder cimport PRIMAL
from codipy.tape.records.mark cimport Mark
from codipy.tape.records.record cimport Record
from codipy.tape.strategies.stored cimport ELEMENT

from codipy.data.plain import array_on
from codipy.errors import TapeError, UndifferentiableError
from codipy.tape.contents.contents import Calling, Expression, Input, Movement, Summation, values_of
from codipy.tape.contents.dissect import described
from codipy.tape.contents.entry import Slots

cnp.import_array()


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
        found.append(step_of(record))
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
    step = described(record)
    if step is None:
        raise UndifferentiableError(f"{type(record).__name__}, a record of the user's, cannot be differentiated again")
    return _KINDS[type(step)](step)


def _of_expression(step):
    operands = [values_of(step.shape, operand) if not operand.identifier else
                (operand.identifier, step.shape, operand.strides) for operand in step.operands]
    return "array", (step.result, step.shape, step.strides), step.program, operands


def _of_sum(step):
    axes = tuple([k for k, stride in enumerate(step.strides) if not stride])
    return "sum", tuple(Slots(step.result, step.argument.shape, step.strides).of_sum()), tuple(step.argument), axes, step.scale


def _of_movement(step):
    sources, i = np.zeros(step.size, np.int32), 0
    if not step.runs:
        sources[:] = step.sources
    else:
        for first, count in step.sources.reshape(-1, 2).tolist():
            if first:
                sources[i:i + count] = np.arange(count) + first
            i += count
    return "move", step.result, sources, step.constants


def _of_call(step):
    results, arguments = ([slots and tuple(slots) for slots in those] for those in (step.results, step.arguments))
    return "call", results, step.primitive, step.args, step.kwargs, step.argnums, arguments


def _of_input(step):
    return "input", step.first, array_on(step.values, 0, (step.values.size,), (1,)).copy()


_KINDS = {Expression: _of_expression, Summation: _of_sum, Movement: _of_movement, Calling: _of_call, Input: _of_input}
