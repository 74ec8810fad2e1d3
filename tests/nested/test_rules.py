# SPDX-License-Identifier: Apache-2.0
"""Second derivatives through every function of NumPy that has rules: against differences of first derivatives."""

import numpy as np
import pytest

import codipy
from tests.numpy.table import evaluate, leaves, names_in, plain_results, plain_values, weights_for
from tests.numpy.texts import texts

pytestmark = pytest.mark.filterwarnings("ignore")
STEP = 1e-4


def second_derivatives(text):
    """Second derivatives along tangents: swept, forward over reverse, reverse over reverse, and what they should be."""
    names = [name for name in names_in(text) if name != "e"]
    values = plain_values(names_in(text))
    seeds = weights_for(plain_results(text, values))
    rng = np.random.default_rng(4)
    tangents = [rng.uniform(-1.0, 1.0, np.shape(values[name]))[()] for name in names]
    numbers = tuple(range(len(names)))

    def total(*args):
        results = leaves(evaluate(text, {**values, **dict(zip(names, args))}))
        return sum((np.sum(y * y * 0.5 * s) for y, s in zip(results, seeds) if s is not None), 0.0)

    gradient = codipy.grad(total, argnums=numbers)

    def along(*args):
        return sum((np.sum(g * t) for g, t in zip(gradient(*args), tangents)), 0.0)

    at = tuple(values[name] for name in names)
    moved = {k: gradient(*[x + k * STEP * t for x, t in zip(at, tangents)]) for k in (-2, -1, 1, 2)}
    expected = [(8.0 * (b - a) - (d - c)) / (12.0 * STEP)
                for a, b, c, d in zip(moved[-1], moved[1], moved[-2], moved[2])]
    swept = codipy.hvp(total, at, tuple(tangents))
    return swept, codipy.jvp(gradient, at, tuple(tangents))[1], codipy.grad(along, argnums=numbers)(*at), expected


@pytest.mark.parametrize("text", texts(0, 2))
def test_second_derivatives(text):
    swept, forward, reverse, expected = second_derivatives(text)
    for zero, one, two, three in zip(swept, forward, reverse, expected, strict=True):
        scale = 1.0 + np.max(np.abs(three), initial=0.0)
        assert np.shape(zero) == np.shape(one) == np.shape(two) == np.shape(three)
        assert np.allclose(zero, one, rtol=1e-9, atol=1e-9 * scale)
        assert np.allclose(one, two, rtol=1e-9, atol=1e-9 * scale)
        assert np.allclose(one, three, rtol=1e-5, atol=1e-6 * scale)


def test_a_row_of_three_numbers_has_all_of_them():
    """The third operand of fma was left out where single numbers were computed once more."""
    def squared(x):
        return codipy.math.fma(x, x, x) ** 2      # (x**2 + x)**2

    assert codipy.grad(codipy.grad(squared))(3.0) == pytest.approx(12.0 * 9.0 + 12.0 * 3.0 + 2.0, rel=1e-14)
