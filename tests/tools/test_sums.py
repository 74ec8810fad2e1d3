# SPDX-License-Identifier: Apache-2.0
"""Python's `sum`, which since 3.12 compensates sums of floats, and other built-ins that treat floats their own way."""

import math
import random
import statistics

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.tools.rebinding.sums import COMPENSATED, compensated_sum
from tests.strategies import AS_VALUES, each_as_values, each_strategy


def neumaier(items, start=0):
    """Sums of floats and ints by Python 3.12's documented way: Neumaier's correction, of exact floats alone."""
    total, error, state = start, 0.0, "ints" if type(start) is int else "floats" if type(start) is float else "any"
    for x in items:
        if state == "floats" and type(x) is float:
            new = total + x
            error += (total - new) + x if abs(total) >= abs(x) else (x - new) + total
            total = new
        elif state == "floats" and isinstance(x, int) and abs(x) < 2**62:
            total += float(x)
        elif state == "floats":
            total, state = (total + error if error and math.isfinite(error) else total) + x, "any"
        else:
            total = total + x
            if state == "ints" and type(total) is int and not (abs(total) < 2**63 and abs(x) < 2**63):
                state = "any"
            elif state == "ints" and type(total) is not int:
                state = "floats" if type(total) is float else "any"
    return total + error if state == "floats" and error and math.isfinite(error) else total


def lists(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        size = rng.randrange(1, 8)
        known = [1e16, -1e16, 1.0, 0.1, -0.1, 1e-9, 3, True, 2**70]
        numbers = [rng.choice([*known, rng.gauss(0, 1)]) for _ in range(size)]
        if rng.random() < 0.3:
            numbers[rng.randrange(size)] = np.float64(rng.gauss(0, 1))
        yield numbers, rng.choice([0, 0, 0.0, 0.5, 2, True])


def same(x, y):
    value = codipy.value(x)
    return type(value) is type(y) and (value == y or value != value and y != y)


@pytest.mark.skipif(not COMPENSATED, reason="this Python adds floats plainly")
def test_the_twin_is_pythons():
    for numbers, start in lists(0, 500):
        assert same(sum(numbers, start), neumaier(numbers, start))


@each_strategy
def test_compensated(strategy):
    for numbers, start in lists(1, 100):
        expected = neumaier(numbers, start)
        with codipy.Tape(strategy) as tape:
            inputs = [tape.register_input(x) if isinstance(x, float) else x for x in numbers]
            y = compensated_sum(inputs, start)
            assert same(y, expected), (numbers, start)
            if type(y) is not codipy.Real:
                continue
            y = tape.register_output(y)
        y.gradient = 1.0
        tape.evaluate()
        assert all(x.gradient == 1.0 for x in inputs if type(x) is codipy.Real)


@each_as_values
def test_a_replay_compensates(strategy):
    with codipy.Tape(strategy) as tape:
        x = [tape.register_input(v) for v in (1e16, 1.0, -1e16)]
        y = tape.register_output(compensated_sum(x))
    assert y.value == 1.0
    tape.set_primal(x[1], 3.0)
    tape.evaluate_primal()
    assert tape.get_primal(y) == 3.0
    assert strategy in AS_VALUES


def the_rest(a, b, c, x):
    values = [a, b, c]
    return [
        sum(values), sum(values, 0.5), sum(x), sum([a, x[0], b]), sum(v * v for v in values), sum([]),
        round(a, 2), round(x[0], 2), round(b), min(values), max(a, x[0]), sorted([c, a, b, x[1]]),
        divmod(a, 0.3), pow(abs(a), 1.5), abs(b), math.fsum(values), math.prod(values),
        statistics.median(values), statistics.median_low(values),
    ]  # fmt: skip


def signature(x):
    if isinstance(x, (list, tuple)):
        return [signature(part) for part in x]
    x = codipy.value(x)
    return type(x), float(x).hex()


@each_strategy
def test_built_ins_are_those_of_the_plain_run(strategy):
    rng = random.Random(3)
    for _ in range(20):
        args = [rng.choice([2.675, 1e16, -1e16, 0.1, rng.gauss(0, 3)]) for _ in range(3)]
        x = np.array([rng.choice([2.675, 0.125, 1e16]), rng.gauss(0, 1)])
        with codipy.Tape(strategy) as tape:
            found = codipy.rebind(the_rest)(*map(tape.register_input, [*args, x]))
            assert signature(found) == signature(the_rest(*args, x))


@pytest.mark.parametrize("function", [statistics.mean, statistics.fmean, statistics.stdev, statistics.geometric_mean])
def test_statistics_that_leave_floats_are_refused(function):
    with codipy.Tape() as tape, pytest.raises(ActiveError):
        function([tape.register_input(1.0), tape.register_input(2.5)])
