# SPDX-License-Identifier: Apache-2.0
"""Second derivatives where adjoints are zero: rules leave out what a zero multiplies, but a zero here may have a slope.

The Hessian of half the sum of squares of y(x) - y(x0) is J^T J at x0, where J is the Jacobian, a first derivative.
"""

import numpy as np
import pytest

import codipy
from codipy.errors import UndifferentiableError
from tests.numpy.table import evaluate, is_float, leaves, names_in, plain_results, plain_values
from tests.numpy.texts import texts

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("text", texts(1, 2))
def test_the_hessian_of_squares_at_their_zero(text):
    values = plain_values(names_in(text))
    names = [name for name in values if name != "e"]
    zeros = plain_results(text, values)
    kept = [k for k, y in enumerate(zeros) if is_float(y) and np.all(np.isfinite(y))]
    at = tuple(values[name] for name in names)
    rng = np.random.default_rng(6)
    tangents = tuple(rng.uniform(-1.0, 1.0, np.shape(x))[()] for x in at)

    def results(*args):
        found = leaves(evaluate(text, {**values, **dict(zip(names, args))}))
        return [found[k] for k in kept]

    def squares(*args):
        return sum((0.5 * np.sum((y - np.asarray(zeros[k])) ** 2) for k, y in zip(kept, results(*args))), 0.0)

    out, pullback = codipy.vjp(results, *at)
    expected = pullback(codipy.jvp(results, at, tangents)[1])
    numbers = tuple(range(len(at)))
    gradient = codipy.grad(squares, argnums=numbers)
    reverse = codipy.grad(lambda *args: sum(np.sum(g * t) for g, t in zip(gradient(*args), tangents)), argnums=numbers)
    inside = codipy.grad(lambda *args: codipy.jvp(squares, args, tangents)[1], argnums=numbers)
    scale = 1.0 + max(np.max(np.abs(x), initial=0.0) for x in expected)
    swept = codipy.hvp(squares, at, tangents)
    for found in (swept, codipy.jvp(gradient, at, tangents)[1], reverse(*at), inside(*at)):
        for one, two in zip(found, expected, strict=True):
            assert np.allclose(one, two, rtol=1e-7, atol=1e-7 * scale)


def test_zeros_and_edges():
    hessian, grad = codipy.hessian, codipy.grad
    pair = np.array([0.0, 4.0])

    def rooted(x):
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    np.testing.assert_allclose(hessian(lambda x: (np.linalg.norm(x) - 5) ** 2)(np.array([3.0, 4.0])),
                               [[0.72, 0.96], [0.96, 1.28]], rtol=1e-12)
    assert hessian(lambda x: rooted(x) + (x[0] * x[1]) ** 2)(pair)[0, 0] == 32.0
    found = hessian(lambda x: rooted(x) + (np.sin(x[1]) - np.sin(4.0)) ** 2)(pair)[1, 1]
    assert found == pytest.approx(2.0 * np.cos(4.0) ** 2 - 1.0 / 32.0)
    assert grad(lambda s: grad(lambda x: s * x[1] ** 2 + 0.0 * np.sqrt(x[0]))(np.array([0.0, 3.0]))[1])(0.0) == 6.0
    assert hessian(lambda x: np.sum(np.cumprod(x)))(np.array([0.0, 0.0, 3.0]))[0, 1] == 4.0
    np.testing.assert_allclose(hessian(lambda z: z[0] ** z[1])(np.array([2.0, 0.0])), [[0, 0.5], [0.5, np.log(2) ** 2]])
    assert grad(grad(grad(np.tanh)))(0.0) == -2.0
    assert grad(grad(grad(grad(lambda x: np.logaddexp(x, 0.0)))))(0.0) == pytest.approx(-0.125)


def test_a_limit_without_a_rule_is_refused():
    from scipy.special import bei, beip

    assert codipy.grad(beip)(0.0) == 0.5
    with pytest.raises(UndifferentiableError, match="limit"):
        codipy.hessian(beip)(0.0)
    step = 1e-4
    expected = (bei(2.0 + step) - 2 * bei(2.0) + bei(2.0 - step)) / step**2
    assert codipy.grad(beip)(2.0) == pytest.approx(expected, rel=1e-6)


def test_the_edge_of_an_incomplete_gamma_function_is_refused():
    from scipy.special import gammainc

    assert codipy.grad(lambda x: gammainc(2.0, x))(0.0) == 0.0
    with pytest.raises(UndifferentiableError, match="limit"):
        codipy.hessian(lambda x: gammainc(2.0, x))(0.0)
    assert codipy.hessian(lambda x: gammainc(2.0, x))(0.5) == pytest.approx(np.exp(-0.5) * 0.5)


def test_kinks_are_where_the_run_met_them():
    """A difference that is zero in the run stays zero, whichever library computes the exponential once more."""
    for x in np.linspace(0.1, 3.0, 200).tolist():
        for exp in (np.exp, codipy.math.exp):
            there = float(exp(x))

            def f(x, exp=exp, there=there):
                y = exp(x)
                z = y - there
                return abs(z) + 0.0 * (y * z)

            assert codipy.value_and_grad(codipy.grad(f))(x)[0] == 0.0


@pytest.mark.parametrize("f", [
    lambda x: ((x[0] - 1.0) * 0.0 * x[0]) ** 0.5 * x[0] + x[1],
    lambda x: np.sqrt((x[0] - 1.0) * 0.0 * x[0]) * 2.0 + x[0] * x[1],
    lambda x: (x[0] * 0.0 * x[1]) ** 0.5 * x[0] + x[1] ** 2,
    lambda x: np.cbrt(x[0] * 0.0) * x[1] + x[1],
])  # fmt: skip
def test_a_partial_of_zero_passes_nothing_on_between_numbers(f):
    x, v = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    gradient = codipy.grad(f)
    first, second = codipy.jvp(gradient, (x,), (v,))
    assert np.array_equal(first, gradient(x))
    assert np.array_equal(second, codipy.hvp(f, (x,), (v,))[0])
    assert np.array_equal(second, codipy.grad(lambda t: np.sum(gradient(t) * v))(x))
    assert codipy.grad(lambda t: codipy.jvp(f, (t,), (v,))[1])(x) == pytest.approx(second, abs=1e-15)
