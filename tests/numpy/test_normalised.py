# SPDX-License-Identifier: Apache-2.0
"""logsumexp, softmax and log_softmax of active values: SciPy's bits, and derivatives like the complex step's."""

import numpy as np
import pytest
import scipy.special
from scipy.special import log_softmax, logsumexp, softmax

import codipy
from codipy.errors import ActiveError
from codipy.testing import check_derivatives
from tests.strategies import STRATEGIES, each_strategy

A = np.array([[0.3, -1.2, 2.0], [0.9, 0.1, -0.4]])
B = np.array([0.7, 1.4, 0.2])


def _signed(*args, **kwargs):
    size, sign = logsumexp(*args, **kwargs, return_sign=True)
    return size * (sign + 0.5)


CASES = {
    "logsumexp": lambda a: logsumexp(a),
    "of rows": lambda a: scipy.special.logsumexp(a, axis=1),
    "of both axes": lambda a: logsumexp(a, (0, 1), keepdims=True),
    "from behind": lambda a: logsumexp(a, axis=-1, keepdims=True) * a,
    "weighted": lambda a: logsumexp(a, 1, B),
    "active weights": lambda a: logsumexp(a * 0.5, 0, b=a * a),
    "weights alone": lambda a: logsumexp(A, axis=1, b=a * a + 0.1),
    "a difference": lambda a: logsumexp(a[:, :2] - a[1, 0], axis=1, b=[1.0, -0.1]),
    "a list of numbers": lambda a: logsumexp([a[0, 0], a[0, 1] * 2.0, 0.5]),
    "with its sign": lambda a: _signed(a, 1, [1.0, -1.0, 0.5]) * [1.0, 2.0],
    "with its sign, all": lambda a: _signed(a - a[0, 0]),
    "with its sign, by weights": lambda a: _signed(a, (0, 1), a * 1.5, keepdims=True) * _signed(A, 0, a - 0.5),
    "a number": lambda a: logsumexp(a[0, 0]),
    "softmax": lambda a: softmax(a),
    "softmax of rows": lambda a: softmax(a, axis=1) * A,
    "softmax of columns": lambda a: softmax(a, 0) * A,
    "softmax of both axes": lambda a: softmax(a, axis=(0, 1)) * A,
    "log_softmax": lambda a: log_softmax(a) * A,
    "log_softmax of rows": lambda a: log_softmax(a, axis=-1) * A,
    "large numbers": lambda a: logsumexp(a * 1000.0) + softmax(a * 700.0, axis=1) + log_softmax(a * 900.0, axis=0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_right(name):
    def f(a):
        return np.sum(CASES[name](a))

    value, gradient = codipy.value_and_grad(f)(A.copy())
    assert value == f(A)
    differences = np.zeros_like(A)
    for place in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[place] = 1e-6
        differences[place] = (f(A + step) - f(A - step)) / 2e-6
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7 * (1.0 + abs(value)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "large numbers"])
def test_forward_and_reverse(name):
    check_derivatives(lambda a: np.sum(CASES[name](a) * 0.7), A.copy())


@each_strategy
def test_each_strategy(strategy):
    point = A.copy()
    expected = codipy.grad(lambda a: np.sum(softmax(a, 1) * logsumexp(a, 0)), strategy=STRATEGIES[1])(point)
    found = codipy.grad(lambda a: np.sum(softmax(a, 1) * logsumexp(a, 0)), strategy=strategy)(point)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_passive_arguments_are_scipys_business():
    def f(x):
        kept = np.zeros(3)
        kept[:] = [1.0, 2.0, 3.0]
        assert logsumexp(kept) == logsumexp(np.array([1.0, 2.0, 3.0]))
        assert softmax([1.0, 2.0]).tolist() == softmax(np.array([1.0, 2.0])).tolist()
        with pytest.raises(TypeError):
            softmax()
        return x * logsumexp(codipy.value(x))

    assert codipy.grad(f)(2.0) == 2.0


def test_the_sign_follows_a_replay():
    """What is recorded at one point and evaluated at another has the sign of there."""
    weights, here, there = np.array([1.0, -1.0]), np.array([0.5, 0.2]), np.array([0.2, 0.5])
    with codipy.Tape(strategy="primal") as tape:
        x = tape.register_input(codipy.Array(here))
        size, sign = codipy.scipy.special.logsumexp(x, b=weights, return_sign=True)
        y = tape.register_output(size * sign)
    size, sign = logsumexp(here, b=weights, return_sign=True)
    assert sign == 1.0 and y.value == size * sign
    tape.set_primal(x, there)
    tape.evaluate_primal()
    size, sign = logsumexp(there, b=weights, return_sign=True)
    assert sign == -1.0 and tape.get_primal(y) == size * sign
    y.gradient = 1.0
    tape.evaluate()
    shares = weights * np.exp(there) / (weights @ np.exp(there))
    np.testing.assert_allclose(x.gradient, -shares, rtol=1e-14)


def test_the_phase_of_a_complex_sum_is_refused():
    with pytest.raises(ActiveError, match="return_sign"):
        codipy.grad(lambda a: logsumexp(a * 1j, return_sign=True)[0].real)(A.copy())


def test_float32_gives_scipys_bits():
    a = A.astype(np.float32)
    value, gradient = codipy.value_and_grad(lambda a: logsumexp(a))(a)
    assert value == logsumexp(a)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, softmax(a), rtol=1e-6)
