# SPDX-License-Identifier: Apache-2.0
"""Numbers beside other objects in an array of objects keep their derivatives, or the array is refused.

The oracle is the same source on NumPy: types and bits of the objects, and central differences of a sum over them.
"""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import VARIANTS, each_pair

MADE = [
    lambda x: np.array([x[0], None]),
    lambda x: np.array([x[0], None], object),
    lambda x: np.array([x[0], None], dtype=object, ndmin=2),
    lambda x: np.array([x, [None, 1]]),
    lambda x: np.array([x, [None, 1]], object),
    lambda x: np.array([[x[0], {}], [1, x[1]]]),
    lambda x: np.array([x[0], (1, 2)], object),
    lambda x: np.array([float(x[0]), "text", x[1]], object),
    lambda x: np.array([True, x[0], None]),
    lambda x: np.array([x[0], 10**30]),
    lambda x: np.array([x, [1, 10**30]]),
    lambda x: np.asarray((x[0], None)),
    lambda x: np.asanyarray([x[0], None]),
    lambda x: np.asarray(x, object),
    lambda x: np.full(2, x[0], object),
    lambda x: np.full((2, 2), x, dtype=object),
    lambda x: np.full_like(np.array([None, None]), x[0]),
    lambda x: np.linspace(x[0], x[1], 3, dtype=object),
]
MOVED = [
    lambda x: np.where(x > 1.0, x, None),
    lambda x: np.where([True, False], None, x),
    lambda x: np.where(x > 1.0, [None, {}], x),
    lambda x: np.select([x > 1.0], [x], default=None),
    lambda x: np.choose([0, 1], [x, [None, None]]),
    lambda x: np.concatenate([x, np.array([None])]),
    lambda x: np.concatenate([[x[0], None], [1.0, x[1]]]),
    lambda x: np.append(x, None),
    lambda x: np.append([x[0], None], [x[1]]),
    lambda x: np.stack([x, np.array([None, 1])]),
    lambda x: np.vstack([x, np.array([None, None])]),
    lambda x: np.column_stack([x, np.array([None, None])]),
    lambda x: np.insert(np.array([x[0], None]), 0, x[1]),
    lambda x: np.tile([x[0], None], 2),
    lambda x: np.block([[x[0], None]]),
    lambda x: np.roll([x[0], None, {}], 1),
]


def total(made):
    """A sum over the numbers among objects, each with a weight of its own."""
    s = 0.0
    for k, item in enumerate(made.ravel().tolist()):
        if isinstance(item, float):
            s = s + (k + 2.0) * item
    return s


def signature(made):
    items = [codipy.value(item) for item in made.ravel().tolist()]
    return made.dtype, made.shape, [(type(item), repr(item)) for item in items]


@pytest.mark.parametrize("function", MADE + MOVED)
def test_numbers_among_objects_keep_their_derivatives(function):
    x, seen = np.array([1.3, 0.7]), []

    def f(x):
        made = function(x)
        seen.append(made)
        return total(made)

    value, gradient = codipy.value_and_grad(f)(x)
    assert type(seen[0]) is np.ndarray and seen[0].dtype == object
    assert signature(seen[0]) == signature(function(x))
    assert float(value).hex() == float(f(x)).hex()
    steps = 1e-6 * np.eye(2)
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in steps]
    assert np.any(expected)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    for unit, slope in zip(np.eye(2), gradient):
        assert codipy.jvp(f, (x,), (unit,))[1] == pytest.approx(slope, rel=1e-12)


@each_pair(pairs=VARIANTS)
def test_each_strategy(variant):
    def f(x):
        return total(np.append(np.array([x[0] * x[1], None]), x)) + total(np.where(x > 1.0, np.sin(x), None))

    x = np.array([1.3, 0.7])
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(codipy.grad(f, strategy=variant[0], granularity=variant[1])(x), expected, rtol=1e-7)


def test_what_cannot_keep_them_is_refused():
    def f(x):
        return np.apply_along_axis(lambda v: np.array([v[0], None]), 0, x)[0]

    with pytest.raises(ActiveError, match="array of objects would lose the derivatives"):
        codipy.grad(f)(np.array([1.3, 0.7]))
    with pytest.raises(ActiveError, match="leave it away"):
        codipy.grad(lambda x: np.arange(x[0], 4.0, dtype=object)[0])(np.array([1.3, 0.7]))


def test_numbers_among_passive_objects_are_those_of_numpy():
    seen = []

    def f(x):
        seen.append(np.concatenate([np.array([codipy.value(x[0]), None]), [1.0, 2.0]]))
        return x[0]

    f(np.array([1.3]))
    codipy.grad(f)(np.array([1.3]))
    assert signature(seen[0]) == signature(seen[1])
