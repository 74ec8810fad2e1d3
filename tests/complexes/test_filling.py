# SPDX-License-Identifier: Apache-2.0
"""Plain complex arrays that a function makes of others and fills hold what is active; others say what to do."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

U0 = np.array([1j, 2.0, -1.0 + 0.5j])
Z, X = np.array([1 + 2j, 0.5j, -1.0]), np.array([0.7, 2.0, -0.4])


def copied(z):
    u = U0.copy()
    u[0] = z[0]
    u[1:] *= z[1]
    return u


def computed(z):
    u = U0 * 2.0
    u[0] += z[0]
    v = u[1:]
    v[0] = z[2]
    return u


def transformed(z):
    u, w = np.fft.fft(U0), np.array(U0)
    u[1] = z[0] * w[0]
    w.real = z.imag
    return u + w


def reshaped(z):
    u = np.asfortranarray(np.outer(U0, U0))
    u[:, 1] = z
    u[0] -= 1.0
    return u.sum(axis=1)


FILLING = [copied, computed, transformed, reshaped]


@pytest.mark.parametrize("fill", FILLING)
@pytest.mark.parametrize("at", [Z, X], ids=["complex", "real"])
def test_what_a_function_makes_it_fills(fill, at):
    def f(z):
        return np.sum(np.abs(fill(z)) ** 2 * np.arange(1.0, 4.0))

    value, gradient = codipy.value_and_grad(f)(at)
    units = [(f(at + 1e-6 * e) - f(at - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    if np.iscomplexobj(at):
        units = [a + 1j * (f(at + 1e-6j * e) - f(at - 1e-6j * e)) / 2e-6 for a, e in zip(units, np.eye(3))]
    assert value == f(at)
    np.testing.assert_allclose(gradient, units, rtol=1e-6, atol=1e-7)


W0 = np.zeros(3, complex)


def into_a_global(z):
    W0[0] = z[0]
    return np.sum(np.abs(W0))


def into_a_parameter(z, u=np.zeros(3, complex)):  # noqa: B008
    u[1] = z[1]
    return np.sum(np.abs(u))


@pytest.mark.parametrize("f", [into_a_global, into_a_parameter])
@pytest.mark.parametrize("at", [Z, X], ids=["complex", "real"])
def test_what_others_have_is_not_filled(f, at):
    with pytest.raises(ActiveError, match="is a plain array of NumPy.* and would lose a derivative"):
        codipy.grad(f)(at)
    assert not np.any(W0)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("ufunc", [np.square, np.tan, np.rad2deg, np.spacing], ids=str)
def test_what_where_leaves_out_stays_in_a_passive_array(ufunc):
    mask = np.array([True, False, True])

    def f(x):
        out = np.full(3, 7.0 + 1.0j)
        ufunc(np.array([0.5, 1.5, 2.5]), where=mask, out=out)
        return out * x[0]

    x = np.array([2.0])
    value, _ = codipy.vjp(f, x)
    assert np.array_equal(value, f(x))


def test_clip_without_bounds_is_a_copy():
    def f(x):
        z = x * 1j
        y = z.clip()
        y[0] = 5.0
        return np.sum(z * y)

    x = np.array([2.0, 3.0])
    assert codipy.vjp(f, x)[0] == f(x)


def test_the_deviation_of_equal_numbers_has_slope_zero():
    assert np.array_equal(codipy.grad(lambda x: np.nanstd(x * (1 + 1j)))(np.ones(3)), np.zeros(3))


def test_a_diagonal_is_filled_with_values_in_turn():
    def f(x):
        z = np.outer(x, x) * 1j
        np.fill_diagonal(z, [x[0], 2j])
        return np.sum(np.abs(z) ** 2)

    x = np.array([0.5, -1.0, 2.0])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    assert gradient == pytest.approx([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)], rel=1e-6)


def test_elements_that_are_placed_over_themselves_are_refused():
    def f(x):
        z = x * 1j
        np.place(z, [True, True, False], z[::-1])
        return np.sum(z.imag)

    with pytest.raises(ActiveError, match="copy them"):
        codipy.grad(f)(np.ones(3))

    def g(x):
        z = x * 1j
        assert not np.shares_memory(z, z.copy()) and np.shares_memory(z, z[::-1]) and not np.may_share_memory(z, z[0])
        np.place(z, [True, True, False], z[::-1].copy())
        return np.sum(z.imag * x)

    x = np.array([0.5, -1.0, 2.0])
    assert codipy.value_and_grad(g)(x)[0] == g(x)
