# SPDX-License-Identifier: Apache-2.0
"""Functions that cross to JAX and back, against JAX's own derivatives."""

import numpy as np
import pytest

import codipy
import codipy.bridges
from tests.strategies import each_strategy

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def double():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


X = np.linspace(0.1, 1.0, 5)


def filled(x, k):
    work = np.zeros(x.size)
    work[:] = k * np.sin(x)
    work[0] = x[1] * x[2]
    return work


def the_same(x, k):
    return jax.numpy.concatenate([(x[1] * x[2])[None], k * jax.numpy.sin(x[1:])])


@pytest.mark.parametrize("around", [lambda f: f, jax.jit])
def test_to_jax(around):
    found = []
    for f in (codipy.bridges.to_jax(filled), the_same):
        gradient = around(jax.grad(lambda x, k, f=f: (f(x, k) ** 3).sum(), argnums=(0, 1)))
        found.append(gradient(X, 1.3))
    for ours, theirs in zip(*found):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_single_precision():
    jax.config.update("jax_enable_x64", False)
    found = jax.grad(lambda x: codipy.bridges.to_jax(lambda x: (x**3).sum())(x))(np.arange(3.0))
    assert found.dtype == np.float32 and found == pytest.approx([0.0, 3.0, 12.0])
    with pytest.raises(TypeError, match="would compute in float32"):
        codipy.bridges.from_jax(jax.numpy.exp)(X)


def test_a_shape_that_ones_do_not_tell():
    def fails(x):
        if x[0] == 1.0:
            raise ArithmeticError("singular")
        return x * x

    with pytest.raises(TypeError, match=r"to_jax\(f, result=...\)"):
        codipy.bridges.to_jax(fails)(X)
    assert codipy.bridges.to_jax(fails, result=lambda x: x)(X) == pytest.approx(X * X)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(TypeError, match="all must be floats"):
        codipy.bridges.to_jax(lambda x, n: x * n)(X, 3)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(codipy.bridges.to_jax(lambda x: x * x), (X,), (X,))


@each_strategy
def test_from_jax(strategy):
    f = codipy.bridges.from_jax(the_same)
    ours = codipy.grad(lambda x, k: np.sum(f(x, k) ** 3), (0, 1), strategy=strategy)(X, 1.3)
    expected = codipy.grad(lambda x, k: np.sum(filled(x, k) ** 3), (0, 1))(X, 1.3)
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-12)
    assert ours[1] == pytest.approx(expected[1])


def test_from_jax_forward():
    f = codipy.bridges.from_jax(the_same)
    ours = codipy.jvp(f, (X, 1.3), (np.ones(5), 2.0))[1]
    np.testing.assert_allclose(ours, codipy.jvp(filled, (X, 1.3), (np.ones(5), 2.0))[1], rtol=1e-12)


def test_what_has_no_axes_is_an_array_without_axes():
    def f(k, x):
        kept = k
        kept *= 2.0
        assert isinstance(k, np.ndarray)
        return np.sum(x) * k

    g = codipy.bridges.to_jax(f)
    assert np.allclose(g(0.7, np.array([1.0, 2.0])), 4.2)
    assert np.allclose(jax.grad(g)(0.7, np.array([1.0, 2.0])), 6.0)
