# SPDX-License-Identifier: Apache-2.0
"""What a study measures: points, and combinations of strategy, granularity, chunk size and width at each."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np

from codipy.tape.strategies.settings import settings
from codipy.tape.strategies.table import FORWARD_STRATEGY

__all__ = ["PLAIN", "Combination", "Point", "combinations", "whole_numbers"]

PLAIN = "plain"      # the strategy of the run without a tape


@dataclass(frozen=True)
class Point:
    """Where a function is run.

    Attributes
    ----------
    label : str
        What tables call it.
    size, steps : int or None
        What ``x0(size)`` and the function's own ``steps=`` were given; None where the point is one of a file.
    at : str or None
        The name of the point in the file.
    text : str or None
        The point itself, as a literal.
    """

    label: str
    size: int | None = None
    steps: int | None = None
    at: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Combination:
    """One way to record at one point; each is measured in a process of its own."""

    point: Point
    strategy: str
    granularity: str = "-"
    chunk_size: int | None = None
    width: int = 1

    @property
    def key(self):
        """Text that tells it from all others."""
        chunk = "default" if self.chunk_size is None else self.chunk_size
        return f"{self.point.label}|{self.strategy}|{self.granularity}|{chunk}|{self.width}"

    @property
    def title(self):
        """What messages call it."""
        chunk = "" if self.chunk_size is None else f", chunks of {self.chunk_size}"
        width = "" if self.width == 1 else f", width {self.width}"
        way = self.strategy if self.strategy == PLAIN else f"{self.strategy}, {self.granularity}"
        return f"{way}{chunk}{width} at {self.point.label}"

    def to_dict(self):
        """In types that JSON has."""
        return asdict(self)

    @classmethod
    def of(cls, stored):
        """What `to_dict` gave."""
        return cls(**{**stored, "point": Point(**stored["point"])})


def combinations(points, strategies=None, granularities=None, chunk_sizes=None, widths=None):
    """All combinations in the order in which they are measured: at each point the plain run first.

    Raises
    ------
    TypeError, ValueError
        A choice that is none.
    """
    pairs = settings(strategies, granularities, True)
    chunk_sizes = [None] if chunk_sizes is None else whole_numbers("chunk_sizes", chunk_sizes)
    widths = [1] if widths is None else whole_numbers("widths", widths)
    found = []
    for point in points:
        found.append(Combination(point, PLAIN))
        for strategy, granularity in pairs:
            # Strategy 'forward' has no streams.
            chunks = [None] if strategy == FORWARD_STRATEGY else chunk_sizes
            found += [Combination(point, strategy, granularity, chunk, width) for chunk in chunks for width in widths]
    return found


def whole_numbers(name, given):
    """A list of positive ints, each once."""
    numbers = [given] if isinstance(given, int) or not isinstance(given, Iterable) else list(given)
    for k, number in enumerate(numbers):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise TypeError(f"{name} must be ints, got {type(number).__name__} {number!r}")
        numbers[k] = int(number)      # JSON has no NumPy ones
        if number < 1:
            raise ValueError(f"{name} must be positive, got {number}")
    if not numbers:
        raise ValueError(f"{name} must hold one number at least")
    return list(dict.fromkeys(numbers))
