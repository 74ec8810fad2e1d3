# SPDX-License-Identifier: Apache-2.0
"""`linearize`, and the modes and widths of `jacobian`: the same derivatives as `jvp` and `vjp`."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

A = np.array([[0.5, 1.5], [2.0, -1.0], [0.3, 0.7]])
V = np.array([1.0, -2.0])


def f(x, s):
    y = np.tanh(A @ x) * s
    y[0] += x[1] ** 2
    return {"y": y, "sum": np.sum(y * y)}


@each_strategy
def test_a_linear_map_of_tangents(strategy):
    out, push = codipy.linearize(f, V, 2.0, strategy=strategy)
    for tangents in ((np.array([1.0, 0.0]), 0.0), (np.array([0.5, 2.0]), -1.0)):
        value, tangent = codipy.jvp(f, (V, 2.0), tangents)
        found = push(*tangents)
        assert out["y"].tolist() == value["y"].tolist() and out["sum"] == value["sum"]
        np.testing.assert_allclose(found["y"], tangent["y"], rtol=1e-14)
        assert found["sum"] == pytest.approx(tangent["sum"], rel=1e-14)
    with pytest.raises(ValueError, match="one for each"):
        push(V)
    out, push, aux = codipy.linearize(lambda x: (x * 2.0, {"x": x}), V, has_aux=True)
    assert push(V).tolist() == [2.0, -4.0] and aux["x"].tolist() == V.tolist()


def test_inside_of_a_function_that_is_differentiated():
    def along(x):
        _, push = codipy.linearize(lambda t: np.sum(t**3 * x), x)
        return push(V)

    # (3 x^2 * x) . V, by x: 9 x^2 V
    np.testing.assert_allclose(codipy.grad(along)(np.array([0.7, 1.1])), 9.0 * np.array([0.49, 1.21]) * V)


@each_strategy
@pytest.mark.parametrize("width", [None, 1, 3, 64])
def test_modes_and_widths_agree(strategy, width):
    expected = codipy.jacobian(f)(V, 2.0)
    for mode in ("reverse", "forward", "auto"):
        found = codipy.jacobian(f, mode=mode, width=width, strategy=strategy)(V, 2.0)
        np.testing.assert_allclose(found["y"], expected["y"], rtol=1e-13)
        np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-13)
        inner = codipy.jacobian(lambda x, m=mode: codipy.jacobian(f, mode=m)(x, 2.0)["sum"])(V)
        np.testing.assert_allclose(inner, codipy.hessian(lambda x: f(x, 2.0)["sum"])(V), rtol=1e-12)


def test_what_is_no_mode_or_width():
    with pytest.raises(ValueError, match="unknown mode 'backward'"):
        codipy.jacobian(f, mode="backward")
    for width in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="width"):
            codipy.jacobian(f, width=width)


def energy(x, a):
    x = x * 1.0
    x[1] = x[0] * x[1] ** 2
    return np.sum(np.sin(x) * a) + x[0] * np.sum(a**3)


def numbers(p):
    return p["a"] * p["b"][0] ** 3 + p["b"][1] * p["a"] ** 2


def test_a_gradient_is_recorded_once_and_swept_for_each_vector():
    runs = []

    def counted(x, a):
        runs.append(1)
        return energy(x, a)

    gradient = codipy.grad(counted, argnums=(0, 1))
    out, push = codipy.linearize(gradient, V, np.array([0.5, 2.0]))
    for found, wanted in zip(out, gradient(V, np.array([0.5, 2.0])), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    runs.clear()
    for tangents in ((np.array([1.0, 0.0]), np.zeros(2)), (np.array([0.5, 2.0]), V), (V, np.array([0.0, 3.0]))):
        before, step = len(runs), 1e-5
        found = push(*tangents)
        assert len(runs) == before
        ends = [codipy.grad(energy, argnums=(0, 1))(*(x + sign * step * t for x, t in zip((V, np.array([0.5, 2.0])),
                                                                                          tangents)))
                for sign in (1.0, -1.0)]
        for mine, high, low in zip(found, *ends, strict=True):
            np.testing.assert_allclose(mine, (high - low) / (2.0 * step), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="one for each"):
        push(V)


def test_forms_of_a_gradient_that_is_linearized():
    p, t = {"a": 2.0, "b": [1.5, -1.0]}, {"a": 1.0, "b": [0.5, 3.0]}
    out, push = codipy.linearize(codipy.grad(numbers), p)
    assert out == codipy.grad(numbers)(p)
    (product,) = codipy.hvp(numbers, (p,), (t,))
    assert push(t) == product and type(product["b"]) is list and type(product["a"]) is float
    single = np.array([0.5, 1.5], np.float32)
    out, push = codipy.linearize(codipy.grad(lambda x: np.sum(x**3)), single)
    assert out.dtype == push(np.ones(2)).dtype == np.float32
    assert push(np.ones(2)).tolist() == [3.0, 9.0]


@pytest.mark.parametrize(("argnums", "of_grad"), [(0, (0, 1)), ((0, 1), 0), (1, 0), (0, 0), (0, (0,))])
def test_which_arguments_a_gradient_is_linearized_in(argnums, of_grad):
    a, along = np.array([0.5, 2.0]), {0: np.array([1.0, -0.5]), 1: np.array([0.25, 2.0])}
    tangents = [along[k] for k in (argnums if isinstance(argnums, tuple) else (argnums,))]
    gradient = codipy.grad(energy, argnums=of_grad)
    out, push = codipy.linearize(gradient, V, a, argnums=argnums)
    value, tangent = codipy.jvp(gradient, (V, a), tangents, argnums=argnums)
    found = push(*tangents)
    assert type(found) is type(out) is type(gradient(V, a))
    np.testing.assert_allclose(np.array(out), np.array(value), rtol=1e-13)
    np.testing.assert_allclose(np.array(found), np.array(tangent), rtol=1e-13)


def test_a_gradient_that_is_linearized_keeps_its_tape():
    out, push = codipy.linearize(codipy.grad(lambda x: np.sum(x**3)), V)
    for _ in range(3):      # other drivers do not take the tape
        codipy.grad(lambda x: np.sum(np.exp(x)))(V)
        codipy.hvp(lambda x: np.sum(np.exp(x)), (V,), (V,))
        assert push(np.ones(2)).tolist() == (6.0 * V).tolist()
    del push
    assert codipy.grad(lambda x: np.sum(x**3))(V).tolist() == (3.0 * V * V).tolist()


def test_variables_as_tangents_of_a_gradient_that_is_linearized():
    _, push = codipy.linearize(codipy.grad(lambda x: np.sum(x**3)), V)
    with pytest.raises(codipy.errors.ActiveError, match="inside of what is differentiated"):
        codipy.grad(lambda t: np.sum(push(t)))(V)
    inside = codipy.grad(lambda t: np.sum(codipy.linearize(codipy.grad(lambda x: np.sum(x**3)), V)[1](t)))
    np.testing.assert_allclose(inside(np.ones(2)), 6.0 * V)


def test_a_gradient_with_a_second_result_or_a_statement_made_by_hand():
    out, push, aux = codipy.linearize(codipy.grad(lambda x: (np.sum(x**3), x * 2.0), has_aux=True), V, has_aux=True)
    np.testing.assert_allclose(push(np.ones(2)), 6.0 * V)
    assert aux.tolist() == (2.0 * V).tolist()
