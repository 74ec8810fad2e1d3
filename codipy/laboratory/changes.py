# SPDX-License-Identifier: Apache-2.0
"""What changed between two studies, of two commits or two machines, and what is noise."""
from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any

from codipy.laboratory.errors import StudyError
from codipy.laboratory.fits import LEAST_GROWTH
from codipy.laboratory.noise import LEAST, SURE, between, noise, spread, variance
from codipy.laboratory.result import Study
from codipy.tape.memory.statistics import readable
from codipy.tools.comparison.measuring import PHASES
from codipy.tools.comparison.report import readable_seconds
from codipy.tools.console.table import Table, line_width, sentences

__all__ = ["Change", "Changes", "changes"]

_ROUNDING = 1e-12      # of a value: another machine's functions round otherwise
_SECTIONS = ("codipy", "python", "numpy", "system", "processor", "clock", "content", "repeat", "rebind")
_EXACT = ("used", "allocated", "adjoint_bytes", "statements", "arguments", "peak_live", "largest")


@dataclass(frozen=True)
class Change:
    """One number of one combination in both studies.

    Attributes
    ----------
    title : str
        The combination.
    quantity : str
        Which number.
    unit : str
        'B', 's', '1' of counts, 'x' of times over the plain run, or '' of the function's value.
    before, after : float
    noise : float
        By which part of itself it may differ without meaning anything; 0 of bytes and counts, which have none.
    changed : bool
        Whether it differs by more.
    """

    title: str
    quantity: str
    unit: str
    before: float
    after: float
    noise: float
    changed: bool

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before if self.before else math.inf if self.after else 1.0

    def _percent(self):
        if math.isfinite(self.ratio):
            return f"{100.0 * (self.ratio - 1.0):+.1f} %"
        return "-" if self.before else "from 0"      # of a value that is infinite or no number

    def cells(self):
        """As the table has it."""
        say = {"B": readable, "s": readable_seconds, "1": str, "x": "{:.2f}".format, "": repr}[self.unit]
        noise = "-" if self.unit in "B1" and not self.noise else f"± {100.0 * self.noise:.1f} %"
        return [self.title, self.quantity, say(self.before), say(self.after), self._percent(), noise]


@dataclass(repr=False)
class Changes:
    """All numbers that two studies share.

    Attributes
    ----------
    before, after : Study
    compared : list of Change
        Changed or not.
    only_before, only_after : list of str
        Combinations that one of the two has.
    wrong_before, wrong_after : list of str
        What failed or disagreed in one of the two.
    circumstances : dict
        What is not the same about how they were measured: name to both.
    """

    before: Study
    after: Study
    compared: list[Change]
    only_before: list[str]
    only_after: list[str]
    wrong_before: list[str]
    wrong_after: list[str]
    circumstances: dict[str, Any]

    @property
    def is_worse(self) -> bool:
        """Whether something fails or disagrees after, and not before."""
        return not set(self.wrong_after) <= set(self.wrong_before)

    @property
    def changed(self) -> list[Change]:
        """Those that differ by more than noise."""
        return [change for change in self.compared if change.changed]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the studies, in types that JSON has."""
        return {"circumstances": self.circumstances, "only before": self.only_before, "only after": self.only_after,
                "wrong before": self.wrong_before, "wrong after": self.wrong_after,
                "compared": [{**asdict(change), "ratio": change.ratio} for change in self.compared]}

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Changes of {self.after.function}: {len(self.changed)} of {len(self.compared)} numbers>"

    def table(self, format: str = "text", width: int | None = None) -> str:
        """What changed, as 'text', 'markdown' or 'latex'."""
        width, changed = width or line_width(), self.changed
        lines = [f"{self.before.function}, {self.before.header.get('date')} -> {self.after.function}, "
                 f"{self.after.header.get('date')}: {len(self.compared)} numbers, {len(changed)} changed."]
        lines += [f"Not the same: {name}, {one!r} -> {other!r}" for name, (one, other) in self.circumstances.items()]
        for said, titles in (("before", self.only_before), ("after", self.only_after)):
            lines += [f"Only {said}: {'; '.join(titles)}"] if titles else []
        for said, wrong in (("before", self.wrong_before), ("after", self.wrong_after)):
            lines += [f"Wrong {said}: {line}" for line in wrong]
        times = [change for change in self.compared if change.unit in "xs"]
        if times:
            usual = statistics.median(change.noise for change in times)
            lines.append(
                f"A time has changed if it differs by more than its noise: {SURE} standard deviations of both "
                f"studies, from the spread of repeated measurements and of the plain run over the processes, and "
                f"{100 * LEAST:.0f} % at least; here half of them may differ by {100 * usual:.0f} %. Bytes and counts "
                f"of a tape have no noise, the memory of a process has {readable(LEAST_GROWTH)}.")
        lines = sentences(lines, format, width)
        if changed:
            table = Table("", ["combination", "what", "before", "after", "change", "noise"],
                          [change.cells() for change in changed], 2)
            lines += ["", *table.lines(format, width)]
        return "\n".join(lines)


def changes(before: Study, after: Study) -> Changes:
    """Compare two studies.

    Parameters
    ----------
    before, after : Study

    Returns
    -------
    Changes
        Printable.

    Raises
    ------
    StudyError
        The two have no combination in common.
    """
    asked = [{row.combination.key for row in study.rows} for study in (before, after)]
    if not asked[0] & asked[1]:
        raise StudyError(f"nothing can be compared: the studies share no combination. One has {_points(before)}, the "
                         f"other {_points(after)}")
    rows = [{row.combination.key: row for row in study.rows if row.error is None} for study in (before, after)]
    shared = [key for key in rows[0] if key in rows[1]]
    spreads = [between(study.rows) for study in (before, after)]
    compared = []
    for key in shared:
        compared += _compared(rows[0][key], rows[1][key], spreads)
    for point in dict.fromkeys(row.combination.point for row in before.rows):
        compared += _plain(before, after, point)
    circumstances = {name: [before.header.get(name), after.header.get(name)] for name in _SECTIONS
                     if before.header.get(name) != after.header.get(name)}
    if before.function != after.function:
        circumstances["function"] = [before.function, after.function]
    only_before, only_after = ([rows[k][key].combination.title for key in rows[k] if key not in asked[1 - k]]
                               for k in (0, 1))
    return Changes(before, after, compared, only_before, only_after, _wrong(before), _wrong(after), circumstances)


def _points(study):
    return ", ".join(dict.fromkeys(row.combination.point.label for row in study.rows)) or "none"


def _wrong(study):
    return [*(f"{row.combination.title} failed: {row.error}" for row in study.rows if row.error),
            *study.disagreements]


def _compared(one, other, spreads):
    title = one.combination.title
    if not one.is_plain:
        for name in _EXACT:
            a, b = getattr(one, name), getattr(other, name)
            unit = "B" if name in ("used", "allocated", "adjoint_bytes") else "1"
            yield Change(title, name.replace("_", " "), unit, a, b, 0.0, a != b)
    for phase in PHASES:
        if phase in one.seconds and phase in other.seconds:
            differs = sum(variance(row.ratios(phase)) + 2.0 * process(row) ** 2
                          for row, process in zip((one, other), spreads))
            yield _judged(title, f"{phase} over plain", "x", statistics.median(one.ratios(phase)),
                          statistics.median(other.ratios(phase)), noise(differs))
    yield _judged(title, "growth of the process", "B", one.growth, other.growth,
                  LEAST_GROWTH / max(one.growth, other.growth, 1) + LEAST)


def _plain(before, after, point):
    """The plain run: its value, and its seconds over all processes that measured it."""
    values = [next((row.value for row in study.rows if row.is_plain and row.combination.point == point
                    and row.error is None), None) for study in (before, after)]
    if None not in values:
        same = math.isclose(*values, rel_tol=_ROUNDING) or all(map(math.isnan, values))
        yield Change(f"plain at {point.label}", "value", "", *values, _ROUNDING, not same)
    taken = [[row.plain_seconds for row in study.rows if row.combination.point == point and row.plain]
             for study in (before, after)]
    if all(taken):
        yield _judged(f"plain at {point.label}", "time", "s", *map(statistics.median, taken),
                      noise(sum(spread(part) ** 2 for part in taken)))


def _judged(title, quantity, unit, a, b, least):
    """A change if the logarithms, or what is near to them, differ by more than the least."""
    differs = a != b and (min(a, b) <= 0.0 or abs(math.log(b / a)) > least)
    if unit == "B":      # pages come and go
        differs = differs and abs(b - a) > LEAST_GROWTH
    return Change(title, quantity, unit, a, b, least, differs)
