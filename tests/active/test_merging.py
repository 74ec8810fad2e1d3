# SPDX-License-Identifier: Apache-2.0
"""Which operations become one statement, and which do not: what is merged, kept, or recorded once."""
import gc
import sys

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

X = np.linspace(0.1, 1.0, 8)


def statements(function, *arguments, strategy="auto"):
    """The statements that a function records, as texts, inputs left out."""
    tape = codipy.Tape(strategy=strategy)
    with tape:
        result = function(*[tape.register_input(argument) for argument in arguments])
        np.sum(result)
    return [str(record).split(" shape=")[0] for record in tape.records.items if str(record).startswith("<statement")]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the interpreter lends references: nobody can tell temporaries")
def test_what_only_a_ufunc_sees_is_merged():
    assert statements(lambda x: np.log(x * 2.0) + 1.0, X) == ["<statement add(log(multiply(u0, u1)), u2)"]


def test_a_variable_is_computed_once():
    def twice(x):
        y = x * 2.0
        return np.log(y) + y

    assert statements(twice, X) == ["<statement multiply(u0, u1)", "<statement add(log(u0), u0)"]


def test_an_element_of_a_list_is_computed_once():
    def twice(x):
        y = [x * 2.0]
        return np.log(y[0]) + np.exp(y[0])

    assert statements(twice, X)[0] == "<statement multiply(u0, u1)"


@pytest.mark.parametrize("strategy, count", [("auto", 2), ("primal", 2), ("jacobian", 1)])
def test_a_slow_function_of_many_elements_is_kept_where_values_are(strategy, count):
    assert len(statements(lambda x: np.sin(x) * x, np.linspace(0.1, 1.0, 1000), strategy=strategy)) == count
    assert len(statements(lambda x: np.sin(x) * x, X, strategy=strategy)) == 1


@pytest.mark.parametrize("expression, count", [
    (lambda x, y: np.exp(x) * np.log(y) + np.sin(x), 1),
    (lambda x, y: 3.0 - np.sin(x) * 2.0 / 7.0, 1),
    (lambda x, y: np.sin(x) - np.cos(y) * np.arange(1000.0), 1),
    (lambda x, y: (np.sin(x) + 1.0) * y, 2),             # the sum is kept, not the sine
    (lambda x, y: (np.sin(x) + y) * 2.0 + np.exp(y - np.cos(x)), 2),
    (lambda x, y: np.sin(x) / y, 2),
    (lambda x, y: np.sqrt(np.sin(x) * 0.5), 2),          # its slope is of its own value
    (lambda x, y: np.sin(x) * np.cos(y), 3),
    (lambda x, y: np.sin(np.sin(x)), 2),
])
def test_a_slow_function_whose_value_no_slope_reads_is_merged(expression, count):
    x, y = np.random.default_rng(4).uniform(0.5, 1.5, (2, 1000))
    assert len(statements(expression, x, y)) == count
    found = codipy.grad(lambda x, y: np.sum(expression(x, y)), (0, 1))(x, y)
    expected = codipy.grad(lambda x, y: np.sum(expression(x, y)), (0, 1), strategy="jacobian")(x, y)
    for bar, other in zip(found, expected):
        np.testing.assert_allclose(bar, other, rtol=1e-14, atol=1e-15)


def test_an_update_in_place_is_recorded_once():
    def update(x):
        y = x.copy()
        y[1:-1] += 0.5 * y[1:-1] * y[2:]
        return y

    assert [text for text in statements(update, X) if "multiply" in text] == [
        "<statement add(u0, multiply(multiply(u1, u0), u2))"]
    assert len(statements(update, X)) == 3      # two borders


def test_a_view_is_assigned_to_itself():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        y = x * 1.0
        y[1:3] = y[1:3]
        y[1:3] = y[2:4]
        s = tape.register_output(np.sum(y * np.arange(8.0)))
    assert np.array_equal(y.value, np.r_[X[0], X[2], X[3], X[3:]])
    s.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [0.0, 0.0, 1.0, 5.0, 4.0, 5.0, 6.0, 7.0]


def test_records_are_nothing_to_the_collector():
    tape = codipy.Tape()
    with tape:
        y = tape.register_input(X)
        for _ in range(10):
            y = np.sqrt(y * y)
        np.sum(y)
        np.concatenate([y, y])
    assert not any(gc.is_tracked(record) for record in tape.records.items)


EXPRESSIONS = {
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: (x - 0.3) / (y + 2.0) * x,
    "sines": lambda x, y: np.sin(x * y) + np.cos(x) * 3.0,
    "powers": lambda x, y: np.exp(-x * x) ** 1.5 - np.sqrt(y),
    "angles": lambda x, y: np.tanh(x) * np.arctan2(x, y) + np.cbrt(y),
    "passive": lambda x, y: x * np.arange(1.0, 1.0 + x.shape[0]) - 7.0,
    "kept": lambda x, y: np.sin(x * y) * x + np.cos(x) * y,
}

SLOW = {"kept"}


@pytest.mark.parametrize("name", EXPRESSIONS)
@each_strategy
def test_few_elements_and_many_give_the_same_bits(name, strategy):
    """Few elements take a way of their own (codipy/programs/tiles/short.c)."""
    function = EXPRESSIONS[name]
    x, y = np.random.default_rng(3).uniform(0.1, 2.0, (2, 300))
    pull = [
        codipy.value_and_grad(lambda x, y: np.sum(function(x, y)), (0, 1), strategy=strategy)(x[:n], y[:n])[1]
        for n in (300, 256, 200, 10, 1)
    ]
    for n, (dx, dy) in zip((256, 200, 10, 1), pull[1:]):
        if name in SLOW:        # other statements, and another order of adding up
            np.testing.assert_allclose([dx, dy], [pull[0][0][:n], pull[0][1][:n]], rtol=2e-15)
        else:
            assert dx.tobytes() == pull[0][0][:n].tobytes() and dy.tobytes() == pull[0][1][:n].tobytes(), n


@pytest.mark.parametrize("n", [1, 7, 256, 257])
def test_few_elements_with_an_active_number(n):
    x = np.linspace(0.2, 1.0, n)
    f = codipy.value_and_grad(lambda x, a: np.sum(a * x + np.sin(a * x) * a), (0, 1))
    value, (dx, da) = f(x, 0.7)
    assert value == pytest.approx(np.sum(0.7 * x + np.sin(0.7 * x) * 0.7))
    np.testing.assert_allclose(dx, 0.7 + 0.49 * np.cos(0.7 * x), rtol=1e-14)
    assert da == pytest.approx(np.sum(x + np.sin(0.7 * x) + 0.7 * x * np.cos(0.7 * x)), rel=1e-13)


@pytest.mark.parametrize("n", [40, 3000])
def test_slopes_of_sine_and_cosine(n):
    """Partials come from codipy/programs/tiles/slopes.c."""
    generator = np.random.default_rng(4)
    x = np.concatenate([generator.uniform(-10, 10, n), generator.uniform(-1e5, 1e5, n),
                        np.arange(-20, 21) * np.pi / 2])
    for function, slope in ((np.sin, np.cos), (np.cos, lambda x: -np.sin(x))):
        found = codipy.grad(lambda x, function=function: np.sum(function(x)))(x)
        assert np.all(np.abs(found - slope(x)) <= 2 * np.spacing(np.abs(slope(x))))


def test_slopes_far_away_and_where_there_is_no_value():
    x = np.array([1e22, -3e8, np.inf, np.nan, 0.0, -0.0])
    with np.errstate(invalid="ignore"):
        found = codipy.grad(lambda x: np.sum(np.sin(x)))(x)
    np.testing.assert_array_equal(found[[0, 1, 4, 5]], np.cos(x[[0, 1, 4, 5]]))
    assert np.isnan(found[2:4]).all()
