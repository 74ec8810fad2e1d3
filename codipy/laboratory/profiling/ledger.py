# SPDX-License-Identifier: Apache-2.0
"""What profiled recordings put on their tapes, by spot; and what of a tape belongs to no spot."""
from __future__ import annotations

import numpy as np

from codipy.errors import CorruptTape
from codipy.laboratory.profiling.states import states_of
from codipy.tape.memory.held import Held
from codipy.tape.memory.statistics import Amount, collect

__all__ = ["NOT_USED", "OF_ARRAYS", "Ledger"]

NOT_USED = "allocated, not used"
OF_ARRAYS = {"array statements": "objects", "array values": "values"}      # sections of statistics, as columns here


class Ledger:
    """Sums over recordings.

    Attributes
    ----------
    columns : dict
        Name -> sum by spot: "statements" (those of arrays among them), "arguments", "live" identifiers, "reverse" in
        nanoseconds; in bytes "objects" and "values" of arrays, and each data stream by its title.
    streams : list of str
        Titles of the data streams.
    whole : dict
        Title -> Amount of what belongs to no spot.
    total : Amount
        Of all, as ``tape.statistics()`` says it.
    recordings : int
        How many there were.
    states : States or None
        Of the first recording, where they are asked for.

    Parameters
    ----------
    with_states : bool
        Keep what says what iterations hand on: see `states`.
    """

    def __init__(self, with_states=False):
        self.with_states, self.states = with_states, None
        self.columns, self.streams, self.whole = {}, [], {}
        self.total, self.recordings, self.strategies = Amount(0, 0), 0, []

    def take(self, tape):
        """Add what is on a tape that has a journal.

        Raises
        ------
        CorruptTape
            If what the journal noted is not what is on the tape.
        """
        counts, noted, reverse = tape.journal.totals()
        records = len(tape.records)
        streams = tape.store.streams[::-1]      # statements, arguments, constants
        shares = _Shares(tape.records.items, tape.constants) if records else None
        statistics = collect(tape, held=shares)
        for stream, items, count in zip(streams, counts, noted):
            _demand(stream.name, count, stream.items)
            self._add(stream.name, items * stream.item_bytes)
            if stream.name not in self.streams:
                self.streams.append(stream.name)
        self._add("statements", counts[0])
        self._add("arguments", counts[1])
        self._add("reverse", reverse)
        spots = owners = None
        if records or hasattr(tape._identifiers, "uses_of"):
            spots, owners = tape.journal.spots_of()
            _demand("records", len(owners), records)
        if records:
            self._add("statements", np.bincount(owners[:, 0]))
            for column, share in zip(OF_ARRAYS.values(), shares.by_record()):
                self._add(column, np.bincount(owners[:, 0], share))
        self._add_live(tape, counts[0], noted[0], spots, owners)
        self._add_whole(statistics, {stream.name for stream in streams}, shares)
        if self.with_states and not self.recordings:
            self.states = states_of(tape)
        self.recordings += 1
        if statistics.tape not in self.strategies:
            self.strategies.append(statistics.tape)

    def column(self, name, count):
        """A column with an entry for each of `count` spots."""
        found = self.columns.get(name, np.zeros(0))
        return np.concatenate([found, np.zeros(count - found.size)])

    def _add(self, name, found):
        known = self.columns.get(name)
        if known is None:
            self.columns[name] = found.astype(float)
            return
        if known.size < found.size:
            known = self.columns[name] = np.concatenate([known, np.zeros(found.size - known.size)])
        known[:found.size] += found

    def _add_live(self, tape, statements, noted, spots, owners):
        """Identifiers that variables or records still have, by the spot that was given them last."""
        manager = tape._identifiers
        if not hasattr(manager, "uses_of"):      # linear: none comes back
            owned = statements
            if owners is not None:
                taken = [record.after - record.before for record in tape.records.items]
                self._add("live", np.bincount(owners[:, 0], taken))
                noted += sum(taken)
        else:
            owner = np.zeros(manager.largest + 1, np.int64)
            names, done = _results(tape.store.streams[-1]), 0
            for record, (spot, until) in zip(tape.records.items, owners):
                owner[names[done:until]] = spots[done:until]
                done = until
                for first, last in record.named[0]:
                    owner[first:last + 1] = spot
            owner[names[done:]] = spots[done:]
            owned = np.bincount(owner[[i for i in range(1, manager.largest + 1) if manager.uses_of(i)]])
            noted = int(owned.sum())
        self._add("live", owned)
        if manager.live != noted:
            self._add("live", np.array([manager.live - noted]))

    def _add_whole(self, statistics, streams, shares):
        self.total = _sum(self.total, statistics.total)
        for section in statistics.sections:
            used, allocated = section.memory.used, section.memory.allocated
            if section.title in OF_ARRAYS or section.title in streams:
                self._add_to_whole(NOT_USED, 0, allocated - used)
            if section.title in OF_ARRAYS:
                share = list(OF_ARRAYS).index(section.title)
                by_records = 0 if shares is None else int(shares.by_record()[share].sum())
                title = "lists of records" if section.title == "array statements" else "copies of constants"
                self._add_to_whole(title, used - by_records, used - by_records)
            elif section.title not in streams:
                self._add_to_whole(section.title, used, allocated)

    def _add_to_whole(self, title, used, allocated):
        if used or allocated:
            self.whole[title] = _sum(self.whole.get(title, Amount(0, 0)), Amount(used, allocated))


class _Shares(Held):
    """What the records keep, by record: what several share belongs to the first."""

    def __init__(self, records, constants):
        self._so_far = []
        super().__init__(records, constants)

    def _passed(self):
        self._so_far.append((self.nbytes, self.used))

    def by_record(self):
        """Bytes of objects, and of values, of each."""
        return np.diff(np.array(self._so_far, np.int64), axis=0).T


def _results(stream):
    """The identifiers that statements name as their results."""
    return np.concatenate([np.zeros(0, np.int32), *(stream.chunk_views(i)[1] for i in range(stream.chunks))])


def _demand(name, noted, there):
    if noted != there:
        raise CorruptTape(f"a profile noted {noted} of {name} and the tape has {there}")


def _sum(a, b):
    return Amount(a.used + b.used, a.allocated + b.allocated)
