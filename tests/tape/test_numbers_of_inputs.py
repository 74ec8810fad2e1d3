# SPDX-License-Identifier: Apache-2.0
"""`evaluate_primal()` where a number that is an input is read by array records and by no scalar statement."""

import numpy as np
import pytest

import codipy
from tests.strategies import AS_VALUES, each_as_values

NEW = np.array([5.0, 4.0, 3.0])


def product(u, a):
    return (u * a).sum()


def written(u, a):
    v = u.copy()
    v[0] = a
    return (u * v).sum()


def chosen(u, a):
    return np.where(u > 0.0, a, u).sum() + u.sum()


def called(u, a):
    return np.linalg.norm(np.stack([u[0], a])) + u[2]


PROGRAMS = [product, written, chosen, called]
each_program = pytest.mark.parametrize("f", PROGRAMS)


def recorded(strategy, f):
    tape = codipy.Tape(strategy)
    with tape:
        u, a = tape.register_input(np.ones(3)), tape.register_input(2.0)
        tape.register_output(f(u, a))
    return tape


def demand_as_at(tape, f, u, a):
    """The values and gradients of a tape that runs again are those of a new recording."""
    inputs = [x for x in tape.inputs if np.ndim(x)]
    tape.set_primal(inputs[0], u)
    tape.evaluate_primal()
    assert tape.get_primal(tape.outputs[0]) == f(u, a)
    tape.outputs[0].gradient = 1.0
    tape.evaluate()
    np.testing.assert_array_equal(inputs[0].gradient, codipy.grad(f)(u, a))


@each_as_values
@each_program
def test_a_number_that_only_arrays_read_keeps_its_value(strategy, f):
    demand_as_at(recorded(strategy, f), f, NEW, 2.0)


@each_as_values
@each_program
def test_so_it_does_in_a_file(strategy, f, tmp_path):
    tape = recorded(strategy, f)
    for replayed in (False, True):
        if replayed:
            tape.evaluate_primal()
        tape.save(tmp_path / "a.tape")
        demand_as_at(codipy.load_tape(tmp_path / "a.tape"), f, NEW, 2.0)


@each_as_values
@each_program
def test_so_it_does_on_an_optimized_tape_whatever_inputs_are_named(strategy, f, tmp_path):
    tape = recorded(strategy, f)
    demand_as_at(tape.optimize().tape, f, NEW, 2.0)
    alone = tape.optimize(inputs=[x for x in tape.inputs if np.ndim(x)]).tape
    demand_as_at(alone, f, NEW, 2.0)
    tape.optimize().tape.save(tmp_path / "a.tape")
    demand_as_at(codipy.load_tape(tmp_path / "a.tape"), f, NEW, 2.0)


@each_as_values
def test_a_value_that_was_set_stays_and_one_of_a_dropped_part_goes(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        u, a = tape.register_input(np.ones(3)), tape.register_input(2.0)
        place = tape.position()
        dropped = tape.register_input(7.0)
        (u * dropped).sum()
        tape.reset(place)
        b = tape.register_input(3.0)
        y = tape.register_output(product(u, a) + product(u, b))
    tape.set_primal(a, 4.0)
    tape.evaluate_primal()
    assert [tape.get_primal(x) for x in (a, b, y)] == [4.0, 3.0, 21.0]


@pytest.mark.parametrize("strategy", AS_VALUES)
def test_the_value_of_an_argument_is_no_jacobian_of_a_statement_made_by_hand(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        a, b = tape.register_input(2.0), tape.register_input(3.0)
        h = tape.push_statement(4.0, [a, b], [0.5, 0.25])
        c = b * a
        g = tape.push_statement(5.0, [c], [0.125])
        y = tape.register_output(h * b + g)
    assert [tape.get_primal(x) for x in (a, b, y)] == [2.0, 3.0, 17.0]
