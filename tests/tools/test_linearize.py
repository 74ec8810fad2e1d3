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
