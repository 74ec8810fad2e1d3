# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of the incomplete gamma and beta functions by their shapes, and of distributions."""

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import codipy
from codipy.errors import UndifferentiableError

STEP = 1e-5
# Below and above the mode, where other sums are taken.
INCOMPLETE = [(special.gammainc, lambda a, x: mpmath.gammainc(a, 0, x, regularized=True), point)
              for point in ([2.3, 0.7], [2.3, 5.1], [0.2, 0.01], [40.0, 55.0])] + [
             (special.betainc, lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True), point)
              for point in ([2.3, 1.7, 0.2], [2.3, 1.7, 0.9], [0.4, 30.0, 0.05], [30.0, 0.4, 0.9])]  # fmt: skip


@pytest.mark.parametrize("function, exact, point", INCOMPLETE)
def test_incomplete_functions(function, exact, point):
    found = codipy.hessian(lambda x: function(*x))(np.array(point))
    count = len(point)
    with mpmath.workdps(40):
        known = [[float(mpmath.diff(exact, point, tuple(int(k == i) + int(k == j) for k in range(count)), h=1e-12))
                  for j in range(count)] for i in range(count)]  # fmt: skip
    np.testing.assert_allclose(found, known, 1e-10, 1e-13)


@pytest.mark.parametrize("kind", ["cdf", "logsf", "ppf"])
@pytest.mark.parametrize("distribution, shapes", [
    (stats.gamma, [2.3]), (stats.beta, [2.3, 1.7]), (stats.t, [4.5]), (stats.f, [4.5, 3.2]), (stats.chi2, [3.3]),
])  # fmt: skip
def test_distributions(distribution, shapes, kind):
    gradient = codipy.grad(lambda x: getattr(distribution, kind)(x[0], *x[1:]))
    point = np.array([0.4, *shapes])
    known = [(gradient(point + e) - gradient(point - e)) / (2.0 * STEP) for e in STEP * np.eye(len(point))]
    found = codipy.hessian(lambda x: getattr(distribution, kind)(x[0], *x[1:]))(point)
    np.testing.assert_allclose(found, known, 1e-6, 1e-8)


@pytest.mark.parametrize("function, argument", [
    (special.gammainc, "gammainc by its shape a"), (special.jv, "jv by its order v"),
])  # fmt: skip
def test_the_next_order_names_function_and_parameter(function, argument):
    third = codipy.grad(codipy.grad(codipy.grad(lambda a: function(a, 1.2))))
    with pytest.raises(UndifferentiableError, match=f"scipy.special.{argument}.*take differences"):
        third(0.7)
