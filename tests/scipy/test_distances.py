# SPDX-License-Identifier: Apache-2.0
"""scipy.spatial.distance: SciPy's bits, derivatives by the points against differences."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from codipy.scipy.distances import METRICS
from tests.scipy.test_sparse import differences

distance = pytest.importorskip("scipy.spatial.distance")

POINT = np.cos(np.arange(15.0) ** 1.3) + 0.2 * np.arange(15.0)
OTHERS = np.sin(np.arange(12.0)).reshape(4, 3)
CASES = {"pairs as a matrix": lambda x: distance.squareform(distance.pdist(x.reshape(5, 3))),
         "as a vector again": lambda x: distance.squareform(distance.squareform(x[:10] * x[1]))}  # fmt: skip
for _metric in METRICS:
    _options = {"p": 3.0} if _metric == "minkowski" else {}
    CASES[f"cdist {_metric}"] = lambda x, m=_metric, o=_options: distance.cdist(x.reshape(5, 3), OTHERS * x[0], m, **o)
    CASES[f"pdist {_metric}"] = lambda x, m=_metric, o=_options: distance.pdist(x.reshape(5, 3), m, **o)


W = np.array([0.7, 1.3, 0.4])
POSITIVE = np.exp(0.3 * OTHERS)
for _metric in ("braycurtis", "canberra", "correlation", "cosine", "mahalanobis", "seuclidean"):
    CASES[f"cdist {_metric}"] = lambda x, m=_metric: distance.cdist(x.reshape(5, 3), OTHERS * x[0], m)
    CASES[f"pdist {_metric}"] = lambda x, m=_metric: distance.pdist(x.reshape(5, 3) ** 2, m)
for _metric in ("braycurtis", "canberra", "cityblock", "correlation", "cosine", "euclidean", "minkowski",
                "sqeuclidean"):  # fmt: skip
    CASES[f"cdist {_metric}, weighted"] = lambda x, m=_metric: distance.cdist(x[:12].reshape(4, 3), OTHERS, m,
                                                                             w=W + x[12:] ** 2)
    CASES[f"{_metric}, weighted"] = lambda x, m=_metric: np.reshape(
        getattr(distance, m)(x[:3], x[3:6], w=W + x[12:] ** 2), 1)
CASES |= {
    "of an exponent": lambda x: distance.cdist(x[:12].reshape(4, 3), OTHERS, "minkowski", p=2.5 + x[12] ** 2),
    "of variances": lambda x: distance.cdist(x[:12].reshape(4, 3), OTHERS, "seuclidean", V=W + x[12:] ** 2),
    "of a shape": lambda x: distance.cdist(x[:12].reshape(4, 3), OTHERS, "mahalanobis", VI=np.diag(W + x[12:] ** 2)),
    "of distributions": lambda x: distance.cdist(np.exp(0.1 * x).reshape(5, 3), POSITIVE, "jensenshannon"),
    "between vectors": lambda x: np.stack([
        distance.euclidean(x[:3], x[3:6]), distance.chebyshev(x[:3], x[3:6]), distance.seuclidean(x[:3], x[3:6], W),
        distance.minkowski(x[:3], x[3:6], x[6] + 3.0), distance.mahalanobis(x[:3], x[3:6], np.diag(W * x[7])),
        distance.jensenshannon(np.exp(x[:3]), np.exp(x[3:6]), 2.0),
        distance.correlation(x[:3], x[3:6], centered=False)]),
}  # fmt: skip


def number(case):
    return lambda x: np.sum(case(x) ** 2 * np.cos(np.arange(case(x).size)).reshape(case(x).shape))


@pytest.mark.parametrize("name", CASES)
def test_distances(name):
    f = number(CASES[name])
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    np.testing.assert_allclose(gradient, differences(f, POINT), rtol=1e-6, atol=1e-6)
    direction = np.cos(np.arange(15.0))
    _, slope = codipy.jvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(slope, gradient @ direction, rtol=1e-10)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    change = codipy.grad(f)(POINT + 1e-6 * direction) - codipy.grad(f)(POINT - 1e-6 * direction)
    np.testing.assert_allclose(product, change / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["cdist euclidean", "pdist minkowski", "pairs as a matrix"])
def test_every_strategy_and_direction(name):
    codipy.check_derivatives(number(CASES[name]), POINT)


def test_points_that_meet_have_the_slope_zero():
    assert codipy.grad(lambda x: distance.cdist(x[None], np.ones((1, 3))).sum())(np.ones(3)).tolist() == [0.0] * 3


def test_a_replay_at_a_point_that_meets_another_is_refused():
    with codipy.Tape(strategy="primal") as tape:
        x = tape.register_input(np.array([1.0, 2.0, 3.0]))
        y = tape.register_output(codipy.rebind(lambda x: distance.euclidean(x, [1.0, 1.0, 1.0]))(x))
    tape.set_primal(x, np.array([2.0, 2.0, 2.0]))
    tape.evaluate_primal()
    assert tape.get_primal(y) == distance.euclidean([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    tape.set_primal(x, np.ones(3))
    with pytest.raises(TapeError):
        tape.evaluate_primal()


@pytest.mark.parametrize("options", [{"metric": "hamming"}, {"metric": lambda u, v: u @ v},
                                     {"metric": "chebyshev", "w": np.ones(3)}])
def test_other_metrics_are_refused(options):
    with pytest.raises(ActiveError, match="of active values the metrics are|no derivative with w="):
        codipy.grad(lambda x: distance.pdist(x.reshape(5, 3), **options).sum())(POINT)
