# SPDX-License-Identifier: Apache-2.0
"""Products of which a cotangent is written to where it belongs, or added: both are sums of all that is due there."""

import numpy as np
import pytest

import codipy
import codipy.numpy as active_numpy
from tests.strategies import each_strategy

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(3, 20, 30))
STEP = 1e-40


def stacks(np, x):
    return x @ np.sin(x).transpose(0, 2, 1)


def of_itself(np, x):
    y = x[:, :, :20] * 1.0
    return y @ y


def turned(np, x):
    return (np.exp(x.T) * 1.0).transpose(2, 1, 0) @ np.cos(x.T).transpose(2, 0, 1)


def twice(np, x):
    y = np.sin(x)
    return y @ y.transpose(0, 2, 1) + np.tanh(y) @ y.transpose(0, 2, 1)


def windows(np, x):
    """Of one row, which each matrix shows many times."""
    row = np.sin(x[0].reshape(-1))
    return numpy_windows(row, 30)[:60:2] @ x[1].T


def parts(np, x):
    y = np.sin(x)
    return y[:, ::2, 1:-1] @ y[:, 1::2, 1:-1].transpose(0, 2, 1)


def broadcast(np, x):
    return np.sin(x[0]) @ np.cos(x).transpose(0, 2, 1)


def all_with_all(np, x):
    y = np.sin(x)
    return y[:, None] @ y[None].transpose(0, 1, 3, 2)


def one_with_all(np, x):
    return np.sin(x[:1]) @ np.cos(x).transpose(0, 2, 1) + np.sin(x) @ np.cos(x[2].T)


def columns_and_rows(np, x):
    y = np.sin(x).reshape(3, 600, 1)
    return y @ y.transpose(0, 2, 1)[:, :, :7]


def rows_and_columns(np, x):
    y = np.sin(x).reshape(1, 1, 1800)
    return np.repeat(y, 2, axis=0) @ y.transpose(0, 2, 1)


def small(np, x):
    y = np.sin(x)
    return y[:, ::5, ::6] @ y[:, 10:15, ::10] + y[0, :4, :5] @ y[:, 5:0:-1, 2:5]


def dots(np, x):
    y = np.sin(x)
    return np.dot(y[0], y[1].T) + np.dot(y, y[2].T)[1]


numpy_windows = np.lib.stride_tricks.sliding_window_view


FUNCTIONS = [stacks, of_itself, turned, twice, windows, parts, broadcast, all_with_all, one_with_all, columns_and_rows,
             rows_and_columns, small, dots]  # fmt: skip


@each_strategy
@pytest.mark.parametrize("f", FUNCTIONS)
def test_cotangents_are_those_along_directions(f, strategy):
    direction = RANDOM.normal(size=X.shape)
    flow = np.imag(f(np, X + 1j * STEP * direction)) / STEP
    seed = RANDOM.normal(size=flow.shape)
    tape = codipy.Tape(strategy=strategy, granularity="operation" if strategy == "simple" else "statement")
    with tape:
        x = tape.register_input(X.copy())
        y = tape.register_output(f(active_numpy, x))
    for times in (1, 1, 2):  # what flowed through a product is cleared: a third sweep adds to the second alone
        if times == 1:
            tape.clear_adjoints()
        y.gradient = seed
        tape.evaluate()
        np.testing.assert_allclose(np.sum(x.gradient * direction), times * np.sum(seed * flow), rtol=1e-10)


@pytest.mark.parametrize("extreme", ["max", "min"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_the_first_of_equal_extremes_takes_the_derivative(extreme, axis):
    values = RANDOM.integers(0, 3, size=(4, 5, 6)).astype(float)
    values[1, 2, 3] = np.nan
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(values.copy())
        y = tape.register_output(getattr(active_numpy, extreme)(x, axis=axis))
    seed = np.arange(1.0, 1.0 + y.value.size).reshape(y.value.shape)
    y.gradient = seed
    tape.evaluate()
    expected = np.zeros(values.shape)
    places = np.expand_dims(getattr(np, "arg" + extreme)(values, axis=axis), axis)
    np.put_along_axis(expected, places, np.expand_dims(seed, axis), axis)
    assert np.array_equal(x.gradient, expected)
