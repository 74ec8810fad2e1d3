# SPDX-License-Identifier: Apache-2.0
"""What arrays add to a tape's statistics: their statements, and each array that those keep once."""

import numpy as np

import codipy
from tests.strategies import each_strategy


def titles(tape):
    return [section.title for section in tape.statistics().sections]


@each_strategy
def test_no_array_no_section(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        tape.register_output(tape.register_input(2.0) * 3.0)
    assert not any(title.startswith("array") for title in titles(tape))
    with tape:
        tape.register_input(np.ones(3))
    assert titles(tape)[-2:] == ["array statements", "array values"]
    tape.reset()
    assert not any(title.startswith("array") for title in titles(tape))


@each_strategy
def test_records_are_statements(strategy):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x, s = tape.register_input(np.ones(3)), tape.register_input(2.0)
        before = tape.statements
        tape.register_output(np.exp(x))
        assert tape.statements == before + 1
        tape.push_statement(2.0, [s], [1.0])
        assert tape.statements == before + 2
    assert f"statements={before + 2} " in repr(tape)
    stats = tape.statistics()
    assert stats["array statements"].counts["number of statements"] == len(tape.records)


def keeping(f, *arrays, strategy="primal"):
    """Arrays, and bytes of them, that the tape of f keeps."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = [tape.register_input(np.array(a)) for a in arrays]
        result = f(*x)
        tape.register_output(result)
    section = tape.statistics()["array values"]
    return section.counts["number of arrays"], section.memory.used


big = np.linspace(0.5, 1.5, 1000)


def test_each_array_once():
    assert keeping(lambda x: x * x, big) == (1, 8000)
    assert keeping(lambda x, y: (x * y) * (y + x * x), big, big) == (2, 16000)
    assert keeping(lambda x: x[1:] * x[:-1], big) == (1, 8000)
    assert keeping(lambda x: x * 2.0 + x, big)[1] <= 8000


def test_a_jacobian_tape_keeps_jacobians():
    count, used = keeping(lambda x, y: np.sin(x) * y, big, big, strategy="jacobian")
    assert (count, used) == (2, 16000)


def test_primitives_keep_their_arguments():
    a = np.eye(20) + 0.1
    assert keeping(lambda x: np.linalg.inv(x), a)[1] >= a.nbytes
    assert keeping(lambda x: x @ a, a)[1] >= a.nbytes


@each_strategy
def test_memory_is_given_back(strategy):
    tape = codipy.Tape(strategy=strategy)
    empty = tape.statistics()
    with tape:
        x = tape.register_input(big)
        before = tape.statistics()
        tape.register_output(np.sin(x) * np.cos(x))
    after = tape.statistics()
    assert (after - before)["array statements"].counts["number of statements"] >= 1
    assert (after - empty)["array values"].memory.used >= big.nbytes
    assert after.total.allocated >= after.total.used
    assert (after - empty)["array values"] == after["array values"]
    assert (empty - after)["array values"].memory.used == -after["array values"].memory.used
    tape.reset_hard()
    assert tape.statistics().total.used == 0


def test_the_bytes_of_the_summary():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(big)
        tape.register_output(np.sin(x) * x)
    stats = tape.statistics()
    recorded = sum(section.memory.used for section in stats.sections
                   if section.title not in ("adjoint vector", "identifiers", "primal values"))  # fmt: skip
    assert f"bytes={recorded} " in repr(tape)
    assert "Array values" in str(stats)
    assert "array values used" in stats.csv_header()
    assert stats.csv_header().count(",") == stats.to_csv_row().count(",")
