# SPDX-License-Identifier: Apache-2.0
"""Nobody gets the slot of a variable whose adjoint waits for a sweep, whether it dies or is written to."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_pair, new_tape

each_vector = pytest.mark.parametrize("external", [False, True])


class Vector:
    """The tape's own adjoints, or external ones, by one interface."""

    def __init__(self, tape, external):
        self.tape, self.external = tape, tape.new_adjoints() if external else None

    def seed(self, x, number):
        if self.external is None:
            x.gradient = number
        else:
            self.external[x] = number

    def read(self, x):
        return x.gradient if self.external is None else self.external[x]

    def sweep(self, *places):
        self.tape.evaluate(*places, adjoints=self.external)

    def clear(self):
        (self.tape.clear_adjoints if self.external is None else self.external.clear)()


def scalar(tape, start=3.0):
    return tape.register_input(start)


def array(tape, start=3.0):
    return tape.register_input(np.array([start, start + 1.0, start + 2.0]))


each_input = pytest.mark.parametrize("make", [scalar, array])


@each_pair()
@each_vector
@each_input
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("registered", [False, True])
def test_a_seeded_variable_that_dies(variant, external, make, inside, registered):
    tape = new_tape(variant)
    vector = Vector(tape, external)
    with tape:
        x, other = make(tape), make(tape, 5.0)
        y = x * x
        y[0] if make is array else abs(y)  # makes a statement of it
        if registered:
            tape.register_output(y)
        if inside:
            vector.seed(y, 1.0)
    if not inside:
        try:
            vector.seed(y, 1.0)
        except codipy.TapeError:
            assert not registered  # part of a larger statement
            return
    del y
    with tape:
        later = [tape.register_output(other * float(k)) for k in range(2, 6)]
        for z in later:
            assert not np.any(vector.read(z))
    vector.sweep()
    assert np.array_equal(vector.read(x), 2.0 * x.value)
    assert not np.any(vector.read(other))


@each_pair()
@each_vector
@each_input
def test_adjoints_that_wait_where_a_sweep_ended(variant, external, make):
    """The variable between the two statements is dead long before the sweep to their middle."""
    tape = new_tape(variant)
    vector = Vector(tape, external)
    with tape:
        x, other = make(tape), make(tape, 5.0)
        w = tape.register_output(x * x)
        place = tape.position()
        y = tape.register_output(w * w)
        del w
    vector.seed(y, 1.0)
    vector.sweep(None, place)
    with tape:
        later = [tape.register_output(other * float(k)) for k in range(2, 6)]
        vector.seed(later[0], 1.0)
    vector.sweep()
    assert np.array_equal(vector.read(x), 4.0 * x.value**3)
    assert np.array_equal(vector.read(other), 2.0 * np.ones_like(other.value))


@each_pair()
@each_vector
def test_an_array_that_is_written_to_while_its_adjoint_waits(variant, external):
    tape = new_tape(variant)
    vector = Vector(tape, external)
    with tape:
        x = array(tape)
        w = x * x
        w[...] = w * 1.0  # a block of its own, that nobody else has
        place = tape.position()
        y = tape.register_output(w * w)
    vector.seed(y, 1.0)
    vector.sweep(None, place)
    with tape:
        w[...] = 3.0 * x
        w[1:] = 2.0 * x[1:]
        z = tape.register_output(w * 1.0)
        vector.seed(z, 1.0)
    vector.sweep()
    assert np.array_equal(vector.read(x), 4.0 * x.value**3 + [3.0, 2.0, 2.0])


@each_pair()
@each_input
def test_cleared_adjoints_hold_nothing(variant, make):
    """A loop that clears, or resets to a position, needs no more identifiers than its first rounds."""
    tape = new_tape(variant)
    largest = []
    with tape:
        x = make(tape)
        place = tape.position()
    for _ in range(20):
        with tape:
            y = tape.register_output(x * x)
        y.gradient = 1.0
        tape.evaluate()
        assert np.array_equal(x.gradient, 2.0 * x.value)
        del y
        largest.append(tape._identifiers.largest)
        tape.reset(place)
        tape._check()
    assert max(largest) == max(largest[:2])


@each_pair()
@each_input
def test_a_reset_gives_held_identifiers_back(variant, make):
    tape = new_tape(variant)
    largest = []
    for _ in range(3):
        with tape:
            x = make(tape)
            for k in range(5):
                y = tape.register_output(x * float(k))
                y.gradient = 1.0
                tape._check()
            largest.append(tape._identifiers.largest)
        tape.evaluate()
        assert np.array_equal(x.gradient, 10.0 + 0.0 * x.value)
        del x, y
        tape.reset()
    assert largest[0] == largest[1] == largest[2]
    assert tape._identifiers.live == 0
