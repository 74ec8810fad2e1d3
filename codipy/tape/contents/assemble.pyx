# SPDX-License-Identifier: Apache-2.0
"""A recording made of plain contents: see contents.py, which says what they are; `dissect` is the way there."""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.data.position cimport Position
from codipy.data.stream cimport Stream
from codipy.operations.kernels cimport OP_COUNT
from codipy.programs.program cimport BARE
from codipy.tape.base cimport BaseTape
from codipy.tape.position cimport make_position
from codipy.tape.recorder cimport PRIMAL, SIMPLE, grow_primals
from codipy.tape.records.call cimport Call, new_call, set_slots
from codipy.tape.records.choice cimport Choice, new_choice
from codipy.tape.records.gather cimport Gather, gather_of_runs, new_gather
from codipy.tape.records.mark cimport Mark, new_mark
from codipy.tape.records.record cimport Record
from codipy.tape.records.reduction cimport Reduction
from codipy.tape.records.statement cimport Argument, Statement, new_statement
from codipy.tape.strategies.simple cimport Simple
from codipy.tape.strategies.stored cimport HANDMADE

from codipy.errors import CorruptTape, TapeError
from codipy.tape.contents.contents import Calling, Choosing, Expression, Movement, Summation, Values
from codipy.tape.contents.sound import demand_sound, extent

cnp.import_array()

cdef enum:
    DIMS = 8                     # as arrays have at most


def fill(BaseTape tape not None, contents):
    """Put contents on an empty tape, as if they had been recorded there.

    Parameters
    ----------
    tape : Tape
        Made with their parameters, on which nothing was recorded yet.
    contents : Contents
        They are verified first; the tape shares their Buffers, and copies their arrays.

    Returns
    -------
    list of TapePosition
        One for each of their spots. Each begins an epoch, as taking a position does.

    Raises
    ------
    TapeError
        If the tape is not empty, or of other parameters.
    CorruptTape
        If the contents are no recording; nothing is on the tape then.
    """
    cdef Record record
    cdef Position here
    cdef list found = [], made = []
    cdef dict places = {}
    tape.demand_recorded("filling a tape")
    tape.demand_idle("filling a tape")
    if tape.statements or tape.largest() or tape.recordings:
        raise TapeError("contents go on an empty tape: make one with codipy.Tape(**contents.parameters)")
    if tape.parameters != contents.parameters:
        raise TapeError(f"contents of a tape of {contents.parameters} do not fit on one of {tape.parameters}")
    demand_sound(contents)
    for step in contents.steps:
        made.append(record_of(step))
    push_streams(tape, contents, places)
    set_identifiers(tape, contents)
    set_primals(tape, contents)
    for step, record in zip(contents.steps, made):
        record.place, record.before, record.after = places[step.place], step.before, step.after
        tape.records.items.append(record)
    tape.records.last = None
    tape.shared, tape.long_arrays = contents.shared, contents.long_arrays
    for spot in contents.spots:
        here = places[spot.place]
        epoch = tape.recorder.epoch
        tape.draw_epoch()
        found.append(make_position(here, spot.records, spot.largest, epoch, tape.first_generation))
    return found


cdef int push_streams(BaseTape tape, contents, dict places) except -1:
    """Push all items; at the place of each record and each spot there is a position."""
    cdef tuple counts = tuple([len(fields[0]) for fields in contents.streams])
    cdef tuple done = (0,) * len(counts), place
    cdef Py_ssize_t first, until = first_handmade(tape, contents)
    places[done] = tape.root_begin
    for place in [*sorted({step.place for step in (*contents.steps, *contents.spots)}), counts]:
        if place == done:
            continue
        first = done[len(counts) - 1]
        if first <= until < place[len(counts) - 1]:
            tape.store.handmade = places[done]
        push_span(tape, contents.streams, done, place)
        places[place] = tape.store.root.position()
        done = place
    return 0


cdef Py_ssize_t first_handmade(BaseTape tape, contents) except -1:
    """The first statement that a replay cannot compute; behind all of them if there is none."""
    codes = contents.streams[len(contents.streams) - 1][0]
    if tape.recorder.kind == PRIMAL:
        which = np.flatnonzero(codes < HANDMADE)
    elif tape.recorder.kind == SIMPLE:
        which = np.flatnonzero((codes & BARE) >= OP_COUNT)
    else:
        which = ()
    return which[0] if len(which) else len(codes)


cdef int push_span(BaseTape tape, list streams, tuple begin, tuple end) except -1:
    """Push a part of all streams: room in all of them first, from the innermost to the root, as statements do."""
    cdef Stream stream
    cdef Py_ssize_t level, first, count
    cdef int k
    cdef cnp.ndarray field
    for level in range(len(streams) - 1, -1, -1):
        (<Stream>tape.store.streams[level]).reserve(end[level] - begin[level])
    for level in range(len(streams)):
        stream = tape.store.streams[level]
        first, count = begin[level], end[level] - begin[level]
        for k in range(stream.field_count if count else 0):
            field = np.ascontiguousarray(streams[level][k][first:first + count])
            memcpy(stream.cursor.fields[k] + stream.cursor.used * stream.sizes[k], cnp.PyArray_DATA(field),
                   count * stream.sizes[k])
        stream.cursor.used += count
    return 0


cdef int set_identifiers(BaseTape tape, contents) except -1:
    """All of them are in use until the reset. One by one they need no tables of blocks, and follow one another as well."""
    cdef Py_ssize_t _
    if tape.store.reusing is not None:
        for _ in range(contents.largest):
            tape.store.reusing.assign()
        tape.store.inputs.extend(contents.inputs)
    else:
        tape.store.linear.assign_block(contents.largest)
    return 0


cdef int set_primals(BaseTape tape, contents) except -1:
    cdef cnp.ndarray known = np.ascontiguousarray(contents.primals, np.float64)
    cdef Py_ssize_t count = cnp.PyArray_SIZE(known)
    if count < 2 or not tape.recorder.keeps_values:          # the first is of no identifier
        return 0
    if count > tape.recorder.primals_size:
        grow_primals(&tape.recorder, count - 1)
    memcpy(tape.recorder.primals, cnp.PyArray_DATA(known), count * sizeof(double))
    if tape.recorder.kind == SIMPLE:
        (<Simple>tape.store).gathered = <int32_t>count
    return 0


def give_numbers(BaseTape tape not None, list inputs not None):
    """Let a tape know the numbers of inputs that it was filled with, where its streams do not store them.

    Parameters
    ----------
    tape : Tape
    inputs : list of (int, float)
        Identifiers, which were handed out, and values.
    """
    if tape.recorder.kind == SIMPLE:
        for identifier, value in inputs:
            (<Simple>tape.store).note_given(&tape.recorder, identifier, value)


# ---- Records ----

cdef Record record_of(step):
    if type(step) is Expression:
        return statement_of(step)
    if type(step) is Movement:
        return gather_of(step)
    if type(step) is Choosing:
        return choice_of(step)
    if type(step) is Summation:
        return reduction_of(step)
    if type(step) is Calling:
        return call_of(step)
    return mark_of(step)


cdef int copy_numbers(Py_ssize_t* to, tuple those) except -1:
    cdef Py_ssize_t k
    for k in range(len(those)):
        to[k] = those[k]
    return 0


cdef Statement statement_of(step):
    cdef int ndim = <int>len(step.shape), k
    cdef Statement new = new_statement(step.program, ndim, <int>len(step.operands))
    cdef Argument* argument
    cdef Buffer buffer
    copy_numbers(new.shape, step.shape)
    copy_numbers(new.shape + ndim, step.strides)
    new.identifier, new.sums, new.scale = step.result, step.sums, step.scale
    for k in range(<int>len(step.operands)):
        operand = step.operands[k]
        argument = new.arguments + k
        argument.owner, argument.data, argument.number, argument.identifier = NULL, NULL, 0.0, operand.identifier
        copy_numbers(new.shape + (2 + k) * ndim, operand.strides)
        if type(operand.values) is Values:
            buffer = operand.values.buffer
            argument.owner, argument.data = <PyObject*>buffer, buffer.data + <Py_ssize_t>operand.values.offset
            Py_INCREF(buffer)
        else:
            argument.number = operand.values
        new.count = k + 1
    return new


cdef Gather gather_of(step):
    cdef cnp.ndarray sources = np.ascontiguousarray(step.sources, np.int32), values = None
    cdef const double* known = NULL
    cdef Gather new
    if step.constants is not None:
        lengths = np.asarray(sources)[1::2] if step.runs else 1
        firsts = np.asarray(sources)[::2] if step.runs else np.asarray(sources)
        values = np.zeros(step.size + 1)         # the functions below want one for each element, and an address
        values[:step.size][np.repeat(firsts == 0, lengths)] = step.constants
        known = <const double*>cnp.PyArray_DATA(values)
    if step.runs:
        new = gather_of_runs(<const int32_t*>cnp.PyArray_DATA(sources), cnp.PyArray_SIZE(sources) // 2, known, step.size)
    else:
        new = new_gather(<const int32_t*>cnp.PyArray_DATA(sources), known, step.size)
    new.base = step.result
    return new


cdef Choice choice_of(step):
    cdef Py_ssize_t[DIMS] shape
    cdef cnp.ndarray chosen = np.ascontiguousarray(step.chosen, np.uint8)
    cdef Choice new
    cdef Py_ssize_t k
    copy_numbers(shape, step.shape)
    new = new_choice(<int>len(step.shape), shape, cnp.PyArray_SIZE(chosen), <int>len(step.operands))
    new.base = step.result
    if cnp.PyArray_SIZE(chosen):
        memcpy(new.chosen, cnp.PyArray_DATA(chosen), cnp.PyArray_SIZE(chosen))
    for k in range(len(step.operands)):
        new.operands[k].first = step.operands[k].identifier
        copy_numbers(new.operands[k].strides, step.operands[k].strides)
    return new


cdef Reduction reduction_of(step):
    cdef Reduction new = Reduction.__new__(Reduction)
    new.ndim, new.argument = <int>len(step.argument.shape), step.argument.first
    copy_numbers(new.shape, step.argument.shape)
    copy_numbers(new.strides, step.argument.strides)
    copy_numbers(new.result_strides, step.strides)
    new.result, new.size, new.single, new.scale = step.result, step.size, step.single, step.scale
    return new


cdef Call call_of(step):
    cdef Py_ssize_t[DIMS] shape
    cdef Py_ssize_t[DIMS] strides
    cdef list all_slots = [*step.arguments, *step.results]
    cdef Py_ssize_t k
    cdef Call new
    parts = step.out if isinstance(step.out, tuple) else (step.out,)
    for slots, value in [*zip(step.arguments, [step.args[i] for i in step.argnums]), *zip(step.results, parts)]:
        demand_renewable(slots, value)
    new = new_call(step.primitive, tuple(step.argnums), len(step.arguments), len(step.results),
                   sum([len(slots.shape) for slots in all_slots if slots is not None]))
    new.args, new.kwargs, new.out, new.single = step.args, step.kwargs, step.out, step.single
    for k in range(len(all_slots)):
        if all_slots[k] is not None:
            copy_numbers(shape, all_slots[k].shape)
            copy_numbers(strides, all_slots[k].strides)
            set_slots(new, k, all_slots[k].first, <int>len(all_slots[k].shape), shape, strides)
    return new


cdef int demand_renewable(slots, value) except -1:
    """That values on a Buffer, which a replay renews in the layout of the identifiers, have that layout."""
    cdef cnp.ndarray array
    cdef Buffer buffer
    cdef Py_ssize_t offset
    if slots is None or not isinstance(value, np.ndarray) or type(value.base) is not Buffer or not value.size:
        return 0
    array, buffer = value, value.base
    offset = <double*>cnp.PyArray_DATA(array) - buffer.data
    lowest, highest = extent(offset, slots.shape, slots.strides)
    if value.dtype != np.float64 or not cnp.PyArray_ISBEHAVED_RO(array) or lowest < 0 or highest >= buffer.size:
        raise CorruptTape("the recording breaks the invariant: values of a call lie as their identifiers do")
    return 0


cdef Mark mark_of(step):
    cdef Mark new = new_mark(step.values)
    new.base, new.last = step.first, step.last
    return new
