# SPDX-License-Identifier: Apache-2.0
"""The rules of numpy.linalg for solving, inverses, determinants, powers, least squares, cross products, traces."""

import numpy as np
import pytest

import codipy
from codipy.numpy.rules.linalg import PRIMITIVES

from .checking import check, normal, reverse

STACKS = [(), (2,), (2, 1, 3)]


def regular(*shape):
    """Matrices that are far from singular."""
    return normal(*shape) + 3 * np.eye(*shape[-2:])


# ---- solve -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (2, 3, 2)),
        ((3, 3), (2, 3, 2)),
        ((4, 1, 3, 3), (2, 3, 1)),
        ((2, 3, 3), (3, 2)),
        ((1, 1), (1,)),
        ((2, 1, 3, 3), (1, 4, 3, 2)),
    ],
)
def test_solve(left, right):
    check(PRIMITIVES["linalg.solve"], (regular(*left), normal(*right, seed=1)))


def test_solve_in_fortran_order_and_with_other_types():
    check(PRIMITIVES["linalg.solve"], (np.asfortranarray(regular(4, 4)), normal(4, 2)[::-1]))
    check(PRIMITIVES["linalg.solve"], (regular(3, 3), np.arange(3)), argnums=[0])
    check(PRIMITIVES["linalg.solve"], (np.eye(3, dtype=int) * 2, normal(3)), argnums=[1])


def test_solve_of_nothing():
    bars = PRIMITIVES["linalg.solve"].vjp(np.zeros(0), np.zeros(0), (np.zeros((0, 0)), np.zeros(0)), {}, (0, 1))
    assert [b.shape for b in bars] == [(0, 0), (0,)]


def test_tensorsolve():
    a = normal(6, 4, 2, 3, 4) + 5 * np.eye(24).reshape(6, 4, 2, 3, 4)
    check(PRIMITIVES["linalg.tensorsolve"], (a, normal(6, 4)))
    check(
        PRIMITIVES["linalg.tensorsolve"], (np.moveaxis(a, (0, 1), (3, 1)), normal(6, 4)), {"axes": (2, 0, 4)}, rtol=1e-6
    )


@pytest.mark.parametrize(("shape", "ind"), [((4, 6, 8, 3), 2), ((24, 8, 3), 1), ((2, 3, 6), 2)])
def test_tensorinv(shape, ind):
    n = int(np.prod(shape[:ind]))
    check(PRIMITIVES["linalg.tensorinv"], ((normal(n, n) + 6 * np.eye(n)).reshape(shape), ind), argnums=[0])


# ---- inverses, determinants, powers ----------------------------------------------------------------------------------
@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", ["inv", "det", "slogdet"])
def test_of_square_matrices(name, stack):
    check(PRIMITIVES[f"linalg.{name}"], (regular(*stack, 3, 3),))


def test_of_small_matrices():
    for name in ("inv", "det", "slogdet"):
        check(PRIMITIVES[f"linalg.{name}"], (np.array([[-2.0]]),))


SINGULAR = {
    "one direction": (np.array([[1.0, 2.0], [2.0, 4.0]]), [[4.0, -2.0], [-2.0, 1.0]]),
    "a number": (np.zeros((1, 1)), [[1.0]]),
    "two directions": (np.ones((3, 3)), np.zeros((3, 3))),
    "zero": (np.zeros((2, 2)), np.zeros((2, 2))),
    "by rounding": (np.arange(1.0, 10.0).reshape(3, 3), [[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]]),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_det_of_a_singular_matrix_is_its_adjugate(case):
    a, cofactors = SINGULAR[case]
    np.testing.assert_allclose(reverse("linalg.det", np.array(1.0), a), cofactors, atol=1e-14)
    both = reverse("linalg.det", np.array([1.0, 2.0]), np.stack([a, regular(*a.shape)]))
    np.testing.assert_allclose(both[0], cofactors, atol=1e-14)
    np.testing.assert_allclose(both[1], 2 * reverse("linalg.det", np.array(1.0), regular(*a.shape)))


def test_slogdet_of_a_singular_matrix():
    a = np.stack([np.ones((2, 2)), 2 * np.eye(2)])
    bar = reverse("linalg.slogdet", (np.zeros(2), np.array([0.0, 1.0])), a)
    np.testing.assert_array_equal(bar, [np.zeros((2, 2)), np.eye(2) / 2])
    with pytest.raises(np.linalg.LinAlgError):
        reverse("linalg.slogdet", (np.zeros(2), np.ones(2)), a)


@pytest.mark.parametrize("n", [-3, -1, 1, 2, 3, 5, 8])
@pytest.mark.parametrize("stack", STACKS)
def test_matrix_power(stack, n):
    check(PRIMITIVES["linalg.matrix_power"], (regular(*stack, 3, 3) / 2, n), argnums=[0], rtol=1e-6)


def test_matrix_power_zero():
    check(PRIMITIVES["linalg.matrix_power"], (regular(3, 3), 0), argnums=[0])


# ---- least squares ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3), (4, 1), (1, 4)])
@pytest.mark.parametrize("right", [(), (2,), (1,)])
def test_lstsq(shape, right):
    check(PRIMITIVES["linalg.lstsq"], (normal(*shape), normal(shape[0], *right, seed=1)), {"rcond": None}, rtol=1e-6)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3), (2, 4, 3), (2, 2, 3, 4)])
def test_pinv(shape):
    check(PRIMITIVES["linalg.pinv"], (normal(*shape),), rtol=1e-6)


def test_pinv_of_symmetric_matrices():
    check(PRIMITIVES["linalg.pinv"], (regular(2, 3, 3),), {"hermitian": True})


def test_without_full_rank():
    with pytest.raises(np.linalg.LinAlgError, match="pinv of a matrix without full rank"):
        reverse("linalg.pinv", np.ones((3, 2)), np.ones((2, 3)))
    out = np.linalg.lstsq(np.ones((3, 2)), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="lstsq of a matrix without full rank"):
        PRIMITIVES["linalg.lstsq"].vjp(
            (np.ones(2), np.zeros(0), None, np.zeros(2)), out, (np.ones((3, 2)), np.ones(3)), {}, (0,)
        )


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_right_hand_sides_of_a_matrix_without_full_rank(shape):
    a = normal(shape[0], 2) @ normal(2, shape[1], seed=1)
    for b in (normal(shape[0], seed=2), normal(shape[0], 3, seed=2)):
        check(PRIMITIVES["linalg.lstsq"], (a, b), {"rcond": None}, argnums=(1,), rtol=1e-6)


def along(f, t):
    """The slope of f(a, b) along parameters that keep the rank, by differences on plain NumPy."""
    steps = [(1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12)]
    return sum(weight * f(t + k * 1e-3) for k, weight in steps) / 1e-3


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_forwards_along_matrices_of_the_same_rank(shape):
    left, right = normal(shape[0], 2), normal(2, shape[1], seed=1)
    b, turn = normal(shape[0], seed=2), normal(shape[0], 2, seed=3)

    def matrix(t):
        return (left + np.sin(t) * turn) @ right

    def pinv(t):
        return np.linalg.pinv(matrix(t))

    def lstsq(t):
        return np.linalg.lstsq(matrix(t), b * np.cos(t), rcond=None)[0]

    for f in (pinv, lstsq):
        np.testing.assert_allclose(codipy.jvp(f, (0.3,), (1.0,))[1], along(f, 0.3), rtol=1e-6, atol=1e-8)
    with pytest.raises(np.linalg.LinAlgError, match="your tangent changes it"):
        codipy.jvp(lambda t: np.linalg.pinv(left @ right + t * np.eye(*shape)), (0.0,), (1.0,))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.linalg.pinv(x)),  # pinv
        lambda x: np.sum(np.linalg.lstsq(x, np.ones(3), rcond=None)[0]),  # lstsq
        lambda x: np.linalg.eigh(x + x.T)[1][0, 1],  # eigh
        lambda x: np.linalg.svd(x + np.eye(3))[0][0, 1],  # svd
    ],
)
def test_errors_name_the_line(f):
    with pytest.raises(np.linalg.LinAlgError, match=rf"test_linalg.py, line {f.__code__.co_firstlineno}: lambda x"):
        codipy.grad(f)(np.zeros((3, 3)))


# ---- cross, trace ----------------------------------------------------------------------------------------------------
def test_cross_and_trace():
    check(PRIMITIVES["linalg.cross"], (normal(4, 3), normal(4, 3, seed=1)))
    check(PRIMITIVES["linalg.cross"], (normal(2, 1, 3), normal(4, 3, seed=1)))
    check(PRIMITIVES["linalg.cross"], (normal(3, 4), normal(3, 1, seed=1)), {"axis": 0})
    for offset in (-1, 0, 2):
        check(PRIMITIVES["linalg.trace"], (normal(2, 3, 4),), {"offset": offset})
    check(PRIMITIVES["linalg.trace"], (normal(3, 3),))
