# SPDX-License-Identifier: Apache-2.0
"""Solutions by the implicit function theorem: against closed forms, differences, and differentiated iterations."""

import math

import numpy as np
import pytest
from scipy.optimize import fsolve

import codipy
from tests.strategies import each_strategy

P = np.array([2.0, 1.3])


def equations(u, p):
    return np.array([u[0] ** 2 + u[1] - p[0], u[0] - u[1] ** 3 * p[1]])


def solved(p):
    u = fsolve(equations, np.ones(2), args=(p,), xtol=1e-12)
    for _ in range(2):
        j = np.array([[2.0 * u[0], 1.0], [1.0, -3.0 * u[1] ** 2 * p[1]]])
        u = u - np.linalg.solve(j, equations(u, p))
    return u


solution = codipy.implicit.root(equations, solved)


def slopes(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def loss(p):
    return np.sum(np.sin(solution(p)) * p)


@each_strategy
def test_first_and_second_derivatives(strategy):
    def plain(p):
        return np.sum(np.sin(solved(p)) * p)

    value, gradient = codipy.value_and_grad(loss, strategy=strategy)(P)
    assert value == plain(P)
    np.testing.assert_allclose(gradient, slopes(plain, P), rtol=1e-8)
    np.testing.assert_allclose(codipy.hessian(loss, strategy=strategy)(P), slopes(codipy.grad(loss), P), rtol=1e-7)
    along = codipy.jvp(loss, (P,), (P,), strategy=strategy)[1]
    assert along == pytest.approx(np.dot(gradient, P), rel=1e-12)


def test_any_order_of_a_number():
    f = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    assert f(8.0) == 8.0 ** (1.0 / 3.0)
    factor = 1.0
    for order in range(1, 5):
        factor *= 1.0 / 3.0 - order + 1.0
        f = codipy.grad(f)
        assert f(8.0) == pytest.approx(factor * 8.0 ** (1.0 / 3.0 - order), rel=1e-12)


def test_variables_of_the_function_around_it():
    def outer(p):
        q = p * 1.5
        root = codipy.implicit.root(lambda u: u**2 - q[0] * u - q[1], lambda: larger(codipy.value(q)))
        return root() * q[1]

    def larger(q):
        return (q[0] + math.sqrt(q[0] ** 2 + 4.0 * q[1])) / 2.0

    def plain(p):
        return larger(1.5 * p) * 1.5 * p[1]

    np.testing.assert_allclose(codipy.grad(outer)(P), slopes(plain, P), rtol=1e-8)
    np.testing.assert_allclose(codipy.hessian(outer)(P), slopes(codipy.grad(plain), P), rtol=1e-7, atol=1e-9)


def test_a_fixed_point_is_that_of_its_iteration():
    def iterate(p, u=1.0):
        for _ in range(300):
            u = math.cos(p * u)
        return u

    implicit = codipy.implicit.fixed_point(lambda u, p: math.cos(p * u), iterate)
    assert codipy.grad(implicit)(1.0) == pytest.approx(codipy.grad(iterate)(1.0), rel=1e-12)
    assert codipy.hessian(implicit)(1.0) == pytest.approx(codipy.hessian(iterate)(1.0), rel=1e-10)


def test_the_steps_of_the_solver_are_not_recorded():
    calls = []

    def solver(p):
        calls.append(type(p))
        return np.sqrt(p)

    f = codipy.implicit.root(lambda u, p: u * u - p, solver)
    np.testing.assert_allclose(codipy.grad(lambda p: np.sum(f(p)))(P), 0.5 / np.sqrt(P))
    assert calls == [np.ndarray]
    assert type(f(P)) is np.ndarray and f(P).tolist() == np.sqrt(P).tolist()


def test_what_depends_on_nothing_is_plain():
    found = []

    def f(x):
        found.append(solution(P))
        return x * found[0][0]

    assert codipy.grad(f)(1.0) == solved(P)[0]
    assert not codipy.active.array.is_active(found[0])


def test_what_is_no_solution_is_refused():
    with pytest.raises(ArithmeticError, match=r"no solution of equations = 0.*tolerance="):
        codipy.grad(lambda p: np.sum(codipy.implicit.root(equations, lambda p: np.ones(2))(p)))(P)
    with pytest.raises(ArithmeticError, match="singular"):
        codipy.grad(codipy.implicit.root(lambda u, p: u**3 - p, lambda p: 0.0))(0.0)
    with pytest.raises(ArithmeticError, match="no solution"):
        codipy.grad(codipy.implicit.root(lambda u, p: u - p, lambda p: math.nan))(1.0)
    with pytest.raises(TypeError, match=r"shape \(2,\) of the solution, got \(\)"):
        codipy.grad(lambda p: np.sum(codipy.implicit.root(lambda u, p: np.sum(u - p), lambda p: p)(p)))(P)
    with pytest.raises(TypeError, match="float64"):
        codipy.grad(codipy.implicit.root(lambda u, p: u - p, lambda p: "text"))(1.0)
    with pytest.raises(TypeError, match="must be a function"):
        codipy.implicit.root(3.0, math.sqrt)
