# SPDX-License-Identifier: Apache-2.0
"""A tape that counts says what tapes that keep take: random programs, catalogues, what is shared and overwritten."""

import gc
import tracemalloc

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests import functions
from tests.active import catalogue
from tests.covering import in_turn, label
from tests.fuzz.generator import write
from tests.fuzz.judge import Rebound, quietly
from tests.laboratory.counted import differences, run, unlike
from tests.namespaces import active
from tests.strategies import VARIANTS, each_pair

pytestmark = pytest.mark.usefixtures("older_objects_stay")

PROGRAMS, PARTS = 240, 6
EACH = 10  # of so many programs one runs under every strategy


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    refused = set()
    for k in range(part, PROGRAMS, PARTS):
        program = write(f"counted:{k}", outside=False)
        for variant in VARIANTS if k % EACH == 0 else {VARIANTS[0], VARIANTS[k % len(VARIANTS)]}:
            try:
                found = quietly(differences, Rebound(program), program.inputs, variant)
            except (ActiveError, TypeError, ValueError) as error:
                refused.add(k)
                assert "count" not in str(error)
                continue
            assert not found, "\n".join([f"counted:{k}", program.source, *found])
    assert len(refused) <= PROGRAMS / PARTS / 5


@pytest.mark.parametrize(("variant", "case"), in_turn(VARIANTS, functions.CATALOGUE, others=2), ids=label)
def test_functions_of_numbers(variant, case):
    def f(*xs):
        return case.f(active(codipy.active_tape()), *xs)

    assert differences(f, case.points[0], variant) == []


@pytest.mark.parametrize(("variant", "case"), in_turn(VARIANTS, catalogue.CASES, others=2), ids=label)
def test_functions_of_arrays(variant, case):
    assert quietly(differences, case.f, case.inputs, variant) == []


def trajectory(u):
    """Each step keeps some values, overwrites others that a record reads, and goes through a primitive."""
    a, weights = np.eye(len(u)) * 0.5, np.linspace(0.0, 1.0, len(u))
    for _ in range(6):
        v = u.copy()
        v[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        v[0] = np.sin(v[1])
        u = a @ v + weights * np.exp(-v)
        u *= 1.5
    return np.sum(u * u), u


@each_pair()
@pytest.mark.parametrize("size", [3, 70, 1000])
def test_many_steps(size, variant):
    assert differences(trajectory, [np.linspace(0.1, 1.0, size)], variant) == []


@each_pair()
def test_what_a_record_keeps_of_a_primitive(variant):
    """Results that the rules read are plain arrays; writing over one must make a copy, as where it is kept."""

    @codipy.primitive
    def doubled(x):
        return 2.0 * x

    doubled.vjp(lambda bar, out, x: 2.0 * bar)

    def f(u):
        for _ in range(4):
            v = doubled(u)
            w = v * v
            v += 1.0
            u = np.tanh(v * w)
        return np.sum(u)

    assert differences(f, [np.linspace(0.1, 0.9, 600)], variant) == []


@each_pair()
def test_recordings_inside_of_it(variant):
    """Drivers that the function calls, and statistics of their tapes, which walk over what this one has marked."""

    def f(u):
        slope = codipy.grad(lambda v: np.sum(v * v * np.sin(v)))(u)
        inner = codipy.Tape("primal")
        with inner:
            x = inner.register_input(codipy.Array([1.0, 2.0]))
            y = np.exp(x) * x
            repr(inner), inner.statistics()
        del y
        return np.sum(slope * u)

    assert differences(f, [np.linspace(0.1, 0.9, 5)], variant) == []


@each_pair()
def test_two_that_count_at_once(variant):
    """The same arrays are kept by both: each counts them."""
    shared = np.linspace(0.0, 1.0, 100)
    shared.flags.writeable = False

    def f(u):
        inner = codipy.Tape(*variant)
        inner._count_only()
        with inner:
            v = inner.register_input(codipy.Array(shared))
            w = np.sin(v) * shared
        real = codipy.Tape(*variant)
        with real:
            x = real.register_input(codipy.Array(shared))
            y = np.sin(x) * shared
        assert list(unlike(inner.statistics(), real.statistics())) == []
        del w, y
        return np.sum(np.sin(u) * shared)

    assert differences(f, [np.linspace(0.1, 0.9, 100)], variant) == []


def one_for_each_step(n):
    def f(u):
        for _ in range(20):
            u = np.sin(u) * np.linspace(0.0, 0.25, n)
        return np.sum(u)

    return f


def one_for_two_steps(n):
    def f(u):
        for k in range(20):
            a, b = np.linspace(0.0, 0.25, n), np.linspace(0.0, 0.5, n)
            u = np.sin(u * (a if k % 2 else b)) * (b if k % 2 else a) + a * (k % 3)
        return np.sum(u)

    return f


def one_that_is_filled_anew(n):
    def f(u):
        work = np.empty(n)
        for k in range(20):
            work[:] = np.arange(n) * 0.01 * (k % 7)
            u = np.sin(u) * work[::-1]
        return np.sum(u)

    return f


@each_pair()
@pytest.mark.parametrize("n", [70, 130, 500, 5000])
@pytest.mark.parametrize("make", [one_for_each_step, one_for_two_steps, one_that_is_filled_anew])
def test_plain_arrays_that_come_and_go(make, n, variant):
    """Where the allocator puts them is another matter: what is kept depends on what they hold."""
    assert differences(make(n), [np.linspace(0.1, 0.9, n)], variant) == []


def numbers_loop(steps):
    def f(x):
        y = x
        for _ in range(steps):
            y = np.sin(y) * x + 0.5
        return y

    return f, [0.3]


def arrays_loop(steps):
    def f(u):
        weights = np.linspace(0.0, 0.25, 500)  # one for all steps: of each plain array there is a copy while it is used
        for k in range(steps):
            u = np.sin(u) * u + weights
            u[1:-1] *= 0.5
            u = np.maximum(u, np.cumsum(u) * 1e-3 + k * 1e-9)
        return np.sum(u)

    return f, [np.linspace(0.1, 0.9, 500)]


@each_pair()
@pytest.mark.parametrize("loop", [numbers_loop, arrays_loop])
def test_memory_is_that_of_what_lives(loop, variant):
    sizes = (50, 400) if loop is arrays_loop else (500, 4000)
    peaks = []
    run(codipy.Tape(*variant), *loop(sizes[0]))  # what the process makes once
    for steps in sizes:
        tape = codipy.Tape(*variant)
        tape._count_only()
        gc.collect()
        tracemalloc.start()
        variables = run(tape, *loop(steps))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        used = tape.statistics().total.used
        del variables
    assert max(peaks) - min(peaks) < (5 * 4096 if loop is arrays_loop else 2000)  # a few arrays more or less
    assert used > 10 * max(peaks)  # which grows with the steps


@each_pair()
def test_there_is_nothing_to_sweep_nor_to_return_to(variant):
    tape = codipy.Tape(*variant)
    tape._count_only()
    with tape:
        x = tape.register_input(2.0)
        start = tape.position()
        y = tape.register_output(x * x)
        end = tape.position()
        z = tape.register_output(np.sum(codipy.Array([1.0, 2.0]) * y))
        assert start < end < tape.position()

    def seed():
        y.gradient = 1.0

    for refused in (tape.evaluate, tape.evaluate_forward, tape.evaluate_primal, tape.reset, tape.reset_hard, seed,
                    lambda: tape.reset(start), lambda: x.gradient, lambda: tape.get_primal(y), tape.clear_adjoints,
                    lambda: tape.set_primal(x, 1.0), tape.new_adjoints, tape._check):  # fmt: skip
        with pytest.raises(TapeError, match=r"count|keeps none"):
            refused()
    del z


def test_a_tape_counts_from_its_beginning():
    tape = codipy.Tape("jacobian")
    with tape:
        tape.register_input(2.0)
    with pytest.raises(TapeError, match="from its beginning"):
        tape._count_only()
    with pytest.raises(TapeError, match="keeps nothing"):
        codipy.Tape("forward")._count_only()
