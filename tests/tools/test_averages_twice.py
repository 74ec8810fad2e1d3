# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of the functions of `statistics`, which the tape has as numbers when they are needed once."""

import statistics

import numpy as np
import pytest

import codipy
from codipy.tools.rebinding import averages

POINT = [1.3, 0.4, 2.2, 0.9]

USES = {
    "mean": lambda x: statistics.mean(x) ** 3,
    "fmean": lambda x: statistics.fmean(x) ** 3,
    "geometric_mean": lambda x: statistics.geometric_mean(x) ** 2,
    "harmonic_mean": lambda x: statistics.harmonic_mean(x) ** 2,
    "variance": lambda x: statistics.variance(x) * x[0],
    "pvariance": lambda x: statistics.pvariance(x, x[1]) * x[0],
    "stdev": lambda x: statistics.stdev(x) * x[0],
    "pstdev": lambda x: statistics.pstdev(x) * x[0],
    "covariance": lambda x: statistics.covariance(x, [x[1], x[0] * x[2], x[3], 1.0]),
}


def test_each_rule_is_used():
    assert USES.keys() == {rule.__name__ for rule in averages._RULES if hasattr(statistics, rule.__name__)}


@pytest.mark.parametrize("name", USES)
def test_hessians_are_differences_of_gradients(name):
    f, gradient, h = USES[name], codipy.grad(USES[name]), 1e-5
    columns = []
    for k in range(len(POINT)):
        ends = [np.array(gradient([x + s * h * (i == k) for i, x in enumerate(POINT)])) for s in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * h))
    assert codipy.value_and_grad(f)(POINT)[0] == f(POINT)
    for found in (codipy.hessian(f)(POINT), codipy.jacobian(codipy.grad(f))(POINT)):
        np.testing.assert_allclose(np.array(found), columns, 1e-6, 1e-8)
