# SPDX-License-Identifier: Apache-2.0
"""The products of numpy.linalg that are composed: NumPy's values bit for bit, and its errors."""

import itertools

import numpy as np
import pytest

from codipy.numpy.rules.linalg_products import COMPOSITES

from .checking import normal

multi_dot = COMPOSITES["linalg.multi_dot"]


def chain(sizes):
    return [normal(m, n, seed=k) for k, (m, n) in enumerate(itertools.pairwise(sizes))]


@pytest.mark.parametrize("sizes", [*itertools.product([7, 11], [23, 5], [5, 17], [9, 13]), (3, 3, 3, 3), (4, 4, 4)])
def test_three_or_fewer(sizes):
    np.testing.assert_array_equal(multi_dot(chain(sizes)), np.linalg.multi_dot(chain(sizes)))


@pytest.mark.parametrize("seed", range(20))
def test_longer_chains(seed):
    rng = np.random.default_rng(seed)
    arrays = chain(rng.integers(1, 20, size=rng.integers(5, 9)))
    np.testing.assert_array_equal(multi_dot(arrays), np.linalg.multi_dot(arrays))


def test_vectors_at_the_ends():
    first, *inner, last = chain([5, 7, 11, 3])
    for arrays in ([first[0], *inner, last], [first, *inner, last[:, 0]], [first[0], *inner, last[:, 0]]):
        expected = np.linalg.multi_dot(arrays)
        assert np.shape(multi_dot(arrays)) == np.shape(expected)
        np.testing.assert_array_equal(multi_dot(arrays), expected)


def test_multi_dot_into_an_array():
    arrays, out = chain([4, 3, 2, 5]), np.empty((4, 5))
    assert multi_dot(arrays, out=out) is out
    np.testing.assert_array_equal(out, np.linalg.multi_dot(arrays))


def test_what_multi_dot_refuses():
    with pytest.raises(ValueError, match="at least two"):
        multi_dot([np.eye(2)])
    with pytest.raises(np.linalg.LinAlgError, match="two-dimensional"):
        multi_dot([np.eye(2), np.ones(2), np.eye(2)])


@pytest.mark.parametrize(
    ("name", "left", "right", "options"),
    [
        ("matmul", (2, 3, 4), (4, 5), {}),
        ("tensordot", (2, 3, 4), (3, 4), {}),
        ("tensordot", (2, 3), (3, 2), {"axes": ((0,), (1,))}),
        ("vecdot", (2, 3), (3,), {}),
        ("vecdot", (3, 2), (3, 2), {"axis": 0}),
        ("outer", (3,), (4,), {}),
    ],
)
def test_values(name, left, right, options):
    a, b = normal(*left), normal(*right, seed=1)
    expected = getattr(np.linalg, name)(a, b, **options)
    np.testing.assert_array_equal(COMPOSITES[f"linalg.{name}"](a, b, **options), expected)


def test_outer_takes_vectors():
    with pytest.raises(ValueError, match="one-dimensional"):
        COMPOSITES["linalg.outer"](np.ones((2, 2)), np.ones(2))
