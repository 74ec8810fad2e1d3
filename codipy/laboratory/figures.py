# SPDX-License-Identifier: Apache-2.0
"""The figures of a study as data, which pages draw as SVG and matplotlib draws as its own."""
from __future__ import annotations

import statistics
from dataclasses import dataclass, field

import numpy as np

from codipy.laboratory.fits import title_of
from codipy.laboratory.sampled import with_peaks

__all__ = ["COLOURS", "Figure", "Series", "figures"]

# On light paper and on dark; as many as a tape has parts under all strategies, so that no two of a figure are alike.
COLOURS = (("#0969da", "#58a6ff"), ("#bc4c00", "#f0883e"), ("#1a7f37", "#3fb950"), ("#8250df", "#bc8cff"),
           ("#cf222e", "#ff7b72"), ("#0e7c86", "#39c5cf"), ("#9a6700", "#d29922"), ("#bf3989", "#f778ba"),
           ("#57606a", "#b1bac4"), ("#4d2d00", "#e2c08d"), ("#7fa800", "#c5e84d"), ("#6cb6ff", "#cfe8ff"))

_LIVE, _PEAK = 2, 6      # places in a line of a timeline


@dataclass(frozen=True)
class Series:
    """One line, cloud or layer of bars.

    Attributes
    ----------
    label : str
    points : list of tuple
        x and y; for bars the number of the bar and its height.
    colour : int
        A number in `COLOURS`, from its beginning again; equal for what belongs together: a strategy, a stream. Below 0
        for what is beside the matter.
    dashed : bool
        Of operation granularity.
    line, dots : bool
        Whether the points are joined, and shown.
    spots : list of tuple
        Points on the line that are shown whether the others are or not.
    """

    label: str
    points: list
    colour: int = 0
    dashed: bool = False
    line: bool = True
    dots: bool = True
    spots: list = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """Axes with series.

    Attributes
    ----------
    name, title : str
    x, y : str
        What the axes show; 'bytes' and 'seconds' at the end of a name choose the units.
    series : list of Series
    bars : list of str
        Titles of bars, whose layers the series are; empty for lines.
    log : bool
        Whether both axes are logarithmic.
    """

    name: str
    title: str
    x: str
    y: str
    series: list
    bars: list = field(default_factory=list)
    log: bool = False


def figures(study):
    """Those that the study has points for: streams, pareto, size, time, the timelines, resident."""
    rows = _at_the_largest(study)
    made = [_streams(rows), _pareto(rows), *_over_size(study), *_timelines(rows), *_resident(study, rows)]
    return [figure for figure in made if figure is not None]


def _at_the_largest(study):
    """The rows of the point with the most numbers."""
    taped = study.taped
    if not taped:
        return []
    point = max(taped, key=lambda row: (row.size, row.combination.point.steps or 0)).combination.point
    return [row for row in taped if row.combination.point == point]


def _label(rows):
    return rows[0].combination.point.label


def _numbered(names):
    return {name: k for k, name in enumerate(dict.fromkeys(names))}


def _style(row, colours):
    return {"colour": colours[row.combination.strategy], "dashed": row.combination.granularity == "operation"}


def _colours(rows):
    return _numbered(row.combination.strategy for row in rows)


def _streams(rows):
    if not rows:
        return None
    parts = [{**row.streams, "adjoints": row.adjoint_bytes,
              "identifiers": row.identifier_bytes} for row in rows]
    titles = _numbered(title for part in parts for title, used in part.items() if used)
    series = [Series(title, [(k, part.get(title, 0)) for k, part in enumerate(parts)], number)
              for title, number in titles.items()]
    return Figure("streams", f"Bytes of the tape, {_label(rows)}", "", "used bytes", series,
                  [title_of(row.way) for row in rows])


def _pareto(rows):
    known = [row for row in rows if row.gradient_seconds and row.combination.strategy != "forward"]
    if not known:
        return None
    colours = _colours(rows)
    spots = [(statistics.median(a / b for a, b in zip(row.gradient_seconds, row.plain)), row.used) for row in known]
    best = sorted(spot for spot in spots
                  if not any(other[0] <= spot[0] and other[1] <= spot[1] and other != spot for other in spots))
    series = [Series(title_of(row.way), [spot], **_style(row, colours), line=False) for row, spot in zip(known, spots)]
    front = Series("not beaten in both", best, -1, line=True, dots=False)
    return Figure("pareto", f"Time against memory, {_label(rows)}", "record and reverse over plain", "used bytes",
                  [front, *series])


def _over_size(study):
    fits = {(fit.way, fit.metric): fit for fit in study.fits()}
    colours = _colours(study.taped)
    for name, title, y, metric, value in (
            ("size", "Tape over size", "used bytes", "bytes used", lambda row: row.used),
            ("time", "Time over size", "record and reverse, seconds", "gradient time",
             lambda row: statistics.median(row.gradient_seconds) if row.gradient_seconds else None)):
        series, ways = [], dict.fromkeys((row.way, row.combination.point.steps) for row in study.taped)
        for way, steps in ways:
            rows = [row for row in study.taped if row.way == way and row.combination.point.steps == steps]
            points = sorted((row.size, value(row)) for row in rows if value(row))
            fit = fits.get((way, metric))
            fitted = "" if fit is None else f": {fit}"
            label = title_of(way) + ("" if steps is None else f", {steps} steps") + fitted
            if len({size for size, _ in points}) > 1:
                series.append(Series(label, points, **_style(rows[0], colours)))
        if series:
            yield Figure(name, title, "size", y, series, log=True)


def _timelines(rows):
    """What a tape is over the recording: live and largest identifiers, statements, bytes, passive operands."""
    colours = _colours(rows)
    for name, title, y, place in (("identifiers", "Live identifiers", "live identifiers", _LIVE),
                                  ("largest", "Largest identifier", "largest identifier", 3),
                                  ("statements", "Statements", "statements", 1), ("growth", "Bytes", "used bytes", 4),
                                  ("passive", "Share of passive operands", "share", 5)):
        known = [row for row in rows if len(row.timeline) > 1 and len(row.timeline[0]) > place
                 and row.timeline[-1][place] is not None]
        if known:
            series = [Series(title_of(row.way), _curve(row.timeline, place), dots=False, **_style(row, colours))
                      for row in known]
            yield Figure(name, f"{title} over the recording, {_label(rows)}", "lines of the program", y, series)


def _curve(timeline, place):
    """A column over the lines; of live identifiers with the highest points, where they are known."""
    if place == _LIVE:
        return with_peaks((line[0], line[_LIVE], max(line[_LIVE:_LIVE + 1] + line[_PEAK:])) for line in timeline)
    return [(line[0], line[place]) for line in timeline if line[place] is not None]


def _resident(study, rows):
    """One figure with the curves of all, with a dot on each where its reverse sweep begins."""
    known = [row for row in rows if len(row.curve) > 1]
    if not known:
        return
    colours, series = _colours(rows), []
    for row in known:
        points = [(moment, size - row.baseline) for moment, size in row.curve]
        series.append(Series(title_of(row.way), points, **_style(row, colours), dots=False, spots=_swept(row, points)))
    dots = "; dots: the reverse sweep begins" if any(one.spots for one in series) else ""
    yield Figure("resident", f"Resident memory over the state before, {_label(rows)}{dots}", "seconds",
                 "resident bytes", series)


def _swept(row, points):
    """Where the reverse sweep begins on the curve of a row: nowhere of 'forward', or behind the last sample."""
    moment = row.marks["reverse"]
    if row.combination.strategy == "forward" or not points[0][0] <= moment <= points[-1][0]:
        return []
    return [(moment, float(np.interp(moment, *zip(*points))))]
