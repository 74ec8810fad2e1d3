# SPDX-License-Identifier: Apache-2.0
"""A tape knows its inputs and outputs, whatever became of the variables that were registered."""

import numpy as np
import pytest

import codipy
from codipy.errors import CorruptTape, TapeError
from codipy.tape.checks import check as checks
from tests.strategies import AS_VALUES, each_counting, each_strategy


def gradients(tape, seeds):
    tape.clear_adjoints()
    for y, seed in zip(tape.outputs, seeds, strict=True):
        y.gradient = seed
    tape.evaluate()
    return [x.gradient for x in tape.inputs]


@each_strategy
def test_variables_in_the_order_of_their_registration(strategy):
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        a = tape.register_input(2.0)
        x = tape.register_input(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        b = tape.register_input(np.float32(0.5))
        y, z = tape.register_output(x.T * a), tape.register_output(np.sin(a) * b)
    assert [type(v) for v in tape.inputs] == [codipy.Real, codipy.Array, codipy.Real]
    assert [np.shape(v) for v in tape.outputs] == [(3, 2), ()]
    for mine, known in zip((a, x, b, y, z), (*tape.inputs, *tape.outputs), strict=True):
        assert np.array_equal(known.value, mine.value)
        assert type(known.value) is type(mine.value)
        assert np.array_equal(known.identifier, mine.identifier)
    found = gradients(tape, (np.ones((3, 2)), 3.0))
    assert found[0] == a.gradient == 21.0 + 3.0 * np.cos(2.0) * 0.5
    assert np.array_equal(found[1], np.full((2, 3), 2.0))
    assert found[2] == b.gradient


def made_inside(strategy):
    """A tape all of whose variables are gone; what is made afterwards may get their identifiers."""
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        a, x = tape.register_input(2.0), tape.register_input(np.array([1.0, 2.0]))
        tape.register_output(a * a)
        tape.register_output(x * a)
        for _ in range(20):
            a = np.sin(a * a + a) * a
            x = np.sin(x * a) + x
        del a, x
    return tape


@each_strategy
def test_variables_that_are_gone_have_their_slots(strategy):
    tape = made_inside(strategy)
    y, z = tape.outputs
    assert (y.value, list(z.value)) == (4.0, [2.0, 4.0])
    a, x = gradients(tape, (1.0, [1.0, 10.0]))
    assert a == 4.0 + 1.0 + 20.0
    assert list(x) == [2.0, 20.0]
    tape.check()


@each_counting
def test_results_that_were_not_registered_are_not_held(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.ones(5))
        for _ in range(50):
            y = np.sin(x) * x
        del y
    assert tape._identifiers.live < 20


@each_strategy
def test_written_and_registered_again(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        y = x * x
        x[0] = 7.0
        tape.register_output(y)
        y[1] = 9.0
        a = tape.register_input(3.0)
        b = tape.register_output(a * a)
        tape.register_input(a)
        tape.register_output(b)
    known = tape.inputs[0]
    assert list(known.value) == [1.0, 2.0]
    with codipy.passive():
        known[:] = 0.0
    assert list(tape.inputs[0].value) == [1.0, 2.0]
    assert list(tape.outputs[0].value) == [1.0, 4.0]
    assert len(tape.inputs) == 3
    assert len(tape.outputs) == 2
    found = gradients(tape, (np.ones(2), 1.0))
    assert list(found[0]) == [2.0, 4.0]
    assert (found[1], found[2]) == (6.0, 0.0)


@each_strategy
def test_resets(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(3.0)
        tape.register_output(x * x)
        middle = tape.position()
        for _ in range(3):
            tape.register_input(np.ones(2))
            tape.register_output(x * 2.0)
            tape.register_output(x)
            assert (len(tape.inputs), len(tape.outputs)) == (2, 3)
            tape.reset(middle)
            assert (len(tape.inputs), len(tape.outputs)) == (1, 1)
    (found,) = gradients(tape, (1.0,))
    assert found == 6.0
    tape.reset()
    assert (tape.inputs, tape.outputs) == ((), ())
    with tape:
        tape.register_output(tape.register_input(1.0))
    assert len(tape.outputs) == 1
    tape.reset_hard()
    assert (tape.inputs, tape.outputs) == ((), ())


@each_strategy
def test_outputs_that_depend_on_nothing(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        tape.register_output(np.float64(2.0))
        tape.register_output(codipy.Array([1.0, 2.0]))
    number, array = tape.outputs
    assert number.value == 2.0
    assert not array.is_active
    assert list(array.value) == [1.0, 2.0]


def test_a_tape_that_keeps_nothing_says_so():
    with pytest.raises(TapeError, match="keeps nothing"):
        codipy.Tape("forward").inputs
    codipy.Tape("forward").check()


@pytest.mark.parametrize("strategy", AS_VALUES)
def test_inputs_take_new_values(strategy):
    tape = made_inside(strategy)
    a, x = tape.inputs
    tape.set_primal(a, 3.0)
    tape.set_primal(x, [1.0, 1.0])
    tape.evaluate_primal()
    assert tape.get_primal(tape.outputs[0]) == 9.0
    assert list(tape.get_primal(tape.outputs[1])) == [3.0, 3.0]


def test_the_check_is_public(monkeypatch):
    tape = made_inside("primal")
    tape.check()
    whole = checks._whole
    monkeypatch.setattr(checks, "_whole", lambda stream: [field[:-1] for field in whole(stream)])
    with pytest.raises(CorruptTape):
        tape.check()
