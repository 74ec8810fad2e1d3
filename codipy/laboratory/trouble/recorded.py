# SPDX-License-Identifier: Apache-2.0
"""The values and adjoints of a recording, statement by statement, for tapes that somebody looks at."""
from __future__ import annotations

import numpy as np

from codipy.nested.expressions import Expression
from codipy.tape.contents.reading import step_of
from codipy.tape.display.entries import entries, pull

__all__ = ["Recorded"]


class Recorded:
    """A recording.

    Parameters
    ----------
    tape : Tape
        On which no identifier serves twice.

    Attributes
    ----------
    entries : list of Entry
    values : numpy.ndarray
        By identifier ...
    known : numpy.ndarray of bool
        ... where they are known.
    """

    def __init__(self, tape):
        self.tape, self.entries = tape, entries(tape)
        self.values, self.known = np.full(tape.identifiers, np.nan), np.zeros(tape.identifiers, bool)
        self._makers = np.full(tape.identifiers, -1, np.int64)
        with np.errstate(all="ignore"):
            for number, entry in enumerate(self.entries):
                self._compute(number, entry)

    def maker(self, slots):
        """The number of the statement that made something, None where several did."""
        numbers = np.unique(self._makers[slots.identifiers()])
        return int(numbers[0]) if numbers.size == 1 and numbers[0] >= 0 else None

    def maker_of(self, identifier):
        """The number of the statement that made one identifier."""
        return int(self._makers[identifier])

    def value(self, operand):
        """Of an operand: a number or an array, None where it is not known."""
        if operand.slots is None:
            return operand.value
        ids = operand.slots.identifiers()
        return self.values[ids] if self.known[ids].all() else operand.value

    def _compute(self, number, entry):
        value = entry.value
        parts = value if isinstance(value, tuple) else (value,)
        if entry.kind != "input" and any(part is None for part in parts):
            again = self._again(entry)
            value = value if again is None else again
        values = value if len(entry.results) != 1 and isinstance(value, tuple) else [value] * len(entry.results)
        for slots, one in zip(entry.results, values):
            if slots is None:
                continue
            ids = slots.identifiers()
            self._makers[ids] = number
            if one is not None:
                self.values[ids] = _shaped(one, slots.shape)
                self.known[ids] = True

    def _again(self, entry):
        """What an array's statement gives, None where an operand is not known or the statement cannot be run."""
        operands = [self.value(operand) for operand in entry.operands]
        if any(value is None for value in operands):
            return None
        if entry.kind == "statement" and entry.steps is not None:
            return Expression(len(operands), [(code, False, sources) for code, sources in entry.steps]).value(*operands)
        if entry.kind == "sum" and entry.steps is None:
            _, _, _, axes, scale = step_of(entry.record)
            return np.sum(operands[0], axes) * scale
        if entry.kind == "movement":
            return np.concatenate([np.ravel(value) for value in operands])
        if entry.kind == "call":
            _, _, primitive, _, kwargs, _, _ = step_of(entry.record)
            try:
                return primitive.forward(*operands, **kwargs)
            except Exception:      # the user's own; the run itself went through
                return None
        return None

    def pulled(self, adjoints):
        """Sweep back statement by statement.

        Parameters
        ----------
        adjoints : numpy.ndarray
            By identifier: seeds; changed, at the end those of everything.

        Yields
        ------
        tuple
            The number of a statement through which something flows, before it is swept: the identifiers of its
            arguments, and what each of them gets. A number that stands twice in the statement of a number is named
            twice; what the elements of an array's statement give to one number comes together.
        """
        alone = self.tape.new_adjoints()
        for number in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[number]
            results = [slots.identifiers().ravel() for slots in entry.results if slots is not None]
            if entry.kind == "input" or not any(np.any(adjoints[ids] != 0) for ids in results):
                continue
            active = [operand for operand in entry.operands if operand.slots is not None]
            if entry.record is None:
                ids, bar = [operand.slots.first for operand in active], adjoints[results[0][0]]
                with np.errstate(all="ignore"):
                    shares = [operand.jacobian * bar if operand.jacobian != 0.0 else 0.0 for operand in active]
            else:
                ids = np.unique(np.concatenate([operand.slots.identifiers().ravel() for operand in active] or [[]]))
                shares = self._shares(entry.record, alone, np.unique(np.concatenate(results)), ids.astype(np.int64),
                                      adjoints)
            ids = np.asarray(ids, np.int64)
            yield number, ids, np.asarray(shares, float)
            with np.errstate(all="ignore"):
                np.add.at(adjoints, ids, shares)

    def _shares(self, record, alone, results, arguments, adjoints):
        """What the arguments of an array's statement get from its results, in adjoints that are zero but for these."""
        pull(self.tape, record, alone, results, adjoints[results])
        shares = alone.read(arguments)[:, 0]
        for ids in (results, arguments):
            alone.write(ids, np.zeros((1, 1)))
        return shares


def _shaped(value, shape):
    """A value as its identifiers are: a number may stand for an array that was filled with it."""
    value = np.asarray(value, float)
    return np.full(shape, value.reshape(())) if value.size == 1 else np.reshape(value, shape)
