# SPDX-License-Identifier: Apache-2.0
"""Finite differences with the error that they must be allowed, and differences between gradients."""
from __future__ import annotations

import math
import sys

import numpy as np

__all__ = ["Directions", "agreement", "finite_differences", "largest_difference", "random_directions"]

_EPSILON = sys.float_info.epsilon
_GOOD = 1e-6      # relative error with which a step is taken as it is


def finite_differences(function, x, step=None, only=None, each=None):
    """Central differences at `x`, one number after the other.

    Parameters
    ----------
    function : callable
        Takes the like of `x` and returns a float.
    x : list of float or numpy.ndarray
        The point.
    step : float, optional
        For numbers up to 1 in size, above times the root of the size; default is the cube root of the machine's
        precision, which balances the error of the formula and that of rounding. Smaller ones are tried where it
        leaves the domain of the function or does badly.
    only : iterable of int, optional
        Which numbers of `x`; default is all.
    each : callable, optional
        Called after each number.

    Returns
    -------
    tuple of numpy.ndarray
        The derivatives, and how wrong each may be: rounding, and the change when the step is doubled. NaN and
        infinity where no step works, and for numbers that `only` leaves out.
    """
    first = _EPSILON ** (1 / 3) if step is None else step
    result = np.full((len(x), 2), [math.nan, math.inf])
    for i in range(len(x)) if only is None else only:
        h = first * math.sqrt(max(abs(x[i]), 1.0))
        for _ in range(8):
            found, error, rounding = _central(function, x, i, h)
            if error < result[i, 1]:
                result[i] = found, error
            if error <= max(_GOOD * abs(found), 2.0 * rounding):      # below that a smaller step is a worse one
                break
            h /= 16.0
        if each is not None:
            each()
    return result[:, 0], result[:, 1]


def _central(function, x, i, h):
    """The derivative, its error, and what of the error is rounding; the error is infinite outside the domain."""
    values, steps = [], []
    for factor in (1.0, -1.0, 2.0, -2.0):
        moved = x.copy()
        moved[i] += factor * h
        steps.append(moved[i] - x[i])
        try:
            values.append(function(moved))
        except (ArithmeticError, ValueError, TypeError):      # TypeError: a power that became complex
            return math.nan, math.inf, 0.0
    if not all(map(math.isfinite, values)) or 0.0 in steps:
        return math.nan, math.inf, 0.0
    near = (values[0] - values[1]) / (steps[0] - steps[1])
    far = (values[2] - values[3]) / (steps[2] - steps[3])
    rounding = 16.0 * _EPSILON * max(map(abs, values)) / h
    return near, abs(near - far) + rounding, rounding


def random_directions(x, count):
    """Plus or minus the scale of each number, drawn the same in every run; of a larger count the first are the same."""
    random, scale = np.random.default_rng(x.size), np.sqrt(np.maximum(np.abs(x), 1.0))
    return [scale * random.choice([-1.0, 1.0], x.size) for _ in range(count)]


class Directions:
    """Central differences in random directions: four runs each, however many numbers there are.

    Parameters
    ----------
    function, x
        See `finite_differences`; `x` is an array.
    count : int
        How many.
    step, each : optional
        See `finite_differences`.

    Attributes
    ----------
    directions : list of numpy.ndarray
        Those of `random_directions`.
    differences, errors : numpy.ndarray
        As `finite_differences` returns them.
    """

    def __init__(self, function, x, count, step=None, each=None):
        self.directions = random_directions(x, count)
        self.differences, self.errors = np.zeros(count), np.zeros(count)
        for k, direction in enumerate(self.directions):
            found, error = finite_differences(lambda t, along=direction: function(x + t[0] * along), [0.0], step,
                                              each=each)
            self.differences[k], self.errors[k] = found[0], error[0]

    def __len__(self):
        return len(self.directions)

    def along(self, gradient):
        """The derivatives in the directions, and the sizes of what they are summed from."""
        with np.errstate(invalid="ignore", over="ignore"):
            return (np.array([direction @ gradient for direction in self.directions]),
                    np.array([np.abs(direction) @ np.abs(gradient) for direction in self.directions]))

    def off(self, gradient, rtol=1e-5):
        """Lines on the directions in which a gradient is too far from the differences; none where none is known."""
        for found, scale, expected, error in zip(*self.along(gradient), self.differences, self.errors):
            if np.isfinite(expected) and not abs(found - expected) <= rtol * scale + error:
                yield f"finite differences in a random direction: the derivative is {found:.12g}, not {expected:.12g}"


def largest_difference(a, b):
    """The largest difference of two arrays over the largest size in `b`; equal infinities and NaN are no difference."""
    difference = agreement(a, b)
    finite = np.abs(b[np.isfinite(b)])
    scale = finite.max() if finite.size and finite.max() > 0.0 else 1.0
    return float(difference.max(initial=0.0) / scale)


def agreement(a, b):
    """|a - b| element by element: 0 for equal infinities and for NaN with NaN, infinite for NaN with a number."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(a - b)
    difference[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
    return np.where(np.isnan(difference), np.inf, difference)
