# SPDX-License-Identifier: Apache-2.0
"""scipy.spatial.distance: SciPy's bits, derivatives by the points against differences."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
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


@pytest.mark.parametrize("options", [{"metric": "cosine"}, {"metric": "minkowski", "w": np.ones(3)}])
def test_other_metrics_are_refused(options):
    with pytest.raises(ActiveError, match="of active values the metrics are"):
        codipy.grad(lambda x: distance.pdist(x.reshape(5, 3), **options).sum())(POINT)
