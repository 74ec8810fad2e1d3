# SPDX-License-Identifier: Apache-2.0
"""A reverse sweep that does not come to its end leaves no adjoint to be read, not an input's either."""

import os

import numpy as np
import pytest

import codipy
from codipy.active.array import call
from codipy.errors import TapeError
from codipy.numpy.primitive import Primitive
from tests.strategies import each_pair, new_tape
from tests.tape.test_fork import swept

PARTLY = "swept in part"
each_vector = pytest.mark.parametrize("external", [False, True])


class Stopping:
    """A tape whose sweep is stopped in its middle by what a rule does, when some of an input's gradient is there."""

    def __init__(self, variant, external, stop):
        self.stop, self.stops = stop, True
        primitive = Primitive("stopping", lambda x: 2.0 * x, self.vjp, lambda t, out, args, kwargs: 2.0 * t[0])
        self.tape = new_tape(variant)
        with self.tape:
            self.r = self.tape.register_input(0.5)
            self.x = self.tape.register_input(np.array([1.0, 3.0]))
            middle = call(primitive, (self.x * self.r,))
            self.y = self.tape.register_output(middle * self.x * self.r)
        self.adjoints = self.tape.new_adjoints() if external else None

    def vjp(self, g, out, args, kwargs, argnums):
        if self.stops:
            self.stop(self)
        return [2.0 * g]

    def seed(self):
        if self.adjoints is None:
            self.y.gradient = 1.0
        else:
            self.adjoints[self.y] = 1.0

    def sweep(self, **options):
        self.tape.evaluate(adjoints=self.adjoints, **options)

    def read(self, variable):
        return variable.gradient if self.adjoints is None else self.adjoints[variable]

    def clear(self):
        self.tape.clear_adjoints()
        if self.adjoints is not None:
            self.adjoints.clear()

    def demand_refusals(self):
        for variable in (self.x, self.x[:1], self.r, self.y):
            with pytest.raises(TapeError, match=PARTLY):
                self.read(variable)
        for sweep in (self.tape.evaluate, self.tape.evaluate_forward):
            with pytest.raises(TapeError, match=PARTLY):
                sweep(adjoints=self.adjoints)

    def demand_gradients(self):
        self.stops = False
        self.clear()
        self.seed()
        self.sweep()
        assert np.array_equal(self.read(self.x), 4.0 * self.x.value * self.r.value**2)
        assert self.read(self.r) == 4.0 * self.r.value * np.sum(self.x.value**2)


def raises(error):
    def stop(_):
        raise error

    return stop


@each_pair()
@each_vector
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError("in a rule"), MemoryError])
def test_after_an_exception(variant, external, error):
    recorded = Stopping(variant, external, raises(error))
    recorded.seed()
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        recorded.sweep()
    recorded.demand_refusals()
    recorded.seed()  # a seed alone does not take away what was swept
    recorded.demand_refusals()
    recorded.demand_gradients()


@each_pair()
@pytest.mark.parametrize("reset", ["reset", "reset_hard"])
def test_a_reset_ends_it(variant, reset):
    recorded = Stopping(variant, False, raises(ValueError))
    recorded.seed()
    with pytest.raises(ValueError):
        recorded.sweep()
    getattr(recorded.tape, reset)()
    with recorded.tape:
        x = recorded.tape.register_input(3.0)
        y = recorded.tape.register_output(x * x)
    y.gradient = 1.0
    recorded.tape.evaluate()
    assert x.gradient == 6.0


@each_pair()
@each_vector
def test_while_it_is_under_way(variant, external):
    seen = []

    def read(recorded):
        with pytest.raises(TapeError, match=PARTLY):
            recorded.read(recorded.x)
        seen.append(True)

    recorded = Stopping(variant, external, read)
    recorded.seed()
    recorded.sweep()
    assert seen == [True]
    assert np.array_equal(recorded.read(recorded.x), 4.0 * recorded.x.value * recorded.r.value**2)


def test_the_other_vectors_are_not_torn():
    recorded = Stopping(("auto", "statement"), True, raises(ValueError))
    recorded.seed()
    recorded.y.gradient = 1.0
    with pytest.raises(ValueError):
        recorded.sweep()
    recorded.stops = False
    recorded.tape.evaluate()
    assert np.array_equal(recorded.x.gradient, 4.0 * recorded.x.value * recorded.r.value**2)
    with pytest.raises(TapeError, match=PARTLY):
        recorded.read(recorded.x)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@each_pair()
@each_vector
def test_the_child_of_a_fork_during_another_threads_sweep(variant, external):
    tape = codipy.Tape(*variant)

    def check(slow, adjoints):
        read = (lambda: slow.x.gradient) if adjoints is None else (lambda: adjoints[slow.x])
        with pytest.raises(TapeError, match=PARTLY):
            read()
        with pytest.raises(TapeError, match=PARTLY):
            tape.evaluate(adjoints=adjoints)
        (tape.clear_adjoints if adjoints is None else adjoints.clear)()
        assert not read().any()

    swept(tape, "evaluate", external, check)
