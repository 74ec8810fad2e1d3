# SPDX-License-Identifier: Apache-2.0
"""Products of small matrices and vectors have the cotangents of the rule that larger ones go by, NumPy's products."""

import numpy as np
import pytest

import codipy
from codipy.numpy.registry import PRIMITIVES
from tests.strategies import STRATEGIES

DRAW = np.random.default_rng(17)
SHAPES = [
    ((4, 4), (4, 4)), ((3, 5), (5, 2)), ((3, 5), (5,)), ((5,), (5, 2)), ((5,), (5,)), ((1, 1), (1,)), ((1,), (1, 3)),
    ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0,), (0,)), ((8, 8), (8, 8)), ((9, 8), (8, 8)), ((600,), (600,)),
]  # fmt: skip
LAYOUTS = {
    "as it is": lambda x: x,
    "transposed": lambda x: np.concatenate((x.T, x.T)).T[..., : x.shape[-1]],
    "backwards": lambda x: np.concatenate((x, x))[: x.shape[0]][::-1],
    "with gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("function", [np.matmul, np.dot])
def test_cotangents(function, shapes, layout):
    """Of both operands, and of one alone."""
    x, y = map(DRAW.standard_normal, shapes)
    g = DRAW.standard_normal(np.shape(x @ y))
    laid = LAYOUTS[layout]
    assert (laid(x).shape, laid(y).shape) == shapes

    def f(x, y):
        return np.sum(g * function(laid(x), laid(y)))

    expected = PRIMITIVES[function.__name__].vjp(g, None, (laid(x), laid(y)), {}, (0, 1))
    expected = [bar[::-1] if layout == "backwards" else bar for bar in expected]
    for strategy in STRATEGIES:
        both = codipy.grad(f, argnums=(0, 1), strategy=strategy)(x, y)
        alone = [codipy.grad(f, argnums=k, strategy=strategy)(x, y) for k in (0, 1)]
        for found, bar in zip((*both, *alone), expected * 2, strict=True):
            np.testing.assert_allclose(found, bar, rtol=1e-13, atol=1e-13, err_msg=strategy)


@pytest.mark.parametrize("n", [1, 3, 8, 9])
def test_one_operand_twice_in_several_directions(n):
    x = DRAW.standard_normal((n, n))
    found = codipy.jacobian(lambda x: (x @ x.T @ x)[0])(x)
    expected = np.empty((n, n, n))
    for place in np.ndindex(n, n):
        one = np.zeros((n, n), complex)
        one[place] = 1e-30j
        expected[:, place[0], place[1]] = ((x + one) @ (x + one).T @ (x + one))[0].imag / 1e-30
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("shapes", [((3, 3), (3, 3)), ((9, 9), (9, 9)), ((3,), (3,))])
def test_an_infinite_element_meets_its_row(shapes):
    """Alike in small products and in large ones."""
    x, y = np.ones(shapes[0]), np.ones(shapes[1])
    y[0] = np.inf
    g = np.zeros(np.shape(x @ y))
    expected = PRIMITIVES["matmul"].vjp(g, None, (x, y), {}, (0,))[0]
    tape = codipy.Tape()
    with tape, np.errstate(all="ignore"):
        active = tape.register_input(x.copy())
        result = active @ y
        other = np.sum(active)
    assert np.isnan(expected).any()
    if result.shape:
        g[0] = 1.0
        expected = PRIMITIVES["matmul"].vjp(g, None, (x, y), {}, (0,))[0]
        result.gradient = g
        tape.evaluate()
        np.testing.assert_array_equal(active.gradient, expected)
    else:
        other.gradient = 1.0
        tape.evaluate()
        assert active.gradient.tolist() == [1.0, 1.0, 1.0]
