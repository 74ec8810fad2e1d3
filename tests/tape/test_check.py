# SPDX-License-Identifier: Apache-2.0
"""Every invariant that the check of a tape names is found broken when it is broken."""

from types import SimpleNamespace

import numpy as np
import pytest

import codipy
from codipy.errors import CorruptTape
from codipy.tape.checks import check as module
from tests.recording import record
from tests.strategies import LINEAR, each_counting, each_pair, each_strategy, kind_of


def example(m, x, y):
    z = m.sin(x * y + 2.0) * x
    return z * z, z + y


def recorded(strategy, **options):
    return record(codipy.Tape(strategy=strategy, chunk_size=4, **options), example, (0.5, 0.7)).tape


def corrupt(monkeypatch, change):
    """Let the check read fields that `change(fields)` has altered."""
    whole = module._whole

    def altered(stream):
        fields = [field.copy() for field in whole(stream)]
        change(stream.name, fields)
        return fields

    monkeypatch.setattr(module, "_whole", altered)


@each_pair("strategy, granularity")
def test_whole_tapes_pass(strategy, granularity):
    tape = codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)
    tape._check()
    record(tape, example, (0.5, 0.7))
    tape.evaluate()
    tape._check()
    tape.reset()
    tape._check()
    record(tape, example, (0.5, 0.7))
    tape.reset_hard()
    tape._check()


NAMES = {"jacobian": "Jacobian entries", "primal": "argument identifiers", "simple": "identifier data"}


@pytest.mark.parametrize(("wrong", "message"), [(-1, "arguments are identifiers from"), (10**6, "handed out")])
@each_strategy
def test_arguments_that_do_not_exist(monkeypatch, strategy, wrong, message):
    def change(name, fields):
        if name == NAMES[kind_of(strategy)]:
            fields[-1][0] = wrong

    tape = recorded(strategy)
    corrupt(monkeypatch, change)
    with pytest.raises(CorruptTape, match=message):
        tape._check()


@pytest.mark.parametrize("strategy", [s for s in LINEAR if s != "simple"])  # which finds it elsewhere
def test_an_argument_from_the_future(monkeypatch, strategy):
    tape = recorded(strategy)

    def change(name, fields):
        if name == NAMES[kind_of(strategy)]:
            fields[-1][0] = tape._identifiers.largest

    corrupt(monkeypatch, change)
    with pytest.raises(CorruptTape, match="created before"):
        tape._check()


@each_counting
@pytest.mark.parametrize(("wrong", "message"), [(0, "passive identifier 0"), (10**6, "results were handed out")])
def test_results_that_do_not_exist(monkeypatch, strategy, wrong, message):
    def change(name, fields):
        if name == "statement entries":
            fields[1][-1] = wrong

    tape = recorded(strategy)
    corrupt(monkeypatch, change)
    with pytest.raises(CorruptTape, match=message):
        tape._check()


@each_counting
def test_a_result_on_its_own_argument(monkeypatch, strategy):
    def change(name, fields):
        if name == "statement entries":
            fields[1][0] = 1

    tape = recorded(strategy)
    corrupt(monkeypatch, change)
    with pytest.raises(CorruptTape, match="shares the identifier"):
        tape._check()


STATEMENTS = {"jacobian": "statement entries", "primal": "statement entries", "simple": "operator data"}


@pytest.mark.parametrize(
    ("strategy", "wrong", "message"),
    [
        ("jacobian", 200, "region 0 need"),
        ("jacobian", 0, "need the"),
        ("jacobian-reuse", 255, "inputs are no statements"),
        ("primal", 2**30, "unknown program"),
        ("primal", 1, "bare leaf"),
        ("primal", 0, "need the"),
        ("primal-reuse", 0, "inputs are no statements"),
        ("primal", -7, "need the"),
        ("simple", -1, "operator codes"),
        ("simple", 0, "every operation has"),
    ],
)
def test_statements_that_make_no_sense(monkeypatch, strategy, wrong, message):
    def change(name, fields):
        if name == STATEMENTS[kind_of(strategy)]:
            fields[0][3] = wrong

    tape = record(codipy.Tape(strategy=strategy, chunk_size=4, granularity="operation"), one_by_one, (0.5,)).tape
    corrupt(monkeypatch, change)
    with pytest.raises(CorruptTape, match=message):
        tape._check()


def one_by_one(m, x):
    for _ in range(6):
        x = m.sin(x)
    return x


@pytest.mark.parametrize("strategy", [s for s in LINEAR if s != "simple"])  # which finds it elsewhere
def test_statements_without_identifiers(strategy):
    tape = recorded(strategy)
    tape._identifiers.reset_to(tape._identifiers.largest - 1)
    with pytest.raises(CorruptTape, match="as many identifiers as statements"):
        tape._check()


@each_strategy
def test_items_without_statements(strategy):
    tape = recorded(strategy)
    root = tape.store.root
    root.extend(*[np.ones(1, dtype) for dtype in root.dtypes])
    with pytest.raises(CorruptTape, match="need the"):
        tape._check()


@each_strategy
def test_a_sweep_finds_counts_that_disagree(strategy):
    tape = recorded(strategy)
    root = tape.store.root
    root.extend(*[np.ones(1, dtype) for dtype in root.dtypes])
    for sweep in (tape.evaluate, tape.evaluate_forward):
        with pytest.raises(CorruptTape, match="counts disagree"):
            sweep()
        tape.clear_adjoints()


def test_broken_streams_and_identifiers_are_found():
    tape = recorded("jacobian")
    tape.store.root._set_used(5)
    with pytest.raises(CorruptTape, match="items fit"):
        tape._check()
    tape = recorded("jacobian-reuse")
    fake = SimpleNamespace(
        store=tape.store, strategy=tape.strategy, _identifiers=SimpleNamespace(largest=9, _check=broken_identifiers)
    )
    with pytest.raises(CorruptTape, match="broken: live"):
        module.check(fake, None)


def broken_identifiers():
    raise AssertionError("broken: live")


def test_missing_primal_values_are_found():
    tape = codipy.Tape(strategy="primal")
    origin = tape.store.root.position()
    record(tape, example, (0.5, 0.7))
    fake = SimpleNamespace(
        store=tape.store, strategy=tape.strategy, records=tape.records, _identifiers=tape._identifiers,
        _primal_vector_bytes=(0, 8),
    )
    with pytest.raises(CorruptTape, match="every identifier has a primal value"):
        module.check(fake, origin)
