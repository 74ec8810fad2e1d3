# SPDX-License-Identifier: Apache-2.0
"""Who looks on: what recordings, sweeps and plain values say, and what of it is trouble."""
from __future__ import annotations

import sys
import threading
from contextlib import contextmanager

import numpy as np

from codipy.active import Real
from codipy.active.array import Array, identifiers
from codipy.active.inputs import was_overwritten
from codipy.errors import TapeError, UndifferentiableError
from codipy.laboratory.trouble.asked import asked_by
from codipy.laboratory.trouble.lines import Lines, line_of
from codipy.laboratory.trouble.recorded import Recorded
from codipy.laboratory.trouble.report import Finding
from codipy.patterns.recorded import Recorded as Pattern
from codipy.tape.activity import active_tape
from codipy.tape.display.dump import brief, leaves
from codipy.tape.second import allow_second

__all__ = ["Watcher"]

_DIRECTIONS = 8      # of a sweep that are looked at
_LOST = 1e8      # the sum of magnitudes over the magnitude of a sum from which on digits are lost
_DIGITS = 16
_SHOWN = 3      # adjoints that cancel, the worst
_TRIED = 12      # ... of so many, of which some may not matter
_COMMON = {0.0, 0.5, 1.0, 2.0}      # constants that stand in programs anyway


class Watcher:
    """Looks on for one thread.

    Parameters
    ----------
    report : Troubles
        Gets what is found.
    names : list of str, optional
        What the inputs of the first recording are called, in order.
    again : bool
        Whether the function can run again with other plain values, so that it need not be looked for these.

    Attributes
    ----------
    plain_lines : dict
        Lines that turned active values into plain ones: their first value.
    """

    def __init__(self, report, names=(), again=False):
        self.report, self._names, self._again, self.plain_lines = report, list(names), again, {}
        self._thread, self._busy, self._lines = threading.get_ident(), False, Lines(self._line_ended)
        self._runs = {}      # recordings by the id of their tape

    def start(self, frame):
        """Look on from now on; `frame` is the innermost of the user's."""
        self._lines.start(frame)

    def stop(self):
        """Look no more."""
        self._lines.stop()
        self._runs.clear()

    # ---- What the core calls ----

    def made(self, tape):
        """A tape was made."""

    def began(self, tape):
        """A tape records from now on."""
        if not tape.can_sweep:
            self.report.note("a tape of strategy 'forward', which keeps nothing to look at: take another strategy")
        elif not tape.watched:
            self.report.note("a tape that was made before, or by what measures strategies (codipy.compare, say): "
                             "make it inside of `with codipy.debug():`")
        elif threading.get_ident() != self._thread:
            self.report.note("a recording on another thread")
        elif tape.statements == 0:
            allow_second(tape)      # so that each identifier names one value
            self._runs[id(tape)] = _Run(tape)

    def ended(self, tape):
        """A tape records no more."""
        run = self._run_of(tape)
        if run is None or self._busy:
            return
        with self._looking():
            self._lines.settle(tape)
            self.report.recordings += 1
            recorded = run.recorded()
            self._look_at_values(recorded)
            if run.outputs:
                self._look_at_dependence(run, recorded, *run.output_identifiers())
            if not self._again:      # which tells more
                self._look_at_plain(run, recorded)

    def input(self, tape, x):
        """An Array became an input."""
        if (run := self._run_of(tape)) is not None:
            run.arrays.append((x, "input", None if self._names else line_of(sys._getframe(1))))

    def output(self, tape, y):
        """Something becomes an output."""
        if (run := self._run_of(tape)) is not None and not self._busy:
            run.outputs.append((y, line_of(sys._getframe(1))))
            if type(y) is Array:
                run.arrays.append((y, "output", line_of(sys._getframe(1))))

    def sweeps(self, tape, adjoints, whole):
        """A reverse sweep begins."""
        run = self._run_of(tape)
        if run is None or self._busy:
            return
        if not whole:
            self.report.note("a sweep between two positions")
            return
        with self._looking():
            self.report.sweeps += 1
            recorded = run.recorded()
            seeds = adjoints.read(np.arange(tape.identifiers))
            flowing = np.flatnonzero(np.any(seeds != 0, axis=0))
            if flowing.size > _DIRECTIONS:
                self.report.note(f"directions of a sweep beyond the first {_DIRECTIONS}")
            for direction in flowing[:_DIRECTIONS]:
                if self._look_at_adjoints(recorded, seeds[:, direction].copy()):
                    break
            if not run.outputs:
                outputs = np.flatnonzero(np.any(seeds != 0, axis=1))
                self._look_at_dependence(run, recorded, outputs, [None] * len(outputs))

    def plain(self, x, value):
        """A variable is asked for its plain value; returns what it gives."""
        tape = active_tape()
        if tape is None or self._busy:
            return value
        line = asked_by(sys._getframe(1))
        if line is None:
            return value
        with self._looking():
            if not x.is_active:
                return value
            self.plain_lines.setdefault(line, value)
            run = self._run_of(tape)
            if run is not None and type(x) is Array and np.ndim(value):
                run.plain_arrays.append((value, line))
            elif run is not None and abs(float(value)) not in _COMMON:
                run.plain[float(value)] = line
        return value

    @contextmanager
    def _looking(self):
        """What is asked for meanwhile is asked by this object."""
        self._busy, trace = True, sys.gettrace()
        sys.settrace(None)
        try:
            yield
        finally:
            self._busy = False
            sys.settrace(trace)

    def _run_of(self, tape):
        return self._runs.get(id(tape))

    # ---- What is wrong ----

    def _line_ended(self, line):
        """Whether a registered array was written to on this line."""
        if self._busy:
            return
        for run in self._runs.values():
            if run.arrays:
                self._look_at_written(run, line)

    def _look_at_written(self, run, line):
        for place in range(len(run.arrays) - 1, -1, -1):
            x, role, registered = run.arrays[place]
            if was_overwritten(x):
                del run.arrays[place]
                told = ("its gradient is that of what was registered, not of what it holds now" if role == "input" else
                        "a seed is for what was registered, not for what it holds now")
                made = f", registered at {registered}" if registered is not None and registered != line else ""
                self.report.add(Finding("overwritten", f"an {role} of shape {x.shape}{made}: {told}", _said(line)))

    def _look_at_values(self, recorded):
        for number, entry in enumerate(recorded.entries):
            for slots in entry.results if entry.kind != "place" else ():
                if slots is None:
                    continue
                ids = slots.identifiers()
                wrong = recorded.known[ids] & ~np.isfinite(recorded.values[ids])
                if not wrong.any():
                    continue
                place = tuple(map(int, np.argwhere(wrong)[0]))
                text = _numbers(recorded.values[ids], wrong, place)
                if entry.kind == "input":
                    text = f"{text} in {self._input_name(recorded, number)}, which is an input"
                self.report.add(Finding("value", text, self._line(recorded, number),
                                        *self._said(recorded, entry, place)))
                return

    def _look_at_adjoints(self, recorded, adjoints):
        """Whether one is not finite; where none is, which cancel."""
        sums = np.abs(adjoints)
        if not np.isfinite(adjoints).all():
            self.report.add(Finding("adjoint", f"a seed is {brief(adjoints[~np.isfinite(adjoints)][0])}"))
            return True
        for number, ids, shares in recorded.pulled(adjoints):
            wrong = ~np.isfinite(shares)
            if wrong.any():
                self._say_adjoint(recorded, number, ids, shares, wrong, adjoints)
                return True
            np.add.at(sums, ids, np.abs(shares))
        with np.errstate(all="ignore"):
            lost = np.where(adjoints != 0, sums / np.abs(adjoints), 0.0)
        said = 0
        for identifier in np.argsort(-lost)[:_TRIED]:
            if not lost[identifier] >= _LOST or said == _SHOWN:
                break
            if not self._reaches_an_input(recorded, identifier, sums[identifier], adjoints):
                continue
            said += 1
            number = recorded.maker_of(identifier)
            text = (f"the adjoint of {self._name(recorded, number, identifier)} is {brief(adjoints[identifier])}, the "
                    f"sum of terms whose magnitudes sum up to {brief(sums[identifier])}: about "
                    f"{min(_DIGITS, int(np.log10(lost[identifier])))} of {_DIGITS} digits are lost")
            self.report.add(Finding("cancel", text, self._line(recorded, number),
                                    *self._said(recorded, recorded.entries[number])))
        return False

    def _reaches_an_input(self, recorded, identifier, size, adjoints):
        """Whether digits that an adjoint has lost are digits of an input's derivative.

        Where a root has converged the adjoints of its last steps cancel, and should: next to nothing depends on them.
        """
        inner = np.zeros_like(adjoints)
        inner[identifier] = 1.0
        for _ in recorded.pulled(inner):
            pass
        ids = np.concatenate([entry.results[0].identifiers().ravel() for entry in recorded.entries
                              if entry.kind == "input"] or [np.zeros(0, np.int64)])
        through, whole = np.abs(inner[ids]) * size, np.abs(adjoints[ids])
        return bool(np.any((whole > 0) & (through >= _LOST * whole)) or not np.isfinite(through).all())

    def _say_adjoint(self, recorded, number, ids, shares, wrong, adjoints):
        entry, identifier = recorded.entries[number], int(ids[wrong][0])
        bars = np.concatenate([adjoints[slots.identifiers()].ravel() for slots in entry.results if slots is not None])
        slots = next(slots for slots in entry.results if slots is not None)
        place = None
        for operand in entry.operands:
            if operand.slots is not None and operand.slots.shape == slots.shape:
                hit = np.argwhere(operand.slots.identifiers() == identifier)
                place = tuple(map(int, hit[0])) if len(hit) and place is None else place
        bar = bars[0] if bars.size == 1 else adjoints[slots.identifiers()][place] if place is not None else bars
        text = (f"the adjoint of #{identifier} gets {brief(shares[wrong][0])} where that of the result is "
                f"{brief(bar)}")
        self.report.add(Finding("adjoint", text, self._line(recorded, number), *self._said(recorded, entry, place)))

    def _look_at_dependence(self, run, recorded, outputs, lines):
        """Inputs that nothing depends on, and outputs that depend on nothing."""
        inputs = [(number, entry) for number, entry in enumerate(recorded.entries) if entry.kind == "input"]
        for k, (y, line) in enumerate(run.outputs if run.outputs else ()):
            if not run.is_active(y):
                self.report.add(Finding("output", f"output {k} is {brief(run.value(y))}, whatever the inputs are",
                                        _said(line)))
        if not inputs or not len(outputs):
            return
        ids = np.concatenate([entry.results[0].identifiers().ravel() for _, entry in inputs])
        try:
            pattern = Pattern(recorded.tape, ids, np.asarray(outputs))
            reached = pattern.reverse(np.ones(len(outputs), np.uint64)) != 0
            reaching = pattern.forward(np.ones(len(ids), np.uint64)) != 0
        except (TapeError, UndifferentiableError) as error:
            self.report.note(f"what depends on what: {error}")
            return
        for identifier, line, reaches in zip(outputs, lines, reaching):
            if reaches:
                continue
            number = recorded.maker_of(identifier)
            self.report.add(Finding("output", f"#{identifier} is a constant for derivatives, whatever the inputs are",
                                    _said(line) or self._line(recorded, number),
                                    *self._said(recorded, recorded.entries[number])))
        start = 0
        for number, entry in inputs:
            size = int(np.prod(entry.results[0].shape, dtype=int))
            unread = ~reached[start:start + size]
            start += size
            if unread.any():
                which = "" if unread.all() else f"{_elements(unread, entry.results[0].shape)} of "
                self.report.add(Finding("input", f"{which}{self._input_name(recorded, number)}: the derivative is 0",
                                        self._line(recorded, number)))

    def _look_at_plain(self, run, recorded):
        """Whether a plain value stands in a statement just as a variable gave it."""
        for number, entry in enumerate(recorded.entries if run.plain or run.plain_arrays else ()):
            for operand in entry.operands:
                line = run.taken(operand.value) if operand.slots is None else None
                if line is not None:
                    self.report.add(Finding("plain", f"{brief(operand.value)} stands in another statement, at "
                                            f"{self._line(recorded, number)}, as a constant: its derivative is lost",
                                            str(line), *self._said(recorded, entry)))

    # ---- How it is said ----

    def _line(self, recorded, number):
        if self._names and recorded.entries[number].kind == "input":      # registered by us
            return ""
        return _said(self._lines.of(recorded.tape, number))

    def _input_name(self, recorded, number):
        place = sum(entry.kind == "input" for entry in recorded.entries[:number])
        return self._names[place] if place < len(self._names) else f"input {place}"

    def _name(self, recorded, number, identifier):
        entry = recorded.entries[number]
        return f"#{identifier}" + (f", {self._input_name(recorded, number)}," if entry.kind == "input" else "")

    def _said(self, recorded, entry, place=None):
        """A statement as text, and its operands; of arrays those of one element."""
        if entry.kind == "input":
            return "", {}
        operands = {}
        for operand in entry.operands:
            value = recorded.value(operand)
            if operand.slots is None:
                continue
            if place and np.shape(value) and len(place) == np.ndim(value):
                said = f"{brief(float(value[place]))} at {list(place)}"
            else:
                said = brief(value)
            number = recorded.maker(operand.slots)
            made = "" if number is None else self._line(recorded, number)
            if number is not None and recorded.entries[number].kind == "input":
                made = self._input_name(recorded, number)
            operands[str(operand.slots)] = said + (f" ({made})" if made else "")
        return entry.text(leaves(entry)), operands


class _Run:
    """One recording."""

    def __init__(self, tape):
        self.tape, self.arrays, self.outputs, self._recorded = tape, [], [], None
        self.plain, self.plain_arrays = {}, []      # plain values that were taken, and the lines

    def taken(self, value):
        """The line that took a plain value, once; None if there is none."""
        if isinstance(value, float):
            return self.plain.pop(value, None)
        for place, (array, line) in enumerate(self.plain_arrays):
            if np.shape(value) == array.shape and np.array_equal(value, array):
                del self.plain_arrays[place]
                return line
        return None

    def recorded(self):
        """What is on the tape now."""
        if self._recorded is None or len(self._recorded.entries) != self.tape.statements:
            self._recorded = Recorded(self.tape)
        return self._recorded

    def is_active(self, y):
        """Whether an output depends on anything that was recorded."""
        return type(y) in (Real, Array) and y.is_active

    @staticmethod
    def value(y):
        """Of an output."""
        return y.value if type(y) in (Real, Array) else y

    def output_identifiers(self):
        """Of all elements of the outputs, and a line for each."""
        found, lines = [], []
        for y, line in self.outputs:
            ids = np.unique(identifiers(y)) if self.is_active(y) else np.zeros(0, np.int64)
            ids = ids[ids > 0]
            found.append(ids)
            lines += [line] * len(ids)
        return np.concatenate(found or [np.zeros(0, np.int64)]), lines


def _said(line):
    return "" if line is None else str(line)


def _numbers(values, wrong, place):
    if not values.shape:
        return f"{float(values)}"
    return f"{float(values[place])} at {list(place)}, {int(wrong.sum())} of {values.size} elements"


def _elements(unread, shape):
    """Which elements, in few words."""
    places = np.argwhere(unread.reshape(shape))
    shown = ", ".join(str(list(map(int, place))) for place in places[:_SHOWN])
    return f"{len(places)} of {unread.size} elements, {shown}{', ...' if len(places) > _SHOWN else ''},"
