# SPDX-License-Identifier: Apache-2.0
"""What one process of a study found out: one combination, and the numbers that tables and figures are made of."""
from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass, field

from codipy.laboratory.plan import PLAIN, Combination
from codipy.tools.comparison.measuring import PHASES
from codipy.tools.comparison.report import Times
from codipy.tools.console.json_text import with_numbers

__all__ = ["Measurement"]

_TEXTS = ("combination", "error", "mark", "process", "refused", "warning")


@dataclass
class Measurement:
    """One combination.

    Attributes
    ----------
    combination : Combination
    error : str or None
        Why nothing was measured; then what follows is empty.
    value : float
        Of the function.
    numbers : int
        How many it is differentiated by.
    plain : list of float
        Seconds of plain runs in the same process, in turns with what follows.
    seconds : dict
        Phase to as many seconds; those of `codipy.tools.comparison.measuring.PHASES` that this way can do.
    refused : dict
        The other phases, and why not.
    copied : list of float
        Bytes a second that a copy of large arrays moved in between.
    statements, arguments : int
        Of the recording; arguments are those of scalar statements.
    sections : dict
        Title to used, allocated (bytes) and items, of data streams, primal values, array statements and array values.
    streams : dict
        Title to the used bytes alone.
    used, allocated, adjoint_bytes, identifier_bytes : int
        Bytes of the whole tape with adjoints of the width, and of parts of it.
    live, peak_live, largest : int
        Identifiers.
    baseline, peak, peak_record : int
        Resident bytes before the first recording, and the kernel's high-water mark after its sweep and before.
    mark : str
        Whose mark that is.
    sampled : int or None
        The largest of memory-profiler's samples.
    curve : list
        Pairs of seconds and resident bytes of the first recording and its sweep.
    marks : dict
        Where in these seconds the phases begin.
    timeline : list
        Lines of the program that ran, statements, live and largest identifiers, used bytes, over a recording: see
        `codipy.laboratory.sampled.Sample`; then the share of passive operands, None where the tape does not keep them,
        and the most identifiers that were live so far. Studies of before lack the last of these.
    process : str
        'fresh' or 'forked'.
    warning : str or None
        Where the two witnesses of the peak do not agree, or the first recording and the last.
    gradient_difference, finite_difference : float or None
        Largest difference from the median of all rows of the point, and from finite differences, over the largest
        component.
    """

    combination: Combination
    error: str | None = None
    value: float = math.nan
    numbers: int = 0
    runs: int = 0
    plain: list = field(default_factory=list)
    seconds: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    copied: list = field(default_factory=list)
    statements: int = 0
    arguments: int = 0
    sections: dict = field(default_factory=dict)
    used: int = 0
    allocated: int = 0
    adjoint_bytes: int = 0
    identifier_bytes: int = 0
    live: int = 0
    peak_live: int = 0
    largest: int = 0
    baseline: int = 0
    peak: int = 0
    peak_record: int = 0
    mark: str = ""
    sampled: int | None = None
    curve: list = field(default_factory=list)
    marks: dict = field(default_factory=dict)
    timeline: list = field(default_factory=list)
    process: str = ""
    warning: str | None = None
    differenced: int = 0
    tangent: float | None = None
    gradient_difference: float | None = None
    finite_difference: float | None = None

    @classmethod
    def of(cls, stored):
        """What `to_dict` gave."""
        numbers = {name: value if name in _TEXTS else with_numbers(value) for name, value in dict(stored).items()}
        return cls(**{**numbers, "combination": Combination.of(stored["combination"])})

    def to_dict(self):
        """In types that JSON has."""
        return {**asdict(self), "combination": self.combination.to_dict()}

    @property
    def is_plain(self):
        """Whether it is the run without a tape."""
        return self.combination.strategy == PLAIN

    @property
    def streams(self):
        """Used bytes by title, as rows of comparisons and of predictions have them."""
        return {title: section["used"] for title, section in self.sections.items()}

    @property
    def way(self):
        """What stays the same over the points."""
        asked = self.combination
        return asked.strategy, asked.granularity, asked.chunk_size, asked.width

    @property
    def size(self):
        """What growth is fitted against: what ``x0(size)`` was given, or how many numbers there are."""
        return self.combination.point.size or self.numbers

    @property
    def growth(self):
        """Bytes by which the resident memory grew."""
        return self.peak - self.baseline

    @property
    def plain_seconds(self):
        """The median of the plain runs."""
        return statistics.median(self.plain) if self.plain else math.nan

    def median(self, phase):
        """Seconds of a phase, None where there are none."""
        return statistics.median(self.seconds[phase]) if phase in self.seconds else None

    def ratios(self, phase):
        """Each time of a phase over that of the plain run beside it."""
        return [taken / plain for taken, plain in zip(self.seconds.get(phase, ()), self.plain)]

    def times(self, phase):
        """Median and spread of these, None where there are none."""
        return Times.of(self.ratios(phase)) if phase in self.seconds else None

    @property
    def gradient_seconds(self):
        """Samples of record and reverse together; of strategy 'forward' of its run."""
        recorded = self.seconds.get("record", [])
        return [sum(parts) for parts in zip(recorded, self.seconds.get("reverse", [0.0] * len(recorded)))]

    @property
    def arguments_each(self):
        """Arguments of a scalar statement, None where there is none."""
        statements = next((self.sections[title]["items"] for title in ("statement entries", "operator data")
                           if title in self.sections), 0)
        return self.arguments / statements if statements else None

    @property
    def swept_bytes(self):
        """Bytes that a reverse sweep reads: those of what was recorded."""
        return sum(self.streams.values())

    @property
    def sweep_rate(self):
        """These bytes over the seconds of the reverse sweep, None without one."""
        taken = self.median("reverse")
        return self.swept_bytes / taken if taken and self.swept_bytes else None

    @property
    def copy_rate(self):
        """Bytes a second of a copy in the same process, None where none was measured."""
        return statistics.median(self.copied) if self.copied else None

    def quantities(self):
        """Every number: quantity, part, sample, value and unit."""
        for sample, taken in enumerate(self.plain):
            yield "time", "plain", sample, taken, "s"
        for phase in PHASES:
            for sample, taken in enumerate(self.seconds.get(phase, ())):
                yield "time", phase, sample, taken, "s"
            for sample, ratio in enumerate(self.ratios(phase)):
                yield "time over plain", phase, sample, ratio, "1"
        if not self.is_plain:
            for part in ("used", "allocated"):
                yield "tape", part, "", getattr(self, part), "B"
            yield "tape", "adjoints", "", self.adjoint_bytes, "B"
            yield "tape", "identifiers", "", self.identifier_bytes, "B"
            for title, section in self.sections.items():
                for part in ("used", "allocated"):
                    yield f"{part} by stream", title, "", section[part], "B"
            for name in ("statements", "arguments"):
                yield "recorded", name, "", getattr(self, name), "1"
            if self.arguments_each is not None:
                yield "recorded", "arguments a scalar statement", "", self.arguments_each, "1"
            for name, count in (("live", self.live), ("peak live", self.peak_live), ("largest", self.largest)):
                yield "identifiers", name, "", count, "1"
        for name, size in (("baseline", self.baseline), ("peak", self.peak), ("growth", self.growth),
                           ("peak while recording", self.peak_record), ("sampled peak", self.sampled)):
            if size is not None:
                yield "resident memory", name, "", size, "B"
        for sample, rate in enumerate(self.copied):
            yield "bandwidth", "copy", sample, rate, "B/s"
        if self.sweep_rate is not None:
            yield "bandwidth", "reverse sweep", "", self.sweep_rate, "B/s"
        for name in ("gradient_difference", "finite_difference"):
            if getattr(self, name) is not None:
                yield "difference", name.partition("_")[0], "", getattr(self, name), "1"
