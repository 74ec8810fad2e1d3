# SPDX-License-Identifier: Apache-2.0
"""The rules of norms and condition numbers: every order, axes, kinks, zero."""

import numpy as np
import pytest

from codipy.numpy.rules.norms import PRIMITIVES

from .checking import check, normal, reverse

VECTOR_ORDERS = [None, 0, 1, 2, 3, 0.5, 2.5, -1, -2, np.inf, -np.inf]
MATRIX_ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]


def spaced(*shape):
    """Numbers of both signs whose magnitudes differ by more than the step of the differences."""
    n = int(np.prod(shape))
    rng = np.random.default_rng(5)
    return (rng.permutation(np.linspace(0.5, 2.0, n)) * rng.choice([-1.0, 1.0], n)).reshape(shape)


@pytest.mark.parametrize("p", VECTOR_ORDERS)
def test_norm_of_vectors(p):
    check(PRIMITIVES["linalg.norm"], (spaced(5), p), argnums=[0])
    check(PRIMITIVES["linalg.norm"], (spaced(3, 4), p, 0), argnums=[0])
    check(PRIMITIVES["linalg.norm"], (spaced(2, 3, 4),), {"ord": p, "axis": -2, "keepdims": True})
    p = 2 if p is None else p
    check(PRIMITIVES["linalg.vector_norm"], (spaced(2, 3, 4),), {"ord": p})
    check(PRIMITIVES["linalg.vector_norm"], (spaced(2, 3, 4),), {"ord": p, "axis": (2, 0), "keepdims": True})
    check(PRIMITIVES["linalg.vector_norm"], (spaced(2, 3),), {"ord": p, "axis": 1})


@pytest.mark.parametrize("p", MATRIX_ORDERS)
def test_norm_of_matrices(p):
    check(PRIMITIVES["linalg.norm"], (spaced(3, 4), p), argnums=[0], rtol=1e-6)
    check(PRIMITIVES["linalg.norm"], (spaced(2, 3, 3),), {"ord": p, "axis": (0, 2), "keepdims": True}, rtol=1e-6)
    check(PRIMITIVES["linalg.norm"], (spaced(4, 2, 3),), {"ord": p, "axis": (-1, 0)}, rtol=1e-6)
    check(PRIMITIVES["linalg.matrix_norm"], (spaced(2, 4, 3),), {"ord": p or "fro"}, rtol=1e-6)
    check(PRIMITIVES["linalg.matrix_norm"], (spaced(3, 3),), {"ord": p or "fro", "keepdims": True}, rtol=1e-6)


def test_norm_of_everything():
    check(PRIMITIVES["linalg.norm"], (spaced(2, 3, 4),))
    check(PRIMITIVES["linalg.norm"], (spaced(2, 3, 4),), {"keepdims": True})
    check(PRIMITIVES["linalg.norm"], (np.asfortranarray(spaced(3, 4)),))


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("p", VECTOR_ORDERS)
def test_norm_of_a_zero_vector_has_a_zero_slope(p):
    assert not np.any(reverse("linalg.norm", np.array(1.0), np.zeros(3), p))


@pytest.mark.parametrize("p", MATRIX_ORDERS)
def test_norm_of_a_zero_matrix_has_a_zero_slope(p):
    assert not np.any(reverse("linalg.norm", np.array(1.0), np.zeros((3, 2)), p))


def test_norms_at_kinks():
    np.testing.assert_array_equal(reverse("linalg.norm", np.array(1.0), np.array([0.0, -2.0]), 1), [0, -1])
    np.testing.assert_array_equal(reverse("linalg.norm", np.array(1.0), np.array([3.0, -3.0]), np.inf), [1, 0])
    np.testing.assert_allclose(reverse("linalg.norm", np.array(1.0), np.array([0.0, 3.0]), 0.5), [0, 1])
    np.testing.assert_allclose(
        reverse("linalg.norm", np.array(1.0), np.diag([2.0, 0.0]), "nuc"), np.diag([1.0, 0.0]), atol=1e-15
    )


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_cond(p):
    check(PRIMITIVES["linalg.cond"], (normal(3, 3, seed=2), p), argnums=[0], rtol=1e-6)
    check(PRIMITIVES["linalg.cond"], (normal(2, 4, 4, seed=3),), {"p": p}, rtol=1e-6)


def test_cond_of_other_shapes_and_singular_matrices():
    check(PRIMITIVES["linalg.cond"], (normal(2, 4, 3),), rtol=1e-6)
    for p in (None, 1):
        with pytest.raises(np.linalg.LinAlgError, match="condition number of a singular"):
            reverse("linalg.cond", np.array(1.0), np.zeros((2, 2)), p)


def test_norm_of_a_number():
    check(PRIMITIVES["linalg.norm"], (np.array(-2.5),))
    check(PRIMITIVES["linalg.vector_norm"], (np.array(-2.5),))
