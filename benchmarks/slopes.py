# SPDX-License-Identifier: Apache-2.0
"""What one use of an operation costs in a program: the slope between a program without it and one that repeats it."""
import gc
import statistics
import time

import numpy as np
from timing import Figure


def seconds(function, batch, clock=time.thread_time):
    """Seconds of one call, of `batch` calls."""
    start = clock()
    for _ in range(batch):
        function()
    return (clock() - start) / batch


def check(program, x, driver):
    """The value must be that of the plain run bit for bit, the derivative along a direction that of differences."""
    uses = 3
    value, gradient = driver(x, uses)
    if value != program(x, uses):
        raise AssertionError("the value differs from the plain run's")
    direction = np.random.default_rng(5).standard_normal(x.shape)
    h = 1e-6
    expected = (program(x + h * direction, uses) - program(x - h * direction, uses)) / (2 * h)
    if abs(np.sum(gradient * direction) - expected) > 1e-4 * (1.0 + abs(expected)):
        raise AssertionError(f"slope {np.sum(gradient * direction)}, by differences {expected}")


def measure(name, title, program, x, uses, target, repeats=11):
    """Gradient over plain run of one use, in turns."""
    import codipy

    driver = codipy.value_and_grad(program)
    check(program, x, driver)
    runs = [lambda: program(x, 0), lambda: program(x, uses), lambda: driver(x, 0), lambda: driver(x, uses)]
    batches = [max(1, int(0.004 / max(1e-7, seconds(run, 2)))) for run in runs]
    gc.collect()
    times = [[seconds(run, batch) for run, batch in zip(runs, batches)] for _ in range(repeats)]
    without, plain, empty, gradient = (statistics.median(column) for column in zip(*times))
    least = [min(column) for column in zip(*times)]
    plain, gradient = (plain - without) / uses, (gradient - empty) / uses
    detail = (f"least/least {(least[3] - least[2]) / (least[1] - least[0]):.1f}, plain {1e6 * plain:.3g} us, "
              f"gradient {1e6 * gradient:.3g} us, each use of {uses}")
    return Figure(f"{title}: gradient / plain run", gradient / plain, target, detail=detail, question=name)
