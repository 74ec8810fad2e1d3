# SPDX-License-Identifier: Apache-2.0
"""What nested drivers give: values of the plain run, in memory of their own, of its dtypes; empty arrays and seeds."""

import math

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError

X = np.array([1.0, 2.0])


def after_a_write_to_the_argument(x):
    a = x * 1.0
    _, pullback = codipy.vjp(lambda b: np.sum(b**3), a)
    a[:] = 0.0
    return np.sum(pullback(1.0)[0])


def after_a_write_to_the_result(x):
    a = x * 1.0
    out, _ = codipy.vjp(lambda b: b, a)
    out[0] = 7.0
    return np.sum(a)


def after_a_write_to_what_a_rule_reads(x):
    m = np.diag(x) + 1.0
    out, pullback = codipy.vjp(np.linalg.inv, m)
    out[0, 0] = 7.0
    return np.sum(pullback(np.ones((2, 2)))[0])


def after_a_write_to_one_of_two_gradients(x):
    first, second = codipy.grad(lambda a, b: np.sum((a + b) ** 2), argnums=(0, 1))(x, x)
    first[0] = 0.0
    return np.sum(second)


def after_a_write_to_a_tangent(x):
    c = 2.0 * x
    _, tangent = codipy.jvp(lambda a: a, (x,), (c,))
    tangent[0] = 0.0
    return np.sum(c)


@pytest.mark.parametrize("f", [after_a_write_to_the_argument, after_a_write_to_the_result,
                               after_a_write_to_what_a_rule_reads, after_a_write_to_one_of_two_gradients,
                               after_a_write_to_a_tangent])
def test_results_have_memory_of_their_own(f):
    h = 1e-5
    value, gradient = codipy.value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-13)
    expected = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


def test_values_are_those_of_the_function_and_so_are_branches():
    values = []

    def outer(s):
        for x in np.linspace(0.1, 2.0, 20).tolist():
            value, _ = codipy.value_and_grad(lambda t: math.tanh(t * s) + math.log10(t * s))(x)
            values.append((codipy.value(value), math.tanh(x) + math.log10(x)))
        return value

    codipy.grad(outer)(1.0)
    assert all(found == expected for found, expected in values)

    numbers = np.array([16777216.0, 1.0, 1.0], np.float32)

    def branching(s):
        value, _ = codipy.value_and_grad(lambda a: np.sum((a * s).astype(np.float32)))(numbers)
        return s * 10.0 if value > 16777216 else s

    assert codipy.value_and_grad(branching)(1.0) == (branching(1.0), 1.0)


def test_dtypes():
    kinds = []

    def f(s):
        out, pullback = codipy.vjp(lambda a: a * np.float32(2.0), s * np.ones(2, np.float32))
        kinds.extend([out.dtype, pullback(np.ones(2))[0].dtype])
        return np.sum(out)

    codipy.grad(f)(np.float32(1.5))
    assert kinds == [np.float32, np.float32]


def test_arrays_without_elements():
    assert codipy.hessian(lambda a: np.sum(a**2))(np.zeros(0)).shape == (0, 0)
    assert codipy.grad(lambda s: np.sum(codipy.grad(lambda a: np.sum(a * s))(np.zeros(0))))(1.0) == 0.0
    found = codipy.hessian(lambda p: np.sum(p["a"] ** 2) * p["b"] ** 2)({"a": np.zeros(0), "b": 2.0})
    assert found["b"]["b"] == 0.0 and found["a"]["b"].shape == (0,)


def test_seeds_that_are_variables():
    assert codipy.grad(lambda s: codipy.jvp(lambda x: x**3, (2.0,), (s,))[1])(1.0) == 12.0
    assert codipy.grad(lambda s: codipy.vjp(lambda x: x**3, 2.0)[1](s * s)[0])(3.0) == 72.0
    pullback = codipy.vjp(lambda x: x**3, 2.0)[1]
    with pytest.raises(ActiveError, match="began after this function ran"):
        codipy.grad(lambda s: pullback(s)[0])(3.0)


def test_an_expression_that_waits_while_its_operand_is_lent():
    def f(x):
        y = 2.0 * x
        waits = y + 1.0
        return codipy.grad(lambda b: np.sum(y * b) * np.sum(waits * b))(3.0)

    np.testing.assert_allclose(codipy.grad(f)(X), [12.0 * (np.sum(2 * X + 1) + np.sum(2 * X))] * 2)


@pytest.mark.parametrize("write", ["y[1:] = x * b", "y[:] = x[0] * 3.0", "np.multiply(y, b, out=y)", "y.fill(b)"])
def test_what_is_written_inside_to_an_array_of_written_elements_is_refused_outside(write):
    module = {"np": np, "codipy": codipy}
    exec(f"""
def f(x):
    y = np.zeros(3)
    y[0] = x[0]
    x = np.concatenate([x, x])[:2]
    def inner(b):
        {write}
        return b
    codipy.grad(inner)(1.0)
    return np.sum(y)
""", module)
    with pytest.raises((TapeError, ActiveError, ValueError)):
        codipy.grad(module["f"])(X)


def test_a_sum_over_everything_that_keeps_axes():
    def f(s):
        return np.sum((s / np.sum(s, keepdims=True)) ** 2)

    h = 1e-5
    expected = [(codipy.grad(f)(X + h * e) - codipy.grad(f)(X - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(codipy.hessian(f)(X), expected, rtol=1e-7, atol=1e-9)
    assert codipy.jacobian(codipy.hessian(np.var))(X).shape == (2, 2, 2)
