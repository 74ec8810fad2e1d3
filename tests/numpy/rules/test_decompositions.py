# SPDX-License-Identifier: Apache-2.0
"""The rules of cholesky, qr and svd: every mode and shape, stacks, equal and zero singular values."""

import numpy as np
import pytest

from codipy.errors import ActiveError
from codipy.numpy.rules.decompositions import PRIMITIVES

from .checking import check, normal, reverse

LinAlgError = np.linalg.LinAlgError


def positive(*shape):
    a = normal(*shape)
    return a @ np.matrix_transpose(a) + np.eye(shape[-1])


# ---- cholesky --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3), (2, 1, 2, 2)])
def test_cholesky(shape, upper):
    check(PRIMITIVES["linalg.cholesky"], (positive(*shape),), {"upper": upper}, rtol=1e-6)


def test_cholesky_reads_one_triangle():
    assert not np.any(np.triu(reverse("linalg.cholesky", np.ones((3, 3)), positive(3, 3)), 1))
    assert not np.any(np.tril(reverse("linalg.cholesky", np.ones((3, 3)), positive(3, 3), upper=True), -1))


# ---- qr --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["reduced", "r"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 3), (3, 5), (2, 4, 2), (2, 2, 2, 3), (2, 3, 3)])
def test_qr(shape, mode):
    check(PRIMITIVES["linalg.qr"], (normal(*shape), mode), argnums=[0], rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (2, 2, 3)])
def test_qr_complete(shape):
    check(PRIMITIVES["linalg.qr"], (normal(*shape),), {"mode": "complete"}, rtol=1e-6)


def test_qr_complete_of_a_tall_matrix():
    a, g_q, g_r = normal(5, 3), normal(5, 5, seed=1), normal(5, 3, seed=2)
    with pytest.raises(LinAlgError, match="last columns of Q are any basis"):
        reverse("linalg.qr", (g_q, g_r), a, mode="complete")
    with pytest.raises(LinAlgError, match="last columns of Q are any basis"):
        PRIMITIVES["linalg.qr"].jvp({0: a}, np.linalg.qr(a, "complete"), (a,), {"mode": "complete"})
    g_q[:, 3:] = 0.0
    expected = reverse("linalg.qr", (g_q[:, :3], g_r[:3]), a)
    np.testing.assert_allclose(reverse("linalg.qr", (g_q, g_r), a, mode="complete"), expected)


def test_qr_without_derivative():
    with pytest.raises(LinAlgError, match="first columns are linearly dependent"):
        reverse("linalg.qr", (np.ones((3, 2)), np.ones((2, 2))), np.ones((3, 2)))
    assert reverse("linalg.qr", (np.zeros((3, 2)), np.zeros((2, 2))), np.ones((3, 2))) is None
    with pytest.raises(ActiveError, match="raw"):
        reverse("linalg.qr", (np.ones((2, 3)), np.ones(2)), normal(3, 2), mode="raw")


# ---- svd -------------------------------------------------------------------------------------------------------------
SHAPES = [(1, 1), (3, 3), (5, 3), (3, 5), (1, 3), (2, 4, 3), (2, 2, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape):
    check(PRIMITIVES["linalg.svd"], (normal(*shape), False), argnums=[0], rtol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (4, 3), (3, 4), (1, 2), (2, 1), (2, 3, 2)])
def test_svd_with_full_matrices(shape):
    """One vector beside the others is no choice."""
    check(PRIMITIVES["linalg.svd"], (normal(*shape),), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values(shape):
    check(PRIMITIVES["linalg.svd"], (normal(*shape),), {"compute_uv": False}, rtol=1e-6)
    check(PRIMITIVES["linalg.svdvals"], (normal(*shape),), rtol=1e-6)


@pytest.mark.parametrize("compute_uv", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4)])
def test_svd_of_symmetric_matrices(shape, compute_uv):
    a = normal(*shape) + 3 * np.diag(np.arange(shape[-1]) - 0.8)
    check(PRIMITIVES["linalg.svd"], (a,), {"hermitian": True, "compute_uv": compute_uv}, rtol=1e-6)


def test_svd_of_a_symmetric_matrix_with_eigenvalues_of_equal_size():
    """Plus and minus one are one singular value, but two eigenvalues."""
    a = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert np.all(np.isfinite(reverse("linalg.svd", (normal(2, 2), normal(2), normal(2, 2)), a, hermitian=True)))


def projector_slope(a, g, full):
    """The cotangent of the projector on the left null space, from the first or the last left vectors."""
    u, _, vt = np.linalg.svd(a)
    k = min(a.shape)
    both = g + g.T
    g_u = np.concatenate([u[:, :k] * 0, both @ u[:, k:]], axis=1) if full else -both @ u[:, :k]
    return reverse("linalg.svd", (g_u, np.zeros(k), vt[: None if full else k] * 0), a, full_matrices=full)


def test_svd_of_a_tall_matrix_knows_its_null_space():
    a, g = normal(5, 3), normal(5, 5, seed=1)
    np.testing.assert_allclose(projector_slope(a, g, True), projector_slope(a, g, False), atol=1e-12)
    np.testing.assert_allclose(projector_slope(a, g, True)[0, 0], projector_difference(a, g), rtol=1e-6)


def projector_difference(a, g):
    def loss(x):
        moved = a.copy()
        moved[0, 0] += x
        q = np.linalg.svd(moved)[0][:, 3:]
        return np.sum(g * (q @ q.T))

    return (loss(1e-5) - loss(-1e-5)) / 2e-5


def test_svd_of_a_wide_matrix_knows_its_null_space():
    a, g = normal(2, 4), normal(4, 4, seed=1)
    u, s, vt = np.linalg.svd(a)
    both = g + g.T
    full = reverse("linalg.svd", (u * 0, s * 0, np.concatenate([vt[:2] * 0, vt[2:] @ both])), a)
    few = reverse("linalg.svd", (u * 0, s * 0, -vt[:2] @ both), a, full_matrices=False)
    np.testing.assert_allclose(full, few, atol=1e-12)


def test_svd_of_a_choice_has_no_derivative():
    a = normal(4, 2)
    with pytest.raises(LinAlgError, match="not square"):
        reverse("linalg.svd", (normal(4, 4), np.zeros(2), np.zeros((2, 2))), a)
    with pytest.raises(LinAlgError, match="full_matrices=False"):
        PRIMITIVES["linalg.svd"].jvp({0: a}, np.linalg.svd(a), (a,), {})
    with pytest.raises(LinAlgError, match="two singular values are equal"):
        reverse("linalg.svd", (normal(3, 3), np.zeros(3), np.zeros((3, 3))), np.eye(3))
    with pytest.raises(LinAlgError, match="a singular value is zero"):
        bars = normal(3, 2), np.zeros(2), np.zeros((2, 2))
        reverse("linalg.svd", bars, np.diag([1.0, 0.0, 0.0])[:, :2], full_matrices=False)


def loss_of(f, a):
    """The cotangents of sum(g * (u f(s) v^T)), one function of the matrix whichever vectors were computed."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    g = normal(*a.shape, seed=1)
    g_s = np.diag(u.T @ g @ vt.T) * (f(s + 1e-6) - f(s - 1e-6)) / 2e-6
    return g, (g @ vt.T * f(s), g_s, (u * f(s)).T @ g)


def test_svd_put_together_again():
    a = normal(4, 3)
    g, bars = loss_of(lambda s: s, a)
    np.testing.assert_allclose(reverse("linalg.svd", bars, a, full_matrices=False), g, rtol=1e-6)


@pytest.mark.parametrize(
    "a", [np.eye(3), np.diag([2.0, 1.0, 1.0]), np.diag([1.0, 0.0]), np.diag([2.0, 0.0, 0.0])[:, :2]]
)
def test_svd_put_together_again_with_equal_or_zero_values(a):
    """All numerators cancel, but their quotients are not zero: raise rather than lose them."""
    _, bars = loss_of(lambda s: s, a)
    with pytest.raises(LinAlgError, match="two singular values are equal|a singular value is zero"):
        reverse("linalg.svd", bars, a, full_matrices=False)


def test_svd_cut_to_low_rank_may_have_zero_values():
    a = np.diag([3.0, 2.0, 0.0, 0.0])[:, :3] @ np.linalg.qr(normal(3, 3))[0]
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    g = normal(4, 3, seed=1)
    g_s = np.diag(u.T @ g @ vt.T) * [1.0, 1.0, 0.0]
    bar = reverse("linalg.svd", (g @ vt.T * s, g_s, (u * s).T @ g), a, full_matrices=False)
    t = normal(4, 3, seed=2)

    def loss(x):
        u, s, vt = np.linalg.svd(a + x * t, full_matrices=False)
        return np.sum(g * ((u * s)[:, :2] @ vt[:2]))

    np.testing.assert_allclose(np.sum(bar * t), (loss(1e-5) - loss(-1e-5)) / 2e-5, rtol=1e-6)


def test_a_singular_value_that_is_zero_has_a_zero_slope():
    np.testing.assert_array_equal(reverse("linalg.svdvals", np.ones(2), np.diag([3.0, 0.0])), np.diag([1.0, 0.0]))
