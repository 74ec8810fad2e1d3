# SPDX-License-Identifier: Apache-2.0
"""What does the gradient of a NumPy program cost, in plain runs of the same program?

Plain: the function of `array_work` on ndarrays. Gradient: `codipy.value_and_grad` of it, as it stands.
"""
import os
import statistics
import subprocess
import sys
import time
from functools import partial

from timing import Figure, in_turns, ratio

# name: title, target
WORK = {
    "burgers": ("coupled Burgers' equation 201x201, 32 steps, copy and assign slices", 0.6),
    "burgers-fill": ("coupled Burgers' equation 201x201, 32 steps, allocate and fill in place", 0.8),
    "black-scholes-arrays": ("Black-Scholes, 1e6 options, elementwise", 1.6),
    "small-arrays": ("chain of 10,000 operations on 10-element arrays", 1.5),
    "small-arrays-expressions": ("the same chain, four operations in an expression", 1.5),
    "logistic": ("logistic regression 10000x50", 2.5),
    "perceptron": ("perceptron 64-64-10, batch 256, cross entropy", 3.0),
    "mixture": ("Gaussian mixture n=1000 d=10 K=25", 1.0),
    "heat": ("implicit heat equation, dense 200x200 solve, 20 steps", 1.2),
    "stencil": ("linear in-place stencil, n=10,000, 200 steps", 1.5),
    "stencil-nonlinear": ("non-linear in-place stencil, n=10,000, 200 steps", 1.5),
    "fill": ("Python loops that fill an array of 10,000 elements", 4.0),
}


def keep_freed_memory():
    """Let the C library keep what is freed: NumPy's temporaries then stay in warm memory from run to run.

    glibc gives freed memory back to the system until a large block was freed once. Until then Burgers' plain run takes
    two to three times as long (15,000 page faults): its time, and with it the ratio, would depend on what the process
    did earlier. So gradients are compared with NumPy at its best.
    """
    bytearray(31 * 2 ** 20)     # glibc learns from blocks below 32 MiB only


def prepare(name):
    """The point, its arguments and codipy's driver, after both checks."""
    # Not on top: run.py asks this module for its questions only, and SciPy is needed by the functions alone.
    import array_checks
    import array_points

    import codipy

    keep_freed_memory()
    point = array_points.POINTS[name]
    driver = codipy.value_and_grad(point.function, argnums=point.argnums)
    array_checks.check_small(point, driver)
    arguments = point.start(point.size)
    array_checks.check_direction(point, arguments, *driver(*arguments))
    return point, arguments, driver


FRESH = """
import sys, time, statistics
sys.path.insert(0, sys.argv[2])
import array_points
point = array_points.POINTS[sys.argv[1]]
arguments = point.start(point.size)
times = []
for _ in range(9):
    start = time.thread_time()
    point.function(*arguments)
    times.append(time.thread_time() - start)
print(statistics.median(times[2:]))
"""


def in_a_fresh_process(name):
    """Seconds of the plain run in a process that did nothing before: what a script of NumPy alone pays."""
    command = [sys.executable, "-c", FRESH, name, os.path.dirname(os.path.abspath(__file__))]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(name, repeats=15):
    """Gradient over plain run."""
    title, target = WORK[name]
    fresh = in_a_fresh_process(name)
    point, arguments, driver = prepare(name)
    plain, times = in_turns([lambda: point.function(*arguments), lambda: driver(*arguments)], repeats)
    reached, detail = ratio(times, plain)
    detail += f"; plain in a fresh process {1e3 * fresh:.3g} ms, against that {statistics.median(times) / fresh:.2f}"
    return Figure(f"{title}: gradient / plain run", reached, target, detail=detail, question=name)


def on_threads(count=2, repeats=15):
    """Gradient on several threads over plain run on one, which is all that NumPy uses: by the wall clock."""
    import codipy

    point, arguments, driver = prepare("black-scholes-arrays")

    def threaded():
        codipy.set_num_threads(count)
        result = driver(*arguments)
        codipy.set_num_threads(1)
        return result

    (value, gradient), (alone, expected) = threaded(), driver(*arguments)
    if value != alone or any((a != b).any() for a, b in zip(gradient, expected)):
        raise AssertionError("several threads change the gradient")
    plain, times, one = in_turns([lambda: point.function(*arguments), threaded, lambda: driver(*arguments)], repeats,
                                 clock=time.perf_counter)
    reached, detail = ratio(times, plain)
    detail += f"; gradient on one thread {statistics.median(one) / statistics.median(plain):.2f}"
    title = f"Black-Scholes, 1e6 options, elementwise, gradient on {count} threads / plain run, by the wall clock"
    return Figure(title, reached, 0.9, detail=detail, question="black-scholes-threads")


def fixed_cost(repeats=31):
    """The gradient of a sum of ten squares, in microseconds: next to nothing is differentiated."""
    point, arguments, driver = prepare("squares")
    plain, times = in_turns([lambda: point.function(*arguments), lambda: driver(*arguments)], repeats)
    detail = f"least {1e6 * min(times):.1f} us, plain {1e6 * statistics.median(plain):.2f} us"
    return Figure("fixed cost of a gradient: sum of squares of 10 elements", 1e6 * statistics.median(times), 15.0,
                  unit=" us", detail=detail, question="fixed-cost")


QUESTIONS = {**{name: partial(measure, name) for name in WORK}, "black-scholes-threads": on_threads,
             "fixed-cost": fixed_cost}
