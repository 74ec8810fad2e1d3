# SPDX-License-Identifier: Apache-2.0
"""Functions that studies of the tests measure: here, where a fresh process finds them."""

import os
import time

import numpy as np

import codipy

CALLS = [0]


def heat(u, steps=4):
    """Explicit heat equation."""
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u * u)


heat.x0 = lambda n: np.linspace(0.0, 1.0, n) ** 2


def stepped(u, steps=1):
    """A function with a parameter for its steps."""
    return heat(u, steps)


stepped.x0 = heat.x0


def products(x):
    """Scalars."""
    return x[0] * x[1] * x[0]


def wrong_under_primal(x):
    """A product that claims a wrong Jacobian when `primal` records."""
    tape = codipy.active_tape()
    if tape is None or tape.strategy != "primal":
        return x[0] * x[1]
    return tape.push_statement(codipy.value(x[0]) * codipy.value(x[1]), x, [codipy.value(x[1]), 7.0])


def fails_under_simple(x):
    """A product that is too much for one strategy."""
    tape = codipy.active_tape()
    if tape is not None and tape.strategy == "simple":
        raise MemoryError("no room for this")
    return x[0] * x[1]


def fails(x):
    """Raises in the plain run."""
    return x[0] / (x[1] - x[1])


def counts(x):
    """Is not the same twice."""
    CALLS[0] += 1
    return x[0] * CALLS[0]


def returns_text(x):
    """No number."""
    return "text"


def long(u):
    """Runs for seconds and needs memory."""
    total = 0.0
    for _ in range(400):
        u = u * 0.999 + 0.001
        total = total + np.sum(u)
    return total


long.x0 = lambda n: np.linspace(0.0, 1.0, n)


def holds(x):
    """Holds 64 MB for two seconds, under a tape as without."""
    held = np.ones(8_000_000)
    time.sleep(2.2)
    return x[0] * held[-1]


def allocates(x):
    """Takes 32 MB for a moment that no sampler sees."""
    held = np.ones(4_000_000)
    return x[0] * held[0]


def dies(x):
    """Ends the process."""
    os.write(2, b"last words")
    os._exit(3)


def chain(x):
    """Many statements of scalars."""
    value = x[0]
    for _ in range(20_000):
        value = value * 0.5 + value * value * 0.1
    return value


_calls = [0]


def grows(x):
    """Does more at each call, and returns the same."""
    _calls[0] += 1
    y = x[0]
    for _ in range(_calls[0]):
        y = y * 2.0
    return x[0] * x[1] + 0.0 * y


def solves(x):
    """A sweep over this solves with the transposed matrix, for which it may import SciPy."""
    return np.sum(np.linalg.solve(np.eye(3) * 2.0 + x[:, None] * x, x))


def root(x):
    """Its derivative is infinite where a factor is 0."""
    return (x[0] * x[1]) ** 0.5
