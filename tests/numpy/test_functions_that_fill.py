# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of functions: what these return is taken as it is then, also where they fill one array."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

X = np.array([0.7, 1.3, -0.4, 2.1, 0.9, 1.7])
WEIGHTS = np.arange(1.0, 13.0)


def rows(x):
    work = np.zeros(2)

    def f(row):
        work[0], work[1] = row[0] * row[2], 2.0 * row[1]
        return work

    return np.sum(np.apply_along_axis(f, 0, np.outer(x, x)) * WEIGHTS.reshape(2, 6))


def rows_to_numbers(x):
    work = np.array(0.0)

    def f(row):
        work[...] = row[0] * row[1]
        return work

    return np.sum(np.apply_along_axis(f, 1, np.outer(x, x)) * WEIGHTS[:6])


def rows_to_lists(x):
    work = [0.0, 0.0]

    def f(row):
        work[0], work[1] = row[0] * row[2], 2.0 * row[1]
        return work

    return np.sum(np.apply_along_axis(f, 0, np.outer(x, x)) * WEIGHTS.reshape(2, 6))


def rows_of_constants(x):
    work = np.zeros(2)

    def f(row):
        work[0], work[1] = row[0] * x[0], x[1]
        return work

    return np.sum(np.apply_along_axis(f, 0, np.arange(12.0).reshape(2, 6)) * WEIGHTS.reshape(2, 6))


def rows_of_complex_numbers(x):
    work = np.zeros(2, complex)

    def f(row):
        work[0], work[1] = row[0] * row[2], 2.0 * row[1]
        return work

    found = np.apply_along_axis(f, 0, np.outer(x, x) * (1.0 + 0.5j))
    return np.sum((found * WEIGHTS.reshape(2, 6)).imag)


def pieces(x):
    work = np.zeros(6)

    def f(t):
        return np.multiply(t, 2.0, out=work[:len(t)])

    def g(t):
        work[:len(t)] = t * t
        return work[:len(t)]

    return np.sum(np.piecewise(x, [x > 1.0, x <= 1.0], [f, g]) * WEIGHTS[:6])


def pieces_of_constants(x):
    work, t = np.zeros(6), np.arange(6.0)

    def f(t):
        work[:len(t)] = t * x[0]
        return work[:len(t)]

    def g(t):
        work[:len(t)] = t * x[1]
        return work[:len(t)]

    return np.sum(np.piecewise(t, [t > 2.0], [f, g]) * WEIGHTS[:6])


def pairs(x):
    work = np.zeros(2)

    def each():
        for number in x:
            work[0], work[1] = number, number * number
            yield work

    return np.sum(np.fromiter(each(), np.dtype((float, 2)), 6) * WEIGHTS.reshape(6, 2))


def elements(x):
    work = np.array(0.0)

    def f(number):
        work[...] = number * number
        return work

    return np.sum(np.vectorize(f)(x) * WEIGHTS[:6])


def over_axes(x):
    work = np.zeros((1, 6))

    def f(a, axis):
        return np.sum(a, axis=axis, keepdims=True, out=work) if axis == 0 else np.sum(a, axis=axis, keepdims=True)

    return np.sum(np.apply_over_axes(f, np.outer(x, x), [0, 1]) * 2.0)


PROGRAMS = [rows, rows_to_numbers, rows_to_lists, rows_of_constants, rows_of_complex_numbers, pieces,
            pieces_of_constants, pairs, elements, over_axes]  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_arrays_that_are_filled(f, strategy):
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    assert value == f(X)
    steps = 1e-6 * np.eye(6)
    np.testing.assert_allclose(gradient, [(f(X + h) - f(X - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-6)
