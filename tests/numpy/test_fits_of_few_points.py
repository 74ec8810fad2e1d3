# SPDX-License-Identifier: Apache-2.0
"""`np.polyfit` where points do not determine the polynomial: linear in the values, and without slopes by the points."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

POINTS = [([2.0], 1), ([1.0, 1.0, 1.0], 1), ([1.0, 2.0, 1.0, 2.0], 2), ([0.0, 1.0, 2.0], 4), ([1, 1, 3], 2)]


@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
@pytest.mark.parametrize("points, degree", POINTS)
def test_values_that_are_fitted(points, degree):
    y = np.cos(np.arange(len(points)) + 0.3)
    weights = np.arange(1.0, len(points) + 1.0)
    for w in (None, weights):

        def f(y, w=w):
            return np.sum(np.sin(np.polyfit(points, y, degree, w=w)))

        value, gradient = codipy.value_and_grad(f)(y)
        assert value == f(y)
        ends = [(f(y + 1e-6 * one) - f(y - 1e-6 * one)) / 2e-6 for one in np.eye(len(y))]
        assert gradient == pytest.approx(np.array(ends), abs=1e-8)
        assert codipy.jvp(f, (y,), (weights,))[1] == pytest.approx(gradient @ weights)
    further = codipy.hessian(lambda y: np.sum(np.sin(np.polyfit(points, y, degree))))(y)
    gradient = codipy.grad(lambda y: np.sum(np.sin(np.polyfit(points, y, degree))))
    ends = [(gradient(y + 1e-6 * one) - gradient(y - 1e-6 * one)) / 2e-6 for one in np.eye(len(y))]
    assert further == pytest.approx(np.array(ends), abs=1e-7)


@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
def test_points_that_are_fitted():
    for f in (lambda x: np.polyfit(x, x, 1)[0], lambda x: np.polyfit(x, np.array([1.0]), 1)[1]):
        with pytest.raises(ActiveError, match="do not determine a polynomial of this degree"):
            codipy.grad(f)(np.array([0.5]))
