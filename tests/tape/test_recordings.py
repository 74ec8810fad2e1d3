# SPDX-License-Identifier: Apache-2.0
"""Recordings that end in disorder: threads that die, generators that end late, positions of another recording."""

import gc
import threading

import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_strategy


def on_a_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


@each_strategy
def test_variables_may_outlive_a_tape_that_dies_with_its_thread(strategy):
    """The interpreter clears a dying thread's state in any order; `make sanitize` sees the use after free."""
    late = threading.local()

    def record():
        tape = codipy.Tape(strategy=strategy)
        tape.set_active()
        late.variables = [tape.register_input(1.0)]
        late.variables.append(late.variables[0] * 2.0)

    for _ in range(20):
        on_a_thread(record)
    gc.collect()
    assert codipy.active_tape() is None


@each_strategy
def test_a_tape_whose_recording_thread_ended_can_record_again(strategy):
    tape = codipy.Tape(strategy=strategy)
    on_a_thread(tape.set_active)
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x)
    assert not tape.is_active
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 6.0


@each_strategy
def test_a_passive_block_that_ends_late_ends_only_itself(strategy):
    def constants():
        with codipy.passive():
            yield 1.0

    tape = codipy.Tape(strategy=strategy)
    generator = constants()
    next(generator)
    with tape:
        x = tape.register_input(3.0)
        generator.close()
        y = tape.register_output(x * x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 6.0
    with pytest.raises(TapeError, match="no tape is recording"):
        x * 2.0


def test_passive_ends_where_it_began():
    with pytest.raises(TapeError, match="did not begin"):
        codipy.passive().__exit__(None, None, None)


@each_strategy
def test_positions_of_two_recordings_differ(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        tape.register_input(3.0)
        first = tape.position()
        tape.reset()
        tape.register_input(3.0)
        second = tape.position()
    assert first != second and not first == second
    with pytest.raises(TapeError, match="no order"):
        _ = first < second
