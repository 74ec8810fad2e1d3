# SPDX-License-Identifier: Apache-2.0
"""One call of a function on a tape of its own, inside of the recording whose variables it reads."""
from __future__ import annotations

import math

import numpy as np

from codipy.active.adjoints import seed_units
from codipy.active.array import Array, Real, is_active
from codipy.active.recordings.borrowed import origins
from codipy.active.recordings.status import is_from_earlier, is_left
from codipy.errors import TapeError
from codipy.tape.memory.held import Held
from codipy.tape.records.mark import Mark
from codipy.tools.arguments.forms import map_leaves, rebuild
from codipy.tools.arguments.leaves import shape_of
from codipy.tools.arguments.trees import labelled
from codipy.tools.callee import name_of
from codipy.tools.pool import borrow, give_back
from codipy.tools.runs.columns import matrix_of
from codipy.tools.runs.local_jacobian import BYTES_OF_ENTRY
from codipy.tools.runs.recording import Recording
from codipy.tools.runs.returned_objects import had_elsewhere, put_into
from codipy.tools.runs.run import NESTED

__all__ = ["Apart"]


class Apart:
    """A call of a function, recorded on a tape that is dropped at the end; a context manager.

    Parameters
    ----------
    run : callable
        What is called.
    f : callable
        What messages call it.
    args, kwargs : tuple, dict
        Its arguments.

    Attributes
    ----------
    outputs : list of Real and Array
        The variables of this tape that the function returned, each once.
    rows : int
        How many numbers they have.
    at : ndarray of int
        Identifiers, here, of all numbers of the enclosing recordings that a statement names; ascending.
    is_scalar : bool
        Whether the outputs are Reals.
    can_be_left : bool
        Whether the steps can be repeated.
    """

    def __init__(self, run, f, args, kwargs):
        self._kept, self.tape = [], borrow(NESTED)
        self.tape.loans = []         # to which the enclosing recording lends what is read
        try:
            self._record(run, f, args, kwargs)
        except BaseException:
            self.__exit__()
            raise

    def _record(self, run, f, args, kwargs):
        def called(*args, **kwargs):
            self._kept.append(run(*args, **kwargs))
            self._had = had_elsewhere(self._kept)
            return self._kept[0] if not self._had else map_leaves(self._whole, self._kept[0])

        called.__name__ = name_of(f)
        self._recording = recording = _Replayable(self.tape, called, list(args), kwargs, [], _nothing)
        self._returned = [leaf for _, leaf in labelled(self._kept[0], "result")]
        self._leaves = list(map(self._whole, self._returned))
        self._places, found = [], {}     # for each leaf the number of its output; None for what is of outside
        for leaf, output in zip(self._leaves, recording.outputs):
            here = output is not None and (not is_active(leaf) or is_from_earlier(leaf))
            self._places.append(found.setdefault(id(leaf), (len(found), output))[0] if here else None)
        self.outputs = [output for _, output in found.values()]
        # Elements that depend on nothing, of an array that others of its elements made one of this tape.
        passive = {id(leaf): leaf for leaf, place in zip(self._leaves, self._places) if place is None and is_left(leaf)}
        _demand_writable([leaf for leaf, place in zip(self._leaves, self._places)
                          if id(leaf) in self._had and (place is not None or id(leaf) in passive)], f)
        self._passive = {key: Array(np.array(leaf.value)) for key, leaf in passive.items()}
        self._lent = origins(self.tape)
        self.at = _named(self.tape, self._lent)
        self.rows = sum(math.prod(shape_of(y)) for y in self.outputs)
        self.is_scalar = all(type(y) is Real for y in self.outputs)
        self.can_be_left = self.tape.store.handmade is None      # its derivatives are numbers already

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        give_back(NESTED, self.tape)

    def nbytes(self):
        """What the steps take, see `codipy.tools.derivatives.preaccumulate`; values that were lent are not theirs."""
        _, arguments, handles = self.tape.store.streams
        records = [record for record in self.tape.records.items if type(record) is not Mark]
        held = Held(records, {})
        copies = sum(type(y) is Real for y in self.outputs)
        lent = sum(type(variable) is Real for _, variable in self._lent)
        scalars = BYTES_OF_ENTRY * (arguments.items - copies) + handles.items - copies - lent
        return scalars + (held.nbytes + held.used if records else 0)

    def matrix(self):
        """The derivatives of all outputs, a row for each number, by what stands at `at`."""
        return matrix_of(_Swept(self.tape, self.outputs, self.at), [self.at], "auto", None)

    def inputs(self, at, matrix):
        """For each variable of the enclosing recordings that has some of these identifiers: which, and its columns."""
        parts = []
        for first, variable in self._lent:
            low, high = np.searchsorted(at, (first, first + _size(variable)))
            if low < high:
                parts.append((variable, at[low:high] - first, matrix[:, low:high]))
        return parts

    def with_results(self, results):
        """What the function returned, with these in the places of the outputs; in the objects that others have."""
        made, filled = [], set()
        for place, leaf, returned in zip(self._places, self._leaves, self._returned):
            result = self._passive.get(id(leaf), leaf) if place is None else results[place]
            if id(returned) in self._had:
                if result is not leaf and id(leaf) not in filled:
                    leaf[...] = result
                    filled.add(id(leaf))
                result = returned
            made.append(result)
        return put_into(self._kept[0], rebuild(self._kept[0], made), self._had)

    def _whole(self, leaf):
        """For an array that others have, too, the one that has its memory, which is filled as a whole."""
        return self._had.get(id(leaf), leaf) if type(leaf) is Array else leaf

    def repeated(self):
        """The same with the steps on the enclosing tape."""
        values = self._recording.repeated()
        results = {place: value for place, value in zip(self._places, values) if place is not None}
        return self.with_results(results)


class _Replayable(Recording):
    """A recording without arguments to differentiate by, that can be repeated on the enclosing one."""

    def repeated(self):
        """The leaves of the result, as variables of the enclosing recording."""
        self._replay([])
        return [leaf for _, leaf in labelled(self.value, "result")]


class _Swept:
    """What `matrix_of` has to know: outputs, and what is differentiated by as one leaf, given by its identifiers."""

    def __init__(self, tape, outputs, at):
        self.tape, self.outputs, self._at = tape, outputs, at
        self.shapes = [shape_of(y) for y in outputs]

    def reverse(self, adjoints, seeds):
        """From `Units` of the outputs, None for zeros."""
        for y, seed in zip(self.outputs, seeds):
            if seed is not None:
                seed_units(adjoints, y, *seed)
        self.tape.evaluate(adjoints=adjoints)
        return [adjoints.read(self._at).reshape(self._shape(adjoints))]

    def forward(self, adjoints, seeds):
        """From `Units` of what is differentiated by."""
        adjoints[self.outputs[0]] = 0.0      # makes room for all identifiers
        seed = seeds[0].as_array((len(self._at),), adjoints.width)
        adjoints.write(self._at, np.reshape(seed, (len(self._at), adjoints.width)))
        self.tape.evaluate_forward(adjoints=adjoints)
        return [adjoints[y] for y in self.outputs]

    def _shape(self, adjoints):
        return (len(self._at), adjoints.width) if adjoints.width > 1 else (len(self._at),)


def _nothing(args, inputs):
    """What `Recording` calls to put inputs into the arguments: they have what they need."""


def _size(variable):
    return 1 if type(variable) is Real else len(variable)


def _named(tape, lent):
    """Identifiers of lent numbers that a statement of the tape has as arguments."""
    stream = tape.store.streams[1]
    parts = [stream.chunk_views(k)[0] for k in range(stream.chunks)]
    parts += [np.arange(low, high + 1) for record in tape.records.items for low, high in record.named[1]]
    named = np.unique(np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32, copy=False))
    some = np.zeros(len(named), bool)
    for first, variable in lent:
        some |= (named >= first) & (named < first + _size(variable))
    return named[some]


def _demand_writable(leaves, f):
    """That what others have, too, can be filled with variables of their tape."""
    for leaf in leaves:
        if not leaf.flags.writeable:
            raise TapeError(f"{name_of(f)} returned an array that is read-only and that others have, too, and its "
                            "results cannot be put there: return a copy, a.copy()")
