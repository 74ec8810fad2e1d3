# SPDX-License-Identifier: Apache-2.0
"""What do Taylor coefficients to order 5 cost, of a loop over numbers and of array code?"""
from timing import Figure, in_turns, ratio


def lorenz(u):
    """Lorenz' equations by Euler's method, 1000 steps."""
    x, y, z = u
    for _ in range(1000):
        x, y, z = x + 0.01 * (y - x), y + 0.001 * (x * (28.0 - z) - y), z + 0.001 * (x * y - 8.0 / 3.0 * z)
    return [x, y, z]


def reaction(x):
    """50 steps of an equation on a ring of cells."""
    import numpy as np
    for _ in range(50):
        x = x + 0.01 * (np.sin(x) * x - np.exp(-x) * np.roll(x, 1))
    return x


def _figure(name, f, x, direction, target, question):
    import codipy
    times, reference = in_turns([lambda: codipy.taylor(f, x, direction, 5), lambda: f(x)], 5)
    reached, detail = ratio(times, reference)
    return Figure(name, reached, target, detail=detail, question=question)


def of_numbers():
    """A loop over floats."""
    return _figure("Taylor coefficients to order 5, Lorenz as a loop / plain", lorenz, [1.0, 2.0, 20.0],
                   [0.3, -1.0, 0.5], 50.0, "taylor-numbers")


def of_arrays():
    """Array code."""
    import numpy as np
    return _figure("Taylor coefficients to order 5, 50 steps on 10,000 cells / plain", reaction,
                   np.linspace(0.1, 2.0, 10_000), np.ones(10_000), 60.0, "taylor-arrays")


QUESTIONS = {"taylor-numbers": of_numbers, "taylor-arrays": of_arrays}
