# SPDX-License-Identifier: Apache-2.0
"""Write a recording to a tape file; `load` is the way back."""

from __future__ import annotations

import numpy as np

from codipy.active.described import described
from codipy.active.variables import RegisteredReal
from codipy.data.plain import array_on
from codipy.errors import TapeError
from codipy.files import primitives as named
from codipy.files.arguments import Unknown, bits, encoded
from codipy.files.container import Writer
from codipy.operations import TABLE
from codipy.programs.program import parts_of
from codipy.tape.contents.contents import Calling, Choosing, Expression, Input, Movement, Summation, Values
from codipy.tape.contents.dissect import contents_of, epoch_of, spot_of
from codipy.tape.provenance.lines import lines_of

FIRST_PROGRAM = 3  # handles below are leaves: programs/program.pxd
SINGLE, OF_NUMPY = 1 << 29, 1 << 30
BARE = SINGLE - 1


def save(tape, path, primitives=(), positions=()):
    """Write the recording of a tape to a file: see `Tape.save`."""
    if tape.is_active:
        raise TapeError("save() while the tape records: call it behind `with tape:`, when all is on the tape")
    _Saved(tape, named.by_name(primitives)).write(path, list(positions))


class _Saved:
    """One file that is written; what several records share is written once."""

    def __init__(self, tape, given):
        self.tape, self.given, self.file = tape, given, Writer()
        self.contents = contents_of(tape, "save()")
        self.kind = tape.store.__class__.__name__
        self.buffers, self.tiles, self.rules, self.programs = _Numbered(), _Numbered(), _Numbered(), _Numbered()

    def write(self, path, positions):
        contents = self.contents
        positions.sort()
        contents.spots = [spot_of(self.tape, position) for position in positions]
        epochs = [epoch_of(position) for position in positions]
        streams = [list(fields) for fields in contents.streams]
        codes = []
        if self.kind == "Primal":
            streams[-1][0] = self.handles(streams[-1][0])
        elif self.kind == "Simple":
            streams[-1][0] = _codes(streams[-1][0], codes)
        header = {
            "tape": {name: value for name, value in contents.parameters.items() if name != "chunk_size"},
            "largest": contents.largest,
            "shared": contents.shared,
            "named": contents.inputs,
            **({} if contents.long_arrays is None else {"long_arrays": contents.long_arrays}),
            "streams": [[self.file.add(field) for field in fields] for fields in streams],
            "primals": self.file.add(contents.primals),
            "codes": codes,
            "records": [self.record(number, step) for number, step in enumerate(contents.steps)],
            "positions": [[list(spot.place), spot.records, spot.largest] for spot in contents.spots],
        }
        for name, those in zip(("inputs", "outputs"), described(self.tape)):
            header[name] = [self.variable(variable, epochs) for variable in those]
        header["programs"] = [_program(handle, self.programs) for handle in self.programs.items]
        header["tiles"] = [
            [program.operands, program.rounded, [[TABLE[code].name, *sources] for code, sources in program.steps]]
            for program in self.tiles.items
        ]
        header["primitives"] = [named.described(primitive, self.given) for primitive in self.rules.items]
        header["buffers"] = [self.file.add(array_on(buffer, 0, (buffer.size,), (1,))) for buffer in self.buffers.items]
        self.file.write(path, header)

    def handles(self, those):
        """Handles of programs as numbers in the file's table, which parts come before in."""
        known = np.unique(those)
        for handle in known[known >= FIRST_PROGRAM].tolist():
            self.with_parts(handle)
        of = {
            handle: self.programs.number(handle) + FIRST_PROGRAM if handle >= FIRST_PROGRAM else handle
            for handle in known.tolist()
        }
        return np.array([of[handle] for handle in known.tolist()], np.int32)[np.searchsorted(known, those)]

    def with_parts(self, handle):
        if not self.programs.has(handle):
            for part in parts_of(handle)[3]:
                if part >= FIRST_PROGRAM:
                    self.with_parts(part)
            self.programs.number(handle)

    def variable(self, variable, epochs):
        epoch = sum(variable.epoch > each for each in epochs)
        if isinstance(variable, RegisteredReal):
            return ["real", variable.identifier, epoch, bits(variable.value), *variable[3:]]
        return [
            "array",
            variable.first,
            variable.size,
            epoch,
            self.buffers.number(variable.values),
            variable.offset,
            list(variable.shape),
            list(variable.strides),
            *variable[7:],
        ]

    def record(self, number, step):
        common = [list(step.place), step.before, step.after]
        if isinstance(step, Expression):
            return [
                "expression",
                *common,
                self.tiles.number(step.program),
                list(step.shape),
                step.result,
                list(step.strides),
                [self.operand(operand) for operand in step.operands],
                step.sums,
                bits(step.scale),
            ]
        if isinstance(step, Movement):
            constants = None if step.constants is None else self.file.add(step.constants)
            return ["movement", *common, step.result, step.size, self.file.add(step.sources), step.runs, constants]
        if isinstance(step, Choosing):
            return [
                "choice",
                *common,
                step.result,
                list(step.shape),
                [[operand.identifier, list(operand.strides)] for operand in step.operands],
                self.file.add(step.chosen),
            ]
        if isinstance(step, Summation):
            return [
                "sum",
                *common,
                _slots(step.argument),
                step.result,
                list(step.strides),
                step.size,
                bits(step.scale),
                step.single,
            ]
        if isinstance(step, Input):
            return [
                "input",
                *common,
                step.first,
                *[None if buffer is None else self.buffers.number(buffer) for buffer in (step.values, step.last)],
            ]
        assert isinstance(step, Calling)
        if named.described(step.primitive, self.given) is None:  # said before what is wrong with arguments
            raise TapeError(
                f"{self.call(number, step)} cannot be found by its name when the file is loaded: give a "
                "codipy.Primitive of yours to tape.save(path, primitives=[...]); what is made for one call, as "
                "codipy.implicit, codipy.primitive and solvers of sparse equations make it, is not saved"
            )
        return [
            "call",
            *common,
            self.rules.number(step.primitive),
            *self.values(number, step),
            list(step.argnums),
            list(map(_slots, step.arguments)),
            list(map(_slots, step.results)),
            step.single,
        ]

    def operand(self, operand):
        values = operand.values
        if isinstance(values, Values):
            return [operand.identifier, list(operand.strides), self.buffers.number(values.buffer), values.offset]
        return [operand.identifier, list(operand.strides), bits(values)]

    def call(self, number, step):
        """A call, for errors, with its line where the recording is being profiled."""
        _, records = lines_of(self.tape)
        if records is None:
            hint = "save() inside of `with codipy.profile():` says its line"
        else:
            hint = records[number] or "called by no line of yours"
        return f"record {number}, a call of {step.primitive.name!r} ({hint}),"

    def values(self, number, step):
        try:
            return [encoded(value, self.file.add, self.buffers.number) for value in (step.args, step.kwargs, step.out)]
        except Unknown as error:
            raise TapeError(
                f"{self.call(number, step)} keeps something that a file cannot hold: {error}"
            ) from None


class _Numbered:
    """Objects, each with a number from 0 on, by identity; integers by value."""

    def __init__(self):
        self.items, self._known = [], {}

    def has(self, item):
        return _key(item) in self._known

    def number(self, item):
        number = self._known.setdefault(_key(item), len(self.items))
        if number == len(self.items):
            self.items.append(item)
        return number


def _key(item):
    return item if type(item) is int else ("object", id(item))


def _slots(slots):
    return None if slots is None else [slots.first, list(slots.shape), list(slots.strides)]


def _program(handle, programs):
    code, single, of_numpy, parts = parts_of(handle)
    numbers = [part - FIRST_PROGRAM if part < FIRST_PROGRAM else programs.number(part) for part in parts]
    return [TABLE[code].name, single, of_numpy, *numbers]


def _codes(those, table):
    """Codes of operations as numbers in the file's table; -1 - n are statements of n arguments made by hand."""
    known = np.unique(those)
    of = []
    for code in known.tolist():
        bare = code & BARE
        if bare >= len(TABLE):
            of.append(len(TABLE) - bare - 1)
        else:
            of.append(len(table))
            table.append([TABLE[bare].name, bool(code & SINGLE), bool(code & OF_NUMPY)])
    return np.array(of, np.int32)[np.searchsorted(known, those)]
