# SPDX-License-Identifier: Apache-2.0
"""Does resident memory stay flat over 1e5 recordings, 1e5 gradients of arrays, and 1e6 Reals made and dropped?"""
import math
import os

import models
from timing import Figure, gradient

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def resident():
    """Bytes of this process in memory (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def growth(action, repeats, warm):
    """Growth in MB over `repeats` calls after `warm` of them, and the plain text of both ends."""
    for _ in range(warm):
        action()
    before = resident()
    for _ in range(repeats):
        action()
    after = resident()
    return (after - before) / 2 ** 20, f"{before / 2 ** 20:.1f} MB before, {after / 2 ** 20:.1f} MB after"


def cycles(repeats=100_000):
    """Record, evaluate, reset: all strategies take turns."""
    import codipy
    from codipy.tape.strategies.table import STRATEGIES

    tapes = [codipy.Tape(strategy=strategy) for strategy in STRATEGIES]
    x = [-1.2, 1.0, 0.7]

    def all_tapes():
        for tape in tapes:
            gradient(tape, lambda inputs: models.rosenbrock(inputs, math), x)

    grown, detail = growth(all_tapes, repeats // len(tapes), 200)
    return Figure(f"{repeats} record/evaluate/reset cycles: growth of resident memory", grown, 1.0, unit=" MB",
                  detail=detail, question="cycles")


def reals(repeats=1_000_000):
    """Passive and recorded Reals, made and dropped; the tape starts again after each thousand."""
    import codipy

    tape = codipy.Tape(strategy="jacobian-reuse")

    def thousand():
        tape.reset()
        with tape:
            x = tape.register_input(1.0)
            kept = [codipy.Real(1.0) for _ in range(500)] + [x * 1.5 + x for _ in range(500)]
        del kept

    grown, detail = growth(thousand, repeats // 1000, 50)
    return Figure(f"{repeats} Reals made and dropped: growth of resident memory", grown, 1.0, unit=" MB",
                  detail=detail, question="reals")


def array_gradients(repeats=100_000):
    """Views, writes in place, elements, a primitive, a sum and float32: all strategies take turns."""
    import numpy as np

    import codipy
    from codipy.tape.strategies.table import STRATEGIES

    def function(x):
        y = np.zeros(len(x))
        y[1:-1] = x[2:] * np.sin(x[:-2])
        y[0] = x[1] * x[2]
        y += 0.5 * y[::-1]
        return np.sum(np.outer(y, x) @ np.sort(x)) + np.mean(y.astype(np.float32) * 2)

    drivers = [codipy.grad(function, strategy=strategy) for strategy in STRATEGIES]
    x = np.linspace(0.1, 1.0, 12)

    def all_drivers():
        for driver in drivers:
            driver(x)

    grown, detail = growth(all_drivers, repeats // len(drivers), 200)
    return Figure(f"{repeats} gradients of an array program: growth of resident memory", grown, 1.0, unit=" MB",
                  detail=detail, question="array-gradients")


QUESTIONS = {"cycles": cycles, "reals": reals, "array-gradients": array_gradients}
