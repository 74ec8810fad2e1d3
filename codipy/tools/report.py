# SPDX-License-Identifier: Apache-2.0
"""What a comparison of strategies found: as text, as a dictionary for JSON, as CSV."""
from __future__ import annotations

import csv
import io
import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from codipy.tape.statistics import readable
from codipy.tools.table import table

__all__ = ["Comparison", "Row", "Times"]


@dataclass(frozen=True)
class Times:
    """Median of repeated measurements, and half the distance of their quartiles."""

    median: float
    spread: float

    @classmethod
    def of(cls, measured):
        """The Times of a list of numbers."""
        if len(measured) == 1:
            return cls(measured[0], 0.0)
        lower, median, upper = statistics.quantiles(measured, n=4, method="inclusive")
        return cls(median, (upper - lower) / 2)

    def __str__(self):
        return f"{self.median:.2f} ± {self.spread:.2f}"


@dataclass(frozen=True)
class Row:
    """One way to record.

    Attributes
    ----------
    strategy, granularity : str
        The way.
    record, reverse : Times
        Multiples of the plain run.
    used, allocated : int
        Bytes of the tape after a reverse sweep, adjoints included.
    adjoint_bytes : int
        Bytes of the adjoint vector.
    streams : dict
        Used bytes of each data stream, and of the primal values where they are stored.
    statements, live_identifiers, peak_identifiers : int
        Counts.
    gradient : list of float
        What came out, array after array; empty if it has more than 10,000 numbers.
    gradient_difference, finite_difference : float
        Largest difference from the median of all rows, and from finite differences, over the largest component.
    """

    strategy: str
    granularity: str
    record: Times
    reverse: Times
    used: int
    allocated: int
    adjoint_bytes: int
    streams: dict
    statements: int
    live_identifiers: int
    peak_identifiers: int
    gradient: list
    gradient_difference: float
    finite_difference: float


@dataclass
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
    memory : list of dict
        Where it was asked for: see `codipy.tools.memory.measure`.
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
        lines = [
            f"{self.function}: value {self.value:.12g}, {self.numbers} numbers, plain run "
            f"{_seconds(self.plain.median)} ± {_seconds(self.plain.spread)}",
            f"Times are multiples of the plain run: median ± half the distance of the quartiles of {self.repeat} "
            "interleaved measurements."]
        if self.differenced < self.numbers:
            lines.append(f"Finite differences are those of {self.differenced} numbers. All of them were moved "
                         f"together in {self.directions} random directions.")
        lines.append("")
        lines += table(
            ["strategy", "granularity", "record", "reverse", "used", "allocated", "adjoints", "statements", "live",
             "peak", "difference", "finite diff."],
            [[row.strategy, row.granularity, str(row.record), str(row.reverse), readable(row.used),
              readable(row.allocated), readable(row.adjoint_bytes), str(row.statements), str(row.live_identifiers),
              str(row.peak_identifiers), f"{row.gradient_difference:.1e}", f"{row.finite_difference:.1e}"]
             for row in self.rows], texts=2)
        lines += ["", "Bytes used by stream:", *table(["strategy", "granularity", "streams"], [
            [row.strategy, row.granularity,
             ", ".join(f"{name} {readable(used)}" for name, used in row.streams.items())]
            for row in self.rows], texts=3)]
        if self.memory:
            lines += ["", "Peak resident memory, each in a process of its own:", *table(
                ["strategy", "granularity", "peak", "over plain", "samples", "getrusage"],
                [[row["strategy"], row["granularity"], readable(row["peak"]), readable(row["over_plain"]),
                  str(len(row["curve"])), "-" if row["rusage"] is None else readable(row["rusage"])]
                 for row in self.memory], texts=2)]
            lines += [f"{row['strategy']}, {row['granularity']}: {row['warning']}"
                      for row in self.memory if row["warning"]]
        lines += ["", *(self.disagreements or ["All gradients agree."])]
        return "\n".join(lines)


def _flat(row):
    cells = {}
    for name, value in asdict(row).items():
        if name in ("record", "reverse"):
            cells |= {f"{name} median": value["median"], f"{name} spread": value["spread"]}
        elif name not in ("gradient", "streams"):
            cells[name] = value
    return cells | {f"used by {name}": used for name, used in row.streams.items()}


def _seconds(seconds):
    unit, factor = ("s", 1.0) if seconds >= 1.0 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
    return f"{seconds * factor:.2f} {unit}"
