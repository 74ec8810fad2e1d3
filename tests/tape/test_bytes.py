# SPDX-License-Identifier: Apache-2.0
"""What is stored, to the byte: the worked example of CoDiPack's documentation, and bytes per statement."""

import math

import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.tape.memory.statistics import readable
from tests.strategies import each_as_jacobians

sin, cos = FUNCTIONS["sin"], FUNCTIONS["cos"]


def worked_example(**options):
    tape = codipy.Tape(**options)
    with tape:
        a, b = tape.register_input(3.0), tape.register_input(4.0)
        c = tape.register_output(sin(a + b) * cos(a - b))
    c.gradient = 1.0
    tape.evaluate()
    assert c.value == math.sin(7.0) * math.cos(-1.0)
    assert f"{c.value:.6f}" == "0.354971"
    assert a.gradient == pytest.approx(0.96017, abs=5e-6)
    assert b.gradient == pytest.approx(-0.1455, abs=5e-5)
    tape._check()
    return tape.statistics()


def test_the_worked_example_on_the_simple_tape():
    stats = worked_example(strategy="simple", chunk_size=1024)
    assert stats["adjoint vector"].counts["number of adjoints"] == 8
    assert stats["adjoint vector"].memory.used == 64
    assert stats["identifiers"].counts["max live indices"] == 8
    rows = {"primal data": (8, 64, 8), "identifier data": (13, 52, 4), "operator data": (5, 20, 4)}
    for name, (items, used, kilobytes) in rows.items():
        section = stats[name]
        assert (section.counts["number of items"], section.memory.used) == (items, used)
        assert section.memory.allocated == kilobytes * 1024
    assert readable(stats.total.used) == "200.00 B"
    assert readable(stats.total.allocated) == "16.06 KB"
    assert "200.00 B" in str(stats)
    assert "16.06 KB" in str(stats)


def test_the_worked_example_on_the_jacobian_tape():
    stats = worked_example(strategy="jacobian")
    assert stats["adjoint vector"].counts["number of adjoints"] == 4
    assert stats["adjoint vector"].memory.used == 32
    assert stats["identifiers"].counts["max live indices"] == 4
    assert (stats["statement entries"].counts["number of items"], stats["statement entries"].memory.used) == (4, 4)
    assert (stats["Jacobian entries"].counts["number of items"], stats["Jacobian entries"].memory.used) == (5, 60)
    assert readable(stats.total.used) == "96.00 B"


# strategy: bytes per statement, per active argument, per passive constant (DESIGN.md section 5)
COSTS = {
    "auto": (1, 12, 0),
    "jacobian": (1, 12, 0),
    "jacobian-reuse": (1 + 4, 12, 0),
    "primal": (4, 4, 8),
    "primal-reuse": (4 + 4 + 8, 4, 8),
}


@pytest.mark.parametrize(("active", "passive"), [(1, 0), (2, 0), (1, 1), (5, 2), (11, 5)])
@pytest.mark.parametrize("strategy", COSTS)
def test_bytes_per_statement(strategy, active, passive):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = [tape.register_input(0.5 + i) for i in range(active)]
        constants = [2.0 + i for i in range(passive)]
        before = sum(stream.bytes_used for stream in tape.store.streams)
        y = sin(x[0]) if active + passive == 1 else sum_of(x + constants)
        tape._check()
        assert sum(stream.bytes_used for stream in tape.store.streams) == before  # pending
        held = y
        y = held * 1.0
        statement, argument, constant = COSTS[strategy]
        stored = sum(stream.bytes_used for stream in tape.store.streams) - before
        assert stored == statement + active * argument + passive * constant


def sum_of(values):
    """One expression that merges all the way: each partial sum is a temporary."""
    if len(values) == 1:
        return values[0]
    return sum_of(values[:-1]) + values[-1]


@pytest.mark.parametrize("strategy", COSTS)
def test_bytes_per_operation(strategy):
    tape = codipy.Tape(strategy=strategy, granularity="operation")
    statement, argument, constant = COSTS[strategy]
    with tape:
        x, y = tape.register_input(0.5), tape.register_input(0.25)
        before = sum(stream.bytes_used for stream in tape.store.streams)
        sin(x * y + 2.0)
        stored = sum(stream.bytes_used for stream in tape.store.streams) - before
    assert stored == 3 * statement + (2 + 1 + 1) * argument + constant


def test_bytes_per_simple_operation():
    tape = codipy.Tape(strategy="simple")
    with tape:
        x = tape.register_input(0.5)
        sin(x * 2.0)
    assert sum(stream.bytes_used for stream in tape.store.streams) == 2 * (4 + 4) + (2 + 1) * (4 + 8)


def test_nothing_passive_is_stored():
    for strategy in ("simple", *COSTS):
        tape = codipy.Tape(strategy=strategy)
        with tape:
            before = [stream.items for stream in tape.store.streams]
            y = sin(codipy.Real(2.0) * 3.0) + codipy.Real(1.0)
            assert not y.is_active
            assert y.identifier == 0
            assert [stream.items for stream in tape.store.streams] == before


@each_as_jacobians
def test_switches_for_zero_and_invalid_jacobians(strategy):
    def arguments(**switches):
        tape = codipy.Tape(strategy=strategy, **switches)
        with tape:
            x, y = tape.register_input(0.5), tape.register_input(2.0)
            tape.push_statement(1.0, [x, y, x, y], [0.0, 1.0, float("nan"), float("inf")])
        tape._check()
        return tape.statistics()["Jacobian entries"].counts["number of items"]

    assert arguments() == 3
    assert arguments(skip_zero_jacobians=False) == 4
    assert arguments(skip_invalid_jacobians=True) == 1
    assert arguments(skip_zero_jacobians=False, skip_invalid_jacobians=True) == 2


@pytest.mark.parametrize("strategy", ["simple", *COSTS])
def test_reset_gives_the_same_memory_again(strategy):
    tape = codipy.Tape(strategy=strategy)

    def step():
        with tape:
            x = tape.register_input(0.5)
            for _ in range(1000):
                x = sin(x) * 0.9
            tape.register_output(x)

    step()
    first = tape.statistics()
    for _ in range(5):
        tape.reset()
        assert all(stream.items == 0 for stream in tape.store.streams)
        step()
        assert (tape.statistics() - first).total.used == 0
        assert (tape.statistics() - first).total.allocated == 0
    tape.reset_hard()
    assert tape.statistics().total.used == 0
    assert sum(stream.bytes_allocated for stream in tape.store.streams) == 0
