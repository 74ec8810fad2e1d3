# SPDX-License-Identifier: Apache-2.0
"""What a comparison of strategies found: as text, as a dictionary for JSON, as CSV."""
from __future__ import annotations

import csv
import io
import statistics
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from codipy.tape.memory.statistics import readable
from codipy.tape.strategies.table import FORWARD_STRATEGY
from codipy.tools.comparison.measuring import NO_VALUES, PHASES
from codipy.tools.console.table import Table, line_width, sentences

__all__ = ["Comparison", "Row", "Times", "readable_seconds", "said_of_times"]


@dataclass(frozen=True)
class Times:
    """Median of repeated measurements, and half the distance of their quartiles: None of a single one."""

    median: float
    spread: float | None

    @classmethod
    def of(cls, measured):
        """The Times of a list of numbers."""
        if len(measured) == 1:
            return cls(measured[0], None)
        lower, median, upper = statistics.quantiles(measured, n=4, method="inclusive")
        return cls(median, (upper - lower) / 2)

    def __str__(self):
        return f"{self.median:.2f}" + ("" if self.spread is None else f" ± {self.spread:.2f}")


def said_of_times(repeat):
    """What the numbers of a table of times are."""
    if repeat == 1:
        return "one measurement, whose spread nobody knows"
    return f"median ± half the distance of the quartiles of {repeat} measurements, in turns with the plain run"


@dataclass(frozen=True)
class Row:
    """One way to record.

    Attributes
    ----------
    strategy, granularity : str
        The way.
    record, reverse, forward, replay : Times or None
        Multiples of the plain run; None of what this way cannot do.
    refused : dict
        What it cannot do, and why.
    used, allocated : int
        Bytes of the tape after a reverse sweep, adjoints included.
    adjoint_bytes : int
        Bytes of the adjoint vector.
    streams : dict
        Used bytes by title: of each data stream, and of primal values, array statements and array values.
    statements, live_identifiers, peak_identifiers : int
        Counts.
    gradient : list of float
        What came out, array after array; empty if it has more than 10,000 numbers, and of strategy 'forward' if it has
        more than 256, by which that differentiates in one direction only.
    gradient_difference, finite_difference : float or None
        Largest difference from the median of all rows, and from finite differences, over the largest component; None
        where no gradient was computed.
    """

    strategy: str
    granularity: str
    record: Times
    reverse: Times | None
    forward: Times | None
    replay: Times | None
    refused: dict
    used: int
    allocated: int
    adjoint_bytes: int
    streams: dict
    statements: int
    live_identifiers: int
    peak_identifiers: int
    gradient: list
    gradient_difference: float | None
    finite_difference: float | None

    @property
    def times(self):
        """Those of all phases."""
        return self.record, self.reverse, self.forward, self.replay


@dataclass(repr=False)
class Comparison:
    """The rows of a comparison and its verdict.

    Attributes
    ----------
    function : str
        Its name.
    value : float
        What it returned.
    numbers : int
        How many it was differentiated by.
    differenced : int
        How many of them have finite differences: not all, where that would take long.
    directions : int
        In how many random directions all of them have finite differences together, if not all have their own.
    repeat, runs : int
        Measurements, and runs in each.
    plain : Times
        Seconds of the plain run.
    rows : list of Row
        One for each strategy and granularity.
    disagreements : list of str
        Empty where all gradients agree.
    notes : list of str
        Where a gradient is NaN or infinite.
    memory : list of dict
        Where it was asked for: see `codipy.laboratory.memory.measure`.
    point : str
        Where the arguments come from, if the command line took them from a file.
    """

    function: str
    value: float
    numbers: int
    differenced: int
    directions: int
    repeat: int
    runs: int
    plain: Times
    rows: list[Row]
    disagreements: list[str]
    memory: list[dict[str, Any]] = field(default_factory=list)
    point: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def agree(self) -> bool:
        """Whether every gradient is that of the others and of finite differences."""
        return not self.disagreements

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has; the differences and gradients may hold NaN and infinities."""
        return {**asdict(self), "agree": self.agree}

    def to_csv(self) -> str:
        """The rows as CSV text with a header; a stream that a strategy does not have is empty."""
        text = io.StringIO()
        cells = [_flat(row) for row in self.rows]
        writer = csv.DictWriter(text, list(dict.fromkeys(name for row in cells for name in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells)
        return text.getvalue()

    def __str__(self):
        return self.table()

    def table(self, format: str = "text", width: int | None = None) -> str:
        """What was found as text.

        Parameters
        ----------
        format : str
            'text', 'markdown' or 'latex' (for the package booktabs).
        width : int, optional
            Letters in a line of text, at which tables fold; default is the terminal's, 80 without one.

        Returns
        -------
        str
        """
        point = f" at {self.point}" if self.point else ""
        spread = "" if self.plain.spread is None else f" ± {readable_seconds(self.plain.spread)}"
        lines = [
            f"{self.function}: value {self.value:.12g}, {self.numbers} numbers{point}, plain run "
            + readable_seconds(self.plain.median) + spread,
            f"Times are multiples of the plain run: {said_of_times(self.repeat)}."]
        if self.differenced < self.numbers:
            lines.append(f"Finite differences are those of {self.differenced} numbers. All of them were moved "
                         f"together in {self.directions} random directions.")
        width = width or line_width()
        tables = [line for one in self.tables() for line in ("", *one.lines(format, width))]
        refused = {(phase, reason) for row in self.rows for phase, reason in row.refused.items()
                   if row.strategy != FORWARD_STRATEGY and reason != NO_VALUES}
        said = [""] * bool(refused) + [f"No {phase} sweep: {reason}" for phase, reason in sorted(refused)]
        said += [f"{row['strategy']}, {row['granularity']}: {row['warning']}" for row in self.memory if row["warning"]]
        said += ["", *self._said()]
        return "\n".join([*sentences(lines, format, width), *tables, *sentences(said, format, width, "  ")])

    def __repr__(self):
        return f"<Comparison of {self.function}: {len(self.rows)} rows>"

    def _repr_html_(self):
        return "".join([*(one.html() for one in self.tables()), *(f"<p>{escape(line)}</p>" for line in self._said())])

    def _said(self):
        return [*self.disagreements, *self.notes] or ["All gradients agree."]

    def tables(self) -> list[Table]:
        """The tables: multiples and bytes, seconds, streams, and resident memory where it was asked for."""
        plain, rows = self.plain.median, self.rows
        streams = dict.fromkeys(name for row in rows for name in row.streams)
        found = [
            Table("", ["strategy", "granularity", "record", "reverse", "forward", "replay", "used", "allocated",
                       "adjoints", "statements", "live", "peak", "difference", "finite diff."],
                  [[row.strategy, row.granularity, *(_cell(time) for time in row.times), readable(row.used),
                    readable(row.allocated), readable(row.adjoint_bytes), str(row.statements),
                    str(row.live_identifiers), str(row.peak_identifiers),
                    *("-" if off is None else f"{off:.1e}" for off in (row.gradient_difference, row.finite_difference))]
                   for row in rows], 2),
            Table("Seconds, medians:", ["strategy", "granularity", "record", "reverse", "forward", "replay"],
                  [[row.strategy, row.granularity,
                    *("-" if time is None else readable_seconds(time.median * plain) for time in row.times)]
                   for row in rows], 2)]
        if streams:
            found.append(Table(
                "Bytes used by stream:", ["strategy", "granularity", *streams],
                [[row.strategy, row.granularity,
                  *(readable(row.streams[name]) if name in row.streams else "-" for name in streams)]
                 for row in rows if row.streams], 2))
        if self.memory:
            found.append(Table(
                "Peak resident memory, each in a process of its own:",
                ["strategy", "granularity", "peak", "grown by", "over plain", "sampled"],
                [[row["strategy"], row["granularity"], readable(row["peak"]), readable(row["growth"]),
                  readable(row["over_plain"]), "-" if row["sampled"] is None else readable(row["sampled"])]
                 for row in self.memory], 2))
        return found


def _cell(time):
    return "-" if time is None else str(time)


def _flat(row):
    cells = {}
    for name, value in asdict(row).items():
        if name in PHASES:
            cells |= {f"{name} {part}": "" if value is None else value[part] for part in ("median", "spread")}
        elif name not in ("gradient", "streams", "refused"):
            cells[name] = value
    return cells | {f"used by {name}": used for name, used in row.streams.items()}


def readable_seconds(seconds):
    """Seconds as text: us, ms or s.

    Examples
    --------
    >>> readable_seconds(0.00125)
    '1.25 ms'
    """
    unit, factor = ("s", 1.0) if seconds >= 1.0 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.2f} {unit}"
