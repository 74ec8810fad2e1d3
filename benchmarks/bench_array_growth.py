# SPDX-License-Identifier: Apache-2.0
"""Does the gradient of each NumPy program take twice the time for twice the work?"""
import statistics

from bench_arrays import WORK, prepare
from timing import Figure, in_turns


def growth(name, repeats=5):
    """Gradient at twice the size over gradient at the size, and the same of plain runs."""
    point, once, driver = prepare(name)
    twice = point.start(2 * point.size)
    times = in_turns([lambda: driver(*once), lambda: driver(*twice), lambda: point.function(*once),
                      lambda: point.function(*twice)], repeats)
    one, two, plain_one, plain_two = map(statistics.median, times)
    return two / one, plain_two / plain_one


def measure():
    """The worst of all programs."""
    found = {name: growth(name) for name in WORK}
    worst = max(found, key=lambda name: found[name][0])
    detail = ", ".join(f"{name} {mine:.2f} ({plain:.2f})" for name, (mine, plain) in found.items())
    return Figure("gradient at size 2n / at size n, worst of all array programs", found[worst][0], 2.2,
                  detail=f"plain runs in brackets: {detail}", question="array-growth")


QUESTIONS = {"array-growth": measure}
