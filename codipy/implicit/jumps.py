# SPDX-License-Identifier: Apache-2.0
"""Jumps of an integrand that move with what an integral is differentiated by: those contribute, and nothing records it.

The derivative of an integral is not the integral of the derivative where a jump moves. QUADPACK has taken small
intervals around a jump, or ends one at it; there the integrand is looked at from both sides, and once more with other
values of its variables. One that stays where it was contributes nothing.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import plain
from codipy.implicit.opened import Opened
from codipy.tools.arguments.trees import value

__all__ = ["moving_jump"]

_SMALL = 1e-3      # of the whole: intervals in which a jump is looked for ...
_MOST = 8          # ... so many, the smallest
_SIZE = 1e-4       # of the largest number seen: what counts as a jump
_BESIDE = 1e-10    # of the whole: how far beside a jump the integrand is looked at
_SHIFT = 1e-5      # how far variables are moved


def moving_jump(f, args, on_intervals):
    """Where the integrand jumps at a place that depends on its variables; None if it does nowhere.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``.
    args : tuple
    on_intervals : callable
        From a function of one number to the same where QUADPACK took intervals, and these.
    """
    opened = Opened(functools.partial(_called, f, args))
    if not opened.variables:
        return None
    values = [plain(x) for x in opened.variables]
    g, intervals = on_intervals(_number(opened.with_values(values)))
    if len(intervals) == 1:
        return None
    places = _jumps(g, sorted(intervals))
    if not places:
        return None
    length = max(stop for _, stop in intervals) - min(start for start, _ in intervals)
    random = np.random.default_rng(1)
    factors = [random.uniform(0.5, 1.0, np.shape(x)) * random.choice([-1.0, 1.0], np.shape(x)) for x in values]
    for sign in (_SHIFT, -_SHIFT):
        moved = [type(x)(y) if np.ndim(x) == 0 else y
                 for x, y in ((x, x + sign * factor * (1.0 + np.abs(x))) for x, factor in zip(values, factors))]
        other, _ = on_intervals(_number(opened.with_values(moved)))
        for place, left, right in places:
            before, after = other(place - _BESIDE * length), other(place + _BESIDE * length)
            if abs(before - right) < abs(before - left) or abs(after - left) < abs(after - right):
                return place
    return None


def _called(f, args, x):
    return f(x, *args)


def _number(f):
    return lambda x: float(np.reshape(value(f(x)), (-1,))[0])


def _jumps(g, intervals):
    """Places with the numbers on both sides."""
    length = intervals[-1][1] - intervals[0][0]
    near = _BESIDE * length
    ends = [(stop - near, stop + near) for _, stop in intervals[:-1]]
    small = sorted((pair for pair in intervals if pair[1] - pair[0] <= _SMALL * length), key=lambda x: x[1] - x[0])
    small = [(start + near, stop - near) for start, stop in small[:_MOST] if stop - start > 4.0 * near]
    seen = [(low, high, g(low), g(high)) for low, high in [*ends, *small]]
    scale = max((max(abs(left), abs(right)) for *_, left, right in seen if np.isfinite(left) and np.isfinite(right)),
                default=0.0)
    found = []
    for low, high, left, right in seen:
        size = abs(right - left)
        if not size > _SIZE * scale:
            continue
        while high - low > 2.5 * near:
            middle = 0.5 * (low + high)
            between = g(middle)
            if abs(between - left) > abs(right - between):
                high, right = middle, between
            else:
                low, left = middle, between
        if abs(right - left) > 0.5 * size:
            found.append((0.5 * (low + high), left, right))
    return found
