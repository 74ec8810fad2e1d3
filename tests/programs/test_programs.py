# SPDX-License-Identifier: Apache-2.0
"""Statement programs: equal expressions share one, limits push, and every row runs inside them."""

import pytest

import codipy
from codipy.active import FUNCTIONS
from codipy.operations import BY_NAME, TABLE
from codipy.programs.program import count, describe
from tests.recording import fields
from tests.twin.operations import ACTIVE, PASSIVE, jacobian, text, value

MOST_LEAVES, MOST_OPERATIONS = 16, 48
sin = FUNCTIONS["sin"]


def programs(tape):
    """The text of every statement's program that is no input."""
    return [describe(handle) for handle in fields(tape)[2][0].tolist() if handle]


def recorded(f, *point, strategy="primal"):
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = [tape.register_input(value) for value in point]
        y = tape.register_output(f(*x))
    tape._check()
    return tape, x, y


def test_leaves_are_numbered_from_left_to_right():
    tape, _, _ = recorded(lambda x, y: 2.0 * x - sin(y + 3.0) * x, 0.5, 0.7)
    assert programs(tape) == ["subtract(multiply(c0, u0), multiply(sin(add(u1, c1)), u2))", "identity(u0)"]
    assert fields(tape)[0][0].tolist() == [2.0, 3.0]
    assert fields(tape)[1][0].tolist() == [1, 2, 1, 3]


def test_equal_expressions_share_a_program():
    def f(x, y):
        return sum([sin(x * k) + y * y for k in (1.0, 2.0, 3.0)])

    recorded(f, 0.5, 0.7)
    before = count()
    handles = [fields(recorded(f, 0.1 * i, 0.2)[0])[2][0].tolist() for i in range(20)]
    assert count() == before
    assert all(row == handles[0] for row in handles)


def test_different_expressions_do_not():
    shapes = [lambda x: x + 1.0, lambda x: 1.0 + x, lambda x: x + x, sin, lambda x: x * 1.0, lambda x: sin(x) + x]
    handles = [fields(recorded(shape, 0.5)[0])[2][0].tolist()[1] for shape in shapes]
    assert len(set(handles)) == len(shapes)


def test_unknown_handles_have_no_text():
    assert [describe(handle) for handle in (0, 1, 2)] == ["input", "u0", "c0"]
    for handle in (-1, count(), 2**31 - 1):
        with pytest.raises(ValueError, match="handle"):
            describe(handle)


@pytest.mark.parametrize("operations", [MOST_OPERATIONS - 1, MOST_OPERATIONS, MOST_OPERATIONS + 1, 3 * MOST_OPERATIONS])
def test_the_longest_program(operations):
    def f(x):
        return chain(x, operations)

    def chain(x, n):
        return x if n == 0 else -chain(x, n - 1)

    tape, (x,), y = recorded(f, 0.5)
    assert [program.count("(") for program in programs(tape)[:-1]] == [
        min(MOST_OPERATIONS, operations - done) for done in range(0, operations, MOST_OPERATIONS)
    ]
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == (-1.0) ** operations


@pytest.mark.parametrize("leaves", [2, MOST_LEAVES - 1, MOST_LEAVES, MOST_LEAVES + 1, 3 * MOST_LEAVES])
def test_the_widest_program(leaves):
    def total(x):
        return x[0] if len(x) == 1 else total(x[:-1]) - x[-1]

    tape, x, y = recorded(lambda *x: total(x), *[0.5 + i for i in range(leaves)])
    widths = [program.count("u") - program.count("subtract") for program in programs(tape)[:-1]]
    assert max(widths) <= MOST_LEAVES
    assert sum(widths) == leaves + len(widths) - 1  # each but the first carries on the last one's result
    assert len(widths) == 1 + (leaves - 2) // (MOST_LEAVES - 1)
    y.gradient = 1.0
    tape.evaluate()
    assert [v.gradient for v in x] == [1.0] + [-1.0] * (leaves - 1)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_row_in_a_program(row):
    """Alone, between other operations, and with every pattern of passive operands: value, text and Jacobian."""
    function = FUNCTIONS[row.name]
    point = [0.75 * low + 0.25 * high if low > 0 else 0.7 * high for low, high in row.domain[: row.arity]]
    point = [2.0 if k in row.constant else number for k, number in enumerate(point)]
    for pattern in range(1, 2**row.arity):
        active = [bool(pattern >> k & 1) and k not in row.constant for k in range(row.arity)]
        if not any(active):
            continue
        expression = ("multiply", (row.name, *[ACTIVE if on else PASSIVE for on in active]), PASSIVE)
        for wrapped, tree in ((True, expression), (False, expression[1])):
            tape = codipy.Tape(strategy="primal")
            with tape:
                x = [tape.register_input(number) if on else number for number, on in zip(point, active, strict=True)]
                y = tape.register_output(function(*x) * 3.0 if wrapped else function(*x))
            tape._check()
            assert y.value == value(row.name, point) * (3.0 if wrapped else 1.0)
            assert programs(tape)[0] == text(tree)
            y.gradient = 1.0
            tape.evaluate()
            slopes = jacobian(tree, [*point, 3.0])[: row.arity]
            found = [v.gradient if on else 0.0 for v, on in zip(x, active, strict=True)]
            assert found == pytest.approx([s if on else 0.0 for s, on in zip(slopes, active, strict=True)], rel=1e-13)
            tape.evaluate_primal()
            assert tape.get_primal(y) == pytest.approx(y.value, rel=1e-15)


def test_the_table_is_what_programs_name():
    assert {row.name for row in TABLE} == set(BY_NAME)
