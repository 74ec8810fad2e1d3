# SPDX-License-Identifier: Apache-2.0
"""What a recording is made of, as plain data: flat arrays of the streams, and a description of each record.

`contents_of(tape)` of `codipy.tape.contents.dissect` makes Contents of a recording, and `fill(tape, contents)` of
`codipy.tape.contents.assemble` a recording of Contents, on an empty tape of the same `parameters`:

    contents = contents_of(tape)
    ...                                  # other arrays, other steps
    new = codipy.Tape(**contents.parameters)
    fill(new, contents)                  # raises CorruptTape, before anything is read, where they contradict themselves

Nothing of the two shares memory that is written to: arrays of streams are copies or read-only, and Buffers, programs,
primitives and their arguments are shared because nobody ever changes them. Identifiers are those of the recording: 1 to
`largest`, 0 is passive. Where identifiers are linear a statement's result has no place in the streams: statements and
records take the next ones in turn, which `before` and `after` of each step say, and `fill` checks.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from codipy.data.plain import array_on

if TYPE_CHECKING:
    import numpy as np

    from codipy.data.buffer import Buffer
    from codipy.programs.interned import ArrayProgram
    from codipy.tape.contents.entry import Slots


class Values(NamedTuple):
    """Values in a Buffer, from `offset` on, in doubles; they lie as the identifiers of the same operand do."""

    buffer: Buffer
    offset: int


class Operand(NamedTuple):
    """One argument of an expression or a choice.

    Attributes
    ----------
    identifier : int
        Of the first element; 0 where it is passive.
    strides : tuple of int
        In elements, one for each dimension of the statement; 0 where it is broadcast.
    values : Values, float or None
        What the sweeps read; a number where it is a scalar, or where no sweep reads values. None in a choice.
    """

    identifier: int
    strides: tuple
    values: Values | float | None = None


def values_of(shape, operand):
    """The values of an operand of an expression of this shape: a plain array over those that are kept, or a number."""
    if isinstance(operand.values, Values):
        return array_on(operand.values.buffer, operand.values.offset, shape, operand.strides)
    return operand.values


@dataclass
class Step:
    """A record: a step of the recording beside the streams.

    Attributes
    ----------
    place : tuple of int
        How many items each stream has before it, the root first.
    before, after : int
        The largest identifier handed out before the record took those of its results, and after it did.
    """

    place: tuple
    before: int
    after: int


@dataclass
class Expression(Step):
    """An array statement: a program over the elements of its operands.

    `result` and `strides` name its elements' identifiers. With `sums` its values are summed, times `scale`, to so many
    contiguous results, and the strides say to which: 0 along summed axes.
    """

    program: ArrayProgram
    shape: tuple
    result: int
    strides: tuple
    operands: list
    sums: int = 0
    scale: float = 1.0


@dataclass
class Movement(Step):
    """Copies: `size` contiguous identifiers from `result` on take the values of `sources`.

    `sources` are identifiers, 0 for a passive element; with `runs` pairs of the first of them and how many follow one
    another. `constants` are the values of the passive ones, in order, where the tape can be replayed, else None.
    """

    result: int
    size: int
    sources: np.ndarray
    runs: bool
    constants: np.ndarray | None


@dataclass
class Choosing(Step):
    """Elements of several operands, place by place; `chosen` says which, in the order of C, as the result lies."""

    result: int
    shape: tuple
    operands: list
    chosen: np.ndarray


@dataclass
class Summation(Step):
    """A sum, times `scale`, over the axes along which the result's stride is 0; `size` contiguous results."""

    argument: Slots
    result: int
    strides: tuple
    size: int
    scale: float
    single: bool


@dataclass
class Calling(Step):
    """A primitive: its own arguments and results, and the identifiers of those that are active.

    `arguments` are the Slots of the arguments at the positions `argnums`; `results` one for each result, None for those
    without derivative. `out` is a tuple where the primitive returned several.
    """

    primitive: Any
    args: tuple
    kwargs: dict
    out: Any
    argnums: tuple
    arguments: list
    results: list
    single: bool


@dataclass
class Input(Step):
    """An array that became an input: its identifiers from `first` on, as many as it took.

    `values` are those of the next replay and `last` those that the records read now; None where none are kept.
    """

    first: int
    values: Buffer | None
    last: Buffer | None


class Spot(NamedTuple):
    """A position of the recording: `place` as of a Step, how many records there were, and the largest identifier."""

    place: tuple
    records: int
    largest: int


@dataclass
class Contents:
    """A whole recording.

    Attributes
    ----------
    parameters : dict
        What a tape for it is made with.
    streams : list of tuple of ndarray
        The fields of each stream, the root first, joined over all chunks. Their dtypes and meaning are those of the
        strategy: see `jacobian.pxd`, `primal.pxd` and `simple.pxd`. Handles of programs and codes of operations are
        those of this process.
    steps : list of Step
        The records, in order.
    largest : int
        The largest identifier.
    primals : ndarray
        Values by identifier, where the strategy has them: `primal` of all scalars; `simple` what was gathered so far.
        Unknown ones have all bits set. The first, of 0, means nothing.
    inputs : list of int
        Where identifiers are reused, those of scalar inputs; elsewhere the streams tell.
    shared : bool
        Whether identifiers of arrays serve for several values though they are not reused.
    spots : list of Spot
        Positions to be made again, in order; `contents_of` gives none.
    long_arrays : bool or None
        Whether sweeps of several directions are those of long arrays, which add in another order; None: as the
        recording itself says.
    """

    parameters: dict
    streams: list
    steps: list
    largest: int
    primals: np.ndarray
    inputs: list = field(default_factory=list)
    shared: bool = False
    spots: list = field(default_factory=list)
    long_arrays: bool | None = None
