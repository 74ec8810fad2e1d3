# SPDX-License-Identifier: Apache-2.0
"""Every invariant of array records that the check of a tape names is found broken when it is broken."""

import numpy as np
import pytest

import codipy
from codipy.errors import CorruptTape
from codipy.tape.checks import check as module
from tests.strategies import BUT_SIMPLE, LINEAR, STRATEGIES, each_strategy

LINEAR_STATEMENTS = [strategy for strategy in LINEAR if strategy in BUT_SIMPLE]
OTHERS = [strategy for strategy in STRATEGIES if strategy not in LINEAR_STATEMENTS]
each_linear_but_simple = pytest.mark.parametrize("strategy", LINEAR_STATEMENTS)
each_other = pytest.mark.parametrize("strategy", OTHERS)


def recorded(strategy):
    """Array statements, a movement and a sum, with scalar statements before, between and behind them."""
    tape = codipy.Tape(strategy=strategy, chunk_size=2)
    with tape:
        s = tape.register_input(0.5)
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        s = +(s * s)
        y = np.sin(x) * s
        for _ in range(5):
            s = s * y[1] + 1.0
        z = (y[::-1] + x)[[2, 0, 0]]
        tape.register_output(np.sum(z) * s)
    return tape


def corrupt(monkeypatch, number, **changes):
    """Let the check see a record with other figures than its own."""
    steps_of = module.steps_of

    def altered(tape):
        steps = steps_of(tape)
        steps[number] = steps[number]._replace(**{name: change(steps[number]) for name, change in changes.items()})
        return steps

    monkeypatch.setattr(module, "steps_of", altered)


@each_strategy
def test_whole_tapes_pass(strategy):
    tape = recorded(strategy)
    assert len(tape.records) > 3
    tape._check()
    tape.evaluate()
    tape._check()
    tape.reset()
    tape._check()


@each_strategy
def test_a_tape_reset_to_a_position_passes(strategy):
    tape = recorded(strategy)
    with tape:
        x = tape.register_input(np.arange(3.0))
        position, records = tape.position(), len(tape.records)
        np.exp(x * 2.0 + x[0])
        y = x[::-1] * 3.0
        y[0] = y[1] * x[2]
        tape.register_output(y)
        del y
        tape._check()
        tape.reset(position)
        tape._check()
        assert len(tape.records) == records
        tape.register_output(x * x)
    tape._check()


@each_linear_but_simple
@pytest.mark.parametrize("number", [1, -1])
def test_statements_between_records_have_their_identifiers(monkeypatch, strategy, number):
    tape = recorded(strategy)
    corrupt(monkeypatch, number, statements=lambda step: step.statements + 1)
    with pytest.raises(CorruptTape, match="as many identifiers as statements"):
        tape._check()


@each_linear_but_simple
def test_an_identifier_that_no_record_took(monkeypatch, strategy):
    tape = recorded(strategy)
    corrupt(monkeypatch, -1, after=lambda step: step.after + 1)
    with pytest.raises(CorruptTape, match="as many identifiers as statements"):
        tape._check()


@each_other
def test_records_that_overlap(monkeypatch, strategy):
    tape = recorded(strategy)
    corrupt(monkeypatch, 1, before=lambda step: 0)
    with pytest.raises(CorruptTape, match="record 1 begins with the identifiers"):
        tape._check()


@each_other
def test_a_record_that_gives_identifiers_back(monkeypatch, strategy):
    tape = recorded(strategy)
    corrupt(monkeypatch, 0, after=lambda step: step.before - 1)
    with pytest.raises(CorruptTape, match="record 0 has no fewer identifiers after it"):
        tape._check()


@each_other
def test_a_record_with_identifiers_nobody_handed_out(monkeypatch, strategy):
    tape = recorded(strategy)
    corrupt(monkeypatch, -1, after=lambda step: 10**6)
    with pytest.raises(CorruptTape, match="records' identifiers were handed out"):
        tape._check()


@each_strategy
@pytest.mark.parametrize("field", ["results", "arguments"])
@pytest.mark.parametrize("wrong", [(0, 2), (1, 10**6)])
def test_a_record_that_names_no_identifiers_of_the_tape(monkeypatch, strategy, field, wrong):
    tape = recorded(strategy)
    corrupt(monkeypatch, 2, **{field: lambda step: [*getattr(step, field), wrong]})
    with pytest.raises(CorruptTape, match="the identifiers that record 2 names"):
        tape._check()


@each_strategy
def test_records_out_of_order(monkeypatch, strategy):
    tape = recorded(strategy)
    last = tape.records.items[-1].place
    assert tape.records.items[1].place < last
    corrupt(monkeypatch, 0, place=lambda step: last)
    with pytest.raises(CorruptTape, match="the place of record 1 is not before"):
        tape._check()


@each_strategy
def test_a_record_behind_the_end(monkeypatch, strategy):
    tape = recorded(strategy)
    begin = tape.position()
    with tape:
        tape.register_input(2.0) * 3.0
        tape.register_output(tape.register_input(2.0) * 3.0)
        behind = tape.position().streams
        tape.reset(begin)
    corrupt(monkeypatch, -1, place=lambda step: behind)
    with pytest.raises(CorruptTape, match="the last record is not behind the end"):
        tape._check()


def test_what_records_name():
    tape = codipy.Tape(strategy="jacobian")
    with tape:
        x = tape.register_input(np.arange(6.0).reshape(2, 3))       # 1 to 6
        y = +(x[:, ::-1] * x[1, ::-1])                              # 7 to 12
        z = y[[1, 0], [0, 0]]                                       # 13, 14
        np.sum(y[0])                                                # 15
        +(z[:0] * 2.0)
        np.linalg.norm(z)
    tape._check()
    named = [record.named for record in tape.records.items]
    assert ([(7, 12)], [(1, 6), (4, 6)]) in named
    assert ([(13, 14)], [(10, 10), (7, 7)]) in named
    assert any((7, 9) in arguments for _, arguments in named)
    assert any((13, 14) in arguments for _, arguments in named)
