# SPDX-License-Identifier: Apache-2.0
"""Work arrays that were there before: functions that solvers call fill them, in every place and any number of times."""

import numpy as np
from scipy import integrate

import codipy

X = np.array([0.7, 0.4, 2.1])
STEP = 1e-5
TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def difference(f):
    return np.array([(f(X + step) - f(X - step)) / (2.0 * STEP) for step in STEP * np.eye(len(X))])


def demand(f):
    """Value and gradient are those of the plain run, which leaves what the next one finds."""
    value = f(X)
    for _ in range(2):
        found, gradient = codipy.value_and_grad(f)(X)
        assert found == value
        np.testing.assert_allclose(gradient, difference(f), rtol=1e-5, atol=1e-7)


class Slope:
    """A right-hand side that fills what it has."""

    def __init__(self):
        self.work, self.calls, self.rate = np.zeros(2), 0, 1.0

    def __call__(self, t, y):
        self.calls += 1
        self.work[0], self.work[1] = -self.rate * y[0], y[0] - y[1]
        return self.work.copy()


def test_an_object_that_is_called():
    slope = Slope()

    def f(x):
        slope.rate = x[0]
        return integrate.solve_ivp(slope, (0.0, 1.0), x[1:], **TIGHT).y[1, -1]

    demand(f)
