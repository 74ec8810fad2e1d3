# SPDX-License-Identifier: Apache-2.0
"""Products and sums that go from NumPy's protocols straight to the tape: values, gradients, what they must not take."""

import subprocess
import sys

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

RNG = np.random.default_rng(8)
A, B, V, W = RNG.random((3, 4)), RNG.random((4, 5)), RNG.random(4), RNG.random(3)
PRODUCTS = [(A, B), (A.T.copy().T, B), (W, A), (A, V), (V, V + 1.0), (A[None] + np.ones((2, 1, 1)), B)]


@each_strategy
@pytest.mark.parametrize("a, b", PRODUCTS)
def test_products_of_active_and_plain_arrays(a, b, strategy):
    seed = np.cos(np.arange(np.size(a @ b))).reshape(np.shape(a @ b))
    values = []

    def f(x, y):
        product = x @ y
        values.append(codipy.value(product))
        return np.sum(product * seed)

    both = codipy.grad(f, argnums=(0, 1), strategy=strategy)(a, b)
    left, right = (codipy.grad(f, argnums=k, strategy=strategy)(a, b) for k in (0, 1))
    for value in values:
        assert np.array_equal(value, a @ b)
    assert np.array_equal(both[0], left) and np.array_equal(both[1], right)
    for k, gradient in enumerate(both):
        direction = RNG.random(gradient.shape)
        moved = np.matmul(direction, b) if k == 0 else np.matmul(a, direction)
        assert np.sum(gradient * direction) == pytest.approx(np.sum(moved * seed), rel=1e-12)


def test_a_plain_factor_may_be_written_to_before_the_sweep():
    tape, x = codipy.Tape(), RNG.random((300, 4))
    expected = x.sum(axis=0)
    with tape:
        v = tape.register_input(V)
        s = tape.register_output(np.sum(x @ v) + np.sum(0.0 * (x * v)))
        x[:] = np.nan
    s.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(v.gradient, expected, rtol=1e-13)


def test_products_with_what_has_no_derivative():
    with codipy.Tape() as tape:
        x = tape.register_input(A)
        assert np.array_equal(codipy.value(x @ np.arange(4)), A @ np.arange(4))
        z = x @ np.array([1j, 2j, 3j, 4j])      # a ComplexArray
        assert z.is_active and np.array_equal(codipy.value(z), A @ np.array([1j, 2j, 3j, 4j]))
        with codipy.passive():
            assert not getattr(x @ B, "is_active", False)
        with pytest.raises(ValueError):
            x @ W


@pytest.mark.parametrize("function", [np.sum, np.mean])
@pytest.mark.parametrize("args, kwargs", [
    ((0,), {}), ((-1,), {"keepdims": True}), ((), {"axis": (0, 2), "keepdims": True}), ((), {"keepdims": True}),
    (((1, 2),), {}), ((None,), {"keepdims": False}),
])
def test_sums_and_means_as_numpy_takes_their_arguments(function, args, kwargs):
    t, tape = RNG.random((2, 3, 4)), codipy.Tape()
    with tape:
        x = tape.register_input(t)
        y = function(x, *args, **kwargs)
        expected = function(t, *args, **kwargs)
        assert np.array_equal(getattr(y, "value", y), expected) and np.shape(y) == np.shape(expected)
        seed = np.cos(np.arange(np.size(expected))).reshape(np.shape(expected))
        s = tape.register_output(np.sum(y * seed))
    s.gradient = 1.0
    tape.evaluate()
    axes = args[0] if args else kwargs.get("axis")
    wide = seed if kwargs.get("keepdims") or axes is None else np.expand_dims(seed, axes)
    np.testing.assert_allclose(x.gradient, np.broadcast_to(wide, t.shape) * (expected.size / t.size
                               if function is np.mean else 1.0), rtol=1e-14)


def test_wrong_axes_are_refused_by_numpy():
    with codipy.Tape() as tape:
        x = tape.register_input(A)
        with pytest.raises(np.exceptions.AxisError):
            np.sum(x, 2, keepdims=True)
        with pytest.raises(TypeError):
            np.sum(x, 0.5)


def test_import_loads_numpy_first_and_little_else():
    code = """
import sys, codipy
names = list(sys.modules)
late = {"codipy.numpy", "codipy.active.arrays.flat", "codipy.tools"}
print(names.index("numpy") < names.index("codipy.data"), late & {*names})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "set()"]
