# SPDX-License-Identifier: Apache-2.0
"""Does a trajectory cost what its steps touch? Exponents of time and bytes over three sizes, beside the plain run's.

The gradient's time is held against the plain run's. Bytes on the tape are held against the elements that all steps
touch: in every pattern a step touches as many of them at each size, so these grow with exponent 1. (The plain run's
memory is no measure: programs that go on in place need none, and a reverse sweep needs what they overwrite.)
"""
import math
import statistics

from growth_work import PATTERNS, POINT
from timing import Figure, in_turns

TOUCHED = 1.0       # exponent of the elements that all steps touch: as many in each step, whatever the size


def exponent(sizes, amounts):
    """Slope of log(amount) over log(size)."""
    xs, ys = [math.log(n) for n in sizes], [math.log(max(amount, 1e-9)) for amount in amounts]
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def bytes_used(function):
    """Of the tape, by a recording."""
    import codipy

    tape, f = codipy.Tape(), codipy.rebind(function)
    with tape:
        y = tape.register_output(f(tape.register_input(POINT.copy())))
    used = tape.statistics().total.used
    del y
    return used


def growth(name, repeats=5):
    """Exponents of the plain time, the gradient's time and the tape's bytes; gradient over plain run at the largest."""
    import codipy
    from codipy.testing import check_derivatives

    function, sizes = PATTERNS[name]
    check_derivatives(lambda x: function(x, 40), POINT, strategies="auto", granularities="statement")
    driver, calls = codipy.value_and_grad(function), []
    for n in sizes:
        calls += [lambda n=n: function(POINT, n), lambda n=n: driver(POINT, n)]
    medians = [min(times) for times in in_turns(calls, repeats)]
    plain, taped = medians[::2], medians[1::2]
    used = [bytes_used(lambda x, n=n: function(x, n)) for n in sizes]
    return exponent(sizes, plain), exponent(sizes, taped), exponent(sizes, used), taped[-1] / plain[-1]


def measure():
    """The worst of all patterns."""
    found = {name: growth(name) for name in PATTERNS}
    above = {name: max(time - plain, size - TOUCHED) for name, (plain, time, size, _) in found.items()}
    worst = max(above, key=above.get)
    detail = ", ".join(f"{name} {plain:.2f} {time:.2f} {size:.2f} ({ratio:.1f})"
                       for name, (plain, time, size, ratio) in found.items())
    return Figure("growth exponent of time above the plain run's, or of bytes above that of the elements touched, "
                  "worst of all trajectories",
                  above[worst], 0.1,
                  detail=f"{worst}; each: plain time, gradient's time, bytes (gradient / plain): {detail}",
                  question="growth")


QUESTIONS = {"growth": measure}
