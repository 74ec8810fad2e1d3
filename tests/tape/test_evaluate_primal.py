# SPDX-License-Identifier: Apache-2.0
"""Values recomputed from new inputs are the same whatever the strategy: over ranges, and after partial resets."""

import pytest

import codipy
from codipy import math
from codipy.errors import TapeError
from tests.strategies import each_as_values


@each_as_values
def test_a_range_recomputes_nothing_behind_its_end(strategy):
    tape = codipy.Tape(strategy=strategy, chunk_size=1)
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x)
        place = tape.position()
        z = tape.register_output(math.sin(y + y) * 0.0 + 2.0 * y)
    tape.set_primal(x, 5.0)
    tape.evaluate_primal(None, place)
    assert (tape.get_primal(y), tape.get_primal(z)) == (25.0, 18.0)
    tape.evaluate_primal(place, None)
    assert (tape.get_primal(y), tape.get_primal(z)) == (25.0, 50.0)
    z.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 20.0
    tape.set_primal(x, 3.0)
    tape.evaluate_primal()
    assert (tape.get_primal(y), tape.get_primal(z)) == (9.0, 18.0)


@each_as_values
def test_a_partial_reset_keeps_the_values_given_to_inputs(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x)
        place = tape.position()
        _ = tape.register_output(x * 4.0)
    tape.set_primal(x, 5.0)
    tape.reset(place)
    tape.evaluate_primal()
    assert tape.get_primal(y) == 25.0


@each_as_values
def test_a_handmade_statement_that_was_dropped_forbids_nothing(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x)
        place = tape.position()
        tape.push_statement(1.0, [x], [2.0])
        tape.push_statement(1.0, [x], [2.0])
        later = tape.position()
        tape.push_statement(1.0, [x], [2.0])
        tape.reset(later)
        with pytest.raises(TapeError, match="push_statement"):
            tape.evaluate_primal()
        tape.reset(place)
    tape.set_primal(x, 5.0)
    tape.evaluate_primal()
    assert tape.get_primal(y) == 25.0
