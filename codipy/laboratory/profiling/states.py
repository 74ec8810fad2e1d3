# SPDX-License-Identifier: Apache-2.0
"""What the iterations of a loop hand on to one another: the active numbers that a checkpoint would keep."""
from __future__ import annotations

import numpy as np

from codipy.errors import TapeError
from codipy.tape.contents.dissect import contents_of
from codipy.tape.contents.renumbered import given_by, read_by
from codipy.tape.contents.sound import scalars_of

__all__ = ["States", "states_of"]

_NUMBER = 8      # bytes


def states_of(tape):
    """The States of a recording that is profiled; None where a record of the user's does not say what it reads."""
    try:
        contents = contents_of(tape)
    except TapeError:
        return None
    return States(contents, *tape.journal.spots_of())


class States:
    """One recording in the order in which it was put on the tape: a moment for each statement and each record.

    An iteration hands on what was made in the loop before the next one begins, and is read again in it before it ends.
    What was there before the loop is not part of it: one copy of that serves all iterations. That includes what was
    written before it and put on the tape only when it was used, whose spot is none of the loop's. By statement what was
    written waits until it is used, and what it is made of seems to be handed on: then the moment of the next iteration
    counts at which this is least.

    Rejected: the variables of a frame at the line of the loop, which have what is never read again, and do not have
    what lies in objects.

    Parameters
    ----------
    contents : Contents
    spots, owners : ndarray
        As `Journal.spots_of` says them.
    """

    def __init__(self, contents, spots, owners):
        self._contents = contents
        places = np.array([step.place[-1] for step in contents.steps], np.int64)
        self._of_records = places + np.arange(len(places))
        statements = np.arange(len(spots))
        self._of_statements = statements + np.searchsorted(places, statements, side="right")
        self._places = places
        self._spots = np.zeros(len(spots) + len(places), np.int64)
        self._spots[self._of_statements] = spots
        self._spots[self._of_records] = owners[:, 0]
        self.moments = len(self._spots)

    def largest(self, inside, begins, ends):
        """Bytes of the largest state that an iteration hands on to the next.

        Parameters
        ----------
        inside : sequence of int
            The spots of the loop and of what is called in it.
        begins : sequence of int
            The moment at which each iteration begins.
        ends : int
            The moment at which the loop is over; 0: nobody saw.

        Returns
        -------
        int
        """
        first, last = begins[0], ends or self.moments
        crossing = np.append(0, self._crossing(first, last, np.isin(self._spots, inside)))
        found = np.array(begins[1:]) - first
        if self._contents.parameters["granularity"] == "operation":
            return _NUMBER * int(crossing[found].max())
        return _NUMBER * int(np.minimum.reduceat(crossing, found)[:-1].max())

    def _crossing(self, first, last, inside):
        """How many numbers made in these moments the loop reads after each of them, and before the last."""
        walk = _Walk(self._contents.largest + 1, last - first)
        needs, arguments, results = scalars_of(self._contents)
        ends = np.concatenate([[0], np.cumsum(needs)])
        a, done = np.searchsorted(self._of_statements, [first, last])
        records = range(*np.searchsorted(self._of_records, [first, last]))
        for k in (*records, None):
            b = done if k is None else min(int(self._places[k]), done)
            if a < b:
                moments = self._of_statements[a:b]
                read = np.repeat(moments, needs[a:b])
                counts = inside[read]
                walk.scalars(arguments[ends[a]:ends[b]][counts], read[counts] - first, results[a:b], moments - first,
                             inside[moments])
                a = b
            if k is not None:
                moment = int(self._of_records[k])
                walk.record(self._contents.steps[k], moment - first, inside[moment])
        return walk.crossing()


class _Walk:
    """From moment to moment: when each identifier was given to its present number, and when that was last read.

    A number that was not made in the loop has no moment: -1.
    """

    def __init__(self, identifiers, moments):
        self._made, self._read = np.full(identifiers, -1, np.int64), np.full(identifiers, -1, np.int64)
        self._change = np.zeros(moments + 1, np.int64)

    def crossing(self):
        self._close(self._made, self._read)
        return np.cumsum(self._change)[:-1]

    def _close(self, made, read):
        """These are not read any more."""
        counted = (made >= 0) & (read > made)
        self._change += np.bincount(made[counted], minlength=len(self._change))
        self._change -= np.bincount(read[counted], minlength=len(self._change))

    def scalars(self, arguments, read, results, made, inside):
        """Statements one after the other: an identifier may be read, given anew and read again."""
        active = arguments > 0
        identifiers = np.concatenate([arguments[active], results])
        moments, is_made = np.concatenate([read[active], made]), np.arange(len(identifiers)) >= active.sum()
        made = np.concatenate([read[active], np.where(inside, made, -1)])
        order = np.lexsort((is_made, moments, identifiers))
        identifiers, moments, is_made, made = identifiers[order], moments[order], is_made[order], made[order]
        of_next = np.concatenate([identifiers[1:] != identifiers[:-1], [True]])      # the last of an identifier
        begins = np.flatnonzero(is_made | np.concatenate([[True], of_next[:-1]]))
        ends = np.concatenate([begins[1:] - 1, [len(order) - 1]])
        of, anew = identifiers[begins], is_made[begins]
        first = np.concatenate([[True], of[1:] != of[:-1]])
        self._close(self._made[of[first & anew]], self._read[of[first & anew]])
        made = np.where(anew, made[begins], self._made[of])
        read = np.where(anew & (begins == ends), -1, moments[ends])
        last = of_next[ends]
        self._close(made[~last], read[~last])
        self._made[of[last]], self._read[of[last]] = made[last], read[last]

    def record(self, step, moment, inside):
        for those in read_by(step) if inside else ():
            self._read[those] = moment
        for those in given_by(step):
            self._close(self._made[those], self._read[those])
            self._made[those], self._read[those] = moment if inside else -1, -1
