# SPDX-License-Identifier: Apache-2.0
"""The right-hand side of a differential equation at plain values of its variables, and its derivatives."""

from __future__ import annotations

import contextlib

import numpy as np

import codipy.numpy
from codipy.errors import ActiveError
from codipy.implicit.collocation import FINE
from codipy.numpy.allocation import as_numbers
from codipy.tape import active_tape
from codipy.tools.pool import borrow, borrow_vector, give_back, give_back_vector
from codipy.tools.runs.recording import Recording
from codipy.tools.runs.run import NESTED

__all__ = ["Slopes", "refuse_hidden", "row_of"]

_FEW = 64           # numbers of variables, by all of which a sweep forward goes


def refuse_hidden():
    """Raise since the equation depends on variables that nobody has found."""
    raise ActiveError("a differential equation reads variables that codipy does not find in it, from attributes of "
                      "objects or through functions that it calls: hand them over by args=, or as variables of the "
                      "function around it")


def row_of(parts):
    """All numbers of some arrays, in a row."""
    return np.concatenate([np.zeros(0), *(np.reshape(part, (-1,)) for part in parts)])


class Slopes:
    """The right-hand side at plain values of its variables, with its derivatives."""

    def __init__(self, equation, variables):
        self._equation, self.variables = equation, [x if isinstance(x, np.ndarray) else float(x) for x in variables]
        self.plain = equation.with_values(self.variables)

    @contextlib.contextmanager
    def at(self, times, states):
        """One recording of runs at some times; a driver would look for the variables in all arguments each time."""
        def f(*values):
            self._equation.resume()
            equation, runs = self._equation.with_values(values[len(times):]), []
            for t, y in zip(times, values):
                found = as_numbers(equation(t, y))
                # A copy: the function may fill one array again and again.
                runs.append(found.copy() if found.shape == y.shape else codipy.numpy.broadcast_to(found, y.shape))
            return runs

        def place(args, inputs):
            args[:] = inputs

        is_nested = active_tape() is not None
        settings = NESTED if is_nested else ("auto", None)
        tape = borrow(settings)
        try:
            if is_nested:
                tape.loans = []
            recording = Recording(tape, f, [], {}, [*states, *self.variables], place)
            if tape.loans:
                refuse_hidden()
            yield _Runs(recording, len(states), states[0].size)
        finally:
            give_back(settings, tape)

    def pulled(self, t, y, cotangent):
        """The cotangents of the state and of each variable."""
        with self.at([t], [y]) as runs:
            return runs.pulled([cotangent])

    def pushed(self, t, y, tangents):
        """The tangent of the right-hand side."""
        with self.at([t], [y]) as runs:
            return runs.pushed(tangents)[0]

    def matrix(self, t, y):
        """The derivatives by the state."""
        with self.at([t], [y]) as runs:
            return runs.matrices()[0][0]

    def between(self, problem, piece, first, last):
        """The right-hand side at the nodes of an interval: what was found there for another direction, if it is kept.

        Returns
        -------
        states : ndarray, shape (s, n)
        matrices : ndarray, shape (s, n, n)
        columns : ndarray, shape (s, n, m), or None
            The derivatives by all m numbers of the variables, if these are few.
        """
        found = problem.seen.get((first, last))
        if found is None:
            times, sizes = first + (last - first) * FINE.nodes, [np.size(x) for x in self.variables]
            states, are_few = [piece(t) for t in times], sum(sizes) <= _FEW
            with self.at(times, states) as runs:
                matrices, columns = runs.matrices(sizes if are_few else ())
            found = np.array(states), matrices, columns if are_few else None
            problem.keep((first, last), found)
        return found

    def shares(self, first, last, found, cotangents):
        """What all numbers of the variables get for cotangents at the nodes, in each of the directions.

        Parameters
        ----------
        cotangents : ndarray, shape (s, n, 2)
        """
        states, _, columns = found
        if columns is not None:
            return np.tensordot(columns, cotangents, ((0, 1), (0, 1)))
        with self.at(first + (last - first) * FINE.nodes, list(states)) as runs:
            parts = runs.pulled(list(cotangents), 2)[len(states):]
        return np.concatenate([np.reshape(part, (-1, 2)) for part in parts])

    def forcing(self, first, last, found, tangents):
        """The tangents of the right-hand side at the nodes, for those of the variables."""
        states, _, columns = found
        if columns is not None:
            return columns @ row_of(tangents)
        with self.at(first + (last - first) * FINE.nodes, list(states)) as runs:
            return np.stack(runs.pushed([*(0.0 * y for y in states), *tangents]))


class _Runs:
    """Sweeps through runs of the right-hand side, each at a time and a state."""

    def __init__(self, recording, count, size):
        self._recording, self._count, self._size = recording, count, size

    def pulled(self, cotangents, width=1):
        """The cotangents of each state and of the variables; of several directions, the last axis."""
        return self._swept(self._recording.reverse, cotangents, width)

    def pushed(self, tangents):
        """The tangents of the right-hand side, for those of each state and of the variables."""
        return self._swept(self._recording.forward, tangents, 1)

    def matrices(self, sizes=()):
        """The derivatives by the states, each by its own, and by the variables of these sizes: all in one sweep."""
        n, width = self._size, self._size + sum(sizes)
        seeds, start = [np.eye(n, width) if width > 1 else np.ones(1)] * self._count, n
        for size, x in zip(sizes, self._recording.inputs[self._count:]):
            seeds.append(np.reshape(np.eye(size, width, start), (*np.shape(x), width)))
            start += size
        found = np.reshape(self._swept(self._recording.forward, seeds, width), (self._count, n, width))
        return found[..., :n], found[..., n:]

    def _swept(self, sweep, seeds, width):
        adjoints = borrow_vector(self._recording.tape, width)
        found = sweep(adjoints, seeds)
        give_back_vector(adjoints)
        return found
