# SPDX-License-Identifier: Apache-2.0
"""Replays of array programs: NumPy's values at other inputs, bit for bit, and the sweeps of a fresh recording there."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings

import codipy
from codipy.errors import TapeError
from tests.active.catalogue import CASES
from tests.active.programs import function_of, programs
from tests.active.recording import (
    assert_close,
    assert_same_values,
    is_active,
    plainly,
    record,
    seeds_for,
    value,
)
from tests.covering import in_turn, label
from tests.strategies import AS_VALUES, VARIANTS, each_pair, new_tape

pytestmark = pytest.mark.usefixtures("older_objects_stay")

REPLAYED = [variant for variant in VARIANTS if variant[0] in AS_VALUES]
each_variant = each_pair(pairs=REPLAYED)
OPTIONS = [(*variant, chunk_size) for variant in REPLAYED for chunk_size in (4, None)]


def elsewhere(inputs, change=1e-3):
    """A point so near that no comparison comes out another way."""
    rng = np.random.default_rng(4)
    return [x + change * rng.uniform(0.5, 1.0, x.shape) for x in inputs]


def replay(recording, inputs):
    for x, new in zip(recording.inputs, inputs, strict=True):
        recording.tape.set_primal(x, new)
    recording.tape.evaluate_primal()


def primals(recording):
    return [recording.tape.get_primal(y) if is_active(y) else value(y) for y in recording.outputs]


def assert_values(recording, found, plain):
    """NumPy's; numbers are those of the C library, as in all replays of scalars."""
    arrays = [k for k, y in enumerate(recording.outputs) if isinstance(y, codipy.Array) and y.ndim]
    assert_same_values([found[k] for k in arrays], [plain[k] for k in arrays])
    for x, y in zip(found, plain, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-15)


@pytest.mark.parametrize(("options", "case"), in_turn(OPTIONS, CASES, others=4), ids=label)
def test_a_replay_is_a_fresh_recording(options, case):
    *variant, chunk_size = options
    recording = record(new_tape(variant, chunk_size=chunk_size), case.f, case.inputs)
    recorded, seeds = [value(y) for y in recording.outputs], seeds_for(recording.outputs)
    first = recording.reverse(seeds)
    for inputs in (elsewhere(case.inputs), case.inputs, elsewhere(case.inputs, 2e-3)):
        replay(recording, inputs)
        assert_values(recording, primals(recording), plainly(case.f, inputs))
        recording.tape._check()
        fresh = record(new_tape(variant), case.f, inputs)
        for _ in range(2):
            assert_close(recording.reverse(seeds), fresh.reverse(seeds))
        tangents = seeds_for(inputs, 3)
        assert_close(recording.forward(tangents), fresh.forward(tangents))
    assert_same_values([value(y) for y in recording.outputs], recorded)     # the variables keep their values
    replay(recording, case.inputs)
    for x, y in zip(recording.reverse(seeds), first):
        assert np.array_equal(x, y)


@pytest.mark.parametrize(("variant", "case"), in_turn(REPLAYED, CASES, others=2), ids=label)
def test_directions_after_a_replay(variant, case):
    inputs = elsewhere(case.inputs)
    recording, fresh = record(new_tape(variant), case.f, case.inputs), record(new_tape(variant), case.f, inputs)
    replay(recording, inputs)
    found = []
    for r in (recording, fresh):
        adjoints = r.tape.new_adjoints(width=3)
        for y in r.outputs:
            if is_active(y):
                shape = np.shape(value(y))
                adjoints[y] = adjoints[y] + np.random.default_rng(1).uniform(0.5, 1.5, (*shape, 3))
        r.tape.evaluate(adjoints=adjoints)
        found.append([np.asarray(adjoints[x]) for x in r.inputs])
    assert_close(*found)


@settings(max_examples=100)
@given(programs())
def test_random_programs(drawn):
    program, inputs = drawn
    f = function_of(program)
    moved = elsewhere(inputs, 1e-9)
    plain, seeds = plainly(f, moved), None
    for variant in REPLAYED:
        recording = record(new_tape(variant), f, inputs)
        seeds = seeds_for(recording.outputs)
        replay(recording, moved)
        assert_values(recording, primals(recording), plain)
        recording.tape._check()
        assert_close(recording.reverse(seeds), record(new_tape(variant), f, moved).reverse(seeds), 100.0)
        replay(recording, inputs)
        assert_values(recording, primals(recording), plainly(f, inputs))


# ---- Ranges ----

START = np.array([0.5, 1.25, 2.0, 0.75])
THERE = np.array([0.75, 1.5, 1.0, 0.25])


def parts(x, s):
    """Three parts: with numbers, writes in place, movements, sums and primitives."""
    u = x * x
    u[0] = x[1] * s
    t = np.sum(u) * u[2]
    yield u.copy(), t
    v = u[::-1] * t
    u *= 2.0
    u[1:3] = v[1:3] + u[0]
    w = np.linalg.norm(v) * x[3]
    yield v, w
    z = np.cumsum(u[[3, 0, 1]]) * w
    z[1] = z[0] * t
    yield z, np.mean(z) * s


def in_parts(variant):
    tape = new_tape(variant)
    with tape:
        x, s = tape.register_input(START.copy()), tape.register_input(1.5)
        places, results = [tape.position()], []
        for array, number in parts(x, s):
            results.append((tape.register_output(array), tape.register_output(number)))
            places.append(tape.position())
    return tape, x, s, places, results


def expected_at(x, s):
    return [(array.copy(), float(number)) for array, number in parts(x.copy(), np.float64(s))]


def held(tape, results):
    return [(tape.get_primal(array), tape.get_primal(number)) for array, number in results]


def assert_parts(found, wanted):
    for (array, number), (plain, plain_number) in zip(found, wanted, strict=True):
        assert np.array_equal(array, plain)
        assert number == pytest.approx(plain_number, rel=1e-15)


@each_variant
def test_ranges_that_follow_one_another_are_the_whole(variant):
    tape, x, s, places, results = in_parts(variant)
    assert_parts(held(tape, results), expected_at(START, 1.5))
    for point, number in ((THERE, 0.5), (START, 2.0)):
        tape.set_primal(x, point)
        tape.set_primal(s, number)
        for start, end in zip([None, *places[1:-1]], [*places[1:-1], None], strict=True):
            tape.evaluate_primal(start, end)
        assert_parts(held(tape, results), expected_at(point, number))
        fresh, x1, s1, _, results1 = in_parts(variant)
        fresh.set_primal(x1, point)
        fresh.set_primal(s1, number)
        fresh.evaluate_primal()
        for t, r in ((tape, results), (fresh, results1)):
            t.clear_adjoints()
            r[2][0].gradient, r[2][1].gradient, r[1][1].gradient = [1.0, 2.0, 3.0], 0.5, 0.25
            t.evaluate()
        assert np.array_equal(x.gradient, x1.gradient)
        assert s.gradient == s1.gradient


@each_variant
def test_a_range_recomputes_nothing_behind_its_end(variant):
    tape, x, s, places, results = in_parts(variant)
    new, old = expected_at(THERE, 1.5), expected_at(START, 1.5)
    tape.set_primal(x, THERE)
    tape.evaluate_primal(None, places[1])
    assert_parts(held(tape, results), [new[0], *old[1:]])
    for sweep in (tape.evaluate, tape.evaluate_forward, lambda: tape.evaluate(places[2])):
        with pytest.raises(TapeError, match="ended before"):
            sweep()
    tape.clear_adjoints()
    results[0][0].gradient = 1.0
    tape.evaluate(places[1])            # what was computed again can be swept
    assert x.gradient[2] == 2.0 * THERE[2]
    tape.evaluate_primal(places[1], places[2])
    assert_parts(held(tape, results), [*new[:2], old[2]])
    tape.evaluate_primal(None, places[1])
    for y in results[1][:1]:
        with pytest.raises(TapeError, match="behind the end"):
            tape.get_primal(y)          # it was new before, and is not as of this end
    tape.evaluate_primal(places[2])     # not where the last one ended
    assert_parts(held(tape, results), new)


@each_variant
def test_a_range_after_an_input_changed_computes_what_lies_before_too(variant):
    tape, x, s, places, results = in_parts(variant)
    tape.evaluate_primal()
    tape.set_primal(x, THERE)
    tape.evaluate_primal(places[2])
    assert_parts(held(tape, results), expected_at(THERE, 1.5))
    tape.evaluate_primal(places[1], places[2])
    tape.set_primal(s, 0.25)
    tape.evaluate_primal(places[2])
    assert_parts(held(tape, results), expected_at(THERE, 0.25))


@each_variant
def test_recording_on_after_a_replay(variant):
    """What is recorded then has the variables' values; the next replay makes all of it new."""
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        y = x * x
        e = y[1]
        z = tape.register_output(y * e)
    tape.set_primal(x, THERE)
    tape.evaluate_primal()
    with tape:
        w = tape.register_output(y * y[1] + e)
        late = tape.register_input(np.array([3.0]))
        v = tape.register_output(late * e)
    assert np.array_equal(w.value, START**2 * START[1] ** 2 + START[1] ** 2)
    assert np.array_equal(tape.get_primal(z), THERE**2 * THERE[1] ** 2)
    assert np.array_equal(tape.get_primal(w), w.value)
    with pytest.raises(TapeError, match="recorded since"):
        tape.evaluate()
    tape.set_primal(late, [5.0])
    tape.evaluate_primal()
    assert np.array_equal(tape.get_primal(w), THERE**2 * THERE[1] ** 2 + THERE[1] ** 2)
    assert tape.get_primal(v) == [5.0 * THERE[1] ** 2]
    w.gradient = [1.0, 0.0, 0.0, 0.0]
    tape.evaluate()
    assert_close([x.gradient], [[2.0 * THERE[0] * THERE[1] ** 2, 2.0 * THERE[1] * (THERE[0] ** 2 + 1.0), 0.0, 0.0]])


@each_variant
def test_a_reset_to_a_position_after_a_replay(variant):
    tape, x, s, places, results = in_parts(variant)
    tape.set_primal(x, THERE)
    tape.evaluate_primal()
    tape.reset(places[2])
    for use in (tape.evaluate, lambda: tape.get_primal(results[0][0]), lambda: tape.get_primal(results[0][1])):
        with pytest.raises(TapeError, match="run evaluate_primal"):
            use()
    tape.evaluate_primal()
    assert_parts(held(tape, results[:2]), expected_at(THERE, 1.5)[:2])
    tape.reset()
    recording = record(tape, lambda u: u * u, [START])
    assert_close(recording.reverse([1.0]), [2.0 * START])


# ---- What is kept, and for whom ----

@each_variant
def test_what_was_plain_when_it_was_recorded_stays(variant):
    tape = new_tape(variant)
    plain = np.arange(1.0, 5.0)
    with tape:
        x = tape.register_input(START.copy())
        y = codipy.Array(np.full(4, 2.0))
        filled = codipy.Array(np.arange(4.0))
        filled[1:3] = x[1:3]                # the others keep the values of before
        single = codipy.Array(np.arange(3.0))
        single[1] = x[0]
        outputs = [x + plain, x * y, x - x.value, np.concatenate([x, plain]), filled * 1.0, single + x[0], x @ plain,
                   np.cumsum(np.concatenate([x, plain])), plain + np.sum(x) * 2.0, x[::-1] + plain]
        for z in outputs:
            tape.register_output(z)
        plain[:] = 100.0
        y *= 3.0
    at = lambda x, old: [  # noqa: E731
        x + old, x * 2.0, x - START, np.r_[x, old], np.r_[0.0, x[1:3], 3.0], np.array([0.0, x[0], 2.0]) + x[0], x @ old,
        np.cumsum(np.r_[x, old]), old + np.sum(x) * 2.0, x[::-1] + old]  # fmt: skip
    for point in (THERE, START):
        tape.set_primal(x, point)
        tape.evaluate_primal()
        for z, wanted in zip(outputs, at(point, np.arange(1.0, 5.0)), strict=True):
            assert np.array_equal(tape.get_primal(z), wanted)


@each_variant
def test_inputs_that_are_results_or_views_or_written_to(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        y = x * x
        z = y * y
        tape.register_input(y)              # from here on a variable of its own, on the same memory
        w = tape.register_output(y * y + z)
        x[1:] = x[:-1] * 2.0
        v = tape.register_output(x * y)
    tape.set_primal(y, THERE)
    tape.set_primal(x[::2], [3.0, 4.0])
    now = np.array([3.0, START[1], 4.0, START[3]])
    assert np.array_equal(tape.get_primal(x), now)
    assert np.array_equal(tape.get_primal(x[1:3]), now[1:3])
    tape.evaluate_primal()
    assert np.array_equal(tape.get_primal(w), THERE * THERE + now**2 * now**2)
    assert np.array_equal(tape.get_primal(v), np.r_[now[0], now[:-1] * 2.0] * THERE)
    w.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient, y.gradient], [4.0 * now**3, 2.0 * THERE])


@each_variant
def test_results_of_primitives(variant):
    """Several results, results that are numbers or integers, arguments that the rules do not read."""
    tape = new_tape(variant)
    a, b = np.eye(3) * 3.0 + np.arange(9.0).reshape(3, 3) / 7.0, np.eye(3) + 0.25

    def f(m):
        sign, log = np.linalg.slogdet(m.T)
        q, r = np.linalg.qr(m[::-1])
        value, index = np.unique(m[0], return_index=True)
        transformed = np.fft.irfft(np.array([1.0, 2.0])) + m[0, :2]
        return sign * log, q @ r, value, np.linalg.solve(m, b), b @ m.T, transformed, m @ b

    with tape:
        m = tape.register_input(a.copy())
        outputs = [tape.register_output(y) for y in f(m)]
    there = a * 1.25 + 0.125
    for point in (there, a):
        tape.set_primal(m, point)
        tape.evaluate_primal()
        for y, wanted in zip(outputs, f(point.copy()), strict=True):
            np.testing.assert_array_equal(tape.get_primal(y), wanted)


@pytest.mark.release  # sanitizers keep freed memory aside
@each_variant
def test_memory_is_flat(variant):
    tape = new_tape(variant)
    f = next(case for case in CASES if case.name == "double_loop").f
    with tape:
        x, u = tape.register_input(np.full((4, 5), 1.25)), tape.register_input(np.linspace(0.5, 1.5, 2000))
        y = tape.register_output(f(x.copy()))
        v = np.sin(u[1:] * u[:-1])
        w = tape.register_output(np.sort(v) @ v + np.sum(np.concatenate([u, v])))

    def run(count):
        for k in range(count):
            tape.set_primal(u, np.linspace(0.5, 1.5 + k / 1e4, 2000))
            tape.evaluate_primal()
            y.gradient, w.gradient = 1.0, 1.0
            tape.evaluate()
        return tape.statistics()["array values"].memory

    def kept():
        return tape.statistics()["array values"].memory.used

    recorded, once = kept(), run(5)
    assert once.used == recorded
    before = memory()
    assert run(1000) == once
    assert memory() - before < 200_000
    tape.reset_hard()
    assert tape.statistics().total.used == 0


def memory():
    """Bytes that this process holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
