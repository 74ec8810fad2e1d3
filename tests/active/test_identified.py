# SPDX-License-Identifier: Apache-2.0
"""Adjoints by identifier are those by variable, and an identifier that says nothing in this recording is refused."""

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError
from tests.strategies import each_pair, each_strategy, new_tape

X = np.array([[0.5, 1.5, -2.0], [3.0, 0.25, 1.0]])


def record(tape):
    with tape:
        x, s = tape.register_input(X), tape.register_input(2.0)
        y = tape.register_output(np.sin(x) * s)
        t = tape.register_output(s * s * x[0, 1])
    return x, s, y, t


def seeds(width):
    random = np.random.default_rng(width)
    columns = (width,) if width > 1 else ()
    return random.uniform(-1.0, 1.0, X.shape + columns), random.uniform(-1.0, 1.0, columns)


@each_pair()
@pytest.mark.parametrize("width", [1, 3])
def test_seeds_and_gradients_by_identifier(variant, width):
    tape = new_tape(variant)
    x, s, y, t = record(tape)
    of_y, of_t = seeds(width)
    expected = tape.new_adjoints(width)
    expected[y], expected[t] = of_y, of_t
    tape.evaluate(adjoints=expected)
    inputs, outputs = (x.identifier, s.identifier), (y.identifier, t.identifier)
    assert inputs[0].shape == X.shape and inputs[0].dtype == np.int32 and type(inputs[1]) is int
    found = tape.new_adjoints(width)
    found.at(outputs[0]).gradient = of_y
    found.at(outputs[1]).gradient = of_t
    assert found.at(outputs[0]).gradient.tolist() == of_y.tolist()
    tape.evaluate(adjoints=found)
    assert found.at(inputs[0]).gradient.tolist() == expected[x].tolist()
    assert np.array(found.at(inputs[1]).gradient).tolist() == np.array(expected[s]).tolist()
    assert (type(found.at(inputs[1]).gradient) is float) == (width == 1)
    # Closed forms, in each direction.
    tail = (None,) if width > 1 else ()
    by_x = np.cos(X)[(..., *tail)] * 2.0 * of_y
    by_x[0, 1] += 4.0 * of_t
    np.testing.assert_allclose(found.at(inputs[0]).gradient, by_x, rtol=1e-14)
    by_s = np.sum(np.sin(X)[(..., *tail)] * of_y, axis=(0, 1)) + 2.0 * 2.0 * X[0, 1] * of_t
    np.testing.assert_allclose(found.at(inputs[1]).gradient, by_s, rtol=1e-14)


@each_strategy
def test_forward_sweeps(strategy):
    tape = codipy.Tape(strategy)
    x, s, y, t = record(tape)
    tangents = tape.new_adjoints()
    tangents.at(x.identifier).gradient = 1.0
    tangents.at([s.identifier]).gradient = [0.5]
    tape.evaluate_forward(adjoints=tangents)
    np.testing.assert_allclose(tangents.at(y.identifier).gradient, 2.0 * np.cos(X) + 0.5 * np.sin(X), rtol=1e-14)
    assert tangents.at(t.identifier).gradient == pytest.approx(4.0 + 2.0 * 2.0 * 0.5 * X[0, 1], rel=1e-14)


@each_pair()
def test_a_told_identifier_serves_nobody_else(variant):
    """Its variable dies, others are recorded, and what the program outside knows is still that variable."""
    tape = new_tape(variant)
    with tape:
        x, a = tape.register_input(np.ones(8)), tape.register_input(3.0)
        between, number = x * 2.0, a * 5.0
        tape.register_output(between)
        known = between.identifier, number.identifier
        result, product = tape.register_output(between * between), tape.register_output(number * number)
        of_result = result.identifier, product.identifier
        del between, number, result, product
        for _ in range(5):      # would take the slots
            u, v = x * 7.0, a * 7.0
            y, z = tape.register_output(u * x), tape.register_output(v * a)
            del u, v
    adjoints = tape.new_adjoints()
    adjoints.at(of_result[0]).gradient = 1.0
    adjoints.at(of_result[1]).gradient = 1.0
    adjoints.at(known[0]).add(10.0)
    adjoints.at(known[1]).add(100.0)
    assert adjoints[y].tolist() == [0.0] * 8 and adjoints[z] == 0.0
    tape.evaluate(adjoints=adjoints)
    assert adjoints[x].tolist() == [(2.0 * 2.0 + 10.0) * 2.0] * 8
    assert adjoints[a] == (2.0 * 15.0 + 100.0) * 5.0


@each_strategy
def test_views_and_elements_have_the_identifiers_of_what_they_show(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(X)
        assert x.T.identifier.tolist() == x.identifier.T.tolist()
        assert x[1, ::-2].identifier.tolist() == x.identifier[1, ::-2].tolist()
        y = tape.register_output(x[:, 1] * 3.0)
        with pytest.raises(TapeError, match="more than once"):
            _ = np.broadcast_to(x, (2, 2, 3)).identifier
    adjoints = tape.new_adjoints()
    adjoints.at(y.identifier).gradient = [1.0, 2.0]
    tape.evaluate(adjoints=adjoints)
    assert adjoints.at(x.identifier[:, 1]).gradient.tolist() == [3.0, 6.0]
    assert adjoints.at(x.identifier[:0]).gradient.shape == (0, 3)


@each_strategy
@pytest.mark.parametrize("seeded", ["x", "computed", "written", "y"])
def test_seeds_by_identifiers_of_elements(strategy, seeded):
    """One element, seeded by its own identifier or by that in the array's, beside another result."""
    def f(x):
        computed = np.sin(x) * x[0, 1]
        written = x * 1.0
        written[0, 1] = computed[0, 1] * x[1, 2]
        written[1] = computed[0]
        return {"x": x, "computed": computed, "written": written, "y": computed * written}

    steps = [f(X + 1e-30j * unit.reshape(X.shape))[seeded][0, 1].imag / 1e-30 for unit in np.eye(X.size)]
    tape = new_tape((strategy, "operation" if strategy == "simple" else "statement"))
    with tape:
        x = tape.register_input(X.copy())
        found = f(x)
        array = found[seeded] if seeded == "x" else tape.register_output(found[seeded])
        one = array[0, 1]
        by_element, by_array = one.identifier, array.identifier[0, 1]
        other = tape.register_output(x[1, 0] * 3.0)
    assert (by_element == by_array) == (strategy != "primal-reuse")
    for identifier in (by_element, by_array):
        adjoints = tape.new_adjoints()
        adjoints.at(identifier).gradient = 1.0
        adjoints.at(other.identifier).add(2.0)
        tape.evaluate(adjoints=adjoints)
        expected = np.reshape(steps, X.shape)
        expected[1, 0] += 6.0
        np.testing.assert_allclose(adjoints.at(x.identifier).gradient, expected, rtol=1e-14)
        np.testing.assert_array_equal(adjoints[x], adjoints.at(x.identifier).gradient)


@each_strategy
def test_the_adjoint_of_an_element_by_its_identifier_is_that_of_the_input_or_refused(strategy):
    tape = new_tape((strategy, "operation" if strategy == "simple" else "statement"))
    with tape:
        x = tape.register_input(X.copy())
        one = x[0, 1]
        identifier = one.identifier
        y = tape.register_output(np.sum(x * one) + x[0, 1] ** 2)
    adjoints = tape.new_adjoints()
    adjoints[y] = 1.0
    tape.evaluate(adjoints=adjoints)
    assert adjoints[x][0, 1] == np.sum(X) + X[0, 1] + 2.0 * X[0, 1]
    if strategy == "primal-reuse":
        with pytest.raises(TapeError, match="consumed"):
            adjoints.at(identifier).gradient
    else:
        assert adjoints.at(identifier).gradient == adjoints[x][0, 1]


@each_strategy
def test_the_passive_identifier_reads_as_zero_and_takes_no_seed(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(1.0)
        assert codipy.Real(3.0).identifier == 0
        assert codipy.Array(X).identifier.tolist() == np.zeros(X.shape, int).tolist()
    adjoints = tape.new_adjoints(2)
    adjoints.at([0, x.identifier]).gradient = [[1.0, 2.0], [3.0, 4.0]]
    assert adjoints.at([0, x.identifier]).gradient.tolist() == [[0.0, 0.0], [3.0, 4.0]]
    assert adjoints.at(0).gradient.tolist() == [0.0, 0.0]


@each_strategy
def test_identifiers_of_another_recording_are_refused(strategy):
    tape, other = codipy.Tape(strategy), codipy.Tape(strategy)
    x, _, y, _ = record(tape)
    adjoints = tape.new_adjoints()
    bound = adjoints.at(y.identifier)
    known = x.identifier
    with pytest.raises(TapeError, match="no identifier that a variable of this recording"):
        other.new_adjoints().at(known)
    record(other)
    with pytest.raises(TapeError, match="no identifier that a variable of this recording"):
        other.new_adjoints().at(known)      # there are such variables, and nobody asked them
    tape.reset()
    for use in (lambda: adjoints.at(known), lambda: bound.gradient, lambda: setattr(bound, "gradient", 1.0),
                lambda: bound.add(1.0), lambda: x.identifier):
        with pytest.raises(TapeError, match="reset"):
            use()
    x, _, y, _ = record(tape)
    assert y.identifier.tolist() == bound.identifiers.tolist()      # the same numbers, now of other variables
    with pytest.raises(TapeError, match="reset"):
        _ = bound.gradient
    assert adjoints.at(y.identifier).gradient.tolist() == np.zeros(X.shape).tolist()


@each_strategy
def test_a_partial_reset_drops_what_is_behind_it(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        x = tape.register_input(X)
        before = tape.register_output(x * 2.0)
        known = x.identifier, before.identifier
        place = tape.position()
        behind = tape.register_output(before * before)
        lost = behind.identifier
    tape.reset(place)
    adjoints = tape.new_adjoints()
    with pytest.raises(TapeError, match="reset"):
        adjoints.at(lost)
    adjoints.at(known[1]).gradient = 1.0
    tape.evaluate(adjoints=adjoints)
    assert adjoints.at(known[0]).gradient.tolist() == np.full(X.shape, 2.0).tolist()


@each_strategy
def test_what_a_sweep_consumed_is_refused(strategy):
    tape = codipy.Tape(strategy)
    x, _, y, t = record(tape)
    adjoints = tape.new_adjoints()
    known = y.identifier
    adjoints.at(known).gradient = 1.0
    tape.evaluate(adjoints=adjoints)
    for at in (adjoints.at(known), adjoints.at(t.identifier), adjoints.at([x.identifier[0, 0], t.identifier])):
        with pytest.raises(TapeError, match="consumed"):
            _ = at.gradient
        with pytest.raises(TapeError, match="consumed"):
            at.add(1.0)
    adjoints.at(known).gradient = 5.0
    assert adjoints.at(known).gradient.tolist() == adjoints[y].tolist() == np.full(X.shape, 5.0).tolist()
    adjoints.clear()
    assert adjoints.at(known).gradient.tolist() == np.zeros(X.shape).tolist()


@each_strategy
def test_one_identifier_more_than_once(strategy):
    tape = codipy.Tape(strategy)
    x, _, y, _ = record(tape)
    adjoints = tape.new_adjoints(2)
    twice = y.identifier[[0, 1, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match="more than once"):
        adjoints.at(twice).gradient = 1.0
    for _ in range(2):
        adjoints.at(twice).add([[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]])
    assert adjoints.at(twice).gradient.tolist() == [[202.0, 404.0], [20.0, 40.0], [202.0, 404.0]]


@each_strategy
def test_expressions_that_wait(strategy):
    tape = codipy.Tape(strategy)
    with tape:
        a, x = tape.register_input(3.0), tape.register_input(X)
        alone = a * a * 2.0
        assert alone.identifier > 0             # becomes a statement
        b = a + 1.0
        product = b * b
        c = product * 2.0
        waiting = x * 2.0 + 1.0
        if strategy != "simple":                # there nothing waits
            with pytest.raises(TapeError, match="no identifier"):
                _ = waiting.identifier
        tape.register_output(c)
    adjoints = tape.new_adjoints()
    adjoints.at(alone.identifier).gradient = 1.0
    tape.evaluate(adjoints=adjoints)
    assert adjoints.at(a.identifier).gradient == 12.0


@pytest.mark.parametrize("wrong", [2**70, [2**70, 1], -(2**70), 2**63, [1, 2**63], [-1, 2**63], 2**31])
def test_numbers_beyond_all_identifiers_are_refused_as_such(wrong):
    tape = codipy.Tape()
    record(tape)
    largest = max(wrong, key=abs) if isinstance(wrong, list) else wrong
    with pytest.raises(TapeError, match=f"^{largest} is no identifier that a variable of this recording was asked for"):
        tape.new_adjoints().at(wrong)


def test_what_is_no_identifier():
    tape = codipy.Tape()
    record(tape)
    adjoints = tape.new_adjoints()
    for wrong in (1.5, [1.0], "a", None, np.array([True])):
        with pytest.raises(TypeError, match="identifiers must be integers"):
            adjoints.at(wrong)
    for wrong in (-1, 10**6, 2**40, [0, -3]):
        with pytest.raises(TapeError, match="no identifier"):
            adjoints.at(wrong)
    assert "0 identifiers of" in repr(adjoints.at([]))


def test_a_solver_outside_that_seeds_by_identifier():
    """Two recordings around a solver: its adjoint is a solve with the transposed matrix."""
    matrix = np.array([[3.0, 1.0], [-1.0, 2.0]])
    whole = codipy.grad(lambda p: np.sum(np.linalg.solve(matrix, np.sin(p)) ** 3))(np.array([0.4, 1.1]))
    first, second = codipy.Tape(), codipy.Tape("primal-reuse")
    with first:
        p = first.register_input(np.array([0.4, 1.1]))
        right = first.register_output(np.sin(p))
    given, wanted = p.identifier, right.identifier
    with second:
        u = second.register_input(np.linalg.solve(matrix, right.value))
        loss = second.register_output(np.sum(u**3))
    into, out = u.identifier, loss.identifier
    adjoints = second.new_adjoints()
    adjoints.at(out).gradient = 1.0
    second.evaluate(adjoints=adjoints)
    back = np.linalg.solve(matrix.T, adjoints.at(into).gradient)
    adjoints = first.new_adjoints()
    adjoints.at(wanted).gradient = back
    first.evaluate(adjoints=adjoints)
    np.testing.assert_allclose(adjoints.at(given).gradient, whole, rtol=1e-14)
