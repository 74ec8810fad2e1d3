# SPDX-License-Identifier: Apache-2.0
"""Jumps of an integrand that move with what an integral is differentiated by: those contribute, and nothing records it.

The derivative of an integral is not the integral of the derivative where a jump moves. So all numbers that a quadrature
got are looked at: where a cubic through neighbours does not come near one, the integrand is bisected to what is left of
the difference at no distance. What is left is a jump, and is looked at once more with other values of the integrand's
variables: one that stays where it was contributes nothing.

Rejected: to look into the smallest intervals of QUADPACK only. It extrapolates, and so ends some integrals of jumps in
intervals that are not small.
"""

from __future__ import annotations

import functools

import numpy as np

from codipy.active.array import plain
from codipy.implicit.opened import Opened, may_read_variables
from codipy.tools.arguments.trees import value

__all__ = ["is_near", "moving_jump"]

_SIZE = 1e-5       # of the largest number seen: what counts as a jump, and how far beside a cubic a number must be
_NEAR = 1e-12      # of the distance of two nodes: where the integrand is looked at from both sides
_SMOOTH, _FEWEST = 2.0, 3      # so many times its share of a difference may a part have, after so many halvings
_SHIFT = 1e-5      # how far variables are moved


def moving_jump(f, args, seen, said=(), least=0.0):
    """Where the integrand jumps at a place that depends on its variables; None if it does nowhere.

    Called where nothing is recorded.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``.
    args : tuple
    seen : list
        Pairs of a number and what the integrand is there, plain, as the quadrature asked for them.
    said : sequence of float
        Places that are known to be jumps, where the integrand's variables are not all found.
    least : float
        What is no jump: the integrand may be an integral itself, which is as exact as it was asked for.
    """
    if len(seen) < 3:
        return None
    x, first = np.unique([x for x, _ in seen], return_index=True)
    numbers = np.array([np.ravel(seen[k][1]) for k in first])
    scales = np.max(np.abs(np.where(np.isfinite(numbers), numbers, 0.0)), axis=0)
    scales[scales == 0.0] = 1.0
    least = max(_SIZE, least / np.max(scales, initial=0.0))
    rough = _rough(x, numbers / scales, least)
    if not rough or not may_read_variables(f, args):
        return None
    opened = Opened(functools.partial(_called, f, args))
    values = [plain(x) for x in opened.variables]
    places = list(_jumps(_scaled(opened.with_values(values), scales), x, numbers / scales, rough, least))
    if not places:
        return None
    if may_read_variables(opened.with_values(values)):      # in attributes of objects, where they cannot be moved
        return next((low for low, *_ in places if not is_near(low, said)), None)
    random = np.random.default_rng(1)
    factors = [random.uniform(0.5, 1.0, np.shape(x)) * random.choice([-1.0, 1.0], np.shape(x)) for x in values]
    for sign in (_SHIFT, -_SHIFT):
        moved = [np.asarray(y) if isinstance(x, np.ndarray) else type(x)(y)
                 for x, y in ((x, x + sign * factor * (1.0 + np.abs(x))) for x, factor in zip(values, factors))]
        other = _scaled(opened.with_values(moved), scales)
        for low, high, left, right in places:
            before, after = other(low), other(high)
            if _far(before, right) < _far(before, left) or _far(after, left) < _far(after, right):
                return low
    return None


def is_near(place, places):
    """Whether a number is one of some."""
    return any(abs(each - place) <= 1e-6 * (1.0 + abs(place)) for each in places)


def _called(f, args, x):
    return f(x, *args)


def _scaled(f, scales):
    """The integrand over its largest numbers, a vector or a float."""
    if scales.size == 1:
        scale = float(scales[0])
        return lambda x: np.reshape(value(f(x)), (-1,))[0].item() / scale
    return lambda x: np.ravel(value(f(x))) / scales


def _far(a, b):
    """The distance of two vectors or floats; 0 of what is not finite."""
    distance = abs(a - b) if type(a) in (float, complex) else float(np.max(np.abs(a - b), initial=0.0))
    return distance if distance < np.inf else 0.0


def _jumps(g, x, numbers, rough, least):
    """Numbers on both sides of jumps between neighbours, and what the integrand is there."""
    with np.errstate(all="ignore"):
        slopes = np.diff(numbers, axis=0) / np.diff(x)[:, None]
    for k in rough:
        start, low, high, trend = float(x[k]), float(x[k]), float(x[k + 1]), _trend(slopes, k)
        left, right = numbers[k], numbers[k + 1] - trend * (high - start)
        if numbers.shape[1] == 1:
            left, right, trend = left[0].item(), right[0].item(), trend[0].item()
        whole = size = _far(left, right)
        near, count = _NEAR * (high - low) + 2.0 * np.spacing(max(abs(low), abs(high))), 0
        while high - low > near and size > least:
            middle = 0.5 * (low + high)
            between, count = g(middle) - trend * (middle - start), count + 1
            before, after = _far(left, between), _far(between, right)
            if before > after:
                high, right, size = middle, between, before
            else:
                low, left, size = middle, between, after
            if count >= _FEWEST and size <= _SMOOTH * 0.5**count * whole:
                break
        else:
            if size > least:
                yield low, high, g(low), g(high)


def _trend(slopes, k):
    """The slope beside two neighbours, in which a jump between them would hide; the smaller of both sides."""
    near = [slopes[j] for j in (k - 1, k + 1) if 0 <= j < len(slopes)]
    found = near[0] if len(near) == 1 else np.where(np.abs(near[0]) < np.abs(near[1]), *near)
    return np.where(np.isfinite(found), found, 0.0)


def _rough(x, numbers, least):
    """Which neighbours a jump may be between: where one is not on the cubic through two others on each side."""
    if len(x) < 5:
        return list(range(len(x) - 1))
    count = len(x) - 4
    near = [x[k:k + count] for k in (0, 1, 3, 4)]
    at, cubic = x[2:-2], 0.0
    with np.errstate(all="ignore"):
        for k, own in enumerate((0, 1, 3, 4)):
            weight = 1.0
            for j, other in enumerate(near):
                if j != k:
                    weight = weight * (at - other) / (near[k] - other)
            cubic = cubic + weight[:, None] * numbers[own:own + count]
        is_rough = ~(np.max(np.abs(numbers[2:-2] - cubic), axis=1) <= least)
    is_rough = np.pad(is_rough, 2, mode="edge")      # the first and the last cubic have the ends among theirs
    return np.flatnonzero(is_rough[:-1] | is_rough[1:]).tolist()
