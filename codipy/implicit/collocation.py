# SPDX-License-Identifier: Apache-2.0
"""Sensitivities and adjoints along a solution that is known: linear equations, by collocation.

The solution gives the matrix of slopes at any time, so an interval needs that at its nodes alone, and one solve: those
of the Radau IIA method with five stages, of order 9 and without limits of stability (Hairer and Wanner, "Solving
Ordinary Differential Equations II", 1996, section IV.5). Backward is the transpose of that solve, hence of the same
order. The method with four stages, at the matrix that the five nodes interpolate, says how far both are off.

Rejected: to give the equation to LSODA. It is told of no interpolant, takes ten times as many times to look at, and
records the right-hand side at each.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.polynomial import legendre

__all__ = ["FINE", "Accuracy", "pulled", "pushed", "walk"]

_STEPS = 8              # of the solver that an interval has at most
_EASY = 1.0 / 512.0      # of the tolerance: an interval twice as long is within it
_MOST = 20_000          # intervals
_SMALL = 1e-3           # how much less than the largest number another one may be, and still is as accurate


class _Rule:
    """A method of collocation at Radau's nodes.

    Attributes
    ----------
    nodes : ndarray, shape (s,)
        Between 0 and 1, which is the last.
    weights : ndarray, shape (s, s)
        Integrals of Lagrange's polynomials from 0 to each node.
    """

    def __init__(self, count):
        roots = np.sort(legendre.legroots([0.0] * (count - 1) + [-1.0, 1.0]).real)  # real numbers in any type
        self.nodes = 0.5 * (roots + 1.0)
        self.nodes[-1] = 1.0
        powers = np.vander(self.nodes, count, increasing=True)
        self.weights = (powers * self.nodes[:, None] / np.arange(1.0, count + 1.0)) @ np.linalg.inv(powers)
        self._inner = np.linalg.inv(powers)
        self._outer = np.linalg.inv(np.vander([0.0, *self.nodes], count + 1, increasing=True))

    def between(self, x):
        """What the numbers at the nodes have for weights in their polynomial at x."""
        return np.vander(x, self.nodes.size, increasing=True) @ self._inner

    def within(self, x):
        """The same of the solution, of which the number at 0 is the first."""
        return np.vander(x, self.nodes.size + 1, increasing=True) @ self._outer

    def matrix(self, length, slopes):
        """That of the equations for the solution at the nodes."""
        count, n, _ = slopes.shape
        found = np.empty((count, n, count, n))
        np.multiply(-length * self.weights[:, None, :, None], slopes.transpose(1, 0, 2)[None], out=found)
        found = found.reshape(count * n, count * n)
        found.flat[::count * n + 1] += 1.0
        return found

    def forward(self, length, slopes, start, forcing):
        """The solution of s' = slopes s + forcing at the nodes, from its start."""
        right = start + length * (self.weights @ forcing)
        return np.linalg.solve(self.matrix(length, slopes), right.reshape(-1)).reshape(right.shape)

    def backward(self, length, slopes, seeds):
        """The cotangents of the start and of the forcing, for those of the solution at the nodes."""
        found = np.linalg.solve(self.matrix(length, slopes).T, seeds.reshape(-1)).reshape(seeds.shape)
        return found.sum(axis=0), length * (self.weights.T @ found)


FINE, _COARSE = _Rule(5), _Rule(4)


@functools.lru_cache(None)
def _restricted():
    return FINE.between(_COARSE.nodes)


def pushed(length, slopes, start, forcing, inside):
    """The solution at the nodes, at some times inside, and how far that at these and at the end is off.

    Parameters
    ----------
    length : float
    slopes : ndarray, shape (s, n, n)
    start : ndarray, shape (n,)
    forcing : ndarray, shape (s, n)
        At the nodes of `FINE`, as the slopes.
    inside : ndarray, shape (k,)
        Between 0 and 1.
    """
    down = _restricted()
    fine = FINE.forward(length, slopes, start, forcing)
    coarse = _COARSE.forward(length, np.tensordot(down, slopes, 1), start, down @ forcing)
    rows, wrong = fine[:0], np.abs(fine[-1] - coarse[-1])
    if inside.size:
        rows = FINE.within(inside) @ np.vstack([start, fine])
        others = _COARSE.within(inside) @ np.vstack([start, coarse])
        wrong = np.maximum(wrong, np.abs(rows - others).max(axis=0))
    return fine, rows, wrong


def pulled(length, slopes, end, inside, seeds):
    """The cotangents of the start and of the forcing, each with what it differs by from one of lower order.

    Parameters
    ----------
    length, slopes, inside
        See `pushed`.
    end : ndarray, shape (n,)
        The cotangent of the solution at the end.
    seeds : ndarray, shape (k, n)
        Those of the solution at the times inside.
    """
    down, found = _restricted(), []
    for rule, matrices in ((FINE, slopes), (_COARSE, np.tensordot(down, slopes, 1))):
        weights = np.zeros((rule.nodes.size + 1, end.size))
        if inside.size:
            weights += rule.within(inside).T @ seeds
        weights[-1] += end
        start, forcing = rule.backward(length, matrices, weights[1:])
        found.append((weights[0] + start, forcing))
    (start, forcing), (other_start, other_forcing) = found
    return start, start - other_start, forcing, forcing - down.T @ other_forcing


class Accuracy:
    """How far numbers may be off: relative to each, and to the largest of them in units that they share.

    Parameters
    ----------
    relative : float
    """

    def __init__(self, relative):
        self.relative = max(relative, 1e-12)
        self._of_largest = max(_SMALL * self.relative, 1e-13)

    def ratio(self, wrong, sizes, units):
        """The error in units of what it may be: at most 1 if it is within that.

        Parameters
        ----------
        wrong, sizes : ndarray, shape (n,)
            Not negative.
        units : ndarray, shape (n,)
            What numbers are divided by to be compared.
        """
        if not np.any(wrong):
            return 0.0
        largest = np.minimum(sizes.max(), units * (sizes / units).max())
        return float(np.max(wrong / (self.relative * sizes + self._of_largest * largest)))


def walk(ends, advance):
    """Go through intervals between ends of steps: some steps, or a part of one, as far as each is within the tolerance.

    Parameters
    ----------
    ends : ndarray
        Times in the order in which they are gone through.
    advance : callable
        ``advance(first, last)`` is the error of an interval in units of its tolerance. If that is at most 1, the
        interval is behind us.
    """
    at, most, count, waiting = 0, _STEPS // 2, 0, []
    while waiting or at < len(ends) - 1:
        if not waiting:
            stop = min(at + most, len(ends) - 1)
            waiting.append((at, stop, ends[at], ends[stop]))
            at = stop
        first, last, begin, end = waiting.pop()
        count += 1
        ratio = advance(begin, end)
        if ratio <= 1.0:
            if last - first == most and ratio <= _EASY:
                most = min(2 * most, _STEPS)
            continue
        if count > _MOST or abs(end - begin) <= 64.0 * np.spacing(max(abs(begin), abs(end))):
            raise ArithmeticError(f"the equation of the derivatives of a solution was not integrated within its "
                                  f"tolerances at {begin:.6g}")
        if last - first > 1:
            middle = (first + last) // 2
            most = middle - first
            waiting += [(middle, last, ends[middle], end), (first, middle, begin, ends[middle])]
        else:
            middle = 0.5 * (begin + end)
            waiting += [(first, last, middle, end), (first, last, begin, middle)]
