# SPDX-License-Identifier: Apache-2.0
"""Read a tape file; `save` is the way there. Nothing of it is believed before it is compared."""

from __future__ import annotations

import os

import numpy as np

from codipy.active import Tape
from codipy.active.described import register_again
from codipy.active.variables import RegisteredArray, RegisteredReal
from codipy.data.plain import buffer_of
from codipy.errors import CorruptTape, TapeFormatError
from codipy.files import primitives as named
from codipy.files.arguments import decoded, integers, number
from codipy.files.container import Reader
from codipy.files.save import BARE, FIRST_PROGRAM, OF_NUMPY, SINGLE
from codipy.operations import TABLE
from codipy.operations.table import BY_NAME
from codipy.programs.interned import array_program
from codipy.programs.program import program_of_parts
from codipy.tape.contents.assemble import fill
from codipy.tape.contents.contents import (
    Calling,
    Choosing,
    Contents,
    Expression,
    Input,
    Movement,
    Operand,
    Spot,
    Summation,
    Values,
)
from codipy.tape.contents.dissect import epoch_of
from codipy.tape.contents.entry import Slots
from codipy.tape.contents.sound import demand_sound, extent
from codipy.tape.provenance.watching import unwatched
from codipy.tape.strategies.table import STRATEGIES, stored_as

# What Python and NumPy raise of what has another type, length or range than it should.
_WRONG = (ArithmeticError, AssertionError, AttributeError, CorruptTape, LookupError, TypeError, ValueError)
_ROOM = 1 << 24  # identifiers for which tables are made whatever the file's size


def load_tape(path, *, primitives=(), verify=True):
    """The tape that ``tape.save(path)`` wrote.

    It is swept as the original is, to the same bits on the same machine; ``tape.inputs`` and ``tape.outputs`` are its
    variables. Nothing can be recorded behind it before a reset. Nothing of a file is ever run, and every number in it
    is compared before it is used: a file from elsewhere may be wrong, but it does no harm.

    Parameters
    ----------
    path : path-like
        The file. One of less than 16 MiB is read. The values of a larger one are mapped into memory: while the tape
        lives do not write into it, which would change values, and do not cut it, which would end the process; `save`
        does neither.
    primitives : iterable of Primitive, optional
        Those of yours that it was recorded with.
    verify : bool
        Whether the values of arrays are compared with their checksums, which reads all of them once. Without that a
        large file is there at once, and damage to these values, which nothing else tells, is not found.

    Returns
    -------
    Tape
        Its ``positions`` are those that were saved.

    Raises
    ------
    TapeFormatError
        If it is no tape file, damaged, cut off, of a later version, or has a primitive that is not known here.
    ValueError
        If no file can have the name.
    OSError
        If the file cannot be read.
    TypeError
        If `path` is none.

    Examples
    --------
    >>> import codipy, os, tempfile
    >>> tape = codipy.Tape("primal")
    >>> with tape:
    ...     x = tape.register_input(3.0)
    ...     y = tape.register_output(x * x)
    >>> path = os.path.join(tempfile.mkdtemp(), "square.tape")
    >>> tape.save(path)
    >>> again = codipy.load_tape(path)
    >>> again.outputs[0].gradient = 1.0
    >>> again.evaluate()
    >>> again.inputs[0].gradient
    6.0
    """
    given, path = named.by_name(primitives), os.fspath(path)  # a number would be an open file, which is closed
    if "\0" in os.fsdecode(path):
        raise ValueError(f"path must be the name of a file, which has no null character, got {path!r}")
    try:
        return _Loaded(Reader(path), given, verify).tape()
    except TapeFormatError as error:
        raise TapeFormatError(f"{path} cannot be loaded: {error}") from None
    except RecursionError:
        raise TapeFormatError(f"{path} cannot be loaded: it is nested deeper than any that was written") from None
    except _WRONG as error:
        raise TapeFormatError(f"{path} cannot be loaded: it is damaged ({error})") from error


class _Loaded:
    """One file that is read."""

    def __init__(self, file, given, verify):
        self.file, self.header = file, file.header
        self.buffers = [buffer_of(file.array(n, "<f8", verify)) for n in _list(self.header["buffers"])]
        self.primitives = [named.found(*row, given) for row in _list(self.header["primitives"])]
        self.tiles = [_array_program(*row) for row in _list(self.header["tiles"])]
        self.verify = verify

    def tape(self):
        parameters = self.header["tape"]
        if type(parameters) is not dict or parameters.get("strategy") not in STRATEGIES:
            raise TapeFormatError("its strategy is none that keeps a recording")
        tape = unwatched(Tape, **parameters)
        contents = self.contents(tape)
        if tape.strategy.endswith("-reuse"):
            most = _ROOM + 16 * self.file.size
            if contents.largest > most:
                raise TapeFormatError(f"it has more identifiers than {most}, which a file of its size does not need")
        demand_sound(contents)
        inputs = [self.variable(row, contents) for row in _list(self.header["inputs"])]
        outputs = [self.variable(row, contents) for row in _list(self.header["outputs"])]
        tape.positions = tuple(fill(tape, contents))
        epochs = [*map(epoch_of, tape.positions), tape.epoch]
        register_again(
            tape, *[[each._replace(epoch=epochs[each.epoch]) for each in those] for those in (inputs, outputs)]
        )
        return tape

    def contents(self, tape):
        header, reuse = self.header, tape.strategy.endswith("-reuse")
        kind = stored_as(tape.strategy).removesuffix("-reuse")
        streams = [
            tuple(self.file.array(n, stream.dtypes[k].newbyteorder("<").str) for k, n in enumerate(_list(fields)))
            for fields, stream in zip(_list(header["streams"]), tape.store.streams, strict=True)
        ]
        if kind == "primal":
            streams[-1] = (_handles(streams[-1][0], _list(header["programs"])), *streams[-1][1:])
        elif kind == "simple":
            streams[-1] = (_codes(streams[-1][0], _list(header["codes"])),)
        spots = [
            Spot(integers(place), *integers([records, largest]))
            for place, records, largest in _list(header["positions"])
        ]
        return Contents(
            tape.parameters,
            streams,
            [self.record(number, *row) for number, row in enumerate(_list(header["records"]))],
            *integers([header["largest"]]),
            self.file.array(header["primals"], "<f8"),
            list(integers(header["named"])) if reuse else [],
            _flag(header["shared"]),
            spots,
            _flag(header["long_arrays"]) if "long_arrays" in header else None,
        )

    # ---- Records ----

    def record(self, number, kind, place, before, after, *row):
        common = integers(place), *integers([before, after])
        return self.call(number, common, *row) if kind == "call" else self.KINDS[kind](self, common, *row)

    def expression(self, common, program, shape, result, strides, operands, sums, scale):
        return Expression(
            *common,
            _at(self.tiles, program),
            integers(shape),
            *integers([result]),
            integers(strides),
            [self.operand(*row) for row in _list(operands)],
            *integers([sums]),
            number(scale),
        )

    def operand(self, identifier, strides, values, *offset):
        if type(values) is str and not offset:
            return Operand(*integers([identifier]), integers(strides), number(values))
        (offset,) = integers(list(offset))
        return Operand(*integers([identifier]), integers(strides), Values(_at(self.buffers, values), offset))

    def movement(self, common, result, size, sources, runs, constants):
        return Movement(
            *common,
            *integers([result, size]),
            self.file.array(sources, "<i4"),
            _flag(runs),
            None if constants is None else self.file.array(constants, "<f8"),
        )

    def choice(self, common, result, shape, operands, chosen):
        return Choosing(
            *common,
            *integers([result]),
            integers(shape),
            [Operand(*integers([first]), integers(strides)) for first, strides in _list(operands)],
            self.file.array(chosen, "|u1"),
        )

    def sum(self, common, argument, result, strides, size, scale, single):
        return Summation(
            *common,
            _slots(argument),
            *integers([result]),
            integers(strides),
            *integers([size]),
            number(scale),
            _flag(single),
        )

    def input(self, common, first, values, last):
        return Input(
            *common, *integers([first]), *[None if n is None else _at(self.buffers, n) for n in (values, last)]
        )

    def call(self, number, common, primitive, args, kwargs, out, argnums, arguments, results, single):
        args, kwargs, out = [
            decoded(form, self.bytes_of, lambda n: _at(self.buffers, n)) for form in (args, kwargs, out)
        ]
        _demand(type(args) is tuple and type(kwargs) is dict, "a call has arguments")
        primitive = _at(self.primitives, primitive)
        named.demand_call(number, primitive, args, kwargs, out)
        return Calling(
            *common,
            primitive,
            args,
            kwargs,
            out,
            integers(argnums),
            [_slots(row) for row in _list(arguments)],
            [None if row is None else _slots(row) for row in _list(results)],
            _flag(single),
        )

    KINDS = {"expression": expression, "movement": movement, "choice": choice, "sum": sum, "input": input}

    def bytes_of(self, n):
        return self.file.array(n, "|u1", self.verify)

    # ---- Variables ----

    def variable(self, row, contents):
        kind, *fields = row
        if kind == "real":
            identifier, epoch, value, number_kind, *flags = fields
            is_input, of_input, of_array = map(_flag, flags)
            integers([identifier, epoch, number_kind])
            _demand(
                1 <= identifier <= contents.largest and 0 <= epoch <= len(contents.spots) and 0 <= number_kind <= 2,
                "a variable has an identifier that was handed out",
            )
            if stored_as(contents.parameters["strategy"]).startswith("primal"):
                _demand(not is_input or identifier < len(contents.primals), "an input has a value")
            return RegisteredReal(identifier, epoch, number(value), number_kind, is_input, of_input, of_array)
        _demand(kind == "array", "a variable is a number or an array")
        first, size, epoch, buffer, offset, shape, strides, *flags = fields
        single, is_input, of_input, of_elements = map(_flag, flags)
        integers([first, size, epoch, offset])
        shape, strides, buffer = integers(shape), integers(strides), _at(self.buffers, buffer)
        lowest, highest = extent(offset, shape, strides)
        _demand(
            0 <= offset <= buffer.size and (lowest > highest or lowest >= 0 and highest < buffer.size),
            "a variable shows elements of its memory",
        )
        _demand(
            size in (0, buffer.size) and size >= 0 and 0 <= epoch <= len(contents.spots),
            "its identifiers are those of its elements",
        )
        _demand(
            size == 0 or first >= 1 and first + size - 1 <= contents.largest,
            "a variable has identifiers that were handed out",
        )
        if is_input and size:
            _demand(
                any(
                    type(step) is Input and step.first == first and step.after - step.before == size
                    for step in contents.steps
                ),
                "an input was recorded",
            )
        return RegisteredArray(
            first, size, epoch, buffer, offset, shape, strides, single, is_input, of_input, of_elements
        )


def _demand(holds, rule):
    if not holds:
        raise TapeFormatError(f"it breaks the rule: {rule}")


def _list(those):
    _demand(type(those) is list, "lists are lists")
    return those


def _flag(value):
    _demand(type(value) is bool, "flags are true or false")
    return value


def _at(those, n):
    _demand(type(n) is int and 0 <= n < len(those), "numbers are those of something in the file")
    return those[n]


def _slots(row):
    first, shape, strides = row
    return Slots(*integers([first]), integers(shape), integers(strides))


def _operation(name):
    row = BY_NAME.get(name) if type(name) is str else None
    if row is None:
        raise TapeFormatError(f"it has the operation {name!r:.60}, which is not known here: take a newer codipy")
    return row.code


def _array_program(operands, rounded, steps):
    return array_program(
        *integers([operands]),
        [(_operation(name), integers(sources)) for name, *sources in _list(steps)],
        *integers([rounded]),
    )


def _handles(those, table):
    """Handles of this process for the file's programs."""
    known = [0, 1, 2]
    for name, single, of_numpy, *parts in table:
        handles = [_at(known, part + FIRST_PROGRAM) for part in integers(parts)]
        known.append(program_of_parts(_operation(name), _flag(single), _flag(of_numpy), handles))
    _demand(not np.any((those == 1) | (those == 2) | (those >= len(known))), "statements have programs of the file")
    return np.where(those < 0, those, np.array(known, np.int32)[np.maximum(those, 0)])


def _codes(those, table):
    """Codes of this process for the file's."""
    known = [
        _operation(name) | (SINGLE if _flag(single) else 0) | (OF_NUMPY if _flag(of_numpy) else 0)
        for name, single, of_numpy in table
    ]
    _demand(not np.any((those >= len(known)) | (those < len(TABLE) - BARE)), "operations are those of the file")
    return np.where(those < 0, len(TABLE) - 1 - those, np.array([*known, 0], np.int32)[np.maximum(those, 0)]).astype(
        np.int32
    )
