# SPDX-License-Identifier: Apache-2.0
"""Recordings inside of another one on tapes of the user's: their inputs, and their sweeps as variables of that."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real, plain
from codipy.errors import TapeError
from codipy.nested.program import AdjointProgram

__all__ = ["NestedRecording", "RecordedAdjoints"]


class NestedRecording:
    """What ``tape.nested(*inputs)`` returns, for a ``with`` statement.

    Parameters
    ----------
    tape : Tape
        Empty, of the strategy ``primal``.
    inputs : tuple
        Numbers and arrays, plain or of the enclosing recording.
    """

    def __init__(self, tape, inputs):
        self._tape, self._inputs = tape, inputs

    def __enter__(self):
        tape = self._tape
        if tape.strategy != "primal":
            raise TapeError("nested() needs a tape of strategy='primal', which keeps what is run again, and this one "
                            f"is of {tape.strategy!r}")
        if tape.is_active or tape.statements:
            raise TapeError("nested() begins with a tape that is empty and does not record: reset it, or take a new "
                            "one")
        for x in self._inputs:
            if type(x) not in (Real, Array) and np.asarray(x).dtype.kind not in "biuf":
                raise TypeError("an input of nested() must be a real number or an array of them, got "
                                f"{type(x).__name__}: of complex ones give .real and .imag")
        # Copies, made while the enclosing recording runs: it may write to its arrays before the sweep reads them.
        given = [x.copy() if type(x) is Array else x for x in self._inputs]
        tape.loans = []
        try:
            tape.set_active()
        except BaseException:
            tape.loans = None
            raise
        try:
            variables = tuple(tape.register_input(plain(x)) for x in given)
        except BaseException:
            self.__exit__()
            tape.reset()
            raise
        tape.given = list(zip(tape.inputs, given))
        return variables

    def __exit__(self, *exception):
        self._tape.set_passive()


class RecordedAdjoints:
    """Adjoints or tangents of a nested recording that are variables of the recording around it.

    ``adj[y] = seed`` sets what a sweep begins with, a number, an array or a variable of the enclosing recording;
    ``tape.evaluate(adjoints=adj)`` and ``tape.evaluate_forward(adjoints=adj)`` record the sweep there; ``adj[x]`` is
    what it found, of an input or, after a forward sweep, of an output. Each sweep begins with new seeds.

    Parameters
    ----------
    tape : Tape
        Recorded by ``tape.nested``.
    """

    of_variables = True  # tells them from vectors of numbers

    def __init__(self, tape):
        if tape.given is None or tape.is_active:
            raise TapeError("sweeps are recorded of what `with tape.nested(x):` has recorded, when that is over")
        self._tape, self._numbers, self._seeds, self._found = tape, tape.new_adjoints(), {}, []
        for x, _ in tape.given:
            self._numbers[x]      # an error where the tape was reset since
        pairs = [*tape.given, *[(x, x.value) for x in tape.inputs[len(tape.given):]]]
        self._inputs, values = [identifiers_of(x) for x, _ in pairs], [value for _, value in pairs]
        self._program = AdjointProgram(tape, [(int(ids.min()), _as_numbered(value, ids))
                                              for ids, value in zip(self._inputs, values) if ids.size])

    def __setitem__(self, x, seed):
        ids = self._identifiers(x)
        for key, (others, _) in self._seeds.items():
            if key != ids.tobytes() and np.intersect1d(ids, others).size:
                raise TapeError("this variable and one that was seeded before share elements: seed each element once")
        if np.shape(plain(seed)) not in ((), ids.shape):
            raise ValueError(f"a seed has the shape {ids.shape} of its variable, or none: got {np.shape(plain(seed))}")
        self._seeds[ids.tobytes()] = ids, seed

    def __getitem__(self, x):
        ids = self._identifiers(x)
        for known, value in self._found:
            if np.isin(ids, known).all():
                return _part(ids, known, value)
        raise TapeError("the last sweep gave nothing for this variable: one back gives the adjoints of inputs, one "
                        "forward the tangents of outputs, each as a whole or a part of it")

    def sweep(self, tape, backwards):
        """Record a sweep over the whole recording, which is that of `tape`."""
        if tape is not self._tape:
            raise TapeError("adjoints belong to another tape: make them with this tape's new_adjoints(record=True)")
        seeds = [(ids, seed if np.ndim(plain(seed)) or not ids.ndim else seed * np.ones(ids.shape))
                 for ids, seed in self._seeds.values()]
        read = self._inputs if backwards else [ids for ids in map(identifiers_of, self._tape.outputs) if ids.all()]
        found = (self._program.pull if backwards else self._program.push)(seeds, read)
        self._found, self._seeds = list(zip(read, found)), {}

    def take_seeds(self):
        """Begin with the numbers in the tape's own vector."""
        known = np.arange(1, self._tape.identifiers)
        numbers = self._tape.adjoint_vector.read(known)[:, 0]
        for k in np.flatnonzero(numbers):
            self._seeds[int(k)] = known[k], numbers[k]

    def _identifiers(self, x):
        self._numbers[x]      # says what is wrong with a variable of another tape, of another recording
        return identifiers_of(x)


def identifiers_of(x):
    """Those of a registered variable, as an array of its shape; 0 where it depends on nothing."""
    return np.asarray(x.identifier, np.int32)


def _as_numbered(value, ids):
    """An array in one axis, in the order of its identifiers; a number."""
    if not ids.ndim:
        return value
    return np.reshape(value, (-1,))[np.argsort(ids, axis=None)]


def _part(ids, known, value):
    if not known.ndim:
        return value
    if ids.shape == known.shape and (ids == known).all():
        return value
    flat, order = np.reshape(value, (-1,)), np.argsort(known, axis=None)
    places = order[np.searchsorted(known.reshape(-1)[order], ids)]
    return flat[int(places)] if not ids.ndim else flat[places]
