# SPDX-License-Identifier: Apache-2.0
"""Random NumPy programs: NumPy's values bit for bit, the twin's gradients, every strategy, positions, reuse."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from tests.active.programs import function_of, programs, run
from tests.active.recording import (
    EVERY,
    assert_close,
    assert_same_values,
    complex_step,
    dot,
    is_active,
    new_tape,
    on_twin,
    plainly,
    record,
    seeds_for,
    value,
)

pytestmark = pytest.mark.usefixtures("older_objects_stay")


@settings(max_examples=150)
@given(programs(), st.booleans())
def test_every_strategy(drawn, forward):
    program, inputs = drawn
    f = function_of(program)
    plain = plainly(f, inputs)
    results, reverse, tangents_of = on_twin(f, inputs)
    assert_same_values([value(y) for y in results], plain)
    seeds, tangents = seeds_for(plain), seeds_for(inputs, 3)
    gradients, moved = reverse(seeds), tangents_of(tangents)
    assert np.isclose(dot(seeds, moved), dot(gradients, tangents), rtol=1e-9, atol=1e-9)
    for variant in EVERY:
        recording = record(new_tape(variant), f, inputs)
        assert_same_values([value(y) for y in recording.outputs], plain)
        assert_close(recording.reverse(seeds), gradients, 100.0)
        if forward:
            assert_close(recording.forward(tangents), moved, 100.0)


@settings(max_examples=60)
@given(programs())
def test_the_twin_against_the_complex_step(drawn):
    program, inputs = drawn
    f = function_of(program)
    tangents = seeds_for(inputs, 3)
    _, _, tangents_of = on_twin(f, inputs)
    assert_close(tangents_of(tangents), complex_step(f, inputs, tangents), 100.0)


@settings(max_examples=60)
@given(st.lists(programs(most_steps=8), min_size=2, max_size=4), st.sampled_from(EVERY))
def test_one_tape_for_several_programs(many, variant):
    tape = new_tape(variant)
    for program, inputs in many:
        f = function_of(program)
        recording = record(tape, f, inputs)
        _, reverse, _ = on_twin(f, inputs)
        seeds = seeds_for(recording.outputs)
        expected = reverse(seeds)
        assert_close(recording.reverse(seeds), expected, 100.0)
        assert_close(recording.reverse(seeds), expected, 100.0)      # the sweep left the recording as it was
        tape.reset()


@settings(max_examples=80)
@given(programs(), programs(), st.sampled_from(EVERY))
def test_a_position_between_two_programs(first, second, variant):
    """Sweeps of the two parts, one after the other, are the whole; after reset(position) the second can run again."""
    (early, inputs), (late, more) = first, second
    tape = new_tape(variant)
    with tape:
        xs = [tape.register_input(codipy.Array(x)) for x in inputs]
        v = run(early, xs)
        ws = [tape.register_input(codipy.Array(x)) for x in more]
        for _ in range(2):
            middle = tape.position()
            u = run(late, [w.copy() for w in ws])
            ys = [y for x in v.arrays if x.size for y in [tape.register_output(np.sum(z) * np.sum(x))
                                                          for z in u.arrays[:2]] if is_active(y)]  # fmt: skip
            del u
            end = tape.position()
            for y in ys:
                y.gradient = 1.0
            tape.evaluate()
            whole = [x.gradient for x in (*xs, *ws)]
            tape.clear_adjoints()
            for y in ys:
                y.gradient = 1.0
            tape.evaluate(end, middle)
            tape.evaluate(middle)
            assert_close([x.gradient for x in (*xs, *ws)], whole, 100.0)
            tape.clear_adjoints()
            del ys
            gc.collect()
            tape.reset(middle)
            tape._check()


@settings(max_examples=60)
@given(programs(), st.sampled_from([v for v in EVERY if v[0].endswith("-reuse")]))
def test_reused_identifiers_stay_bounded(drawn, variant):
    program, inputs = drawn
    f = function_of(program)
    tape = new_tape(variant)
    with tape:
        xs = [tape.register_input(codipy.Array(x)) for x in inputs]
        live = []
        for _ in range(12):
            results = f(*[x.copy() for x in xs])
            del results
            live.append(tape._identifiers.live)
    assert len(set(live[2:])) == 1, live
    assert codipy.active_tape() is None
