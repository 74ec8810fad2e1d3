# SPDX-License-Identifier: Apache-2.0
"""The two objectives that benchmarks share: values as they are described, gradients by differences."""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

pytest.importorskip("scipy")

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
try:
    work, checks = (importlib.import_module(module) for module in ("gradbench_work", "array_checks"))
finally:
    del sys.path[0]


@each_strategy
@pytest.mark.parametrize("name", work.POINTS)
def test_gradient(name, strategy):
    point = work.POINTS[name]
    checks.check_small(point, codipy.value_and_grad(point.function, argnums=point.argnums, strategy=strategy))


def test_the_mixture_is_what_is_described():
    """One sample and one component after the other, with the densities written out."""
    alphas, means, factors, x = work.clusters(5, dimension=3, components=2)
    total = -5 * math.log(sum(math.exp(alpha) for alpha in alphas))
    for sample in x:
        terms = []
        for alpha, mean, factor in zip(alphas, means, factors, strict=True):
            q = np.diag(np.exp(factor[:3]))
            q[1, 0], q[2, 0], q[2, 1] = factor[3:]
            terms.append(math.exp(alpha) * np.linalg.det(q) * math.exp(-0.5 * np.sum((q @ (sample - mean)) ** 2)))
        total += math.log(sum(terms)) - 1.5 * math.log(2.0 * math.pi)
    total += sum(0.5 * (np.sum(np.exp(factor[:3]) ** 2) + np.sum(factor[3:] ** 2)) for factor in factors)
    gamma = 1.5 * math.log(math.pi) + sum(math.lgamma(0.5 * (4 - k)) for k in range(3))
    total -= 2 * (4 * 3 * -0.5 * math.log(2.0) - gamma)
    assert work.mixture(alphas, means, factors, x) == pytest.approx(total, rel=1e-13)


def test_the_ode_has_its_solution():
    """The last of n variables is the product of the rates times t**n / n!."""
    rates, steps = work.rates(400, variables=4)
    assert work.ode(rates, steps) == pytest.approx(np.prod(rates) * 2.0**4 / 24.0, rel=1e-9)
