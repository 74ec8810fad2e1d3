# SPDX-License-Identifier: Apache-2.0
"""Differences, gradients, trapezoids and convolutions: rules against differences, composites bit for bit NumPy's."""

import numpy as np
import pytest

import codipy
from codipy.numpy.rules.signal import COMPOSITES, PRIMITIVES
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(17)
A = RNG.standard_normal((3, 5, 4))


def test_no_difference_at_all():
    for edge in (2.5, np.array(2.5), np.ones((2, 2)), np.ones((3, 1))):
        check(PRIMITIVES["diff"], [A, 0, -1, edge, edge], argnums=(0, 3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_diff(n, axis):
    check(PRIMITIVES["diff"], [A, n, axis])
    edge = RNG.standard_normal((2, 5, 4) if axis == 0 else (3, 2, 4) if axis == 1 else (3, 5, 2))
    if n:
        check(PRIMITIVES["diff"], [A, n, axis, edge, edge[:1] if axis == 0 else edge], argnums=(0, 3, 4))
        check(PRIMITIVES["diff"], [A, n, axis, np._NoValue, 2.5], argnums=(0, 4))
        check(PRIMITIVES["diff"], [A, n, axis, 2.5], argnums=(0, 3))
        check(PRIMITIVES["diff"], [A], {"n": n, "axis": axis, "prepend": 1, "append": edge})


@pytest.mark.parametrize("shape", [(5,), (2, 3), (1,), (0,)])
def test_ediff1d(shape):
    a = RNG.standard_normal(shape)
    check(PRIMITIVES["ediff1d"], [a])
    check(PRIMITIVES["ediff1d"], [a, 1.5, np.ones((2, 2))])
    check(PRIMITIVES["ediff1d"], [a, np.ones(3)])
    check(PRIMITIVES["ediff1d"], [a, None, np.ones(3)])


X = np.cumsum(RNG.uniform(0.5, 1.5, 5))
GRADIENTS = [
    ((), {}), ((2.0,), {}), ((0.5, X, 2.0), {}), ((X,), {"axis": 1}), ((2.0,), {"axis": (0, 1)}), ((), {"axis": -1}),
    ((np.arange(5.0),), {"axis": 1}), ((2.0, X), {"axis": (2, 1)}), ((np.arange(3), 1.0, np.array(0.1)), {}),
]  # fmt: skip


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("spacings, kwargs", GRADIENTS)
def test_gradient(spacings, kwargs, edge_order):
    found = COMPOSITES["gradient"](A, *spacings, edge_order=edge_order, **kwargs)
    expected = np.gradient(A, *spacings, edge_order=edge_order, **kwargs)
    assert type(found) is type(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("turn", [(1, 0, 2), (2, 1, 0), (0, 2, 1)])
def test_gradients_are_laid_out_as_the_array_is(turn):
    a = np.transpose(A, turn)
    for one, other in zip(COMPOSITES["gradient"](a), np.gradient(a)):
        np.testing.assert_array_equal(one, other)
        assert one.strides == other.strides
    seen = []

    def f(x):
        seen.append(np.gradient(np.transpose(x, turn), axis=1))
        return np.sum(seen[-1])

    value, found = codipy.value_and_grad(f)(A)
    assert value == f(A) and seen[0].strides == seen[1].strides
    direction = RNG.standard_normal(A.shape)
    slope = (f(A + 1e-4 * direction) - f(A - 1e-4 * direction)) / 2e-4
    np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-8)


def test_gradient_refuses_what_numpy_refuses():
    for args, kwargs in [((A, 1.0, 2.0), {}), ((A[:, :1],), {}), ((A,), {"edge_order": 3}), ((A, X), {})]:
        for f in (np.gradient, COMPOSITES["gradient"]):
            with pytest.raises((TypeError, ValueError)):
                f(*args, **kwargs)


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_trapezoid(axis):
    n = A.shape[axis]
    for kwargs in ({}, {"dx": 0.3}, {"x": np.cumsum(RNG.random(n))}, {"x": np.cumsum(RNG.random(A.shape), axis)}):
        found = COMPOSITES["trapezoid"](A, axis=axis, **kwargs)
        np.testing.assert_array_equal(found, np.trapezoid(A, axis=axis, **kwargs))
    assert COMPOSITES["trapezoid"]([1.0, 2.0], [0.0, 3.0]) == 4.5


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("m, n", [(7, 3), (7, 4), (3, 7), (4, 7), (6, 3), (6, 4), (5, 5), (6, 6), (1, 4), (4, 1)])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions(name, m, n, mode):
    check(PRIMITIVES[name], [RNG.standard_normal(m), RNG.standard_normal(n)], {"mode": mode})
    check(PRIMITIVES[name], [RNG.standard_normal(m), RNG.standard_normal(n), mode])


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_default_mode(name):
    check(PRIMITIVES[name], [RNG.standard_normal(5), RNG.standard_normal(3)])


def test_unwrap():
    check(PRIMITIVES["unwrap"], [np.array([0.0, 1.0, 5.0, 9.0, -3.0])])
    check(PRIMITIVES["unwrap"], [A * 4.0], {"axis": 1, "period": 4.0})
