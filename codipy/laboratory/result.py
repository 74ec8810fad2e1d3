# SPDX-License-Identifier: Apache-2.0
"""The result of a study, and the forms that it can be had in."""
from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codipy.laboratory.errors import StudyError
from codipy.laboratory.fits import METRICS, Fit, Overtaking, fits_of, overtakings_of, title_of
from codipy.laboratory.measurement import Measurement
from codipy.laboratory.resident import EXTRA
from codipy.tape.html import framed
from codipy.tape.memory.statistics import readable
from codipy.tools.comparison.measuring import PHASES
from codipy.tools.comparison.report import readable_seconds, said_of_times
from codipy.tools.console.json_text import json_text
from codipy.tools.console.table import Table, line_width, sentences

__all__ = ["COLUMNS", "Study"]

_FORMAT = 2      # of the JSON text
COLUMNS = ("function", "point", "size", "steps", "numbers", "strategy", "granularity", "chunk_size", "width",
           "quantity", "part", "sample", "value", "unit")


@dataclass
class Study:
    """What a study found.

    Attributes
    ----------
    function : str
        Its name.
    header : dict
        Where and how it was measured: versions, processor, date, choices.
    rows : list of Measurement
        One for each combination, the plain run of each point included.
    disagreements : list of str
        Empty where all gradients agree.
    notes : list of str
        Where a gradient is NaN or infinite.
    """

    function: str
    header: dict[str, Any]
    rows: list[Measurement]
    disagreements: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def agree(self) -> bool:
        """Whether every gradient is that of the others and of finite differences, and nothing failed."""
        return not self.disagreements and not any(row.error for row in self.rows)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Study of {self.function}: {len(self.rows)} measurements>"

    @property
    def taped(self) -> list[Measurement]:
        """The rows with a tape that were measured."""
        return [row for row in self.rows if not row.is_plain and row.error is None]

    def plain_of(self, row: Measurement) -> Measurement | None:
        """The row of the plain run at the same point."""
        return next((other for other in self.rows if other.is_plain and other.error is None
                     and other.combination.point == row.combination.point), None)

    def over_plain(self, row: Measurement) -> int | None:
        """Bytes by which the memory of a row grew more than that of the plain run."""
        plain = self.plain_of(row)
        return None if plain is None else row.growth - plain.growth

    def fits(self) -> list[Fit]:
        """How bytes and seconds grow."""
        return fits_of(self.rows)

    def overtakings(self, winners_only: bool = True) -> list[Overtaking]:
        """Where a way gets below another: the best of all at least, or every pair."""
        return overtakings_of(self.rows, winners_only=winners_only)

    def table(self, format: str = "text", width: int | None = None, details: bool | None = None) -> str:
        """The tables as text.

        Parameters
        ----------
        format : str
            'text', 'markdown' or 'latex' (for the package booktabs).
        width : int, optional
            Letters in a line of text; default is the terminal's, 80 without one.
        details : bool, optional
            Whether all tables are shown; default is few for text, all else.

        Returns
        -------
        str
        """
        width = width or line_width()
        details = format != "text" if details is None else details
        lines = sentences(self.summary(), format, width)
        tables = [line for one in (self.tables() if details else self.overview())
                  for line in ("", *one.lines(format, width))]
        return "\n".join([*lines, *tables, "", *sentences(self.findings(), format, width, "  ")])

    def to_latex(self) -> str:
        """The tables for a paper, with the rules of the package booktabs."""
        return self.table("latex")

    def to_markdown(self) -> str:
        """The tables in GitHub's Markdown."""
        return self.table("markdown")

    def summary(self) -> list[str]:
        """Lines that say what was measured, where, and how."""
        made = self.header
        plain = {row.combination.point.label: row for row in self.rows if row.is_plain and row.error is None}
        places = made.get("points") or {}
        if not self.rows:
            return [f"{self.function}: nothing was measured."]
        return [
            f"{self.function}: " + "; ".join(
                f"{label}{_place(places.get(label))}: value {row.value:.12g}, {row.numbers} numbers, plain run "
                f"{readable_seconds(row.plain_seconds)}" for label, row in plain.items()),
            f"codipy {made.get('codipy')}, Python {made.get('python')}, NumPy {made.get('numpy')}, "
            f"{made.get('processor')}, {made.get('system')}, {made.get('date')}; time is {made.get('clock')}",
            f"Each combination ran in a process of its own. Times over plain: {said_of_times(made.get('repeat'))}. "
            f"Memory: {_marks(self.rows)}"]

    def findings(self) -> list[str]:
        """Sentences: who overtakes whom, what failed, what does not agree."""
        found = [str(overtaking) for overtaking in self.overtakings()]
        found += [f"{row.combination.title}: {row.warning}" for row in self.rows if row.warning]
        found += [f"{row.combination.title} failed: {row.error}" for row in self.rows if row.error]
        if len({row.process for row in self.rows if row.process}) and any(row.process == "forked" for row in self.rows):
            found.append("No other process can find the function, so each was a copy of this one: its memory starts "
                         "with what this one had. Put the function into a module for fresh ones.")
        if not self.header.get("finished", True):
            found.append("The study was stopped before its end.")
        said = [*self.disagreements, *self.notes]
        return found + (said or ["All gradients agree."] if self.taped else said)

    def overview(self) -> list[Table]:
        """What matters most of `tables`: time, memory, growth."""
        memory = self._made(
            "Memory of the tape, and growth of the process over that of the plain run:",
            ["used", "allocated", "adjoints", "peak live", "over plain"], lambda row: [
                readable(row.used), readable(row.allocated), readable(row.adjoint_bytes), str(row.peak_live),
                _or_dash(self.over_plain(row), readable)])
        return [*(one for one in (self._time(), memory) if one.rows), *self._growth()]

    def _time(self):
        return self._made("Time over that of the plain run:", PHASES,
                          lambda row: [_or_dash(row.times(phase)) for phase in PHASES])

    def _made(self, title, header, cells):
        titles = self._titles()
        return Table(title, [*titles, *header],
                     [[*(say(row) for say in titles.values()), *cells(row)] for row in self.taped], len(titles))

    def tables(self) -> list[Table]:
        """All tables, most with a row for a combination; columns that are the same everywhere are left out."""
        made, streams = self._made, list(dict.fromkeys(name for row in self.taped for name in row.streams))
        found = [
            self._time(),
            made("Time, median:", ["plain", *PHASES], lambda row: [
                readable_seconds(row.plain_seconds),
                *(_or_dash(row.median(phase), readable_seconds) for phase in PHASES)]),
            made("Memory of the tape:", ["used", "allocated", "adjoints", "identifiers", "a statement"], lambda row: [
                readable(row.used), readable(row.allocated), readable(row.adjoint_bytes),
                readable(row.identifier_bytes),
                f"{row.swept_bytes / row.statements:.1f} B" if row.statements else "-"]),
            made("Bytes used by stream:", streams, lambda row: [
                readable(row.streams[name]) if name in row.streams else "-" for name in streams]),
            made("What was recorded; arguments are those of scalar statements:",
                 ["statements", "arguments", "each", "live", "peak live", "largest"], lambda row: [
                     str(row.statements), str(row.arguments), _or_dash(row.arguments_each, "{:.2f}".format),
                     str(row.live), str(row.peak_live), str(row.largest)]),
            made("Reverse sweep beside a copy of memory:", ["bytes", "sweep", "copy"], lambda row: [
                readable(row.swept_bytes), _or_dash(row.sweep_rate, _rate), _or_dash(row.copy_rate, _rate)]),
            made("Resident memory of the first recording and its sweep:",
                 ["before", "peak", "growth", "over plain", "sampled"], lambda row: [
                     readable(row.baseline), readable(row.peak), readable(row.growth),
                     _or_dash(self.over_plain(row), readable), _or_dash(row.sampled, readable)]),
            made("Gradients, largest difference:", ["to the others", "to finite differences"], lambda row: [
                _or_dash(row.gradient_difference, "{:.1e}".format), _or_dash(row.finite_difference, "{:.1e}".format)])]
        return [*(one for one in found if one.rows), *self._growth()]

    def _growth(self):
        fits = self.fits()
        if not fits:
            return []
        metrics = [metric for metric in METRICS if any(fit.metric == metric for fit in fits)]
        found = {(fit.way, fit.metric): str(fit) for fit in fits}
        ways = list(dict.fromkeys(fit.way for fit in fits))
        return [Table("Growth, exponents with 95 % confidence:", ["", *metrics],
                      [[title_of(way), *(found.get((way, metric), "-") for metric in metrics)] for way in ways], 1)]

    def _titles(self):
        """The columns that tell rows apart: name to what it says of a row."""
        titles = {"at": lambda row: row.combination.point.label, "strategy": lambda row: row.combination.strategy,
                  "granularity": lambda row: row.combination.granularity,
                  "chunk": lambda row: _or_dash(row.combination.chunk_size),
                  "width": lambda row: str(row.combination.width)}
        constant = [name for name in ("at", "chunk", "width") if len({titles[name](row) for row in self.taped}) < 2]
        return {name: say for name, say in titles.items() if name not in constant}

    def to_dict(self) -> dict[str, Any]:
        """Everything, in types that JSON has; values may be NaN and infinite."""
        return {"codipy study": _FORMAT, "function": self.function, "header": self.header, "agree": self.agree,
                "disagreements": self.disagreements, "notes": self.notes, "rows": [row.to_dict() for row in self.rows]}

    def to_json(self) -> str:
        """Everything as JSON text, which `Study.load` reads."""
        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Study:
        """The study that `to_dict` gave; StudyError for anything else."""
        if not isinstance(stored, dict) or stored.get("codipy study") != _FORMAT:
            raise StudyError("this is no study, or one that another version of codipy has written")
        try:
            return cls(stored["function"], stored["header"], [Measurement.of(row) for row in stored["rows"]],
                       stored["disagreements"], stored.get("notes", []))
        except (KeyError, TypeError) as error:
            raise StudyError(f"this is no study of this version of codipy: {error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Study:
        """The study in a file of JSON, or in the folder that `save` made."""
        path = Path(path)
        path = path / "study.json" if path.is_dir() else path
        if path.exists() and not path.is_file():      # it may have no end
            raise StudyError(f"{path} is no regular file but a device or a pipe: copy what comes from there to a file")
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise StudyError(f"cannot read {path}: {error.strerror}") from None
        except (RecursionError, ValueError) as error:
            raise StudyError(f"{path} is no JSON: {error}") from None
        try:
            return cls.from_dict(stored)
        except StudyError as error:
            raise StudyError(f"{path}: {error}") from None

    def records(self) -> Iterator[dict[str, Any]]:
        """Tidy rows, one for each number that was measured."""
        for row in self.rows:
            asked, point = row.combination, row.combination.point
            first = (self.function, point.label, point.size, point.steps, row.numbers, asked.strategy,
                     asked.granularity, asked.chunk_size, asked.width)
            for quantity in row.quantities():
                yield dict(zip(COLUMNS, (*first, *quantity)))

    def to_csv(self) -> str:
        """Tidy CSV: lines of ``#`` that say where it was measured, then one row for each number.

        An empty chunk size is codipy's own; `pandas.read_csv(..., comment="#")` reads it.
        """
        text = io.StringIO()
        for name, value in self.header.items():
            text.write(f"# {name}: {_one_line(value)}\n")
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_dataframe(self) -> Any:
        """The rows of `to_csv` as a pandas DataFrame, the header in its ``attrs``.

        Raises
        ------
        StudyError
            Without pandas.
        """
        try:
            import pandas
        except ImportError:
            raise StudyError(f"to_dataframe() needs pandas: {EXTRA}") from None
        frame = pandas.DataFrame(list(self.records()), columns=list(COLUMNS))
        frame = frame.astype(dict.fromkeys(("size", "steps", "numbers", "chunk_size", "width"), "Int64"))
        frame.attrs.update(self.header)
        return frame

    def to_html(self) -> str:
        """One page with tables and figures that needs nothing from elsewhere."""
        from codipy.laboratory.page import page

        return page(self)

    def _repr_html_(self):
        return framed(self.to_html())

    def plot(self, names: Any = None) -> dict[str, Any]:
        """Figures of matplotlib by name.

        Parameters
        ----------
        names : sequence of str, optional
            Those of `codipy.laboratory.figures.figures`; default is all that the study has points for.

        Returns
        -------
        dict

        Raises
        ------
        StudyError
            Without matplotlib, or for an unknown name.
        """
        from codipy.laboratory.plot import plot

        return plot(self, names)

    def save(self, folder: str | Path) -> Path:
        """Write study.json, .csv, .html, .md and .tex into a folder, which is made if it is not there."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, text in (("json", self.to_json()), ("csv", self.to_csv()), ("html", self.to_html()),
                             ("md", self.to_markdown() + "\n"), ("tex", self.to_latex() + "\n")):
            # Names of files may be no Unicode.
            (folder / f"study.{suffix}").write_text(text, encoding="utf-8", errors="backslashreplace")
        return folder


def _marks(rows):
    kinds = {row.mark for row in rows if row.mark}
    if kinds == {"VmHWM"}:
        return "the kernel's own high-water mark of the process (VmHWM)."
    return "the largest resident size that the system reports (ru_maxrss)."


def _place(place):
    return f" ({place})" if place else ""


def _one_line(value):
    return " ".join(str(value).split())


def _or_dash(value, say=str):
    return "-" if value is None else say(value)


def _rate(rate):
    return f"{rate / 1e9:.2f} GB/s"
