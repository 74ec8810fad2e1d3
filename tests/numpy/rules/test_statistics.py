# SPDX-License-Identifier: Apache-2.0
"""Covariances, correlations and weighted counts: rules against differences, composites bit for bit NumPy's."""

import numpy as np
import pytest

from codipy.errors import ActiveError
from codipy.numpy.rules.statistics import COMPOSITES, PRIMITIVES
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(23)
M, Y = RNG.standard_normal((3, 6)), RNG.standard_normal((2, 6))


@pytest.mark.parametrize("m, y, rowvar", [
    (M, None, True), (M, Y, True), (M.T, None, False), (M.T, Y.T, False), (M[0], None, True), (M[0], Y[0], True),
    (M, Y[0], True), (M[0], Y, True), (M[0], None, False), (M[0], Y[0], False), (M.T, Y[0].reshape(6, 1), False),
    (M[:1], None, True), (M[:1].T, None, False), (M[:1], Y, True),
])  # fmt: skip
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_shapes(name, m, y, rowvar):
    args = [m] if y is None else [m, y]
    if name == "cov" or np.ndim(np.corrcoef(*args, rowvar=rowvar)):
        check(PRIMITIVES[name], args, {"rowvar": rowvar})
    else:
        out = PRIMITIVES[name].forward(*args, rowvar=rowvar)
        assert not PRIMITIVES[name].vjp(np.array(1.0), out, args, {"rowvar": rowvar}, (0,))[0].any()


@pytest.mark.parametrize("kwargs", [
    {"bias": True}, {"ddof": 0}, {"ddof": 2}, {"fweights": np.array([1, 2, 3, 1, 0, 2])},
    {"aweights": np.array([0.5, 1.0, 2.0, 0.1, 0.3, 1.1])},
    {"fweights": np.array([1, 2, 3, 1, 0, 2]), "aweights": np.array([0.5, 1.0, 2.0, 0.1, 0.3, 1.1]), "ddof": 1},
    {"aweights": np.array([0.5, 1.0, 2.0, 0.1, 0.3, 1.1]), "ddof": 0},
])  # fmt: skip
def test_weights_and_degrees_of_freedom(kwargs):
    check(PRIMITIVES["cov"], [M, Y], kwargs)


def test_bincount():
    x = np.array([0, 3, 3, 1, 5])
    check(PRIMITIVES["bincount"], [x, RNG.standard_normal(5)], argnums=(1,))
    check(PRIMITIVES["bincount"], [list(x), RNG.standard_normal(5), 9], argnums=(1,))


A = RNG.uniform(-1.0, 1.0, 40)


@pytest.mark.parametrize("density", [None, True])
@pytest.mark.parametrize("bins, extent", [
    (10, None), (7, (-0.5, 0.5)), (np.array([-2.0, -0.3, 0.0, 0.7, 0.9]), None), (2, None),
])  # fmt: skip
def test_weights_of_a_histogram(bins, extent, density):
    check(PRIMITIVES["histogram"], [A, bins, extent, density, RNG.uniform(0.5, 1.5, 40)], argnums=(4,))
    a, weights = A.reshape(5, 8), RNG.uniform(0.5, 1.5, (5, 8))
    check(PRIMITIVES["histogram"], [a, bins, extent, density, weights], argnums=(4,))


def test_last_edge_belongs_to_the_last_bin():
    args = np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.0, 0.5, 1.0]), None, None, np.ones(4)
    p = PRIMITIVES["histogram"]
    got = p.vjp((np.array([1.0, 10.0]), np.zeros(3)), p.forward(*args), args, {}, (4,))[0]
    assert got.tolist() == [1.0, 10.0, 10.0, 0.0]


def test_edges_follow_the_extremes():
    check(PRIMITIVES["histogram"], [A, 5], step=1e-5, rtol=1e-6)
    check(PRIMITIVES["histogram"], [A, 5, (-2.0, 2.0)], step=1e-8)
    with pytest.raises(ActiveError, match="histogram"):
        p = PRIMITIVES["histogram"]
        p.vjp((None, np.ones(11)), p.forward(A, density=True), (A,), {"density": True}, (0,))


@pytest.mark.parametrize("density", [None, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [5, (3, 4), [np.array([-1.0, 0.0, 0.4]), 3], [np.linspace(-1.0, 1.0, 4)] * 2])
def test_several_dimensions(bins, weighted, density):
    sample = RNG.uniform(-1.0, 1.0, (50, 2))
    sample[0] = sample.max(axis=0)
    weights = RNG.standard_normal(50) if weighted else None
    for args in ((sample, bins), ([sample[:, 0], sample[:, 1]], bins), (sample, bins, [(-0.5, 0.5), None])):
        found = COMPOSITES["histogramdd"](*args, density=density, weights=weights)
        expected = np.histogramdd(*args, density=density, weights=weights)
        np.testing.assert_array_equal(found[0], expected[0])
        assert all((e == f).all() for e, f in zip(found[1], expected[1]))
    found = COMPOSITES["histogram2d"](sample[:, 0], sample[:, 1], bins, density=density, weights=weights)
    for one, other in zip(found, np.histogram2d(sample[:, 0], sample[:, 1], bins, density=density, weights=weights)):
        np.testing.assert_array_equal(one, other)


def test_common_edges_of_histogram2d():
    edges = [-1.0, 0.0, 0.5, 1.0]
    for one, other in zip(COMPOSITES["histogram2d"](A, A, edges), np.histogram2d(A, A, edges)):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("args", [(A,), (A, 3), (A, 4, (0.0, 2.0)), (A[:1],), (A[:0], 2), (A, [0.0, 1.0, 3.0])])
def test_histogram_bin_edges(args):
    np.testing.assert_array_equal(COMPOSITES["histogram_bin_edges"](*args), np.histogram_bin_edges(*args))
    with pytest.raises(ActiveError, match="chosen"):
        COMPOSITES["histogram_bin_edges"](A, "auto")
