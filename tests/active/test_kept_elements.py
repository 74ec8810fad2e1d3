# SPDX-License-Identifier: Apache-2.0
"""Elements that are kept while their places are written to: their identifiers are theirs until they are gone."""

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

POINT = np.array([0.3, 0.5, 0.7, 0.9])


def kept(x):
    """Elements of an array with explicit identifiers, kept and used after their places were written to."""
    c = x * 2.0
    c[0] = np.sin(x[1])
    q, p = c[0], c[2]
    c[0] = x[3] * 1.5
    c[2] = np.cos(x[2])
    d = x * 3.0
    e = np.exp(x[0]) * 1.0
    c[1] = x[1] * x[2]
    return np.sum(np.sin(c)) + q * p + np.sum(d * d) + e


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_element_keeps_its_identifier(strategy):
    value, gradient = codipy.value_and_grad(kept, strategy=strategy)(POINT)
    steps = 1e-6 * np.eye(4)
    assert value == kept(POINT)
    np.testing.assert_allclose(gradient, [(kept(POINT + s) - kept(POINT - s)) / 2e-6 for s in steps], 1e-7)
