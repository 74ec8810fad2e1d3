# SPDX-License-Identifier: Apache-2.0
"""Every function of the catalogue: NumPy's values bit for bit, the twin's gradients, both sweeps, directions."""

import numpy as np
import pytest

import codipy
from tests.active.catalogue import CASES
from tests.active.recording import (
    assert_close,
    assert_same_values,
    complex_step,
    dot,
    each_variant,
    is_active,
    new_tape,
    on_twin,
    plainly,
    record,
    seeds_for,
    value,
)
from tests.covering import in_turn, label
from tests.strategies import VARIANTS

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
_expected = {}


def expected(case):
    """(plain results, seeds, the twin's gradients), computed once."""
    if case.name not in _expected:
        plain = plainly(case.f, case.inputs)
        _, reverse, _ = on_twin(case.f, case.inputs)
        seeds = seeds_for(plain)
        _expected[case.name] = plain, seeds, reverse(seeds)
    return _expected[case.name]


@each_case
def test_the_twin_is_right(case):
    plain, seeds, gradients = expected(case)
    results, _, forward = on_twin(case.f, case.inputs)
    tangents = seeds_for(case.inputs, 7)
    assert_same_values([value(y) for y in results], plain)
    assert np.isclose(dot(seeds, forward(tangents)), dot(gradients, tangents), rtol=1e-11, atol=1e-13)
    if case.analytic:
        assert_close(forward(tangents), complex_step(case.f, case.inputs, tangents))


@pytest.mark.parametrize(("variant", "case"), in_turn(VARIANTS, CASES, others=3), ids=label)
def test_values_and_gradients(variant, case):
    plain, seeds, gradients = expected(case)
    recording = record(new_tape(variant), case.f, case.inputs)
    assert_same_values([value(y) for y in recording.outputs], plain)
    assert_close(recording.reverse(seeds), gradients)
    recording.tape._check()


@pytest.mark.parametrize(("variant", "case"), in_turn(VARIANTS, CASES, others=2), ids=label)
def test_forward_is_the_transpose_of_reverse(variant, case):
    _, seeds, gradients = expected(case)
    recording = record(new_tape(variant), case.f, case.inputs)
    tangents = seeds_for(case.inputs, 5)
    assert np.isclose(dot(seeds, recording.forward(tangents)), dot(gradients, tangents), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("variant", "case"), in_turn(VARIANTS, CASES, others=2), ids=label)
def test_several_directions_in_one_sweep(variant, case):
    recording = record(new_tape(variant), case.f, case.inputs)
    plain = expected(case)[0]
    all_seeds = [seeds_for(plain, d) for d in range(3)]
    separate = [recording.reverse(seeds) for seeds in all_seeds]
    tape = recording.tape
    adjoints = tape.new_adjoints(width=3)
    for k, y in enumerate(recording.outputs):
        if is_active(y):
            adjoints[y] = adjoints[y] + np.stack([seeds[k] for seeds in all_seeds], axis=-1)
    tape.evaluate(adjoints=adjoints)
    for x, *columns in zip(recording.inputs, *separate):
        together = np.asarray(adjoints[x])
        assert together.shape == (*value(x).shape, 3)
        for d, column in enumerate(columns):
            assert_close([together[..., d]], [column])


@each_case
def test_the_drivers(case):
    plain, seeds, gradients = expected(case)

    def loss(*inputs):
        results = case.f(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        return sum(np.sum(y * seed) for y, seed in zip(results, seeds))

    inputs = [x.copy() for x in case.inputs]
    number, found = codipy.value_and_grad(loss, argnums=tuple(range(len(inputs))))(*inputs)
    assert number == loss(*[x.copy() for x in case.inputs])
    assert_close(found, gradients)
    assert_same_values(inputs, case.inputs)     # a function that writes into its argument leaves the caller's alone


@each_variant
def test_all_cases_one_after_the_other_on_one_tape(variant):
    tape = new_tape(variant)
    for case in CASES:
        _, seeds, gradients = expected(case)
        recording = record(tape, case.f, case.inputs)
        assert_close(recording.reverse(seeds), gradients)
        tape.reset()
