# SPDX-License-Identifier: Apache-2.0
"""How bytes and seconds grow with size and steps, and where one way to record overtakes another."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np

from codipy.laboratory.noise import between, noise, variance

__all__ = ["METRICS", "Fit", "Overtaking", "fit_power", "fits_of", "overtakings_of", "title_of"]

LEAST_GROWTH = 1 << 20      # bytes of a process: less says nothing of the tape, since pages come and go in a Python

# What is fitted: name, unit, and the samples of a measurement beside that of the plain run at its point, or None. What
# the process of a plain run takes as well grows with no size, and is taken off.
METRICS = {
    "gradient time": ("s", lambda row, plain: row.gradient_seconds),
    "record time": ("s", lambda row, plain: row.seconds.get("record", [])),
    "reverse time": ("s", lambda row, plain: row.seconds.get("reverse", [])),
    "plain time": ("s", lambda row, plain: row.plain if row.is_plain else []),
    "bytes used": ("B", lambda row, plain: [] if row.is_plain else [row.used]),
    "peak growth": ("B", lambda row, plain: [] if row.is_plain or plain is None else _large(row.growth - plain.growth)),
}
COMPARED = ("gradient time", "bytes used", "peak growth")
_LEAST = {"peak growth": LEAST_GROWTH}      # differences that say something, where the samples do not tell

# 0.975 quantiles of Student's distribution by degrees of freedom, from 1 on; beyond, the normal's with a correction.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
            2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


@dataclass(frozen=True)
class Fit:
    """``y = factor * size**exponent``, and with steps ``* steps**exponent``, by least squares of the logarithms.

    Attributes
    ----------
    metric : str
    way : tuple
        Strategy, granularity, chunk size, width.
    factor : float
    exponents : dict
        'size' and 'steps', as far as they vary.
    halves : dict
        Half the width of each exponent's 95 % confidence interval; None where there are as many points as unknowns.
    points : int
        How many.
    """

    metric: str
    way: tuple
    factor: float
    exponents: dict
    halves: dict
    points: int

    def at(self, size, steps=None):
        """What the fit says there."""
        given = {"size": size, "steps": steps}
        return self.factor * math.prod(float(given[name]) ** power for name, power in self.exponents.items())

    def __str__(self):
        return " ".join(f"{name}^{power:.2f}" + ("" if self.halves[name] is None else f" ± {self.halves[name]:.2f}")
                        for name, power in self.exponents.items())


@dataclass(frozen=True)
class Overtaking:
    """Between two sizes that were measured, `winner` gets below `loser`.

    Attributes
    ----------
    metric : str
    winner, loser : tuple
        Ways.
    below, above : int
        The sizes on both sides.
    near : float
        Where straight lines between the logarithms cross.
    steps : int or None
    sure : bool
        Whether the difference on both sides is larger than the noise of the measurements and of the processes.
    least : float
        The smaller of the differences on both sides.
    """

    metric: str
    winner: tuple
    loser: tuple
    below: int
    above: int
    near: float
    steps: int | None
    sure: bool
    least: float

    def __str__(self):
        steps = "" if self.steps is None else f" at {self.steps} steps"
        doubt = "" if self.sure else ", as far as the spread of the measurements tells"
        return (f"{self.metric}: {title_of(self.winner)} gets below {title_of(self.loser)} near size {self.near:.3g}"
                f"{steps} (measured at {self.below} and {self.above}{doubt})")


def _large(size):
    return [size] if size >= LEAST_GROWTH else []


def _plain_runs(rows):
    return {row.combination.point: row for row in rows if row.is_plain and row.error is None}


def title_of(way):
    """What tables call a way to record."""
    strategy, granularity, chunk_size, width = way
    return " ".join([strategy, *([granularity] if granularity != "-" else []),
                     *([f"chunks of {chunk_size}"] if chunk_size is not None else []),
                     *([f"width {width}"] if width != 1 else [])])


def fit_power(points, values):
    """Factor, exponents and halves of their intervals.

    Parameters
    ----------
    points : dict
        Name to one positive number for each value.
    values : list of float
        Positive.

    Returns
    -------
    tuple or None
        None where a name varies together with another or too few points are there.
    """
    names = list(points)
    columns = [np.ones(len(values)), *(np.log(np.asarray(points[name], float)) for name in names)]
    matrix, logs = np.stack(columns, axis=1), np.log(np.asarray(values, float))
    if len(values) < len(columns) or np.linalg.matrix_rank(matrix) < len(columns):
        return None
    solution = np.linalg.lstsq(matrix, logs, rcond=None)[0]
    freedom = len(values) - len(columns)
    halves = dict.fromkeys(names)
    if freedom:
        rest = logs - matrix @ solution
        covariance = np.linalg.inv(matrix.T @ matrix) * (rest @ rest) / freedom
        quantile = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.4 / freedom
        halves = {name: float(quantile * math.sqrt(max(covariance[k + 1, k + 1], 0.0))) for k, name in enumerate(names)}
    return float(np.exp(solution[0])), {name: float(solution[k + 1]) for k, name in enumerate(names)}, halves


def fits_of(rows):
    """The Fit of every metric for every way that was measured at two sizes, or numbers of steps, at least."""
    found, plain = [], _plain_runs(rows)
    for metric, (_, samples) in METRICS.items():
        for way, group in _by_way(rows).items():
            sampled = [(row, samples(row, plain.get(row.combination.point))) for row in group if row.size > 0]
            known = [(row, statistics.median(values)) for row, values in sampled if values]
            known = [(row, value) for row, value in known if value > 0.0]
            values = [value for _, value in known]
            if not values or max(values) - min(values) < _LEAST.get(metric, 0):
                continue
            points = {"size": [row.size for row, _ in known],
                      "steps": [row.combination.point.steps or 0 for row, _ in known]}
            points = {name: given for name, given in points.items() if len(set(given)) > 1}
            fitted = fit_power(points, values) if points else None
            if fitted is not None:
                found.append(Fit(metric, way, *fitted, len(known)))
    return found


def _by_way(rows):
    ways = {}
    for row in rows:
        if row.error is None:
            ways.setdefault(row.way, []).append(row)
    return ways


def overtakings_of(rows, metrics=COMPARED, winners_only=True):
    """Where one way gets below another, between sizes that were measured.

    Parameters
    ----------
    rows : list of Measurement
    metrics : sequence of str
        Names in METRICS.
    winners_only : bool
        Only where the least of all changes, and not by noise on both sides; else every pair.
    """
    found, taped = [], [row for row in rows if not row.is_plain and row.error is None]
    plain, process = _plain_runs(rows), between(rows)
    for metric in metrics:
        unit, samples_of = METRICS[metric]
        for steps, width in dict.fromkeys((row.combination.point.steps, row.combination.width) for row in taped):
            series = {}
            for row in taped:
                asked, samples = row.combination, samples_of(row, plain.get(row.combination.point))
                # Strategy 'forward' gives one direction for its time: no gradient.
                if (asked.point.steps, asked.width) == (steps, width) and samples and asked.strategy != "forward":
                    varies = variance(samples) + process(row) ** 2 if unit == "s" else None
                    series.setdefault(row.way, {})[row.size] = statistics.median(samples), varies
            least = _LEAST.get(metric, 0)
            found += [one for one in _crossings(metric, steps, series, winners_only) if one.least >= least]
    return found


def _crossings(metric, steps, series, winners_only):
    sizes = sorted({size for values in series.values() for size in values})
    for below, above in zip(sizes, sizes[1:]):
        ways = [way for way, values in series.items() if below in values and above in values]
        pairs = [(a, b) for a in ways for b in ways if a != b]
        if winners_only and ways:
            pairs = [tuple(min(ways, key=lambda way: series[way][size][0]) for size in (above, below))]
        for winner, loser in pairs:
            (a0, va0), (b0, vb0) = series[winner][below], series[loser][below]
            (a1, va1), (b1, vb1) = series[winner][above], series[loser][above]
            if a0 > b0 > 0 and 0 < a1 < b1:
                before, after = math.log(a0 / b0), math.log(a1 / b1)
                tells = [before > _noise(va0, vb0), -after > _noise(va1, vb1)]
                if any(tells) or not winners_only:
                    near = below * (above / below) ** (before / (before - after))
                    yield Overtaking(metric, winner, loser, below, above, near, steps, all(tells),
                                     min(a0 - b0, b1 - a1))


def _noise(*variances):
    """That of two times; bytes, which have no variance, have none."""
    return 0.0 if None in variances else noise(sum(variances))
