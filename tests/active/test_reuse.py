# SPDX-License-Identifier: Apache-2.0
"""Identifiers that come back: dropped arrays, blocks used again while Reals live, loops that stay bounded, no leaks."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest

import codipy
from codipy.data.pool import bytes_outstanding, clear_pool, fail_after
from tests.active.catalogue import CASES
from tests.active.recording import (
    EVERY,
    assert_close,
    each_strategy,
    each_variant,
    new_tape,
    on_twin,
    record,
    seeds_for,
)

pytestmark = pytest.mark.usefixtures("older_objects_stay")

REUSE = [variant for variant in EVERY if variant[0].endswith("-reuse")]
each_reuse = pytest.mark.parametrize("variant", REUSE, ids=map("-".join, REUSE))
START = np.array([0.5, 1.25, 2.0, 0.75])


def loop(x, steps):
    u = x * 1.0
    for k in range(steps):
        v = u * 0.5 + x
        w = v[1:] * v[:-1]
        t = u[0]
        u[1:] = w * 0.25 + t
        u[k % 4] = t * 0.5
        u = np.sin(u)
    return u


@each_reuse
def test_identifiers_of_a_long_loop_stay_bounded(variant):
    largest = []
    for steps in (10, 300):
        tape = new_tape(variant)
        recording = record(tape, lambda x, n=steps: loop(x, n), [START])
        largest.append(tape._identifiers.largest)
        ys, reverse, _ = on_twin(lambda x, n=steps: loop(x, n), [START])
        assert_close(recording.reverse(seeds_for(ys)), reverse(seeds_for(ys)))
    assert largest[1] <= 2 * largest[0]


@each_variant
def test_a_block_is_used_again_while_reals_of_it_live(variant):
    def f(x):
        kept = []
        for k in range(6):
            a = np.sin(x * (k + 1.0))
            kept.append(a[k % 4])       # outlives its array
            a[1] = 3.0
            b = a * a
            del a
            kept.append(b[0] * kept[-1])
            del b
        total = kept[0]
        for s in kept[1:]:
            total = total * 0.5 + s
        return total * x, kept[3] * kept[8]

    ys, reverse, _ = on_twin(f, [START])
    seeds = seeds_for(ys)
    assert_close(record(new_tape(variant), f, [START]).reverse(seeds), reverse(seeds))


@each_variant
def test_views_and_reals_die_in_any_order(variant):
    def f(x):
        base = x * x
        views = [base[1:], base[::2], base[::-1]]
        s, t = base[0], base[3]
        del base
        views.pop(0)[:] = s
        u = views.pop()
        u *= t
        filler = [x * float(k) for k in range(4)]
        del u
        return views[0] * s * t, filler[2] * filler[3]

    ys, reverse, _ = on_twin(f, [START])
    seeds = seeds_for(ys)
    assert_close(record(new_tape(variant), f, [START]).reverse(seeds), reverse(seeds))


@each_reuse
def test_everything_comes_back_when_the_arrays_die(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        live = tape._identifiers.live
        for case in CASES:
            inputs = [(np.sum(x) * 0.0 + 1.0) * a for a in case.inputs]
            results = case.f(*inputs)
            del inputs, results
            gc.collect()
            assert tape._identifiers.live == live, case.name
    tape._check()


def test_arrays_that_outlive_their_tape():
    tape = codipy.Tape("jacobian-reuse")
    with tape:
        x = tape.register_input(START.copy())
        a, b = x * 2.0, x * 3.0
        b[1] = a[0]
        s = a[2]
    tape.reset_hard()
    del tape
    gc.collect()
    assert a.value.tolist() == (2.0 * START).tolist() and s.value == 4.0 and b.value[1] == 1.0
    del a, b, x, s


@each_strategy
def test_no_memory_is_lost_over_many_gradients(variant):
    tape = new_tape(variant)

    def once():
        for case in CASES[8:15]:
            recording = record(tape, case.f, case.inputs)
            recording.reverse(seeds_for(recording.outputs))
            del recording
            tape.reset()

    for _ in range(3):
        once()
    gc.collect()
    streams = bytes_outstanding()
    tracemalloc.start()
    try:
        once()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(5):
            once()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000
    assert bytes_outstanding() <= streams


@each_strategy
def test_each_allocation_fails_once(variant):
    """MemoryError leaves a tape that records the same thing again, with the same gradient."""
    cases = {case.name: case for case in CASES}
    tried = 0
    for name in ("double_loop", "indexed_writes", "same_expression_many_times", "matmul_of_views"):
        case = cases[name]
        _, reverse, _ = on_twin(case.f, case.inputs)
        seeds = None
        tape = new_tape(variant)
        for n in range(0, 240, 3):
            clear_pool()
            fail_after(n)
            try:
                recording = record(tape, case.f, case.inputs)
                done = True
            except MemoryError:
                done = False
                tried += 1
            finally:
                fail_after(None)
            assert not tape.is_active
            tape._check()
            if done:
                break
            with tape:      # goes on behind what was recorded
                x = tape.register_input(START.copy())
                z = x * x
                z[1] = z[0] * x[2]
                y = tape.register_output(z)
            tape.clear_adjoints()
            y.gradient = 1.0
            tape.evaluate()
            expected = 2.0 * START * [1, 0, 1, 1] + [2.0 * START[0] * START[2], 0, START[0] ** 2, 0]
            assert_close([x.gradient], [expected])
            del x, y, z
            tape.reset_hard()
        seeds = seeds_for(recording.outputs)
        assert_close(recording.reverse(seeds), reverse(seeds))
    assert tried > 4


def test_threads_each_with_a_tape():
    errors = []

    def work(number):
        try:
            for case in CASES[number::4]:
                recording = record(codipy.Tape(EVERY[number][0], EVERY[number][1]), case.f, case.inputs)
                ys, reverse, _ = on_twin(case.f, case.inputs)
                assert_close(recording.reverse(seeds_for(ys)), reverse(seeds_for(ys)))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not errors
