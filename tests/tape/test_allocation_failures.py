# SPDX-License-Identifier: Apache-2.0
"""Every allocation of a recording fails once: MemoryError, the tape as it was, and everything goes on."""

import itertools

import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.data.pool import clear_pool, fail_after
from codipy.errors import IdentifierOverflow
from tests.functions import CATALOGUE
from tests.recording import fields, record, still_works, stored_bytes
from tests.strategies import AS_VALUES, LINEAR, each_counting, each_pair

CASES = {case.name: case for case in CATALOGUE}
each_variant = each_pair("strategy, granularity")
sin = FUNCTIONS["sin"]


@pytest.fixture(autouse=True)
def failures_off():
    yield
    fail_after(None)


def state(tape):
    """What a failed statement must leave as it was."""
    manager = tape._identifiers
    stored = [[field.tobytes() for field in stream] for stream in fields(tape)]
    return stored, manager.largest - manager.stored_free, manager.live


def fail_streams(tape, n):
    clear_pool()
    fail_after(n)


def fail_identifiers(tape, n):
    tape._identifiers._fail_after(n)


@each_variant
@pytest.mark.parametrize("name", ["heat_in_place", "handmade_of_600", "early_deaths", "sum_of_100"])
def test_each_allocation_of_a_recording(name, strategy, granularity):
    case = CASES[name]
    point = case.points[0]
    whole = record(codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=8), case.f, point)
    gradients = whole.jacobian()
    failures = [fail_streams, fail_identifiers] if strategy.endswith("-reuse") else [fail_streams]
    for fail in failures:
        failed = 0
        for n in itertools.count(0, 3):
            tape = codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=8)
            fail(tape, n)
            try:
                recording = record(tape, case.f, point)
            except MemoryError:
                failed += 1
                fail(tape, None)
                assert not tape.is_active
                tape._check()
                tape.reset()
                recording = record(tape, case.f, point)
                assert stored_bytes(tape) == stored_bytes(whole.tape)
                assert recording.jacobian() == gradients
                continue
            fail(tape, None)
            break
        assert failed > 0
        assert stored_bytes(recording.tape) == stored_bytes(whole.tape)


@each_variant
def test_each_statement_fails_and_is_repeated(strategy, granularity):
    """A step of one statement leaves the tape as it was; one of several leaves those before the failure, whole."""

    def steps(v):
        for i in range(12):
            yield True, lambda i=i: v.update({f"x{i}": v["tape"].register_input(0.5 + i)})
        for i in range(1, 11):
            yield False, lambda i=i: v.update({f"p{i}": v[f"x{i}"] * v[f"x{i - 1}"] + 2.0})
            yield False, lambda i=i: v.update({f"q{i}": sin(v[f"p{i}"]) * v[f"p{i}"] + v[f"x{i}"] * 3.0})
        yield False, lambda: v.update(p=v["tape"].register_output(v["p3"]))
        for width in (20, 300, 600):
            arguments = [v["p"], v["x2"]] * width
            yield True, lambda a=arguments: v.update(w=v["tape"].push_statement(1.0, a, [0.5] * len(a)))
        for i in range(1, 11):
            yield False, lambda i=i: v.update({f"y{i}": v["tape"].register_output(v[f"q{i}"] * v["w"])})
            yield True, lambda i=i: v.update({f"z{i}": v["tape"].register_output(v[f"y{i}"])})
        yield False, lambda: v.update(y=v["tape"].register_output(v["y1"] * v["y2"] * v["p4"]))

    def gradients(v):
        v["y"].gradient = 1.0
        v["tape"].evaluate()
        v["tape"]._check()
        return [v[f"x{i}"].gradient for i in range(12)]

    undisturbed = {"tape": codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)}
    with undisturbed["tape"]:
        for _, step in steps(undisturbed):
            step()
    v = {"tape": codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)}
    failed = 0
    with v["tape"]:
        for single, step in steps(v):
            failed += repeat_until_it_works(v["tape"], step, single)
    assert failed > 30
    assert gradients(v) == gradients(undisturbed)


def repeat_until_it_works(tape, step, single):
    """Run a step with its n-th allocation failing, for n = 0, 1, ... until nothing is left to fail."""
    for n in itertools.count():
        before = state(tape)
        clear_pool()
        fail_after(n)
        try:
            step()
        except MemoryError:
            fail_after(None)
            after = state(tape)
            assert after == before or not single
            assert all(
                new.startswith(old)
                for streams in zip(after[0], before[0], strict=True)
                for new, old in zip(*streams, strict=True)
            )
            tape._check()
            continue
        fail_after(None)
        return n


@each_variant
def test_positions_sweeps_and_resets(strategy, granularity):
    tape = codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)
    case = CASES["lotka_volterra"]  # not linear: wrong primal values would show in the gradient
    recording = record(tape, case.f, case.points[0], positions=True)
    gradients = recording.jacobian()
    early, late = recording.positions[0], recording.positions[-1]
    before = state(tape)
    doors = [tape.position, tape.evaluate, tape.evaluate_forward, lambda: tape.evaluate(late, early)]
    if strategy in AS_VALUES:
        doors.append(tape.evaluate_primal)
    doors.append(lambda: tape.reset(early))
    for door in doors:
        for n in itertools.count():
            fail_streams(tape, n)
            try:
                door()
            except MemoryError:
                fail_after(None)
                assert state(tape) == before, door
                tape._check()
                assert recording.jacobian() == gradients
                continue
            fail_after(None)
            break
    tape.reset()
    assert record(tape, case.f, case.points[0]).jacobian() == gradients


@pytest.mark.parametrize("strategy", [s for s in LINEAR if s != "primal"])
def test_two_billion_identifiers_simulated(strategy):
    """Not of `primal`, which has a number for each of them: 16 GiB."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        held = x * x
        tape._identifiers._set_largest(2**31 - 2)
        before = [stream.items for stream in tape.store.streams]
        sin(x) if strategy != "simple" else None
        statements = tape.statements
        for _ in range(3):
            with pytest.raises(IdentifierOverflow, match="32 bits"):
                for _ in range(3):
                    tape.register_output(held * 3.0)
                    held = x * held
        assert tape.statements - statements <= 2
        assert [stream.items for stream in tape.store.streams] >= before
    tape.reset()
    still_works(tape)


@each_counting
def test_two_billion_reused_identifiers_simulated(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(2.0)
        tape._identifiers._set_next(2**31 - 1)
        with pytest.raises(IdentifierOverflow, match="32 bits"):
            tape.register_input(1.0)
        del x
    tape._identifiers.reset_hard()
    tape.reset()
    still_works(tape)
