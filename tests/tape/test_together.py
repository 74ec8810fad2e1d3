# SPDX-License-Identifier: Apache-2.0
"""Jacobians of statements that are stored by value: computed side by side they have the bits of one by one."""

import math
import struct

import numpy as np
import pytest

import codipy
from codipy.active.arrays.elementwise_door import elementwise
from codipy.operations import TABLE
from codipy.tape.strategies.together import _together_from
from tests.strategies import AS_VALUES

pytestmark = pytest.mark.filterwarnings("ignore")
STRATEGIES = [s for s in AS_VALUES if s.startswith("primal")]
ROWS = [row for row in TABLE if row.name != "scale"]      # whose second argument is an integer of Python's
NEVER, STRETCH = 1 << 40, 256
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-310, -1e300, 1e5, 1e6, math.inf, -math.inf, math.nan]
each_by_value = pytest.mark.parametrize("strategy", STRATEGIES)


def bits(numbers):
    """Equal where the numbers are, zeros of both signs told apart, all NaN alike."""
    return [struct.pack("<d", v) if v == v else b"nan" for part in numbers for v in np.ravel(part).tolist()]


def both_ways(tape, inputs, outputs, width=1):
    """Adjoints of the inputs by two sweeps: together, and one by one."""
    found = []
    for least in (1, NEVER):
        before = _together_from(least)
        try:
            adjoints = tape.new_adjoints(width=width)
            for k, y in enumerate(outputs):
                if y.is_active:
                    seed = [(-1.0) ** k / (k + 3.0), *(float(k % j == 0) for j in range(2, width + 1))]
                    adjoints[y] = seed if width > 1 else seed[0]
            tape.evaluate(adjoints=adjoints)
            found.append([adjoints[x] for x in inputs])
        finally:
            _together_from(before)
    return found


def demand_equal(*case, width=1):
    together, single = both_ways(*case, width=width)
    assert bits(together) == bits(single)
    assert any(v not in (struct.pack("<d", 0.0), b"nan") for v in bits(single))


@each_by_value
@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_every_operation(row, strategy):
    rng = np.random.default_rng(row.code)
    points = [tuple(rng.uniform(*row.domain[k]) for k in range(row.arity)) for _ in range(60)]
    points += [tuple(EDGES[(i * (k + 1) + k) % len(EDGES)] for k in range(row.arity)) for i in range(3 * len(EDGES))]
    tape, inputs, outputs = codipy.Tape(strategy=strategy), [], []
    with tape:
        for u in points:
            u = [round(v) if k in row.constant and math.isfinite(v) else v for k, v in enumerate(u)]
            moving = [v if k in row.constant else tape.register_input(codipy.Real(v)) for k, v in enumerate(u)]
            try:
                w = elementwise(row.name, *moving)
                several = elementwise(row.name, *(v if k in row.constant else v * 1.5 - 0.25
                                                  for k, v in enumerate(moving))) * 3.0 + moving[0] * moving[-1]
            except (ValueError, OverflowError, ZeroDivisionError):      # as the math of Python has it
                continue
            inputs += [x for x in moving if isinstance(x, codipy.Real)]
            outputs += [tape.register_output(y) for y in (w, several) if isinstance(y, codipy.Real)]
    together, single = both_ways(tape, inputs, outputs)
    assert len(outputs) > 60 and bits(together) == bits(single)


def lorenz(state, steps=200, dt=0.01):
    """Several statements a step, values that serve twice, and a statement that depends on nothing else."""
    x, y, z = state
    for k in range(steps):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + dt * dx, y + dt * dy, z + dt * dz
        if k % 17 == 3:
            x = np.sin(x) * 2.0 + x
    return [x, y, z, x * y * z]


@each_by_value
@pytest.mark.parametrize("chunk_size", [4, 100, 1 << 14])
@pytest.mark.parametrize("width", [1, 3])
def test_a_trajectory(strategy, chunk_size, width):
    tape = codipy.Tape(strategy=strategy, chunk_size=chunk_size)
    with tape:
        inputs = [tape.register_input(codipy.Real(v)) for v in (1.0, -0.5, 20.0)]
        outputs = [tape.register_output(y) for y in lorenz(inputs)]
    demand_equal(tape, inputs, outputs, width=width)
    demand_equal(tape, inputs, outputs, width=width)      # what was overwritten is there again


@each_by_value
def test_elements_of_arrays_and_statements_made_by_hand(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(codipy.Array(np.linspace(0.1, 1.1, 40)))
        single = tape.register_input(codipy.Array(np.linspace(0.1, 1.1, 40, dtype=np.float32)))
        inputs = [tape.register_input(codipy.Real(v)) for v in (0.3, 0.7)]
        total, of_single = inputs[0] * 1.0, single[0] * single[1]
        for k in range(600):
            total = total * 0.99 + x[k % 40] * inputs[k % 2] * x[(k + 7) % 40]
            of_single = of_single * single[k % 40] + single[(3 * k) % 40]
            if k % 97 == 5:
                total = tape.push_statement(total.value, [total, inputs[1]], [0.75, 0.5])
        outputs = [tape.register_output(y) for y in (total, of_single)]
    demand_equal(tape, [*inputs, x, single], outputs)


@each_by_value
def test_adjoints_that_are_mostly_zero(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        inputs = [tape.register_input(codipy.Real(v)) for v in (0.3, 0.7)]
        outputs = [tape.register_output(np.sin(inputs[0] * float(k)) * np.log(inputs[1])) for k in range(8 * STRETCH)]
    demand_equal(tape, inputs, outputs[5:6])
    demand_equal(tape, inputs, outputs[:20])
    demand_equal(tape, inputs, outputs[::3])
