# SPDX-License-Identifier: Apache-2.0
"""Reals that are made and dropped leave nothing behind: memory, references, identifiers."""

import gc
import sys
import tracemalloc

import numpy as np
import pytest

import codipy
from codipy import Real
from codipy import math as cm
from codipy.active.scalar.real import clear_free_lists
from tests.strategies import each_counting, each_strategy

pytestmark = pytest.mark.usefixtures("older_objects_stay")

FREE_LISTS = 3 * 256  # the most dead Reals that are kept, in three sizes


COUNT = 10_000
LIMIT = 2 * COUNT  # bytes: the smallest object lost in each round would be 16 * COUNT; NumPy's caches fill slowly


def growth(work):
    """Bytes that Python holds more after COUNT rounds of `work` than before them, caches being filled."""
    work(COUNT)
    clear_free_lists()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        work(COUNT)
        clear_free_lists()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def passive(count):
    x = Real(1.5)
    for _ in range(count):
        cm.sin(x * x + 2.0) / cm.hypot(x, 1.0, x)


def errors(count):
    x, hopeless = Real(1.5), object()
    for _ in range(count):
        for call in [lambda: x + hopeless, lambda: x / 0, lambda: cm.atan2(x, "1"), lambda: cm.fsum([x, "1"])]:
            with pytest.raises((TypeError, ZeroDivisionError)):
                call()


def ufuncs(count):
    # Not np.exp(a): NumPy makes a string of the method's name for each element, and Python's cache of attributes keeps
    # up to 4096 of them.
    x, a = Real(1.5), np.array([Real(1.0), Real(2.0)])
    for _ in range(count):
        np.sin(x), np.add(x, 2.0), a @ a, a * x, np.divmod(x, 2.0)


def functions(count):
    x = Real(1.5)
    for _ in range(count):
        cm.atan2(x, np.float32(2.0)), cm.dist([x], [1]), cm.log(x, 3), cm.fma(x, 1, 2), x.sin(), x.hypot(1.0)


@pytest.mark.parametrize("work", [passive, ufuncs, functions])
def test_memory_is_flat(work):
    assert growth(work) < LIMIT


def test_memory_is_flat_after_errors():
    assert growth(lambda count: errors(count // 20)) < LIMIT // 20


@each_strategy
def test_memory_is_flat_over_recordings(strategy):
    tape = codipy.Tape(strategy=strategy, chunk_size=64)

    def recordings(count):
        for _ in range(count // 50):
            tape.reset()
            with tape:
                x = tape.register_input(1.5)
                y = x
                for k in range(40):
                    y = cm.sin(y * x + k) + cm.fsum([x, y, y]) * np.cos(y)
                tape.register_output(y)
            y.gradient = 1.0
            tape.evaluate()

    # A few hundred bytes are there however many recordings there are; 16 lost in each would be 3200.
    assert growth(recordings) < 8 * (COUNT // 50)


def test_a_million_reals_made_and_dropped():
    clear_free_lists()
    held = sys.getallocatedblocks()
    for _ in range(10):
        reals = [Real(float(k)) for k in range(100_000)]
        total = sum(reals)
        assert total.value == 100_000 * 99_999 / 2
        del reals, total
        assert clear_free_lists() <= FREE_LISTS
    assert sys.getallocatedblocks() - held < 1000


@pytest.mark.release
def test_dead_reals_are_reused_and_their_number_is_bounded():
    clear_free_lists()
    assert clear_free_lists() == 0
    x = Real(1.0)
    del x
    assert clear_free_lists() == 1
    reals = [Real(1.0) for _ in range(5000)]
    del reals
    assert 0 < clear_free_lists() <= FREE_LISTS


@each_counting
def test_identifiers_come_back_when_variables_die(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(1.1)
        y = x * x
        for _ in range(1000):
            y = cm.cos(y + x) * np.sin(y) + cm.fsum([y, x, 1.0])
        del y
        manager = tape._identifiers
        assert manager.live == 1
        assert manager.peak < 20
    tape._check()


@each_strategy
def test_references_are_balanced(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x, y, number = tape.register_input(2.0), tape.register_input(3.0), 7.25
        counts = [sys.getrefcount(o) for o in (x, y, number, tape)]
        for _ in range(100):
            x + y, x * number, number**x, -x, abs(y), x < y, x // y, divmod(x, number), cm.sin(x), cm.atan2(x, y)
            cm.hypot(x, y, number), cm.fsum([x, y, number]), x.sin(), np.multiply(x, y), np.maximum(x, number)
            cm.log(x, number), cm.dist([x, y], [y, number]), repr(x), f"{x:.3f}", [x in [y]]
        assert [sys.getrefcount(o) for o in (x, y, number, tape)] == counts
