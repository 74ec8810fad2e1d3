# SPDX-License-Identifier: Apache-2.0
"""Which line of the user's code recorded which statement, for tapes on which each operation is one.

The program is traced line by line: what a tape has got when the next line begins is of the line before. Where the tape
records operations one by one nothing is pushed later, so that this is exact; it costs a Python call for each line.
"""
from __future__ import annotations

import sys
import weakref
from bisect import bisect_right
from typing import NamedTuple

from codipy.laboratory.sampled import is_program
from codipy.tape.activity import active_tape
from codipy.tape.provenance.lines import said

__all__ = ["Line", "Lines", "line_of"]


class Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int

    def __str__(self):
        return said(self.file, self.number)


def line_of(frame):
    """The Line that the nearest frame of the user's runs, from `frame` on outwards; None if there is none."""
    while frame is not None:
        if is_program(frame):
            return Line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


class Lines:
    """The lines of the statements of all tapes that record on this thread, between `start` and `stop`.

    Parameters
    ----------
    each : callable
        Called with the line that has ended, before every line of the user's.
    """

    def __init__(self, each):
        self._each, self._marks = each, weakref.WeakKeyDictionary()
        self._here, self._known, self._before, self._frames = None, {}, None, []

    def start(self, frame):
        """Trace from now on, in the user's functions that run already too; `frame` is the innermost."""
        self._before, self._here = sys.gettrace(), line_of(frame)
        while frame is not None:
            if self._is_users(frame):
                self._frames.append((frame, frame.f_trace))
                frame.f_trace = self._local
            frame = frame.f_back
        sys.settrace(self._called)

    def stop(self):
        """Trace no more."""
        sys.settrace(self._before)
        for frame, trace in self._frames:
            frame.f_trace = trace
        self._frames.clear()

    def settle(self, tape):
        """What the tape has got since the last time is of the line that runs."""
        marks, count = self._marks.setdefault(tape, []), tape.statements
        while marks and marks[-1][0] > count:      # it was reset
            marks.pop()
        if count > (marks[-1][0] if marks else 0):
            marks.append((count, self._here))

    def of(self, tape, number):
        """The Line of a statement by its number; None where nobody knows."""
        marks = self._marks.get(tape, [])
        place = bisect_right(marks, number, key=lambda mark: mark[0])
        return marks[place][1] if place < len(marks) else None

    def _is_users(self, frame):
        code = frame.f_code
        if code not in self._known:
            self._known[code] = is_program(frame)
        return self._known[code]

    def _called(self, frame, event, _):
        if not self._is_users(frame):
            return None
        self._end_line()
        self._here = Line(frame.f_code.co_filename, frame.f_lineno)
        return self._local

    def _local(self, frame, event, _):
        if event in ("line", "return"):
            self._end_line()
            if event == "return":
                self._here = line_of(frame.f_back)
            else:
                self._here = Line(frame.f_code.co_filename, frame.f_lineno)
        return self._local

    def _end_line(self):
        tape = active_tape()
        if tape is not None:
            self.settle(tape)
        self._each(self._here)
