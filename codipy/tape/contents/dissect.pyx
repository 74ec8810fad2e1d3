# SPDX-License-Identifier: Apache-2.0
"""A recording as plain contents: see contents.py, which says what they are; `assemble` is the way back.

This is the one reader of the records that codipy makes: whoever else looks at one reads what `described` says of it.
"""
import numpy as np

from libc.stdint cimport int32_t
from libc.string cimport memcpy
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.data.position cimport Position
from codipy.tape.base cimport BaseTape
from codipy.tape.position cimport TapePosition
from codipy.tape.recorder cimport PRIMAL, SIMPLE
from codipy.tape.records.call cimport Call
from codipy.tape.records.choice cimport Choice
from codipy.tape.records.gather cimport Gather
from codipy.tape.records.mark cimport Mark
from codipy.tape.records.record cimport Record
from codipy.tape.records.reduction cimport Reduction
from codipy.tape.records.slots cimport Slots as SlotsInC
from codipy.tape.records.statement cimport Argument, Statement
from codipy.tape.strategies.simple cimport Simple

from codipy.errors import TapeError
from codipy.tape.contents.contents import Calling, Choosing, Contents, Expression, Input, Movement, Operand, Spot, Summation, Values
from codipy.tape.contents.entry import Slots

cnp.import_array()


def contents_of(BaseTape tape not None, str action not None="taking a recording apart"):
    """The contents of a recording.

    Parameters
    ----------
    tape : Tape
        Of any strategy but ``forward``; it may be recording, and what is not on it yet is left out.
    action : str
        What the errors call it.

    Returns
    -------
    Contents
        With no spots.

    Raises
    ------
    TapeError
        If nothing is kept of the recording, a sweep is under way, or ``evaluate_primal()`` did not come to its end.
    """
    cdef Record record
    cdef list steps = []
    tape.demand_recorded(action)
    tape.demand_idle(action)
    tape.replay.demand(tape.store.root.position(), len(tape.records.items))
    parameters = tape.parameters
    parameters.pop("width", None)
    place = _Places(tape)
    for record in tape.records.items:
        step = step_of(record, (place.of(record.place), record.before, record.after))
        if step is None:
            raise TapeError(f"{type(record).__name__} is a record of the user's, whose contents are not known")
        steps.append(step)
    return Contents(parameters, [fields_of(stream) for stream in tape.store.streams], steps, tape.largest(), primals_of(tape),
                    list(tape.store.inputs), bool(tape.shared), long_arrays=tape.long_arrays)


def described(Record record not None):
    """What one record says.

    Parameters
    ----------
    record : Record

    Returns
    -------
    Step or None
        With no place; None of a record of the user's.
    """
    return step_of(record, (None, record.before, record.after))


def spot_of(BaseTape tape not None, position):
    """A position of a tape, for `Contents.spots`.

    Parameters
    ----------
    tape : Tape
        Whose contents they are.
    position : TapePosition
        From ``tape.position()``, in force.

    Returns
    -------
    Spot

    Raises
    ------
    TapeError
        If it is of another tape, or stale.
    """
    cdef TapePosition checked = tape.checked(position, "position")
    tape.store.root.check_position(checked.streams)
    return Spot(_Places(tape).of(checked.streams), checked.records, checked.largest)


def has_long_arrays(BaseTape tape not None):
    """Whether adjoints of several directions have a plane for each, where a sweep adds in another order.

    Parameters
    ----------
    tape : Tape

    Returns
    -------
    bool
    """
    return tape.has_long_arrays()


def epoch_of(TapePosition position not None):
    """The epoch whose variables are the last before a position.

    Parameters
    ----------
    position : TapePosition

    Returns
    -------
    int
    """
    return position.epoch


cdef class _Places:
    """Positions as numbers of items; those of records that follow one another are often one object."""
    cdef list earlier            # of each stream, the items before each chunk
    cdef Position last
    cdef tuple found

    def __cinit__(self, BaseTape tape):
        self.earlier = []
        for stream in tape.store.streams:
            before = [0]
            for i in range(stream.chunks):
                before.append(before[i] + len(stream.chunk_views(i)[0]))
            self.earlier.append(before)

    cdef tuple of(self, Position position):
        if position is not self.last:
            self.found = tuple([before[chunk] + item for before, (chunk, item) in zip(self.earlier, position.to_tuple())])
            self.last = position
        return self.found


cdef tuple fields_of(stream):
    """The fields of a stream, each joined over all chunks."""
    cdef list chunks = [stream.chunk_views(i) for i in range(stream.chunks)]
    return tuple([np.concatenate([chunk[k] for chunk in chunks] or [np.empty(0, dtype)])
                  for k, dtype in enumerate(stream.dtypes)])


cdef object primals_of(BaseTape tape):
    cdef Py_ssize_t known = 0
    cdef cnp.ndarray found
    if tape.recorder.kind == PRIMAL:
        known = min(<Py_ssize_t>tape.largest() + 1, tape.recorder.primals_size)
    elif tape.recorder.kind == SIMPLE:
        known = (<Simple>tape.store).gathered
    found = np.zeros(known)
    if known > 1:
        memcpy(<double*>cnp.PyArray_DATA(found) + 1, tape.recorder.primals + 1, (known - 1) * sizeof(double))
    return found


cdef object step_of(Record record, tuple common):
    """The Step of one of codipy's own records; None of another."""
    if type(record) is Statement:
        return expression_of(<Statement>record, common)
    if type(record) is Gather:
        return movement_of(<Gather>record, common)
    if type(record) is Choice:
        return choosing_of(<Choice>record, common)
    if type(record) is Reduction:
        return summation_of(<Reduction>record, common)
    if type(record) is Call:
        return calling_of(<Call>record, common)
    if type(record) is Mark:
        return Input(*common, (<Mark>record).base, (<Mark>record).values, (<Mark>record).last)
    return None


cdef tuple numbers(const Py_ssize_t* those, int n):
    cdef int k
    return tuple([those[k] for k in range(n)])


cdef object expression_of(Statement record, tuple common):
    cdef Py_ssize_t* strides = record.shape + 2 * record.ndim
    cdef Argument* argument
    cdef list operands = []
    cdef int k
    for k in range(record.count):
        argument = record.arguments + k
        if argument.data == NULL:
            values = argument.number
        else:
            values = Values(<object>argument.owner, argument.data - (<Buffer>argument.owner).data)
        operands.append(Operand(argument.identifier, numbers(strides, record.ndim), values))
        strides += record.ndim
    return Expression(*common, record.program, numbers(record.shape, record.ndim), record.identifier,
                      numbers(record.shape + record.ndim, record.ndim), operands, record.sums, record.scale)


cdef object movement_of(Gather record, tuple common):
    cdef Py_ssize_t count = 2 * record.runs if record.runs else record.size, passive
    cdef cnp.ndarray sources = np.empty(count, np.int32), constants = None
    if count:
        memcpy(cnp.PyArray_DATA(sources), record.sources, count * sizeof(int32_t))
    if record.replays:
        passive = record.passive()
        constants = np.empty(passive)
        if passive:
            memcpy(cnp.PyArray_DATA(constants), record.constants(), passive * sizeof(double))
    return Movement(*common, record.base, record.size, sources, record.runs > 0, constants)


cdef object choosing_of(Choice record, tuple common):
    cdef cnp.ndarray chosen = np.empty(record.size, np.uint8)
    cdef int k
    if record.size:
        memcpy(cnp.PyArray_DATA(chosen), record.chosen, record.size)
    return Choosing(*common, record.base, numbers(record.shape, record.ndim),
                    [Operand(record.operands[k].first, numbers(record.operands[k].strides, record.ndim))
                     for k in range(record.count)], chosen)


cdef object summation_of(Reduction record, tuple common):
    return Summation(*common, Slots(record.argument, numbers(record.shape, record.ndim), numbers(record.strides, record.ndim)),
                     record.result, numbers(record.result_strides, record.ndim), record.size, record.scale,
                     bool(record.single))


cdef object slots_of(const SlotsInC* slots):
    if slots.ndim < 0:
        return None
    return Slots(slots.first, numbers(slots.shape, slots.ndim), numbers(slots.strides, slots.ndim))


cdef object calling_of(Call record, tuple common):
    cdef Py_ssize_t k
    return Calling(*common, record.primitive, record.args, record.kwargs, record.out, record.argnums,
                   [slots_of(record.slots + k) for k in range(record.arguments)],
                   [slots_of(record.slots + record.arguments + k) for k in range(record.results)], bool(record.single))
