# SPDX-License-Identifier: Apache-2.0
"""How often the user's loops go round, and where on the tape each iteration begins."""
from __future__ import annotations

import ast
import dis
import sys
from dataclasses import dataclass, field

from codipy.laboratory.profiling.calls import RESUMES
from codipy.laboratory.profiling.lines import loops_of
from codipy.tape import active_tape

__all__ = ["Course", "Rounds"]


@dataclass
class Course:
    """
    What a loop did.

    Attributes
    ----------
    runs : int
        How often it was entered, and ran once at least.
    iterations : int
        Of all runs.
    begins : list of int
        Of its only run: how many statements and records were on the tape when each iteration began.
    ends : int
        How many there were when that run was over.
    """

    runs: int = 0
    iterations: int = 0
    begins: list[int] = field(default_factory=list)
    ends: int = 0


class Rounds:
    """Follows the lines of functions that have loops while it is entered, on this thread, by ``sys.settrace``.

    An iteration begins where the program comes from the line of a loop into its body. Of a `for` on one line the jump
    back to its head ends one; a `while` on one line is not followed. A debugger is told of nothing meanwhile.

    Rejected was to take a place that put something on the tape once in each iteration for its beginning: a loop with
    nothing but a loop in it has none, and of what waits until the loop is over the tape says nothing.

    Parameters
    ----------
    is_users : callable
        Whether a code object is the user's.

    Attributes
    ----------
    courses : dict
        (file, line) of a loop -> Course.
    """

    def __init__(self, is_users):
        self._is_users, self._before, self._known = is_users, None, {}
        self.courses: dict[tuple[str, int], Course] = {}

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *exception):
        sys.settrace(self._before)

    def _called(self, frame, event, _):
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._kinds(code) if self._is_users(code) else []
        if not self._known[code]:
            return None
        # A generator that goes on is told of as called, and has what follows it.
        return frame.f_trace or self._follower(frame)

    def _kinds(self, code):
        """(class, loop, Course) of each loop that can be followed."""
        found = []
        for loop in loops_of(code):
            head_ends = (loop.test if isinstance(loop, ast.While) else loop.iter).end_lineno
            kind = _Loop if loop.body[0].lineno > head_ends else None if isinstance(loop, ast.While) else _Short
            if kind is not None:
                found.append((kind, loop, self.courses.setdefault((code.co_filename, loop.lineno), Course())))
        return found

    def _follower(self, frame):
        loops = [kind(loop, course, frame.f_code) for kind, loop, course in self._known[frame.f_code]]
        goes_on = frame.f_code.co_flags & RESUMES

        def told(frame, event, _):
            if event == "line":
                for loop in loops:
                    loop.reached(frame.f_lineno, frame.f_lasti)
            elif event == "return":
                for loop in loops:
                    loop.end(goes_on)
            return told

        return told


class _Loop:
    """A loop in one frame."""

    def __init__(self, loop, course, code):
        self.course, self.line, self.runs, self.is_inside = course, loop.lineno, False, False
        self.first, self.last = loop.body[0].lineno, loop.body[-1].end_lineno

    def reached(self, line, _):
        """The frame comes to a line."""
        is_inside = self.first <= line <= self.last
        if is_inside and not self.is_inside:
            self.begin(_passed())
        elif self.runs and not self.line <= line <= self.last:
            self.end()
        self.is_inside = is_inside

    def begin(self, passed):
        course = self.course
        course.iterations += 1
        if not self.runs:
            self.runs = True
            course.runs += 1
            if course.runs == 2:
                course.begins.clear()
        if course.runs == 1:
            course.begins.append(passed)

    def end(self, goes_on=False):
        if self.runs and self.course.runs == 1:
            self.course.ends = _passed()
        self.runs = self.runs and bool(goes_on)


class _Short(_Loop):
    """A `for` on one line."""

    def __init__(self, loop, course, code):
        super().__init__(loop, course, code)
        self.before, self.since = 0, 0
        # The last jump back of the line is that of the loop: those of comprehensions are inside, or in its head before.
        # The interpreter tells of the jump, or of where it leads to.
        line, self.head = 0, range(0)
        for instruction in dis.get_instructions(code):
            line = instruction.starts_line if isinstance(instruction.starts_line, int) and not isinstance(
                instruction.starts_line, bool) else getattr(instruction, "line_number", None) or line
            is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
            if is_jump and instruction.argval < instruction.offset and line == loop.lineno:
                self.head = range(instruction.argval, instruction.offset + 1)

    def reached(self, line, at):
        if line == self.line != self.before:
            self.since = _passed()
        elif line == self.line and at in (self.head.start, self.head.stop - 1):
            self.begin(self.since)
            self.since = _passed()
        elif self.runs and line != self.line:
            self.end()
        self.before = line


def _passed():
    """How many statements and records are on the tape that records."""
    tape = active_tape()
    return 0 if tape is None else tape.statements
