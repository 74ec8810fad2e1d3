# SPDX-License-Identifier: Apache-2.0
"""Whether gradients agree with one another and with finite differences, and the sentences that say where not."""
from __future__ import annotations

import math
import time

import numpy as np

from codipy.tools.comparison.differences import (
    Directions,
    agreement,
    finite_differences,
    largest_difference,
    random_directions,
)

__all__ = ["MOST_COLUMNS", "Differences", "Verdict", "differenced", "direction_of", "timed_value"]

_DIFFERENCING = 5.0      # seconds that finite differences may take, by estimate; else only some numbers get theirs
_DIRECTIONS = 3          # and the others are differenced together, in so many directions
MOST_COLUMNS = 256       # numbers of which strategy 'forward' is asked for the gradient


def direction_of(point):
    """The direction in which strategy 'forward' differentiates by more numbers: the first of the differences."""
    return random_directions(point, 1)[0]


def differenced(problem, seconds):
    """Which numbers of a problem get differences of their own, and in how many directions all are moved together.

    Parameters
    ----------
    problem : Problem
    seconds : float
        Of one plain run.

    Returns
    -------
    tuple of range and int
    """
    numbers = problem.point.size
    only = range(0, numbers, max(1, math.ceil(numbers * 4 * seconds / _DIFFERENCING)))
    return only, _DIRECTIONS if len(only) < numbers or numbers > MOST_COLUMNS else 0


class Differences:
    """Finite differences of a problem, of as many numbers as there is time for.

    Parameters
    ----------
    problem : Problem
    seconds : float
        Of one plain run.
    each : callable, optional
        Called after each of those that `differenced` says.

    Attributes
    ----------
    values, errors : numpy.ndarray
        As `finite_differences` returns them.
    count : int
        How many numbers have theirs.
    directions : Directions
        In which all are moved together; none if each number has its own.
    names : sequence of str
        What the numbers are called.
    """

    def __init__(self, problem, seconds, each=None):
        only, together = differenced(problem, seconds)
        self.values, self.errors = finite_differences(problem.value, problem.point, only=only, each=each)
        self.directions = Directions(problem.value, problem.point, together, each=each)
        self.count, self.names = len(only), problem.names

    def arrays(self):
        """Everything but the names, by which `of` makes it again."""
        there = self.directions
        return {"values": self.values, "errors": self.errors, "count": np.array(self.count),
                "directions": np.array(there.directions), "along": there.differences, "along_errors": there.errors}

    @classmethod
    def of(cls, arrays, names):
        """What `arrays` gave, for a problem whose numbers have these names."""
        made, there = cls.__new__(cls), Directions.__new__(Directions)
        made.values, made.errors, made.names = arrays["values"], arrays["errors"], names
        made.count = int(arrays["count"])
        there.directions, there.differences = list(arrays["directions"]), arrays["along"]
        there.errors, made.directions = arrays["along_errors"], there
        return made


class Verdict:
    """Gradients beside their median and finite differences.

    Parameters
    ----------
    gradients : list of numpy.ndarray or None
        None of a way whose gradient was not computed.
    differences : Differences
    rtol : float
        Gradients that differ by more, relative to the largest component, disagree.

    Attributes
    ----------
    reference : numpy.ndarray or None
        The median, component by component: a number that occurs, and NaN where most are NaN. None of no gradient.
    """

    def __init__(self, gradients, differences, rtol):
        known = [gradient for gradient in gradients if gradient is not None]
        self.reference = np.sort(known, axis=0)[(len(known) - 1) // 2] if known else None
        self.gradients = gradients
        self.differences, self.rtol = differences, rtol

    def distances(self, gradient):
        """Largest difference from the median and from finite differences, over the largest component."""
        expected = self.differences.values
        known = np.isfinite(expected)
        return largest_difference(gradient, self.reference), largest_difference(gradient[known], expected[known])

    def lines(self, titles):
        """One line for each way whose gradient is not that of the others, or not that of finite differences."""
        reference, differences = self.reference, self.differences
        known = np.isfinite(differences.values)
        for title, gradient in zip(titles, self.gradients):
            if gradient is None:
                continue
            finite = np.abs(reference[np.isfinite(reference)])
            scale = finite.max(initial=0.0) or 1.0
            allowed = np.where(known, differences.errors, 0.0) + 1e-5 * scale
            far = agreement(gradient, reference)
            off = np.where(known, agreement(gradient, differences.values), 0.0) - allowed
            if not far.max(initial=0.0) <= self.rtol * scale:
                i, other, value = int(far.argmax()), "the median of all strategies", reference
            elif off.max(initial=0.0) > 0.0:
                i, other, value = int(off.argmax()), "finite differences", differences.values
            else:
                yield from (f"{title} disagrees with {text}" for text in differences.directions.off(gradient))
                continue
            yield (f"{title} disagrees with {other}: the derivative by {differences.names[i]} is "
                   f"{gradient[i]:.12g}, not {value[i]:.12g}")

    def missing(self):
        """A line if there is no gradient, or it is not of numbers, in which all may agree; else None."""
        if self.reference is None:
            return (f"No gradient was computed: by {self.differences.values.size} numbers strategy 'forward' "
                    "differentiates in one direction, in which it is compared with finite differences.")
        off = np.flatnonzero(~np.isfinite(self.reference))
        if not off.size:
            return None
        of = "number" if self.reference.size == 1 else "numbers"
        return (f"The derivative by {off.size} of {self.reference.size} {of} is NaN or infinite, the first by "
                f"{self.differences.names[int(off[0])]}: {self.reference[off[0]]}. That the strategies agree there "
                "says nothing; codipy debug says which line it comes from.")

    def wrong_tangent(self, title, found):
        """A line if the derivative along `direction_of` the point is another, else None.

        That is compared with the gradient of the others; where there is none, with the finite difference.
        """
        there = self.differences.directions
        if self.reference is None:
            expected, others = float(there.differences[0]), "finite differences"
            allowed = float(there.errors[0]) + 1e-5 * max(abs(expected), abs(found))
        else:
            (expected, *_), (size, *_) = there.along(self.reference)
            others, allowed = "the others", self.rtol * size
        if not math.isfinite(expected) or abs(found - expected) <= allowed:
            return None
        return (f"{title} disagrees with {others}: the derivative in a random direction is {found:.12g}, "
                f"not {expected:.12g}")


def timed_value(problem):
    """The value at the point, and the seconds that it took."""
    start = time.perf_counter()
    value = problem.value(problem.point)
    return value, max(time.perf_counter() - start, 1e-9)
