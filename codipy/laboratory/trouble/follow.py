# SPDX-License-Identifier: Apache-2.0
"""Whether plain values that code took of active ones reach its result: run again with them changed, line by line.

A number that has left the tape cannot be followed: it may be stored, branched on, or written into a plain array. So the
function says itself whether it matters. Rejected: a float of a class of our own, which Python's and NumPy's arithmetic
turn into a plain one at the next step.
"""
from __future__ import annotations

import sys

import numpy as np

from codipy.active import Tape
from codipy.laboratory.trouble.asked import asked_by
from codipy.laboratory.trouble.report import Finding
from codipy.tape.activity import active_tape
from codipy.tape.display.dump import brief
from codipy.tape.provenance.watching import watched_by

__all__ = ["follow"]

_MOST = 32      # lines that are followed
_STEP = 2.0 ** -20
_NOISE = 1e-11      # changes of results that are rounding, over the largest of them


def follow(report, plain_lines, problem):
    """Add a finding for each line that turns active values into plain ones on which the result depends.

    Parameters
    ----------
    report : Troubles
    plain_lines : dict
        Lines, and the first value that was taken there.
    problem : Weighted
    """
    if not plain_lines:
        return
    usual = _results(problem, None)
    if not _same(usual, _results(problem, None)):
        report.note("plain values: the function returns something else at each call, so that nobody can tell what they "
                    "change. Seed its random numbers, and keep nothing between calls")
        return
    for line, value in list(plain_lines.items())[:_MOST]:
        try:
            changed = _results(problem, line)
        except Exception as error:      # the user's code, given values that it did not expect
            said = f"the run ends in {type(error).__name__}: {error}"
        else:
            said = _moved(usual, changed)
        if said:
            report.add(Finding("plain", f"the value {brief(value)} is a constant for derivatives; where it is larger "
                               f"by a millionth, {said}", str(line)))
    if len(plain_lines) > _MOST:
        report.note(f"{len(plain_lines) - _MOST} more lines that turn active values into plain ones")


class _Changing:
    """Gives other plain values on one line; looks at nothing."""

    def __init__(self, line):
        self._line, self._busy = line, False

    def plain(self, x, value):
        """What a variable gives as its value."""
        if self._busy or self._line is None or active_tape() is None:
            return value
        if asked_by(sys._getframe(1)) != self._line:
            return value
        self._busy = True
        try:
            if not x.is_active:
                return value
            changed = np.where(np.asarray(value) == 0, _STEP, np.asarray(value) * (1 + _STEP))
            return changed if isinstance(value, np.ndarray) else type(value)(changed)
        finally:
            self._busy = False

    def _nothing(self, *_):
        pass

    made = began = ended = input = output = sweeps = _nothing


def _results(problem, line):
    before = watched_by(_Changing(line))
    try:
        return problem.values(problem.record(Tape()).value)
    finally:
        watched_by(before)


def _same(one, other):
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=True)


def _moved(usual, changed):
    """What is said of another result; empty where it is the same but for rounding."""
    if usual.shape != changed.shape:
        return "the result has another shape"
    if not np.array_equal(np.isfinite(usual), np.isfinite(changed)):
        return "other numbers of the result are finite"
    finite = np.isfinite(usual)
    moved = np.abs(changed - usual)[finite].max(initial=0.0)
    size = np.abs(usual)[finite].max(initial=0.0)
    return f"the result changes by {brief(moved)}" if moved > _NOISE * size else ""
