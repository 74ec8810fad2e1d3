# SPDX-License-Identifier: Apache-2.0
"""What rules are handed in derivatives of derivatives are numbers of NumPy's, and arrays without axes among others."""

import numpy as np
import pytest

import codipy

FUNCTIONS = {
    "sum": lambda x: np.sum(x * x), "mean": lambda x: np.mean(np.mean(x * x) ** 2), "max": lambda x: np.max(x * x) * x,
    "median": lambda x: np.median(x * x) * x, "prod": lambda x: np.prod(x * x) * x,
    "std": lambda x: np.std(x * x) + x**3,
    "quantile": lambda x: np.quantile(x * x, 0.3) * x, "cumsum": lambda x: np.sum(np.cumsum(x * x) * x),
    "dot": lambda x: np.dot(x * x, x), "ptp": lambda x: np.ptp(x * x) + x**3, "var": lambda x: np.var(x) + x * x,
}  # fmt: skip


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.array])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_of_functions_of_a_number(name, kind):
    f, x, h = FUNCTIONS[name], kind(1.5), 1e-4
    expected = (f(1.5 + h) - 2 * f(1.5) + f(1.5 - h)) / h**2
    one = np.ones_like(x)[()]
    for found in (
        codipy.grad(codipy.grad(f))(x), codipy.hessian(f)(x), codipy.jacobian(codipy.grad(f))(x),
        codipy.jvp(lambda x: codipy.jvp(f, (x,), (1.0 * one,))[1], (x,), (one,))[1],
    ):  # fmt: skip
        np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.array])
def test_the_median_of_a_number(kind):
    assert codipy.grad(lambda x: np.median(x * 2.0))(kind(0.75)) == 2.0


def test_third_derivatives_of_complex_numbers_without_axes():
    def f(x):
        return np.angle((np.exp(x[:2] + 1j * x[2:]) * (x[:2] + 1j * x[2:])[::-1])[0])

    def g(x):
        return np.sum(codipy.hessian(f)(x) * np.arange(16.0).reshape(4, 4))

    at, h = np.array([0.3, 0.5, 0.7, 0.2]), 1e-5
    expected = [(g(at + h * unit) - g(at - h * unit)) / (2 * h) for unit in np.eye(4)]
    np.testing.assert_allclose(codipy.grad(g)(at), expected, rtol=1e-6, atol=1e-6)
