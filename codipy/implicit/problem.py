# SPDX-License-Identifier: Apache-2.0
"""A differential equation that was solved: some of its states, and the solution between them, which is integrated anew.

At most `_MOST` states are kept, however long the interval is. A sweep takes the solution piece by piece, and a piece of
more steps is divided again, so memory grows with the logarithm of the number of steps. Rejected: to integrate the
solution backwards as well, which is unstable where it is dissipative.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.integrate

from codipy.implicit.collocation import Accuracy

__all__ = ["Kept", "Problem"]

_MOST = 64
_LARGEST = 200      # states, of which matrices are taken
_KEPT = 4 << 20     # bytes of what was seen


class Kept:
    """Some of the states that a solution went through: all, then every second, every fourth.

    Attributes
    ----------
    states : list
        Pairs of a time and a state.
    stride : int
        How many steps there are from one to the next.
    """

    def __init__(self, t, y):
        self.states, self.stride, self._count = [(float(t), np.array(y, np.float64))], 1, 0

    def append(self, step):
        """Another step of a solver."""
        self.append_state(step.t, step.y)

    def append_state(self, t, y):
        """Another state."""
        self._count += 1
        if self._count % self.stride:
            return
        self.states.append((float(t), np.array(y)))
        if len(self.states) > _MOST:
            del self.states[1::2]
            self.stride *= 2


class Problem:
    """An equation, how it is integrated, and some states of the solution.

    Parameters
    ----------
    equation : Equation
    method : str
        Of ``scipy.integrate.solve_ivp``.
    options : dict
        Tolerances, and what else both the equation and that of its derivatives are integrated with.
    kept : Kept
    times : ndarray
        Where the solution is asked for.
    values : ndarray, shape (len(times), n)
        What it is there.
    breaks : sequence of float
        Times over which no step goes.
    """

    def __init__(self, equation, method, options, kept, times, values, breaks=()):
        self.breaks, self.seen, self._bytes = breaks, {}, 0
        self.equation, self.method, self.options, self.kept = equation, method, options, kept
        self.times, self.values = np.asarray(times, np.float64), values

    # ---- The solution between the states that were kept ------------------------------------------------------------
    def pieces(self, f, kept, end, backwards):
        """Solutions on intervals that follow one another, each of about `_MOST` steps at most."""
        starts = kept.states[::max(_MOST // kept.stride, 1)]
        ends = [t for t, _ in starts[1:]] + [end]
        pairs = [(t, y, stop) for (t, y), stop in zip(starts, ends) if t != stop]
        for t, y, stop in reversed(pairs) if backwards else pairs:
            if kept.stride > _MOST:
                again = Kept(t, y)
                self._integrated(f, t, y, stop, again)
                yield from self.pieces(f, again, stop, backwards)
            else:
                found = self._integrated(f, t, y, stop, None)
                yield from reversed(found) if backwards else found

    def _integrated(self, f, t, y, end, kept):
        """Dense solutions, one after each break; with `kept`, only the states that this keeps."""
        method, found = _seen(self.method, kept) if kept is not None else self.method, []
        inside = sorted(x for x in self.breaks if (x - t) * (end - x) > 0.0)
        for stop in [*(inside if end > t else inside[::-1]), end]:
            found.append(_succeeded(scipy.integrate.solve_ivp(
                f, (t, stop), y, method, [stop] if kept is not None else None, kept is None, **self.options)))
            t, y = stop, found[-1].y[:, -1]
        return [each.sol for each in found]

    def linear(self, f, span, start, scale, slope, is_dense):
        """Integrate a linear equation as the solution is, for numbers of the size `scale`; `slope(t)` is its matrix."""
        options = dict(self.options)
        options["atol"] = np.min(options.get("atol", 1e-6)) * (scale or 1.0)
        if self.is_implicit:
            options["jac"] = lambda t, _: slope(t)
        times = None if is_dense else [span[1]]
        return _succeeded(scipy.integrate.solve_ivp(f, span, start, self.method, times, is_dense, **options))

    def keep(self, key, arrays):
        """What was seen of an interval, for the directions of other sweeps."""
        self._bytes += sum(x.nbytes for x in arrays if x is not None)
        if self._bytes <= _KEPT:
            self.seen[key] = arrays

    @property
    def takes_matrices(self):
        """Whether there is a matrix of slopes at each time; larger ones cost more than to integrate without."""
        return self.is_implicit and self.values.shape[-1] <= _LARGEST

    @functools.cached_property
    def accuracy(self):
        """That of the solution, relative to its numbers; of one that is nearly zero as if it were 1."""
        sizes = np.maximum(np.abs([y for _, y in self.kept.states]).max(axis=0), 1.0)
        return Accuracy(max(np.min(self.options.get("rtol", 1e-3)), np.min(self.options.get("atol", 1e-6) / sizes)))

    @functools.cached_property
    def least(self):
        """Sizes below which the numbers of the solution are as good as zero."""
        return self.options.get("atol", 1e-6) / self.accuracy.relative

    @property
    def is_implicit(self):
        """Whether the method solves equations with the matrix of slopes."""
        return self.method in ("Radau", "BDF", "LSODA")


def _succeeded(found):
    if not found.success:
        raise ArithmeticError(f"the equation of the derivatives of a solution was not integrated: {found.message}")
    return found


def _seen(method, kept):
    """A method of which some states are kept."""

    class Seen(getattr(scipy.integrate, method)):
        def step(self):
            message = super().step()
            if self.status != "failed":
                kept.append(self)
            return message

    return Seen
