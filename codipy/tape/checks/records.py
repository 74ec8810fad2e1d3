# SPDX-License-Identifier: Apache-2.0
"""Verify that the records of a tape stand in order between its statements and name identifiers that exist."""
from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from codipy.errors import CorruptTape


class Step(NamedTuple):
    """What the check knows of a record."""

    place: object           # in the streams
    statements: int         # scalar ones before it
    before: int             # largest identifier before its own ...
    after: int              # ... and with them
    results: list           # (lowest, highest) identifiers, for each
    arguments: list         # likewise, of the active ones


def steps_of(tape):
    """A Step for each record of a tape."""
    statements = tape.store.streams[-1]
    earlier = [0, *accumulate(len(statements.chunk_views(i)[0]) for i in range(statements.chunks))]
    steps = []
    for record in tape.records.items:
        chunk, item = record.place.to_tuple()[-1]
        _demand(chunk < len(earlier), f"the place of record {len(steps)} is in a chunk that exists")
        steps.append(Step(record.place, earlier[chunk] + item, record.before, record.after, *record.named))
    return steps


def check_records(tape, steps, origin, largest):
    """Verify the invariants of records that hold in every strategy.

    Parameters
    ----------
    tape : BaseTape
        The tape; it is only read.
    steps : list of Step
        Of its records, in the order of recording.
    origin : Position
        Where the recording began.
    largest : int
        The largest identifier handed out.

    Raises
    ------
    CorruptTape
        Naming the broken invariant and the record's number.
    """
    place, last = origin, 0
    for number, step in enumerate(steps):
        _demand(place <= step.place, f"the place of record {number} is not before that of the record before it")
        _demand(last <= step.before, f"record {number} begins with the identifiers that earlier records left")
        _demand(step.before <= step.after, f"record {number} has no fewer identifiers after it than before it")
        for lowest, highest in (*step.results, *step.arguments):
            _demand(lowest > highest or lowest >= 1 and highest <= step.after,
                    f"the identifiers that record {number} names were handed out before its end")
        place, last = step.place, step.after
    if steps:
        _demand(place <= tape.store.root.position(), "the last record is not behind the end of the streams")
        _demand(last <= largest, "the records' identifiers were handed out by the identifier manager")


def _demand(holds, invariant):
    if not holds:
        raise CorruptTape(f"the recording breaks the invariant: {invariant}")
