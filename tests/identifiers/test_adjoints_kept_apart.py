# SPDX-License-Identifier: Apache-2.0
"""Identifiers that are used again never mix the adjoints of two variables, and copies know what they lack."""

import copy

import numpy as np
import pytest

import codipy
from codipy import math
from codipy.errors import TapeError
from tests.strategies import BUT_SIMPLE, each_strategy


def with_a_dead_input(tape):
    """One input dies in the middle of the recording, and results come after it."""
    with tape:
        x, p = tape.register_input(1.5), tape.register_input(2.0)
        y = x * p
        z = y + y
        del p
        w = math.sin(y) * x
        u = (w + w) * (w + w) + w
        del y, z
        parts = [math.sin(u) * x for _ in range(3)]
        return x, tape.register_output(sum(a * a + a for a in parts))


def expected():
    x, output = with_a_dead_input(tape := codipy.Tape(strategy="jacobian"))
    output.gradient = 1.0
    tape.evaluate()
    return x.gradient


@each_strategy
def test_a_dead_input_changes_no_later_reverse_sweep(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, output = with_a_dead_input(tape)
    for sweep in range(1, 4):
        output.gradient = 1.0
        tape.evaluate()
        assert x.gradient == pytest.approx(sweep * expected(), rel=1e-12)
    tape._check()


@each_strategy
def test_a_dead_input_changes_no_later_forward_sweep(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, output = with_a_dead_input(tape)
    for _ in range(3):
        x.gradient = 1.0
        tape.evaluate_forward()
        assert output.gradient == pytest.approx(expected(), rel=1e-12)


@pytest.mark.parametrize("strategy", BUT_SIMPLE)
def test_a_copy_of_a_merged_result_has_no_gradient_either(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        array = np.array([x * 2.0], dtype=object)
        merged = array * 5.0
        held = array[0]
        output = tape.register_output(merged[0] + held * 1.0)
        twin = copy.copy(held)
    output.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 12.0
    for variable in (held, twin):
        with pytest.raises(TapeError, match="no gradient of its own"):
            _ = variable.gradient


@each_strategy
def test_a_copy_after_a_partial_reset_is_as_valid_as_the_original(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        y = x * 2.0
        place = tape.position()
        _ = y * y
        tape.reset(place)
        output = tape.register_output(copy.copy(y) * y)
    output.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 24.0
    tape._check()
