# SPDX-License-Identifier: Apache-2.0
"""Drivers by complex numbers inside of what is differentiated: derivatives of derivatives, against differences."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

Z, W = np.array([1 + 2j, 0.5j, -1.0 + 0.3j]), np.array([0.3 - 1j, 2.0, 1j])


def loss(z):
    return np.sum(np.abs(z * z + 1j) ** 2) + (z[0] * z[1].conjugate()).real


def size(z):
    return np.sum(np.abs(z) ** 2 * np.arange(1.0, 4.0))


def product(m):
    return np.sum(np.abs(m @ m) ** 2 * np.arange(3.0))


CASES = {
    "grad": (lambda p: size(codipy.grad(loss)(p * Z)), 1.3),
    "grad, by complex": (lambda z: np.sum((codipy.grad(loss)(z) * W).real), Z),
    "value_and_grad": (lambda z: codipy.value_and_grad(loss)(z * z)[0] + size(codipy.value_and_grad(loss)(z)[1]), Z),
    "jvp of a number": (lambda p: abs(codipy.jvp(lambda z: z**3 * p, (p * 1j,), (1.0,))[1]), 1.2),
    "jvp": (lambda z: size(codipy.jvp(lambda u: np.exp(u) * u, (z,), (W,))[1]), Z),
    "jvp, by the tangent": (lambda p: size(codipy.jvp(lambda z: np.exp(z) * z, (Z,), (p * W,))[1]), 1.2),
    "jvp, real to complex": (lambda p: size(codipy.jvp(lambda x: np.exp(1j * x * p), (np.array([p, 2.0, 1.0]),),
                                                       (np.array([1.0, p, 0.0]),))[1]), 1.1),
    "vjp": (lambda z: size(codipy.vjp(lambda u: np.fft.fft(u * u), z)[1](W)[0]), Z),
    "vjp, by the cotangent": (lambda z: size(codipy.vjp(lambda u: np.fft.fft(u * u), Z)[1](z)[0]), W),
    "vjp, by a real cotangent": (lambda p: size(codipy.vjp(lambda u: u * u, Z)[1](p * np.ones(3))[0]), 1.2),
    "the value": (lambda p: size(codipy.vjp(lambda u: u * u * p, Z)[0]), 1.1),
    "a value with constants": (lambda p: size(codipy.vjp(lambda u: np.array([u[0] * p, 2j, p]), Z)[0]), 1.1),
    "linearize": (lambda p: size(codipy.linearize(lambda z: z**3 * p, Z * p)[1](W)), 1.2),
    "what is around": (lambda p: size(codipy.grad(lambda z: np.sum(np.abs(z * p) ** 4))(Z)), 1.3),
    "what is around, complex": (lambda q: size(codipy.grad(lambda z: np.sum(np.abs(z * q) ** 4))(Z)), W),
    "a number": (lambda p: abs(codipy.grad(lambda z: abs(z * z * p + z) ** 3)(p * (1 + 1j))) ** 2, 0.7),
    "a number, by complex": (lambda z: codipy.grad(lambda u: abs(u * u + u) ** 3)(z).real * 2 + abs(z), 0.7 + 0.2j),
    "aux": (lambda p: abs(codipy.grad(lambda z: (size(z), z * p), has_aux=True)(Z * p)[1][0]), 1.2),
    "two arguments": (lambda p: size(codipy.grad(lambda z, x: np.sum(np.abs(z * x) ** 2 * p), argnums=(0, 1))(
        Z * p, np.array([p, 1.0, 2.0]))[0]), 1.2),
    "a tree": (lambda p: size(codipy.grad(lambda t: abs(t["a"]) ** 2 * p + size(t["b"]))({"a": 1j * p, "b": Z * p})[
        "b"]), 1.2),
    "Fortran's order": (lambda p: product(codipy.grad(product)(np.asfortranarray(np.outer(Z, W) * p))), 0.9),
    "a transpose": (lambda p: product(codipy.grad(product)((np.outer(Z, W) * p).T)), 0.9),
    "a jacobian of constants": (lambda p: p * np.sum(np.abs(codipy.jacobian(lambda z: z**3)(Z))), 1.2),
    "third order": (lambda p: codipy.grad(lambda q: size(codipy.grad(loss)(q * Z)))(p * p), 1.2),
}  # fmt: skip


def differences(f, x):
    units = np.eye(np.size(x)).reshape((-1, *np.shape(x)))
    found = [(f(x + 1e-6 * e[()]) - f(x - 1e-6 * e[()])) / 2e-6 for e in units]
    if np.iscomplexobj(x):
        found = [a + 1j * (f(x + 1e-6j * e[()]) - f(x - 1e-6j * e[()])) / 2e-6 for a, e in zip(found, units)]
    return np.reshape(found, np.shape(x))


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_derivatives(case):
    f, at = CASES[case]
    value, gradient = codipy.value_and_grad(f)(at)
    assert value == pytest.approx(f(at), rel=1e-14)
    np.testing.assert_allclose(gradient, differences(f, at), rtol=1e-6)


@each_strategy
def test_every_strategy(strategy):
    for f, at in list(CASES.values())[:8]:
        np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(at), codipy.grad(f)(at), rtol=1e-11)


def test_dtypes():
    kinds = []

    def f(p):
        gradient = codipy.grad(loss)(p * Z.astype(np.complex64))
        kinds.append((gradient.dtype, codipy.grad(lambda z: abs(z * p) ** 2)(1j * p)))
        return size(gradient)

    assert codipy.grad(f)(np.float32(1.3)) == pytest.approx(codipy.grad(CASES["grad"][0])(1.3), rel=1e-5)
    assert kinds[0][0] == np.complex64 and type(kinds[0][1]) is codipy.Complex


def test_what_is_refused():
    for f in (lambda p: size(codipy.jacobian(lambda z: z * z)(p * Z)[0]),
              lambda p: size(codipy.jacobian(lambda x: p * 1j * x)(np.ones(3))[0])):  # fmt: skip
        with pytest.raises(ActiveError, match="inside of another recording jacobian takes and gives real numbers"):
            codipy.grad(f)(2.0)
