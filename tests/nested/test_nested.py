# SPDX-License-Identifier: Apache-2.0
"""Derivatives of derivatives: to any order, of numbers and arrays, by every driver, closures over outer variables."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import rosen_der, rosen_hess, rosen_hess_prod

import codipy
from codipy.errors import ActiveError, TapeError, UndifferentiableError
from tests.strategies import STRATEGIES, each_strategy

X = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


def rosen_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def nth(f, order):
    for _ in range(order):
        f = codipy.grad(f)
    return f


# ---- Orders ----------------------------------------------------------------------------------------------------------
SCALARS = {
    "exp(sin(x))": (lambda m, x: m.exp(m.sin(x)), 0.4),
    "x**x": (lambda m, x: x**x, 1.3),
    "tan(x) / (1 + x * x)": (lambda m, x: m.tan(x) / (1 + x * x), 0.6),
    "log(x) * atan(x)": (lambda m, x: m.log(x) * m.atan(x), 1.7),
    "tanh(x) * sqrt(x)": (lambda m, x: m.tanh(x) * m.sqrt(x), 0.8),
    "asin(x) + acos(x * x)": (lambda m, x: m.asin(x) + m.acos(x * x), 0.3),
    "erf(x) * gamma(x + 1)": (lambda m, x: m.erf(x) * m.gamma(x + 1), 0.9),
    "hypot(x, 1)": (lambda m, x: m.hypot(x, 1.0), 0.5),
}


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("text", SCALARS)
def test_orders_against_arithmetic_in_many_digits(text, order):
    f, at = SCALARS[text]
    with mpmath.workdps(60):
        expected = float(mpmath.diff(lambda x: f(mpmath, x), mpmath.mpf(at), order))
    assert nth(lambda x: f(math, x), order)(at) == pytest.approx(expected, rel=1e-11)


def test_perturbations_are_not_confused():
    d = codipy.grad
    assert d(lambda x: x * d(lambda y: x + y)(1.0))(1.0) == 1.0
    # Siskind and Pearlmutter, "Nesting forward-mode AD in a functional framework", 2008.
    assert d(lambda x: x * d(lambda y: x * y)(2.0))(3.0) == 6.0
    assert d(lambda x: d(lambda y: d(lambda z: x * y * z)(1.0) * y)(2.0))(5.0) == 4.0

    def curried(x):
        return lambda f: lambda y: f(x + y)

    once = d(lambda x: d(lambda y: curried(x)(lambda z: z**3)(y))(1.0))
    assert once(2.0) == 18.0


# ---- Drivers ---------------------------------------------------------------------------------------------------------
@each_strategy
@pytest.mark.parametrize("f", [rosen, rosen_loop])
def test_hessians_by_each_pair_of_drivers(f, strategy):
    gradient = codipy.grad(f)
    direction = np.arange(1.0, 6.0)
    for found in (
        codipy.jacobian(gradient, strategy=strategy)(X),
        codipy.jacobian(codipy.jacobian(f, strategy=strategy), strategy=strategy)(X),
    ):
        np.testing.assert_allclose(found, rosen_hess(X), rtol=1e-12)
    expected = rosen_hess_prod(X, direction)
    along = codipy.jvp(gradient, (X,), (direction,), strategy=strategy)
    np.testing.assert_allclose(along[0], rosen_der(X), rtol=1e-12)
    np.testing.assert_allclose(along[1], expected, rtol=1e-12)
    np.testing.assert_allclose(codipy.grad(lambda x: np.dot(gradient(x), direction))(X), expected, rtol=1e-12)
    pulled = codipy.vjp(gradient, X)[1](direction)[0]
    np.testing.assert_allclose(pulled, expected, rtol=1e-12)
    forward = codipy.grad(lambda x: codipy.jvp(f, (x,), (direction,))[1])(X)
    np.testing.assert_allclose(forward, expected, rtol=1e-12)


def test_forms_of_arguments_and_results():
    def f(p, scale):
        return scale * p["a"] ** 2 * np.sum(p["b"] ** 3)

    def outer(p, scale):
        (value, extra), (by_p, by_scale) = codipy.value_and_grad(
            lambda p, s: (f(p, s), {"cube": p["b"] ** 3, "name": "text"}), argnums=(0, 1), has_aux=True)(p, scale)
        assert extra["name"] == "text"
        return value + by_p["a"] + np.sum(by_p["b"] * extra["cube"]) + by_scale

    p, scale = {"a": 1.5, "b": np.array([0.5, 2.0])}, 0.7

    def plain(a, b, s):
        cubes = b**3
        return s * a**2 * np.sum(cubes) + 2 * s * a * np.sum(cubes) + np.sum(3 * s * a**2 * b**5) + a**2 * np.sum(cubes)

    value, (by_p, by_scale) = codipy.value_and_grad(outer, argnums=(0, 1))(p, scale)
    expected = codipy.value_and_grad(plain, argnums=(0, 1, 2))(p["a"], p["b"], scale)
    assert value == pytest.approx(expected[0])
    assert type(by_p["a"]) is float and by_p["a"] == pytest.approx(expected[1][0])
    np.testing.assert_allclose(by_p["b"], expected[1][1])
    assert by_scale == pytest.approx(expected[1][2])


def test_numbers_keep_their_kinds():
    kinds = []

    def f(x, y):
        gradient = codipy.grad(lambda t, u: t * t * u[0], argnums=(0, 1))(x, y)
        kinds.extend([type(codipy.value(gradient[0])), type(codipy.value(gradient[1]))])
        return gradient[0] + np.sum(gradient[1])

    codipy.grad(f)(2.0, np.array([1.0, 3.0]))
    assert kinds == [float, np.ndarray]


def test_without_outer_variables_a_nested_driver_gives_plain_numbers():
    found = []

    def f(x):
        found.append(codipy.grad(lambda t: t**3)(2.0))
        found.append(codipy.jacobian(lambda t: t * t)(np.array([1.0, 2.0])))
        found.append(codipy.vjp(lambda t: t * t, 3.0)[1](1.0)[0])
        return x * found[0]

    assert codipy.grad(f)(1.0) == 12.0
    assert found[0] == 12.0 and type(found[0]) is float and found[2] == 6.0
    assert found[1].tolist() == [[2.0, 0.0], [0.0, 4.0]]


# ---- Programs --------------------------------------------------------------------------------------------------------
def test_a_newton_step_is_differentiated():
    a = np.array([[3.0, 1.0], [1.0, 2.0]])

    def residual(u, p):
        return a @ u + p * u**3 - np.array([1.0, 2.0])

    def solved(p):
        u = np.zeros(2)
        for _ in range(8):
            u = u - np.linalg.solve(codipy.jacobian(residual)(u, p), residual(u, p))
        return np.sum(u * u)

    p, h = 0.6, 1e-6
    assert codipy.grad(solved)(p) == pytest.approx((solved(p + h) - solved(p - h)) / (2 * h), rel=1e-8)


def test_a_physics_informed_loss():
    rng = np.random.default_rng(1)
    parameters = [rng.normal(size=(4, 1)), rng.normal(size=4), rng.normal(size=4)]
    points = np.linspace(0.1, 0.9, 5)

    def network(w, t):
        return np.dot(w[2], np.tanh(w[0][:, 0] * t + w[1]))

    def loss(w):
        total = 0.0
        for t in points:
            first = codipy.grad(network, argnums=1)
            second = codipy.grad(first, argnums=1)
            total = total + (second(w, float(t)) + network(w, float(t))) ** 2
        return total

    gradient = codipy.grad(loss)(parameters)
    direction = [rng.normal(size=w.shape) for w in parameters]
    h = 1e-6
    ends = [loss([w + s * h * d for w, d in zip(parameters, direction)]) for s in (1, -1)]
    along = sum(np.sum(g * d) for g, d in zip(gradient, direction))
    assert along == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_in_place_programs():
    def heat(u, k):
        v = u.copy()
        for _ in range(4):
            v[1:-1] += k * (v[2:] - 2.0 * v[1:-1] + v[:-2])
            v[0] = v[1] * 0.5
        return np.sum(v**3)

    u, k = np.array([0.2, 1.0, 0.5, 0.7, 0.1]), 0.2
    found = codipy.jacobian(codipy.grad(heat, argnums=1))(u, k)
    h = 1e-5
    ends = [codipy.grad(heat, argnums=1)(u + h * e, k) - codipy.grad(heat, argnums=1)(u - h * e, k) for e in np.eye(5)]
    np.testing.assert_allclose(found, np.array(ends) / (2 * h), rtol=1e-7)


def test_a_part_that_is_set_again_has_its_former_meaning_in_the_sweep():
    def stacked(x):
        a = np.stack([x, x * 2.0])
        a[0] = 0.1
        return np.sum(np.sin(a) * a)

    def joined(x):
        a = np.concatenate([x * x, np.sin(x)])
        a[2:7] = a[2:7] * x * 2.0
        return np.sum(np.cos(a) * a)

    h = 1e-5
    for f in (stacked, joined):
        gradient = codipy.grad(f)
        expected = np.array([(gradient(X + h * e) - gradient(X - h * e)) / (2 * h) for e in np.eye(5)])
        np.testing.assert_allclose(codipy.hessian(f)(X), expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(codipy.jacobian(codipy.jacobian(f))(X), expected, rtol=1e-7, atol=1e-7)
        tangent = codipy.jacobian(lambda x, f=f: codipy.jvp(f, (x,), (X,))[1])(X)
        np.testing.assert_allclose(tangent, expected @ X, rtol=1e-7, atol=1e-7)


def test_outer_arrays_are_what_they_were_after_an_inner_recording():
    def f(x):
        y = x * 2.0
        y[1] = x[0]
        waiting = np.sin(x) + 1.0
        inner = codipy.grad(lambda t: t * np.sum(y * waiting) + t * t * x[2])(1.0)
        return inner + np.sum(y * x) + np.sum(waiting)

    def plain(x):
        y = x * 2.0
        y[1] = x[0]
        waiting = np.sin(x) + 1.0
        return np.sum(y * waiting) + 2.0 * x[2] + np.sum(y * x) + np.sum(waiting)

    x = np.array([0.3, 0.7, 1.1])
    for strategy in STRATEGIES:
        value, gradient = codipy.value_and_grad(f, strategy=strategy)(x)
        assert value == pytest.approx(plain(x), rel=1e-14)
        np.testing.assert_allclose(gradient, codipy.grad(plain)(x), rtol=1e-13)


# ---- Refusals --------------------------------------------------------------------------------------------------------
def test_an_inner_variable_that_escapes_is_refused_outside():
    def f(x):
        kept = []
        codipy.grad(lambda t: kept.append(t * x) or t)(1.0)
        return kept[0] * x

    with pytest.raises((TapeError, ActiveError)):
        codipy.grad(f)(2.0)

    def expression(x):
        kept = []
        codipy.grad(lambda t: kept.append(x * 2.0 + t) or t)(1.0)
        return np.sum(kept[0])

    with pytest.raises((TapeError, ActiveError)):
        codipy.grad(expression)(np.array([1.0, 2.0]))


def test_an_outer_array_that_an_inner_function_writes_is_refused_outside():
    def f(x):
        y = x * 1.0

        def inner(t):
            y[0] = t * 2.0
            return y[0] * t

        slope = codipy.grad(inner)(1.0)
        return slope + np.sum(y)

    with pytest.raises((TapeError, ActiveError)):
        codipy.grad(f)(np.array([1.0, 2.0]))


def test_a_statement_made_by_hand_is_refused():
    def f(x):
        tape = codipy.active_tape()
        return tape.push_statement(codipy.value(x) ** 2, [x], [2.0 * codipy.value(x)])

    assert codipy.grad(f)(3.0) == 6.0
    with pytest.raises(UndifferentiableError, match="made by hand"):
        codipy.grad(codipy.grad(f))(3.0)


def test_what_has_a_rule_of_numbers_only_is_refused():
    def rule(g, out, args, kwargs, argnums):
        return [np.asarray(g, float) * np.asarray(args[0], float) * 2.0]

    square = codipy.Primitive("squared", lambda x: x * x, rule)
    from codipy.active.array import call

    assert codipy.grad(lambda x: np.sum(call(square, (x,))))(X).tolist() == (2.0 * X).tolist()
    with pytest.raises(UndifferentiableError, match="derivative of squared"):
        codipy.jacobian(codipy.grad(lambda x: np.sum(call(square, (x,)))))(X)


def test_exceptions_leave_outer_variables_as_they_were():
    def f(x):
        y = x * 3.0
        with pytest.raises(ZeroDivisionError):
            codipy.grad(lambda t: t * np.sum(y) * x[0] * (1 / 0))(1.0)
        return np.sum(y * x)

    np.testing.assert_allclose(codipy.grad(f)(X), 6.0 * X)


def test_arrays_in_the_order_of_fortran():
    x, t = np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)), np.arange(6.0).reshape(2, 3)
    for f, hessian in ((lambda a: np.sum(a * a), 2.0), (lambda a: np.sum(a.T**3), 6.0 * x)):
        gradient = codipy.grad(f)
        np.testing.assert_allclose(codipy.jvp(gradient, (x,), (t,))[1], hessian * t)
        np.testing.assert_allclose(codipy.grad(lambda a, g=gradient: np.sum(g(a) * t))(x), hessian * t)
        lent = codipy.grad(lambda a, f=f: codipy.grad(lambda s: f(a * s))(1.0))(x)
        np.testing.assert_allclose(lent, (2.0 * gradient(x) if np.ndim(hessian) == 0 else 3.0 * gradient(x)))


def test_a_fused_product():
    fma, at = codipy.math.fma, (1.3, -0.7, 2.1)
    for numbers in ((0,), (1,), (2,), (0, 1, 2)):
        gradient = codipy.grad(lambda x, y, z: fma(x, y, z) ** 3, argnums=numbers)
        expected = codipy.grad(lambda x, y, z: (x * y + z) ** 3, argnums=numbers)
        np.testing.assert_allclose(codipy.jacobian(gradient)(*at), codipy.jacobian(expected)(*at), rtol=1e-14)
