# SPDX-License-Identifier: Apache-2.0
"""External adjoint vectors follow the resets of their tape and stand seeds that run Python code."""

from fractions import Fraction

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_strategy


def square(tape, value):
    with tape:
        x = tape.register_input(value)
        return x, tape.register_output(x * x)


@each_strategy
@pytest.mark.parametrize("reset", ["reset", "reset_hard"])
def test_a_reset_ends_what_an_external_vector_holds(strategy, reset):
    tape = codipy.Tape(strategy=strategy)
    adjoints = tape.new_adjoints()
    for value in (3.0, 4.0, 5.0):
        x, y = square(tape, value)
        assert adjoints[x] == 0.0
        adjoints[y] = 1.0
        tape.evaluate(adjoints=adjoints)
        assert adjoints[x] == 2.0 * value
        getattr(tape, reset)()


@each_strategy
def test_a_sweep_starts_from_zero_after_a_partial_reset(strategy):
    tape = codipy.Tape(strategy=strategy)
    adjoints = tape.new_adjoints(2)
    x, y = square(tape, 3.0)
    place = tape.position()
    adjoints[y] = (1.0, 2.0)
    tape.reset(place)
    tape.evaluate(adjoints=adjoints)
    assert adjoints[x].tolist() == [0.0, 0.0]


@each_strategy
def test_an_empty_tape_sweeps(strategy):
    tape = codipy.Tape(strategy=strategy)
    tape.evaluate()
    tape.evaluate_forward()
    tape.evaluate(adjoints=tape.new_adjoints(3))
    tape._check()


class ResetsTheTape(Fraction):
    def __float__(self):
        self.tape.reset_hard()
        return 1.0

    def __array__(self, *_, **__):
        self.tape.reset_hard()
        return np.ones(2)


def hostile(tape):
    number = ResetsTheTape(1, 2)
    number.tape = tape
    return number


@each_strategy
def test_a_seed_that_resets_the_tape_is_an_error_and_no_crash(strategy):
    tape = codipy.Tape(strategy=strategy)
    x, y = square(tape, 3.0)
    adjoints = tape.new_adjoints(2)
    with pytest.raises(TapeError, match="before a reset"):
        adjoints[y] = hostile(tape)
    x, y = square(tape, 3.0)
    with pytest.raises(TapeError, match="reset"):
        y.gradient = hostile(tape)


@each_strategy
def test_a_jacobian_that_resets_the_tape_is_an_error_and_no_crash(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        y = [tape.register_output(x * k) for k in range(300)]
        with pytest.raises(TapeError, match="before a reset"):
            tape.push_statement(1.0, [y[-1], x], [2.0, hostile(tape)])
        assert tape.statements == 0
    tape.evaluate()
    tape._check()
