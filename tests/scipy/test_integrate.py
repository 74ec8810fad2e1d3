# SPDX-License-Identifier: Apache-2.0
"""scipy.integrate in rebound code: SciPy's bits, and the derivative of the steps that it takes."""

import inspect

import numpy as np
import pytest
import scipy.integrate
from scipy.integrate import (
    cumulative_simpson,
    cumulative_trapezoid,
    fixed_quad,
    newton_cotes,
    quad,
    quad_vec,
    romb,
    simpson,
    trapezoid,
)

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

P = np.array([1.2, 0.7, 0.9])
T = np.array([0.0, 0.3, 1.0])


CASES = {
    "simpson": lambda p: simpson(np.sin(p), dx=0.1),
    "simpson of points": lambda p: simpson(p * p, x=T * p[0]),
    "of the module": lambda p: scipy.integrate.simpson(np.outer(p, p), axis=0) @ p,
    "trapezoid": lambda p: trapezoid(p * p, x=T),
    "cumulative_trapezoid": lambda p: np.sum(cumulative_trapezoid(p * p, initial=0) * T),
    "cumulative_simpson": lambda p: np.sum(cumulative_simpson(p * p, dx=0.3)),
    "romb": lambda p: romb(np.concatenate([p, p[:2] * 2.0]), dx=0.2),
    "fixed_quad": lambda p: fixed_quad(lambda x: np.sin(p[0] * x) * p[1], 0, 1, n=4)[0],
    "quad_vec": lambda p: np.sum(quad_vec(lambda x: np.sin(p * x), 0, 1)[0]),
    "quad_vec by limits": lambda p: np.sum(quad_vec(lambda x: np.sin(p * x), p[1], p[0])[0]),
    "quad_vec by a limit": lambda p: np.sum(quad_vec(lambda x, q: np.exp(-q * x), p[0], np.inf, args=(T + 1.0,))[0]),
    "weights": lambda p: np.sum(newton_cotes(2)[0] * p),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name):
    f = CASES[name]
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    steps = 1e-4 * np.eye(3)
    expected = [(8 * (f(P + h) - f(P - h)) - (f(P + 2 * h) - f(P - 2 * h))) / 12e-4 for h in steps]
    np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["simpson", "fixed_quad", "cumulative_simpson", "quad_vec by limits"])
def test_second_order(name):
    f = CASES[name]
    found = codipy.jacobian(codipy.grad(f))(P)
    expected = [(codipy.grad(f)(P + h) - codipy.grad(f)(P - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@each_strategy
def test_each_strategy(strategy):
    expected = codipy.grad(CASES["fixed_quad"], strategy="jacobian")(P)
    np.testing.assert_allclose(codipy.grad(CASES["fixed_quad"], strategy=strategy)(P), expected, rtol=1e-12)


def test_plain_use_is_scipys():
    def f(p):
        area, error = quad(lambda x: x * x, 0.0, 1.0)
        sums = cumulative_trapezoid(T)
        assert type(area) is float and error < 1e-10
        return area * np.sum(p) + np.sum(sums)

    np.testing.assert_array_equal(codipy.grad(f)(P), np.full(3, quad(lambda x: x * x, 0.0, 1.0)[0]))


def test_without_rebuilding_the_users_function():
    found = codipy.grad(lambda p: codipy.scipy.integrate.simpson(p * p), rebind=False)(P)
    np.testing.assert_allclose(found, codipy.grad(lambda p: simpson(p * p))(P), rtol=1e-14)


@pytest.mark.parametrize("refused", [
    lambda p: quad(lambda x: p[0] * x, 0.0, 1.0, weight="cos", wvar=2.0)[0],
    lambda p: quad(lambda x: x, p[0], 1.0, weight="cos", wvar=2.0)[0],
    lambda p: scipy.integrate.tanhsinh(lambda x: p[0] * x, 0.0, 1.0).integral,
    lambda p: scipy.integrate.nsum(lambda x: p[0] / x**2, 1, np.inf).sum,
    lambda p: scipy.integrate.cubature(lambda x: p[0] * x[:, 0], [0.0], [1.0]).estimate,
    lambda p: scipy.integrate.solve_bvp(lambda x, y: np.vstack([y[1], -p[0] * y[0]]),
                                        lambda a, b: np.array([a[0], b[0] - 1.0]), T, np.ones((2, 3))).y[0, 1],
])  # fmt: skip
def test_others_are_refused_or_right(refused):
    """What ends in compiled code is refused; versions of SciPy differ in what does."""
    try:
        found = codipy.grad(refused)(P)
    except (ActiveError, TypeError) as error:
        assert isinstance(error, ActiveError), error
        return
    expected = [(refused(P + h) - refused(P - h)) / 2e-5 for h in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_every_function_is_tried():
    public = {name for name in scipy.integrate.__all__ if inspect.isfunction(getattr(scipy.integrate, name))}
    source = inspect.getsource(inspect.getmodule(test_every_function_is_tried))
    missing = {name for name in public if f"{name}(" not in source}
    elsewhere = {"dblquad", "nquad", "odeint", "solve_ivp", "tplquad"}  # test_quad.py, test_ode.py
    assert missing <= {"lebedev_rule", "qmc_quad"} | elsewhere
