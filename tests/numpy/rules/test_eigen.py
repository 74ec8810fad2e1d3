# SPDX-License-Identifier: Apache-2.0
"""The rules of eigenvalues and eigenvectors: both triangles, stacks, complex spectra, equal eigenvalues."""

import numpy as np
import pytest

import codipy
from codipy.numpy.rules.eigen import PRIMITIVES

from .checking import check, normal, reverse

LinAlgError = np.linalg.LinAlgError


def similar(values, seed=0):
    """A matrix with these eigenvalues and vectors far from orthogonal."""
    v = normal(len(values), len(values), seed=seed)
    return v @ np.diag(values) @ np.linalg.inv(v)


@pytest.mark.parametrize("UPLO", ["L", "U", "l"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3), (2, 1, 2, 2)])
def test_symmetric(shape, UPLO):
    check(PRIMITIVES["linalg.eigh"], (normal(*shape),), {"UPLO": UPLO}, rtol=1e-6)
    check(PRIMITIVES["linalg.eigvalsh"], (normal(*shape), UPLO), argnums=[0], rtol=1e-6)


def test_symmetric_reads_one_triangle():
    assert not np.any(np.triu(reverse("linalg.eigvalsh", normal(3), normal(3, 3)), 1))
    assert not np.any(np.tril(reverse("linalg.eigvalsh", normal(3), normal(3, 3), UPLO="U"), -1))


REAL = {
    "two": similar([1.0, -2.0]),
    "four": similar([1.0, -2.0, 0.5, 3.0]),
    "a stack": np.stack([similar([1.0, 2.0, 3.0], seed) for seed in range(3)]),
}
COMPLEX = {
    "a rotation": np.array([[0.5, -1.2], [0.9, 0.1]]),
    "five": normal(5, 5, seed=3),
    "a stack": np.stack([normal(3, 3, seed=seed) for seed in range(4)]),
}


@pytest.mark.parametrize("case", REAL)
def test_real_spectra(case):
    assert np.all(np.imag(np.linalg.eigvals(REAL[case])) == 0)  # complex numbers from NumPy 2.5 on
    check(PRIMITIVES["linalg.eig"], (REAL[case],), rtol=1e-6, step=1e-4)
    check(PRIMITIVES["linalg.eigvals"], (REAL[case],), rtol=1e-6, step=1e-4)


def without_phase(g, values):
    """Cotangents of a loss that depends on no phase of the vectors."""
    turns = np.sum(np.conj(values[1]) * g[1], axis=-2, keepdims=True).imag
    return g[0], g[1] - 1j * turns * values[1] / np.sum(np.abs(values[1]) ** 2, axis=-2, keepdims=True)


@pytest.mark.parametrize("case", COMPLEX)
def test_complex_spectra(case):
    assert np.iscomplexobj(np.linalg.eigvals(COMPLEX[case]))
    check(PRIMITIVES["linalg.eig"], (COMPLEX[case],), rtol=1e-6, step=1e-4, settled=without_phase)
    check(PRIMITIVES["linalg.eigvals"], (COMPLEX[case],), rtol=1e-6, step=1e-4)


def test_complex_matrices():
    check(PRIMITIVES["linalg.eig"], (normal(3, 3) + 1j * normal(3, 3, seed=1),), rtol=1e-6, step=1e-4,
          settled=without_phase)
    check(PRIMITIVES["linalg.eigvals"], (normal(3, 3) + 1j * normal(3, 3, seed=1),), rtol=1e-6, step=1e-4)


# ---- equal eigenvalues -----------------------------------------------------------------------------------------------
TWICE = np.array([2.0, 2.0, -1.0])


def test_vectors_of_equal_eigenvalues_have_no_derivative():
    q = np.linalg.qr(normal(3, 3))[0]
    for a in (np.eye(3), (q * TWICE) @ q.T):
        with pytest.raises(LinAlgError, match="eigh: two eigenvalues are equal"):
            reverse("linalg.eigh", (np.zeros(3), normal(3, 3)), a)
        with pytest.raises(LinAlgError, match="eigh: two eigenvalues are equal"):
            PRIMITIVES["linalg.eigh"].jvp({0: normal(3, 3)}, np.linalg.eigh(a), (a,), {})
    with pytest.raises(LinAlgError, match="eig: two eigenvalues are equal"):
        reverse("linalg.eig", (np.zeros(3), normal(3, 3)), np.eye(3))


def test_sums_of_equal_eigenvalues_have():
    np.testing.assert_allclose(reverse("linalg.eigvalsh", np.ones(3), np.eye(3)), np.eye(3))
    np.testing.assert_allclose(reverse("linalg.eigh", (np.ones(3), np.zeros((3, 3))), np.eye(3)), np.eye(3))
    np.testing.assert_allclose(reverse("linalg.eigvals", np.ones(3), similar(TWICE)), np.eye(3), atol=1e-12)


def test_vectors_of_other_eigenvalues_have():
    q = np.linalg.qr(normal(3, 3))[0]
    a, t = (q * TWICE) @ q.T, normal(3, 3, seed=2)
    g, t = np.array([1.0, -2.0, 0.5]), t + t.T
    w, v = np.linalg.eigh(a)
    lowest = np.eye(3)[0]  # of the ascending eigenvalues the first is alone
    bar = reverse("linalg.eigh", (lowest * 0, g[:, None] * lowest), a)

    def loss(x):
        moved = np.linalg.eigh(a + x * t)[1][:, 0]
        return g @ moved * np.sign(moved @ v[:, 0])

    np.testing.assert_allclose(np.sum(bar * t), (loss(1e-5) - loss(-1e-5)) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize("values", [TWICE + 0.5, np.array([1.0, 3.0, 4.0])])
def test_functions_of_a_symmetric_matrix(values):
    """The square v diag(w^2) v^T is one function of the matrix, but of equal eigenvalues the rule cannot know it.

    All numerators cancel, and their quotients are not zero: raise rather than lose them.
    """
    q = np.linalg.qr(normal(3, 3))[0]
    a, g = (q * values) @ q.T, normal(3, 3, seed=1)
    w, v = np.linalg.eigh(a)
    bars = 2 * w * np.diag(v.T @ g @ v), (g + g.T) @ v * w**2
    if values[0] == values[1]:
        with pytest.raises(LinAlgError, match="eigh: two eigenvalues are equal"):
            reverse("linalg.eigh", bars, a)
        return
    t = normal(3, 3, seed=2)
    t = t + t.T
    np.testing.assert_allclose(np.sum(reverse("linalg.eigh", bars, a) * t), np.sum(g * (a @ t + t @ a)), rtol=1e-10)


@pytest.mark.parametrize("values", [TWICE, np.ones(3), np.array([1.0, 3.0, 4.0])])
def test_functions_of_a_matrix(values):
    """The square once more, v diag(w^2) inv(v), with vectors that are not orthogonal."""
    a, g = similar(values), normal(3, 3, seed=1)
    w, v = np.linalg.eig(a)
    y = np.linalg.inv(v)
    g_v = g @ y.T * w**2 - y.T @ (v * w**2).T @ g @ y.T
    bars = 2 * w * np.diag(v.T @ g @ y.T), g_v
    if values[0] == values[1]:
        with pytest.raises(LinAlgError, match="eig: two eigenvalues are equal"):
            reverse("linalg.eig", bars, a)
        return
    t = normal(3, 3, seed=2)
    np.testing.assert_allclose(np.sum(reverse("linalg.eig", bars, a) * t), np.sum(g * (a @ t + t @ a)), rtol=1e-9)


def test_dependent_eigenvectors():
    with pytest.raises(LinAlgError, match="eigenvalues are equal"):
        reverse("linalg.eig", (np.ones(2), np.zeros((2, 2))), np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(LinAlgError, match="linearly dependent"):
        reverse("linalg.eigvals", np.ones(2), np.array([[1.0, 1.0], [0.0, 1.0]]))


@pytest.mark.parametrize("function, message", [
    (np.linalg.eigvalsh, r"eigenvalues alone \(eigvalsh\) have first derivatives there, and no second ones"),
    (np.linalg.cond, r"singular values alone \(svdvals, norm, cond\) have first"),
])  # fmt: skip
def test_second_derivatives_of_equal_eigenvalues_are_refused(function, message):
    with pytest.raises(LinAlgError, match=message):
        codipy.taylor(lambda t: function((1.0 + t) * np.eye(2)), 0.0, 1.0, order=2)
