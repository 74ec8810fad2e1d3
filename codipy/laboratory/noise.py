# SPDX-License-Identifier: Apache-2.0
"""How far two measured times may be apart without a reason: of repeated measurements, and of the processes."""
from __future__ import annotations

import math
import statistics

__all__ = ["LEAST", "SURE", "between", "noise", "spread", "variance"]

SURE = 3.5      # standard deviations: a study has some hundred numbers, and chance must not make a finding of one
LEAST = 0.02    # of a time: less is the compiler's and the memory's layout, whatever the spread says


def noise(variance):
    """The difference of logarithms that says something, from the variance of that difference."""
    return max(SURE * math.sqrt(variance), LEAST)


def variance(samples):
    """Of the logarithm of a median, from the quartiles of what it is the median of."""
    if len(samples) < 2:
        return 0.0
    lower, _, upper = statistics.quantiles([math.log(sample) for sample in samples], n=4, method="inclusive")
    return ((upper - lower) / 1.349) ** 2 * (math.pi / 2.0) / len(samples)


def between(rows):
    """A function of a row: the standard deviation of the logarithm of the plain run over the processes of its point."""
    found = {}
    for row in rows:
        if row.plain:
            found.setdefault(row.combination.point, []).append(row.plain_seconds)
    spreads = {point: spread(taken) for point, taken in found.items()}
    return lambda row: spreads.get(row.combination.point, 0.0)


def spread(taken):
    """The standard deviation of logarithms, from their distances to the median."""
    if len(taken) < 2:
        return 0.0
    logs = [math.log(seconds) for seconds in taken]
    middle = statistics.median(logs)
    return 1.4826 * statistics.median(abs(value - middle) for value in logs)
