# SPDX-License-Identifier: Apache-2.0
"""Replays of array programs that cannot be, or that fail: errors that say what to do, and tapes that stay whole."""

import itertools

import numpy as np
import pytest

import codipy
from codipy.data.pool import clear_pool, fail_after
from codipy.errors import TapeError
from tests.active.recording import assert_close, record
from tests.active.test_replay import START, THERE, each_variant, new_tape
from tests.strategies import each_as_jacobians


@pytest.fixture(autouse=True)
def failures_off():
    yield
    fail_after(None)


@each_variant
def test_misuse(variant):
    tape, other = new_tape(variant), new_tape(variant)
    with other:
        foreign = other.register_input(START.copy())
    with tape:
        x = tape.register_input(START.copy())
        y = tape.register_output(x * 2.0)
        passive = codipy.Array(START)
        mixed = codipy.Array(np.zeros(2))
        mixed[0] = x[0]
        merged = x * 3.0
    for value_, error, match in [
        (START[:3], ValueError, r"value must have the shape \(4,\) of x, got \(3,\)"),
        (1.0, ValueError, "value must have the shape"),
        (START * 1j, TypeError, "value must be a plain array of real numbers"),
        (y, TypeError, "value must be a plain array of real numbers, got Array"),
        ("1", TypeError, "value must be a plain array"),
        (list("abcd"), TypeError, "value must be a plain array"),
    ]:
        with pytest.raises(error, match=match):
            tape.set_primal(x, value_)
    without = [(passive, "passive"), (mixed, "one by one"), (foreign, "another tape")]
    if variant[1] == "statement":
        without.append((merged, "larger statement"))
    for variable, match in [(y, "not an input"), *without]:
        with pytest.raises(TapeError, match=match):
            tape.set_primal(variable, np.zeros(variable.shape))
    for variable, match in without:
        with pytest.raises(TapeError, match=match):
            tape.get_primal(variable)
    assert np.array_equal(tape.get_primal(x), START)
    tape.set_primal(x, [1, 2, 3, 4])
    tape.evaluate_primal()
    assert np.array_equal(tape.get_primal(y), [2.0, 4.0, 6.0, 8.0])
    tape.reset()
    for use in (lambda: tape.set_primal(x, START), lambda: tape.get_primal(y)):
        with pytest.raises(TapeError, match="reset since"):
            use()


@each_as_jacobians
def test_tapes_without_values(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(START.copy())
        y = tape.register_output(x * x)
    for use in (tape.evaluate_primal, lambda: tape.set_primal(x, THERE), lambda: tape.get_primal(y)):
        with pytest.raises(TapeError, match="values: use strategy='simple', 'primal' or 'primal-reuse'"):
            use()
    y.gradient = 1.0
    tape.evaluate()
    assert np.array_equal(x.gradient, 2.0 * START)


@each_variant
def test_an_error_in_the_middle(variant):
    """The tape refuses to be swept until it was replayed as a whole."""
    tape = new_tape(variant)
    with tape:
        m = tape.register_input(np.eye(2) * 2.0)
        early = tape.register_output(m * 3.0)
        s = m[0, 0] * m[1, 1]
        place = tape.position()
        y = tape.register_output(np.linalg.inv(m * s) * s)
    tape.set_primal(m, np.zeros((2, 2)))
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            tape.evaluate_primal()
        for use in (tape.evaluate, tape.evaluate_forward, lambda: tape.get_primal(y), lambda: tape.get_primal(early),
                    lambda: tape.evaluate_primal(None, place)):  # fmt: skip
            with pytest.raises(TapeError, match="evaluate_primal"):
                use()
    tape._check()
    tape.set_primal(m, np.eye(2) * 4.0)
    tape.evaluate_primal()
    assert np.array_equal(tape.get_primal(y), np.linalg.inv(np.eye(2) * 64.0) * 16.0)
    y.gradient = np.eye(2)
    tape.evaluate()
    fresh = record(new_tape(variant), lambda m: np.linalg.inv(m * (m[0, 0] * m[1, 1])) * (m[0, 0] * m[1, 1]),
                   [np.eye(2) * 4.0])  # fmt: skip
    assert_close([m.gradient], fresh.reverse([np.eye(2)]))


@each_variant
def test_a_result_of_another_shape(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        tape.register_output(np.unique(x) * 2.0)
    tape.set_primal(x, [1.0, 1.0, 2.0, 3.0])
    with pytest.raises(TapeError, match=r"unique had the shape \(4,\) when it was recorded, and has \(3,\) now"):
        tape.evaluate_primal()


@each_variant
def test_statements_made_by_hand_cannot_be_replayed(variant):
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(START.copy())
        y = tape.register_output(x * tape.push_statement(2.0, [x[0]], [3.0]))
    with pytest.raises(TapeError, match="push_statement"):
        tape.evaluate_primal()
    y.gradient = 1.0
    tape.evaluate()
    assert_close([x.gradient], [2.0 + 3.0 * np.sum(START) * np.eye(4)[0]])


@each_variant
def test_each_allocation_of_a_replay(variant):
    """Large arrays, whose memory comes from the pool: no memory anywhere, then a replay of the whole."""
    tape = new_tape(variant)

    def f(u):
        v = np.sin(u) * u
        v[1:] *= v[:-1]
        w = np.concatenate([v, u]) * v[3]
        return np.cumsum(w) * w, np.sort(v) * v

    start, there = np.linspace(0.5, 1.5, 1000), np.linspace(0.75, 1.25, 1000)
    recording = record(tape, f, [start])
    fresh = record(new_tape(variant), f, [there]).reverse([1.0, 1.0])
    failed = 0
    for n in itertools.count():
        tape.set_primal(recording.inputs[0], start)
        tape.evaluate_primal()
        tape.set_primal(recording.inputs[0], there)
        clear_pool()
        fail_after(n)
        try:
            tape.evaluate_primal()
        except MemoryError:
            fail_after(None)
            tape._check()
            if tape.replay.torn:            # else it had not begun
                failed += 1
                with pytest.raises(TapeError, match="partly new"):
                    tape.evaluate()
            else:
                assert np.array_equal(tape.get_primal(recording.outputs[1]), f(start.copy())[1])
            tape.evaluate_primal()
        else:
            fail_after(None)
            break
        for y, plain in zip(recording.outputs, f(there.copy()), strict=True):
            assert np.array_equal(tape.get_primal(y), plain)
        assert_close(recording.reverse([1.0, 1.0]), fresh)
    assert failed > 2
    clear_pool()
    fail_after(0)
    with pytest.raises(MemoryError):
        tape.set_primal(recording.inputs[0], start)
    fail_after(None)
    assert np.array_equal(tape.get_primal(recording.inputs[0]), there)
