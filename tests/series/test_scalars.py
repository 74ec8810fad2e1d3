# SPDX-License-Identifier: Apache-2.0
"""Scalar statements that are run in C give what the same expression gives as objects."""

import math

import mpmath
import numpy as np
import pytest

import codipy
from codipy.operations import BY_NAME, TABLE
from codipy.series.program import _evaluated
from codipy.series.scalars import Usual, is_usual

USUAL = [row for row in TABLE if is_usual([(row.code, False, range(row.arity))])]
RANDOM = np.random.default_rng(3)


def series(n, low=0.5, high=1.5):
    return np.concatenate([RANDOM.uniform(low, high, 1), RANDOM.uniform(-1.0, 1.0, n - 1)])


@pytest.mark.parametrize("row", USUAL, ids=lambda row: row.name)
@pytest.mark.parametrize("order", [0, 1, 2, 7])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_each_row_as_objects_give_it(row, order, layout):
    c = np.zeros((order + 1, 4), order=layout)
    c[:, 1], c[:, 2], c[:, 3] = series(order + 1), series(order + 1), 7.0
    for active in ([True] * row.arity, [True, False][:row.arity]):
        leaves = [c[:, 1].copy(), c[:, 2].copy() if all(active) else np.float64(0.7)][:row.arity]
        expected = _evaluated(leaves, active, [(row.code, False, tuple(range(row.arity)))], order)
        usual = Usual(active, [(row.code, False, tuple(range(row.arity)))])
        known = usual.run(c, 3, [1, 2], [0.7])
        if row.name == "power" and all(active) and order:      # a series as exponent: not known, and nothing is set
            assert not known and c[:, 3].tolist() == [7.0] * (order + 1)
        else:
            assert known
            np.testing.assert_allclose(c[:, 3], expected, rtol=1e-13, atol=1e-15)
        c[:, 3] = 7.0


def test_the_rows_are_those_that_it_says():
    assert {row.name for row in USUAL} == {"add", "subtract", "multiply", "divide", "negative", "positive", "identity",
                                           "square", "exp", "log", "sqrt", "sin", "cos", "tanh", "power"}
    assert not is_usual([]) and not is_usual([(BY_NAME["exp"].code, True, (0,))])
    assert not is_usual([(BY_NAME["exp"].code, False, (0,)), (BY_NAME["atan"].code, False, (1,))])


def test_what_is_not_known_is_left_to_the_table():
    """Powers of zero, and slopes that are infinite where nothing moves."""
    assert codipy.taylor(lambda x: x**3.0 + (x + 1.0) ** 2.5 * 0.0, 0.0, 1.0, 4)[3] == 1.0
    found = codipy.taylor(lambda x: np.sqrt(x[0]) * x[1], [0.0, 3.0], [0.0, 1.0], 2)
    assert found == [0.0, 0.0, 0.0]
    assert codipy.taylor(lambda x: x ** (x * 1.0), 1.0, 1.0, 3) == pytest.approx([1.0, 1.0, 1.0, 0.5], rel=1e-13)


def test_a_long_expression_against_mpmath():
    def f(x, library):
        y = library.exp(-x * x) * library.sin(3.0 * x) + library.sqrt(x + 1.0) / (2.0 + library.cos(x))
        return y * y - library.log(x + 3.0) * (x + 0.5) ** 1.5 + library.tanh(x - 2.0)

    found = codipy.taylor(lambda x: f(x, codipy.math), 0.3, 1.0, 12)
    assert found[0] == f(0.3, math)
    with mpmath.workdps(40):
        expected = [float(c) for c in mpmath.taylor(lambda x: f(x, mpmath), mpmath.mpf(0.3), 12)]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_kinks_are_where_the_run_met_them():
    """A difference that is zero in the run stays zero, whichever library computes the exponential once more."""
    for x in np.linspace(0.1, 3.0, 200).tolist():
        for exp in (np.exp, codipy.math.exp):
            there = float(exp(x))

            def f(x, exp=exp, there=there):
                y = exp(x)
                z = y - there
                return abs(z) + 0.0 * (y * z)

            assert codipy.taylor(f, x, 1.0, 1)[1] == codipy.jvp(f, (x,), (1.0,))[1] == 0.0


def test_a_tuple_of_arguments_is_named():
    with pytest.raises(TypeError, match=r"taylor takes x and direction as they are, taylor\(f, x, direction, order"):
        codipy.taylor(lambda x: x**3, (2.0,), (1.0,), 2)


def test_wrong_use():
    add = BY_NAME["add"].code
    with pytest.raises(ValueError, match="register 5"):
        Usual([True], [(add, False, (0, 5))])
    usual = Usual([True, True], [(add, False, (0, 1))])
    with pytest.raises(IndexError, match="identifier 9"):
        usual.run(np.zeros((2, 3)), 1, [1, 9], [])
    with pytest.raises(IndexError, match="identifier 3"):
        usual.run(np.zeros((2, 3)), 3, [1, 1], [])
    with pytest.raises(TypeError, match="float64"):
        usual.run(np.zeros((2, 3), np.float32), 1, [1, 1], [])
