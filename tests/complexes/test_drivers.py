# SPDX-License-Identifier: Apache-2.0
"""Drivers by complex arguments and of complex results: gradients, holomorphic derivatives, cotangents."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

Z = np.array([1.0 + 2.0j, -0.5j, 0.3 - 0.7j])


def loss(z):
    return np.sum(np.abs(z * z + 1j) ** 2) + (z[0] * z[1].conjugate()).real


def by_parts(f, z):
    """dL/dRe + i dL/dIm by differences of both parts."""
    def slope(step):
        return (f(z + step) - f(z - step)) / (2 * np.abs(step).max())

    return np.array([slope(1e-6 * e) + 1j * slope(1e-6j * e) for e in np.eye(len(z))])


@each_strategy
def test_gradients(strategy):
    value, gradient = codipy.value_and_grad(loss, strategy=strategy)(Z)
    assert value == loss(Z) and gradient.dtype == np.complex128
    assert gradient == pytest.approx(by_parts(loss, Z), rel=1e-7)


def test_gradients_of_trees_and_numbers():
    def f(tree, t):
        return abs(tree["z"] * tree["x"]) ** 2 * t

    gradient, by_t = codipy.grad(f, argnums=(0, 1))({"z": 3.0 + 4.0j, "x": 2.0}, 0.5)
    assert gradient["z"] == pytest.approx(12 + 16j) and gradient["x"] == pytest.approx(50.0) and by_t == 100.0
    assert type(gradient["z"]) is complex
    assert codipy.grad(lambda z: abs(z) ** 2)(np.complex64(1 + 2j)).dtype == np.complex64
    assert codipy.grad(lambda z: np.sum(np.abs(z)))(Z.astype(np.complex64)).dtype == np.complex64


def test_it_goes_downhill():
    gradient = codipy.grad(loss)(Z)
    assert loss(Z - 1e-4 * gradient) < loss(Z)


@pytest.mark.parametrize("strategy", ["auto", "forward", "primal"])
def test_holomorphic_derivatives(strategy):
    value, slope = codipy.jvp(lambda z: np.exp(z) * z, (Z,), (np.ones(3),), strategy=strategy)
    assert np.array_equal(value, np.exp(Z) * Z) and slope == pytest.approx(np.exp(Z) * (Z + 1))
    value, slope = codipy.jvp(lambda z: z**3 + 1 / z, (0.5 + 1.0j,), (1.0j,), strategy=strategy)
    assert slope == pytest.approx(1j * (3 * (0.5 + 1j) ** 2 - (0.5 + 1j) ** -2.0))


def test_cotangents():
    value, pull = codipy.vjp(lambda z, x: np.fft.fft(z) * x, Z, np.array([1.0, 2.0, 3.0]))
    g = np.array([1.0j, 2.0, -1.0 + 0.5j])
    by_z, by_x = pull(g)
    assert by_z == pytest.approx(np.conj(np.fft.fft(np.eye(3))).T @ (g * np.array([1.0, 2.0, 3.0])))
    assert by_x == pytest.approx((g * np.conj(np.fft.fft(Z))).real) and by_x.dtype == float


REFUSED = [
    lambda: codipy.grad(lambda x: 1j * x)(1.0),
    lambda: codipy.grad(lambda z: z * 2)(Z),
    lambda: codipy.hessian(loss)(Z),
    lambda: codipy.hvp(loss, (Z,), (Z,)),
    lambda: codipy.sparsity(loss, Z),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_drivers_refuse(call):
    with pytest.raises((TypeError, ActiveError), match="real|complex"):
        call()


@pytest.mark.parametrize("z", [1.2 + 0.7j, np.complex128(0.4 - 1.0j), np.array([1.2 + 0.7j, 0.3 - 0.2j])])
def test_gradients_by_complex_numbers_are_linearized(z):
    def f(z):
        return np.sum(abs(z) ** 2 * np.imag(z))

    def slope(z):      # of (a^2 + b^2) b by a, and i times that by b
        return 2.0 * z.real * z.imag + 1j * (z.real**2 + 3.0 * z.imag**2)

    gradient, push = codipy.linearize(codipy.grad(f), z)
    assert gradient == pytest.approx(slope(z))
    for direction in (1.0, 1.0j):
        along = direction + np.zeros_like(z)
        expected = (slope(z + 1e-6 * along) - slope(z - 1e-6 * along)) / 2e-6
        assert push(along) == pytest.approx(expected, rel=1e-8)
        assert push(along) == pytest.approx(codipy.jvp(codipy.grad(f), (z,), (along,))[1], rel=1e-14)


@pytest.mark.parametrize("z", [
    1 + 2j, complex(np.nan, 1.0), complex(np.inf, -np.inf), np.complex128(complex(1.0, np.nan)),
    np.complex64(complex(np.nan, 2.0)), np.array(complex(np.nan, 2.0)), np.array([complex(np.nan, 2.0), 3 + 1j]),
])
def test_nan_to_num_of_one_number(z):
    with np.errstate(all="ignore"):
        for f in (np.nan_to_num, lambda z: np.nan_to_num(z * 1.0, nan=2.0), lambda z: np.nan_to_num([z, 2.0 * z]),
                  lambda z: np.nan_to_num(z, posinf=5.0, neginf=-3.0)):
            found, tangent = codipy.jvp(f, (z,), (np.ones_like(z) * (1.0 + 1.0j),))
            expected = f(z)
            assert type(found) is type(expected) and found.dtype == expected.dtype
            assert np.array_equal(found, expected)
        value, tangent = codipy.jvp(np.nan_to_num, (z,), (np.ones_like(z) * (1.0 + 1.0j),))
    assert np.array_equal(tangent, np.isfinite(np.real(z)) + 1j * np.isfinite(np.imag(z)))
