# SPDX-License-Identifier: Apache-2.0
"""What a sweep has left at 0 is not cleared again, and all else is: no adjoint of one recording is met by the next."""

import numpy as np
import pytest

import codipy
from tests.strategies import BY_STATEMENT, each_pair, new_tape

SIZE = 3000  # more than the least that is worth a note


def product(x, m):
    return np.sum((m @ np.reshape(x, (60, 50))) ** 2)


def chain(x, m):
    return np.sum(np.exp(np.sin(x * 0.5) + np.cos(x)) * x)


def turned(x, m):
    y = np.reshape(x, (60, 50)).T * 2.0
    return np.sum(y * y[::-1])


def unused(x, m):
    y, z = m @ np.reshape(x, (60, 50)), np.exp(x) * np.sin(x)
    return np.sum(x) + y[0, 0] + z[7]


def infinite(x, m):
    with np.errstate(all="ignore"):
        y = np.sqrt(x - x) * (m @ np.reshape(x, (60, 50))).reshape(-1)
        return np.sum(y / 0.0)


def in_place(x, m):
    y = x * x
    y[5:2500] = np.sin(y[5:2500]) * y[:2495]
    y[::2] *= 3.0
    return np.sum(y * x)


def moved(x, m):
    y = np.concatenate([x * x, np.exp(x)])
    z = np.where(y > 1.0, y * 2.0, np.roll(y, 3))
    return np.max(z) + np.sum(np.sort(z)[:100]) + np.sum(np.cumsum(z)[::7])


def again(x, m):
    for _ in range(12):
        x = np.sin(m @ np.reshape(x, (60, 50)) + 0.1).reshape(-1)
    return np.sum(x)


def several(x, m):
    u, s, v = np.linalg.svd(np.reshape(x, (60, 50)) + m[:, :50], full_matrices=False)
    return np.sum(s) + np.sum(np.abs(u))


PROGRAMS = [product, chain, turned, unused, infinite, in_place, moved, again, several]


def point():
    random = np.random.default_rng(8)
    return random.uniform(0.5, 1.5, SIZE), random.uniform(-1.0, 1.0, (60, 60))


def first(x):
    return x[0] * 1.0


UNIT = np.zeros(60 * SIZE)  # as long as the longest of the recordings
UNIT[0] = 1.0


def demand_clear(tape):
    """That every slot was 0: the gradient of a recording that sweeps nothing else shows them as they were."""
    tape.reset()
    with tape:
        x = tape.register_input(np.ones(UNIT.size))
        y = tape.register_output(first(x))
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tobytes() == UNIT.tobytes()


def record(tape, f):
    x, m = point()
    tape.reset()
    with tape:
        u = tape.register_input(x)
        m = tape.register_input(m)
        y = tape.register_output(codipy.rebind(f)(u, m))
    return u, m, y


@each_pair(pairs=BY_STATEMENT)
@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_left_for_the_next_recording(f, variant):
    """After a sweep, after one whose results were seeded again, and after one to a position."""
    tape = new_tape(variant)
    for way in ("sweep", "seed", "part"):
        u, m, y = record(tape, f)
        y.gradient = 1.0
        if way == "part":
            with tape:
                p = tape.position()
                z = tape.register_output(y * 2.0)
            z.gradient = 1.0
            tape.evaluate(end=p)
        tape.evaluate(**({"start": p} if way == "part" else {}))
        if way == "seed":
            u.gradient, m.gradient = np.full(u.shape, 7.0), np.full(m.shape, -0.0)
            y.gradient = 3.0
        demand_clear(tape)


@each_pair(pairs=BY_STATEMENT)
@pytest.mark.parametrize("f", [
    lambda x, m: m @ np.reshape(x, (60, 50)), lambda x, m: np.exp(x) * np.sin(x), lambda x, m: np.cumsum(x),
], ids=["product", "statement", "call"])
def test_seeds_of_large_results_are_cleared_too(f, variant):
    """Negative zeros, which a sum of adjoints that starts at 0 cannot be; and what is set once a sweep has passed."""
    tape = new_tape(variant)
    for seed, afterwards in ((-0.0, None), (1.0, 5.0)):
        u, m, y = record(tape, f)
        y.gradient = np.full(y.shape, seed)
        tape.evaluate()
        if afterwards is not None:
            y.gradient = np.full(y.shape, afterwards)
        demand_clear(tape)


@pytest.mark.parametrize("f", PROGRAMS)
def test_nothing_is_left_for_the_next_call_of_a_driver(f):
    x, m = point()
    of_all = codipy.grad(f, argnums=(0, 1))
    expected = of_all(x, m)
    assert codipy.grad(first)(np.ones(UNIT.size)).tobytes() == UNIT.tobytes()
    for a, b in zip(expected, of_all(x, m), strict=True):
        assert a.tobytes() == b.tobytes()
    tape = codipy.Tape(strategy="auto")
    u, n, y = record(tape, f)
    y.gradient = 1.0
    tape.evaluate()
    assert u.gradient.tobytes() == expected[0].tobytes() and n.gradient.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("f", PROGRAMS)
def test_other_vectors_are_cleared_as_well(f):
    tape = codipy.Tape(strategy="auto")
    u, m, y = record(tape, f)
    adjoints = tape.new_adjoints()
    for _ in range(2):
        adjoints[y] = 1.0
        tape.evaluate(adjoints=adjoints)
        found = adjoints[u], adjoints[m]
        adjoints.clear()
        assert not np.any(adjoints[u]) and not np.any(adjoints[m])
    y.gradient = 1.0
    tape.evaluate()
    assert found[0].tobytes() == u.gradient.tobytes() and found[1].tobytes() == m.gradient.tobytes()
