# SPDX-License-Identifier: Apache-2.0
"""KDTree in rebound code: neighbours are decided by values, distances have derivatives; what is refused says why."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError

sp = pytest.importorskip("scipy.spatial")

POINTS = np.random.default_rng(3).uniform(0.0, 1.0, (8, 2))
AT = np.random.default_rng(4).uniform(0.3, 0.6, (3, 2))
TREE = sp.KDTree(POINTS)
CASES = {
    "of points": lambda p: sp.KDTree(p).query(AT)[0],
    "at points": lambda p: sp.KDTree(POINTS).query(p * 0.9, k=3)[0],
    "at one point": lambda p: sp.cKDTree(POINTS).query(p[0], k=[2])[0],
    "of themselves": lambda p: sp.KDTree(p).query(p, k=3)[0],
    "missing ones": lambda p:
        np.where(np.isinf(far := sp.KDTree(p).query(AT, k=4, distance_upper_bound=0.4)[0]), 0, far),
    "by numbers": lambda p: np.linalg.norm(p[sp.KDTree(p).query(AT, k=2)[1]] - AT[:, None], axis=-1),
    "pairs": lambda p:
        np.sum((p[(ij := sp.KDTree(p).query_pairs(0.4, output_type="ndarray"))[:, 0]] - p[ij[:, 1]]) ** 2),
    "balls": lambda p: sum(np.sum(p[i] ** 2) for i in sp.KDTree(p).query_ball_point(AT, 0.3)),
    "counts": lambda p: np.sum(p) * sp.KDTree(p).count_neighbors(sp.KDTree(AT), 0.3),
    "made before": lambda p: np.sum(p) * TREE.query(AT)[0],
}  # fmt: skip
for _p in (1.0, 2.0, 3.5, np.inf):
    CASES[f"metric {_p}"] = lambda x, p=_p: sp.KDTree(x).query(x[:3] * 0.9, k=3, p=p)[0]


def number(case):
    return lambda p: np.sum(case(p) * np.cos(np.arange(np.size(case(p)))).reshape(np.shape(case(p))))


@pytest.mark.parametrize("name", CASES)
def test_distances(name):
    f = number(CASES[name])
    value, gradient = codipy.value_and_grad(f)(POINTS)
    assert value == f(POINTS)
    steps = 1e-5 * np.eye(16).reshape(16, 8, 2)
    wanted = [(f(POINTS + h) - f(POINTS - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient.ravel(), wanted, rtol=1e-6, atol=1e-7)
    t = np.cos(np.arange(16)).reshape(8, 2)
    assert codipy.jvp(f, (POINTS,), (t,))[1] == pytest.approx(np.sum(gradient * t), rel=1e-11)
    (product,) = codipy.hvp(f, (POINTS,), (t,))
    change = (codipy.grad(f)(POINTS + 1e-5 * t) - codipy.grad(f)(POINTS - 1e-5 * t)) / 2e-5
    np.testing.assert_allclose(product, change, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["of points", "by numbers", "pairs", "balls", "counts"])
def test_a_replay_with_other_neighbours_raises(name):
    tape, f = codipy.Tape("primal"), number(CASES[name])
    with tape:
        p = tape.register_input(POINTS.copy())
        y = tape.register_output(codipy.rebind(f)(p))
    tape.set_primal(p, POINTS * 1.0001)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(f(POINTS * 1.0001), rel=1e-14)
    tape.set_primal(p, POINTS[::-1] * 3.0)
    with pytest.raises(TapeError):
        tape.evaluate_primal()


@pytest.mark.parametrize("refused", [
    lambda p: sp.Delaunay(p).npoints, lambda p: sp.ConvexHull(p).volume, lambda p: sp.Voronoi(p).vertices[0, 0],
    lambda p: sp.KDTree(p).sparse_distance_matrix(sp.KDTree(p), 0.3).sum(), lambda p: sp.procrustes(p, POINTS)[2],
    lambda p: sp.KDTree(p, boxsize=2.0).query(AT)[0], lambda p: BOX.query(p)[0],
    lambda p: sp.KDTree(POINTS).query(AT, p=2.0 + p[0, 0])[0],
    lambda p: sp.KDTree(POINTS).count_neighbors(sp.KDTree(AT), 0.3, weights=(p[:, 0], None)),
])  # fmt: skip
def test_what_has_no_derivative_says_so(refused):
    with pytest.raises(ActiveError):
        codipy.grad(lambda p: np.sum(refused(p)))(POINTS)


def test_where_nothing_is_active_it_is_scipys():
    def f(p):
        tree = sp.KDTree(POINTS, leafsize=4)
        assert isinstance(tree, sp.KDTree) and tree.n == 8 and tree.leafsize == 4
        assert sp.ConvexHull(POINTS).volume == HULL.volume and isinstance(sp.Delaunay(POINTS), sp.Delaunay)
        return np.sum(p) * tree.query(AT)[0][0]

    assert codipy.value_and_grad(f)(POINTS)[0] == f(POINTS)


HULL = sp.ConvexHull(POINTS)
BOX = sp.KDTree(POINTS, boxsize=2.0)
