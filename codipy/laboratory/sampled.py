# SPDX-License-Identifier: Apache-2.0
"""What a tape is while it records: samples taken between the lines of the program."""
from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from codipy.active.messages.callers import is_users
from codipy.tape.display.entries import operands

__all__ = ["Sample", "is_program", "passive_shares", "sampled", "totals_of", "with_peaks"]


class Sample(NamedTuple):
    """A tape at one moment.

    Attributes
    ----------
    lines : int
        Of the program that have run since the recording began; those of installed libraries do not count.
    statements : int
        On the tape, those of arrays among them; 0 of strategy 'forward'.
    live, largest : int
        Identifiers.
    used : int
        Bytes of the tape.
    peak : int
        The most identifiers that were live at once so far, also in the midst of a line.
    """

    lines: int
    statements: int
    live: int
    largest: int
    used: int
    peak: int


def is_program(frame):
    """Whether a frame runs the program's code: not codipy's, what is installed, or what Python makes of no file."""
    name = frame.f_code.co_filename
    return name != "<string>" and not name.startswith("<frozen ") and is_users(frame)


def totals_of(tape):
    """For each number of statements on a tape that keeps values: operations, passive and active operands among them."""
    counts = operands(tape)
    each = np.column_stack([counts.any(axis=1), counts[:, 1], counts[:, 0]])
    return np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(each, axis=0)])


def passive_shares(tape, samples):
    """The share of passive operands up to each sample of a tape that keeps values; None before the first operand."""
    return [passive / (passive + active) if passive + active else None
            for _, passive, active in totals_of(tape)[[one.statements for one in samples]].tolist()]


def with_peaks(points):
    """The curve of live identifiers with the highest point before each moment, where it was never as high before.

    Parameters
    ----------
    points : iterable of tuple
        Lines that have run, live identifiers, and the most of them so far.

    Returns
    -------
    list of tuple
        Lines and identifiers.

    Examples
    --------
    >>> with_peaks([(1, 2, 2), (2, 3, 7), (3, 4, 7)])
    [(1, 2), (2, 7), (2, 3), (3, 4)]
    """
    curve, highest = [], 0
    for lines, live, peak in points:
        if peak > max(highest, live):
            curve.append((lines, peak))
        curve.append((lines, live))
        highest = max(highest, peak)
    return curve


def sampled(tape, run, most=200):
    """Run something and look at a tape meanwhile.

    The program is traced line by line, so that the samples are the same in every run: a thread that reads them now and
    then sees nothing of a short recording on a busy machine.

    Parameters
    ----------
    tape : Tape
        On which it records, and nothing has before: the most identifiers are those since a tape was made.
    run : callable
        Without arguments; the tape is looked at once more while what it returns is alive.
    most : int
        How many samples are kept, and at most twice as many.

    Returns
    -------
    list of Sample
        After equally many lines each, but for the last one, which is the end.
    """
    samples, lines, stride, known = [], 0, 1, {}

    def sample():
        statistics = tape.statistics()
        counts = statistics["identifiers"].counts
        samples.append(Sample(lines, tape.statements if tape.can_sweep else 0, counts["live indices"],
                              counts["largest index"], statistics.total.used, counts["max live indices"]))

    def trace(frame, event, _):
        nonlocal lines, stride
        if event == "call":
            if frame.f_code not in known:
                known[frame.f_code] = is_program(frame)
            return trace if known[frame.f_code] else None
        if event == "line":
            lines += 1
            if lines % stride == 0:
                sample()
                if len(samples) == 2 * most:
                    del samples[::2]
                    stride *= 2
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        kept = run()
    finally:
        sys.settrace(before)
    sample()
    del kept
    return samples
