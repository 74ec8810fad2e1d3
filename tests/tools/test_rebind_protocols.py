# SPDX-License-Identifier: Apache-2.0
"""rebind and what Python itself calls: special methods, nested and generic classes, single dispatch."""

import functools
from typing import Generic, TypeVar

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy
from tests.tools.rebound import check


def stored(x):
    z = np.zeros(2)
    z[1] = x
    return z[1]


T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, v: T):
        self.v = v

    def get(self):
        return stored(self.v)


class FloatBox(Box[float]):
    pass


def test_generic_classes_keep_their_parameters():
    before = dict(vars(Box)), dict(vars(FloatBox))
    check(lambda x: Box[float](x).get() * FloatBox(x).get())
    assert (dict(vars(Box)), dict(vars(FloatBox))) == before
    assert Box.__parameters__ == (T,)


class Many:
    def __enter__(self):
        self.k = np.ones(1)[0]
        return self

    def __exit__(self, *exception):
        return False

    def __getattr__(self, name):
        if name.startswith("q"):
            return stored(2.0)
        raise AttributeError(name)

    def __iter__(self):
        yield from (stored(k) for k in range(3))

    def __getitem__(self, i):
        return stored(i)

    def __lt__(self, other):
        return stored(1.0) < other.k

    class Inner:
        def rate(self, x):
            return stored(x)


@functools.singledispatch
def dispatched(x):
    return "other"


@dispatched.register
def _(x: Box):
    return "box"


def test_protocols_of_python():
    def f(x):
        with Many() as many:
            total = many.k * x + many.qq + sum(many) + many[2] + many.Inner().rate(x) + Many.Inner().rate(x)
        assert not hasattr(many, "r") and not many < many and dispatched(Box(x)) == "box"
        return total + sum(map(float, [x, x])) + max([stored(x), x], key=float)

    check(f)


def plain_of(x):
    return x.value if hasattr(x, "value") else x


def told_by_default(x):
    return getattr(x, "value", x) * getattr(x, "gradient", 1.0)


class Length:
    def __init__(self, value):
        self.value = value


@each_strategy
@pytest.mark.parametrize("unwrap", [plain_of, told_by_default])
def test_what_takes_units_off_keeps_the_derivative(strategy, unwrap):
    def f(x):
        kinds = [hasattr(x, name) for name in ("identifier", "is_active", "gradient", "tangent", "shape")]
        return np.sum(unwrap(x) * unwrap(x[0]) * unwrap(Length(x[1]))) * (1.0 if kinds == [False] * 4 + [True] else 0.0)

    x = np.array([2.0, 3.0])
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(x)
    assert value == f(x) == 30.0
    np.testing.assert_allclose(gradient, [12.0 + 9.0, 12.0 + 4.0])


def test_value_that_is_written_out_is_that_of_the_variable():
    assert codipy.grad(lambda x: x * x.value + np.zeros(1)[0])(3.0) == 3.0
    with pytest.raises(AttributeError):
        codipy.grad(lambda x: x * getattr(x, "values") + np.zeros(1)[0])(3.0)  # noqa: B009
