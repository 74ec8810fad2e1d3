# SPDX-License-Identifier: Apache-2.0
"""Memory stays flat over many cycles, is given back, and nobody's reference count drifts."""

import gc
import resource
import sys
import tracemalloc
import weakref

import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.data.pool import bytes_outstanding, clear_pool
from tests.strategies import each_counting, each_strategy

sin = FUNCTIONS["sin"]


def cycle(tape):
    with tape:
        x, y = tape.register_input(0.5), tape.register_input(1.5)
        z = sin(x * y) + x
        place = tape.position()
        for _ in range(3):
            z = z * y + sin(z)
        w = tape.register_output(z)
    w.gradient = 1.0
    tape.evaluate()
    tape.reset(place)
    tape.reset()
    return x.value


@pytest.mark.release  # sanitizers keep freed memory aside
@each_strategy
def test_ten_thousand_cycles_on_one_tape(strategy):
    tape = codipy.Tape(strategy=strategy)
    for _ in range(100):
        cycle(tape)
    gc.collect()  # what earlier tests left in cycles
    pooled, statistics = bytes_outstanding(), tape.statistics().to_dict()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(10_000):
        cycle(tape)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000
    assert bytes_outstanding() == pooled
    assert tape.statistics().to_dict() == statistics
    # Kilobytes on Linux; one leaked Real in each cycle would be a megabyte.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 4096
    tape._check()


@each_strategy
def test_a_thousand_tapes(strategy):
    def make():
        tape = codipy.Tape(strategy=strategy)
        cycle(tape)
        return tape

    make()
    gc.collect()
    clear_pool()
    before = bytes_outstanding()
    tracemalloc.start()
    traced = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        make()
    gc.collect()
    assert tracemalloc.get_traced_memory()[0] - traced < 100_000
    tracemalloc.stop()
    assert bytes_outstanding() == before


@each_strategy
def test_reset_hard_gives_everything_back(strategy):
    tape = codipy.Tape(strategy=strategy)
    cycle(tape)
    clear_pool()
    tape.reset_hard()
    before = bytes_outstanding()
    with tape:
        x = tape.register_input(0.5)
        for _ in range(10_000):
            x = sin(x)
        x = tape.register_output(x)
    assert bytes_outstanding() > before
    tape.reset_hard()
    assert bytes_outstanding() == before
    assert tape.statistics().total.used == 0
    cycle(tape)


@each_strategy
def test_reference_counts(strategy):
    tape = codipy.Tape(strategy=strategy)
    number = 3.25
    adjoints = tape.new_adjoints(2)
    with tape:
        x = tape.register_input(number)
        y = sin(x) * x
        objects = [tape, x, y, number, None, sin]
        before = [sys.getrefcount(o) for o in objects]
        for _ in range(100):
            z = x * y + number
            z = sin(z) - number * z
            tape.register_output(z)
            tape.push_statement(1.0, [x, y, z, number], [1.0, 2.0, 3.0, 4.0])
            x.gradient = 1.0
            adjoints[x] = (1.0, 2.0)
            tape.evaluate(tape.position(), adjoints=adjoints)
            tape.evaluate_forward()
            misuses = [lambda: x * "a", lambda: tape.register_input("a"), lambda: tape.evaluate(3), lambda: 1 / (x - x)]
            for bad in misuses:
                with pytest.raises((TypeError, ZeroDivisionError)):
                    bad()
            del z, misuses, bad
        after = [sys.getrefcount(o) for o in objects]
    drift = {type(o).__name__: b - a for o, a, b in zip(objects, before, after, strict=True) if o is not None}
    assert drift == dict.fromkeys(drift, 0)


@each_strategy
def test_tapes_die_at_once(strategy):
    tape = codipy.Tape(strategy=strategy)
    watch = weakref.ref(tape)
    with tape:
        x = tape.register_input(0.5)
        y = sin(x) + x
        other = tape.register_output(x * 2.0)
        place = tape.position()
    gc.disable()
    try:
        del tape
        assert watch() is None  # variables and positions keep no tape alive
    finally:
        gc.enable()
    assert (x.value, other.value) == (0.5, 1.0)
    assert y.value == sin(0.5) + 0.5
    assert repr(place)
    del x, y, other


@each_counting
def test_identifiers_come_back(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(0.5)
        y = x
        for _ in range(10_000):
            y = sin(y) * 0.5 + x
        y = tape.register_output(y)
        manager = tape._identifiers
        assert manager.largest < 10
        assert manager.live == 2
        held = [sin(x) for _ in range(100)]
        assert manager.live == 2  # pending: they hold x only
        used = [h * h for h in held]
        assert manager.live == 102
        del held
        assert manager.live == 102  # the pending squares hold them
        del used
        assert manager.live == 2
        del y
        assert manager.live == 2  # an output has its own until the reset
        x = x * 1.0
        assert manager.live == 2  # the input lives on in the expression
        del x
        assert manager.live == 2  # a sweep leaves the input's adjoint in its slot: the tape holds it
    tape.reset()
    assert manager.live == 0
    tape._check()


@each_counting
def test_variables_that_outlive_a_reset_give_nothing_back_twice(strategy):
    tape = codipy.Tape(strategy=strategy)
    survivors = []
    for _ in range(50):
        with tape:
            x = tape.register_input(0.5)
            place = tape.position()
            y = tape.register_output(sin(x) * x)
            survivors += [x, y, sin(y)]
            tape.reset(place)
            z = tape.register_output(sin(x))
            tape._check()
        z.gradient = 1.0
        tape.evaluate()
        assert x.gradient == FUNCTIONS["cos"](0.5)
        tape.reset()
        del survivors[::2]
        tape._check()
    assert tape._identifiers.live == 0


def test_a_million_reals():
    def make():
        for _ in range(200_000):
            codipy.Real(1.0)

    make()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(5):
        make()
    assert tracemalloc.get_traced_memory()[0] - before < 10_000
    tracemalloc.stop()
