# SPDX-License-Identifier: Apache-2.0
"""Factors of matrix products that move with one row or column: one statement for it, and NumPy's derivatives."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_pair, new_tape

random = np.random.default_rng(11)
DATA = random.standard_normal((90, 6))
STEP = 1e-40j


def weigh(y):
    """One number of an array, with other weights for all elements."""
    return np.sum(np.sin(np.arange(1.0, 1.0 + y.size)).reshape(y.shape) * y * y)


def rows_of_the_first(row, matrix):
    return weigh((DATA - row) @ matrix)


def columns_of_the_second(row, matrix):
    return weigh(matrix.T @ (DATA.T - 2.0 * row[:, None]))


def both_factors(row, matrix):
    return weigh((DATA[:30] - row) @ (DATA.T[:, :50] + 0.5 * matrix[:, :1]))


def stacks(row, matrix):
    return weigh(np.stack([matrix.T, 2.0 * matrix.T]) @ (DATA.T - np.stack([row, row * row])[:, :, None]))


def one_matrix_for_a_stack(row, matrix):
    return weigh((DATA.reshape(3, 30, 6) - row) @ matrix)


def few_products(row, matrix):
    return weigh((DATA[:44] - row) @ matrix[:, :2])


def with_gaps(row, matrix):
    wide = np.concatenate([matrix, matrix * matrix])
    return weigh((DATA[:, :6] - row) @ wide[::2, ::2])


def a_number(row, matrix):
    return weigh((DATA * 3.0 - row[0]) @ matrix)


def memory_that_serves_again(row, matrix):
    y = np.sin(row) * 2.0
    for _ in range(3):
        z = (DATA - y) @ matrix
        y = np.sin(np.sum(z, axis=0))[:1] * row + y
    return weigh(y)


def slopes_that_differ(row, matrix):
    return (
        weigh((DATA * row) @ matrix) + weigh((DATA - DATA[:, :1] * row) @ matrix) + weigh(np.exp(DATA - row) @ matrix)
    )


def a_variable(row, matrix):
    moved = DATA - row
    return weigh(moved @ matrix) + weigh(np.sin(moved))


FUNCTIONS = [
    rows_of_the_first,
    columns_of_the_second,
    both_factors,
    stacks,
    one_matrix_for_a_stack,
    few_products,
    with_gaps,
    a_number,
    memory_that_serves_again,
    slopes_that_differ,
    a_variable,
]
FEWER = [rows_of_the_first, columns_of_the_second, both_factors, stacks, few_products, with_gaps, a_number]


def points():
    return random.standard_normal(6), random.standard_normal((6, 7))


@each_pair()
@pytest.mark.parametrize("f", FUNCTIONS)
def test_slopes_are_those_of_a_complex_step(f, variant):
    row, matrix = points()
    tape = new_tape(variant)
    with tape:
        x, y = tape.register_input(row), tape.register_input(matrix)
        z = tape.register_output(f(x, y))
    assert np.array_equal(z.value, f(row, matrix))
    drow, dmatrix = random.standard_normal(6), random.standard_normal((6, 7))
    expected = np.imag(f(row + STEP * drow, matrix + STEP * dmatrix)) / 1e-40
    z.gradient = 1.0
    tape.evaluate()
    assert np.sum(x.gradient * drow) + np.sum(y.gradient * dmatrix) == pytest.approx(expected, rel=1e-10)
    tape.clear_adjoints()
    x.gradient, y.gradient = drow, dmatrix
    tape.evaluate_forward()
    assert z.gradient == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("f", FEWER)
def test_several_directions_are_those_of_one_after_the_other(f):
    row, matrix = points()
    three = np.arange(1.0, 4.0)
    found = codipy.jacobian(lambda r: np.stack([f(r * k, matrix) for k in three]))(row)
    assert found == pytest.approx(
        np.stack([codipy.grad(lambda r, k=k: f(r * k, matrix))(row) for k in three]), rel=1e-10
    )


@pytest.mark.parametrize("f", [rows_of_the_first, columns_of_the_second])
def test_what_waits_for_a_product_alone_has_one_statement_for_a_row(f):
    row, matrix = points()
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(row)
        z = tape.register_output(f(x, matrix))
    assert tape.identifiers < row.size + DATA.size + DATA.shape[0] * matrix.shape[1], (
        "the factor has identifiers of its own"
    )
    assert np.isfinite(z.value)


def test_infinite_slopes_are_left_to_all_elements():
    def scaled(row):
        return np.sum((np.zeros((90, 6)) - np.inf * row) @ np.array([[1.0, -1.0]] * 6))

    row = np.ones(6)
    with np.errstate(invalid="ignore"):
        found = codipy.grad(scaled)(row)
        assert np.array_equal(found, codipy.grad(scaled, strategy="primal")(row), equal_nan=True)
