# SPDX-License-Identifier: Apache-2.0
"""The short ways of calls give what the long ones give: values to the bit, derivatives by central differences."""
import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES

DRAW = np.random.default_rng(11)
A = DRAW.standard_normal((4, 5))
OTHER = DRAW.standard_normal((5, 3))
CUBE = DRAW.standard_normal((2, 3, 4))
WEIGHTS = DRAW.standard_normal(400)
MASK = A > 0.2


def weighted(x):
    """A number that depends on every element of a result."""
    flat = np.reshape(x, -1)
    return np.sum(WEIGHTS[: flat.shape[0]] * flat)


CASES = {
    "sort of columns": lambda a: np.sort(a, axis=0),
    "sort of a transpose": lambda a: np.sort(a.T),
    "sort of all": lambda a: np.sort(a, axis=None),
    "sort of every second": lambda a: np.sort(a[:, ::2]),
    "sort of a backward view": lambda a: np.sort(a[::-1, ::-1]),
    "largest": lambda a: np.max(a[::-1, 1:]) * a,
    "largest of rows": lambda a: a.max(axis=1),
    "largest of rows of a transpose": lambda a: a.T.max(axis=1, keepdims=True),
    "largest of columns": lambda a: np.min(a[:, ::-1], axis=0),
    "median": lambda a: np.median(a[1:, 1:]) * a,
    "median of an odd number": lambda a: np.median(a[1:, 0]) * a,
    "product": lambda a: np.prod(a) * a[0],
    "running sum": lambda a: np.cumsum(a, axis=0),
    "running sum of all": lambda a: np.cumsum(a),
    "log of sums": lambda a: np.logaddexp.reduce(a, axis=0),
    "log of all sums": lambda a: np.logaddexp.reduce(a, axis=None) * a,
    "log of sums that stay": lambda a: np.logaddexp.reduce(a, axis=-1, keepdims=True) * a,
    "interpolated": lambda a: np.interp(a, np.linspace(-1.5, 1.0, 9), np.linspace(-1.5, 1.0, 9) ** 3),
    "norm": lambda a: np.linalg.norm(a) * a,
    "norms of rows": lambda a: np.linalg.norm(a, axis=1),
    "trace": lambda a: np.trace(a[:, 1:], offset=1) * a,
    "determinant": lambda a: np.linalg.det(a[:, :4] + 3 * np.eye(4)) * a,
    "factor": lambda a: np.linalg.cholesky(a @ a.T + np.eye(4)),
    "upper factor": lambda a: np.linalg.cholesky(a @ a.T + np.eye(4), upper=True),
    "rows times rows": lambda a: (a[0] @ a[1]) * a,
    "row times matrix": lambda a: a[0, :4] @ a,
    "outer": lambda a: np.outer(a[0], a[:, 1]),
    "concatenated": lambda a: np.concatenate((a, np.ones((2, 5)), a[::-1] * 2.0), axis=0),
    "stacked": lambda a: np.stack((a[0], a[1], 3.0 * a[2]), axis=1),
    "chosen": lambda a: np.where(MASK, a, np.sin(a)),
    "chosen or a number": lambda a: np.where(MASK, a, 0.0),
    "chosen columns": lambda a: np.where(a[:, :1] > 0, a[0], a.T[:1].T),
    "clipped": lambda a: np.clip(a, -0.5, a[0] + 1.0),
    "taken": lambda a: np.take(a, [2, 0, 2], axis=0),
    "product of a pair": lambda a: np.einsum("ij,jk->ki", a, OTHER),
    "outer product of a pair": lambda a: np.einsum("i,jk->kij", a[0], a),
    "stack of products": lambda a: np.einsum("bi,bj->bij", a, a[::-1]),
    "sums inside": lambda a: np.einsum("ij,ik->j", a, a),
    "diagonal": lambda a: np.einsum("ii,ij->j", a[:, :4], a),
    "three operands": lambda a: np.einsum("ij,kj,kl->il", a, a, A),
    "three operands along a path": lambda a: np.einsum("ij,kj,kl->li", a, a, a, optimize=True),
    "four operands": lambda a: np.einsum("ij,kj,kl,ml->im", a, a, a[::-1], a, optimize="optimal"),
    "broadcast inside": lambda a: np.einsum("ij,ij->i", a, a[:1]),
    "dots": lambda a: np.einsum("...j,jk->...k", a, OTHER),
    "numbered": lambda a: np.einsum(a, [0, 1], OTHER, [1, 2], [0, 2]),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name, strategy):
    def f(a):
        return weighted(CASES[name](a))

    value, gradient = codipy.value_and_grad(f, strategy=strategy)(A)
    assert value == f(A)
    h = 1e-6
    expected = np.empty(A.shape)
    for place in np.ndindex(A.shape):
        step = np.zeros(A.shape)
        step[place] = h
        expected[place] = (f(A + step) - f(A - step)) / (2 * h)
    np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-7)


PLACES = DRAW.integers(-7, 7, 40)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("few", [False, True])
def test_writing_at_places_that_repeat(ufunc, few, strategy):
    places = PLACES[:1] if few else PLACES

    def f(x, b):
        total = np.sin(x)
        ufunc.at(total, places, b[: places.size] * x[0])
        return np.sum(total * total * WEIGHTS[:7])

    x, b = DRAW.standard_normal(7), DRAW.standard_normal(40)
    value, bars = codipy.value_and_grad(f, argnums=(0, 1), strategy=strategy)(x, b)
    assert value == f(x, b)
    for k, (point, bar) in enumerate(zip((x, b), bars)):
        direction = DRAW.standard_normal(point.shape)
        ahead, back = ([*(x, b)] for _ in range(2))
        ahead[k], back[k] = point + 1e-6 * direction, point - 1e-6 * direction
        assert bar @ direction == pytest.approx((f(*ahead) - f(*back)) / 2e-6, rel=1e-6)


def test_at_sees_its_places_as_they_were():
    def f(x):
        places, total = np.array([0, 1, 1]), x * 1.0
        np.add.at(total, places, x[:3] * x[:3])
        places[:] = 2
        return np.sum(total * np.arange(3.0))

    assert codipy.grad(f)(np.array([1.0, 2.0, 3.0])).tolist() == [0.0, 5.0, 8.0]


def test_what_the_caller_changes_later():
    """Plain arrays are copied where a rule reads them at the end."""
    knots = np.array([0.0, 1.0, 2.0])

    def f(x):
        y = np.interp(x, knots, knots**2)
        knots[:] = 7.0
        return y

    assert codipy.grad(f, rebind=False)(1.5) == 3.0


def test_refusals_stay():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 4.0]))
        with pytest.raises(ActiveError):
            np.interp(x, [0.0, 1.0], np.array([1j, 2j]))
    with pytest.raises(codipy.errors.TapeError):
        np.sort(x)
    with codipy.passive():
        assert np.sort(x).tolist() == [1.0, 4.0] and np.concatenate((x, x)).tolist() == [1.0, 4.0, 1.0, 4.0]


def test_nan_and_ties():
    def f(x):
        return np.sum(np.sort(x) * np.array([1.0, 10.0, 100.0, 1000.0]))

    assert codipy.grad(f)(np.array([2.0, 1.0, 2.0, 1.0])).tolist() == [100.0, 1.0, 1000.0, 10.0]
    assert codipy.grad(np.max)(np.array([1.0, 3.0, 3.0])).tolist() == [0.0, 1.0, 0.0]
    assert codipy.grad(np.max)(np.array([1.0, np.nan, 3.0, np.nan])).tolist() == [0.0, 1.0, 0.0, 0.0]
