# SPDX-License-Identifier: Apache-2.0
"""Jacobians by complex numbers and of complex results, in both modes: conventions, dtypes, what is not holomorphic."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

Z, X = np.array([1 + 2j, 0.5j, -1.0]), np.array([1.0, 2.0, 0.5])
M = np.arange(6.0).reshape(2, 3) + 1j
MANY = np.exp(1j * np.arange(30.0))
CASES = {
    "holomorphic": (lambda z: np.exp(z) * z, Z, np.diag(np.exp(Z) * (Z + 1))),
    "of less numbers": (lambda z: M @ z, Z, M),
    "of a real argument": (lambda x: np.exp(1j * x), X, np.diag(1j * np.exp(1j * X))),
    "of a real argument, of less numbers": (lambda x: M @ x, X, M),
    "of a real result, as grad has it": (lambda z: np.abs(z) ** 2, Z, np.diag(2 * Z)),
    "many": (np.fft.fft, MANY, np.fft.fft(np.eye(30))),
    "of a matrix": (lambda z: np.sum(z * z, axis=1), np.stack([Z, 2 * Z]),
                    np.eye(2)[:, :, None] * 2 * np.stack([Z, 2 * Z])),
    "a constant": (lambda z: np.array([5j, 1.0]), Z, np.zeros((2, 3))),
    "a number": (lambda z: z**3, 1 + 1j, 3 * (1 + 1j) ** 2),
    "a number, of a real one": (lambda x: np.exp(2j * x), 1.0, 2j * np.exp(2j)),
    "a number, real": (lambda z: abs(z) ** 2, 1 + 1j, 2 + 2j),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
@pytest.mark.parametrize("width", [None, 1, 4])
def test_conventions(case, mode, width):
    f, at, expected = CASES[case]
    found = codipy.jacobian(f, mode=mode, width=width)(at)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert type(found) is (np.ndarray if np.ndim(expected) else complex)


@each_strategy
@pytest.mark.parametrize("case", CASES)
def test_every_strategy(case, strategy):
    f, at, expected = CASES[case]
    np.testing.assert_allclose(codipy.jacobian(f, strategy=strategy)(at), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_recorded_forwards(case):
    f, at, expected = CASES[case]
    found = codipy.jacobian(f, mode="forward", strategy="forward")(at)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_forms():
    f = codipy.jacobian(lambda z, x: {"a": z * x, "b": np.sum(x * x)}, argnums=(0, 1))
    found = f(Z, X)
    np.testing.assert_allclose(found["a"][0], np.diag(X))
    np.testing.assert_allclose(found["a"][1], np.diag(Z))
    assert not np.any(found["b"][0]) and found["b"][0].dtype == complex
    assert np.array_equal(found["b"][1], 2 * X) and found["b"][1].dtype == float
    matrix, aux = codipy.jacobian(lambda z: (z * 2, "more"), has_aux=True)(Z)
    assert np.array_equal(matrix, 2 * np.eye(3)) and aux == "more"


def test_single_precision():
    assert codipy.jacobian(lambda z: z * z)(Z.astype(np.complex64)).dtype == np.complex64
    assert codipy.jacobian(lambda x: 1j * x)(X.astype(np.float32)).dtype == np.complex64
    assert codipy.jacobian(lambda z: np.abs(z))(Z.astype(np.complex64)).dtype == np.complex64


@pytest.mark.parametrize("f", [np.conj, lambda z: z * np.abs(z), lambda z: z.real + 0j, lambda z: z * z[0].conjugate()])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_what_is_not_holomorphic(f, mode):
    with pytest.raises(ValueError, match="has no complex derivative, it is not holomorphic"):
        codipy.jacobian(f, mode=mode)(Z)


def test_what_is_refused():
    with pytest.raises(TypeError, match="real numbers only"):
        codipy.jacobian(lambda z: z * 2, sparsity=True)(Z)
    with pytest.raises(TypeError, match="real numbers"):
        codipy.jacobian(lambda x: 1j * x, sparsity=True)(X)
    with pytest.raises(ActiveError, match="inside of another recording"):
        codipy.grad(lambda p: np.sum(np.abs(codipy.jacobian(lambda z: z * z)(p * Z))))(2.0)
    with pytest.raises(ActiveError, match="inside of another recording"):
        codipy.grad(lambda p: np.sum(np.abs(codipy.jacobian(lambda x: p * 1j * x)(X))))(2.0)
