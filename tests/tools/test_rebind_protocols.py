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


def test_what_is_asked_for_is_what_the_plain_value_has():
    with pytest.raises(AttributeError, match="'float' object has no attribute 'value', as in the plain run"):
        codipy.grad(lambda x: x * x.value + np.zeros(1)[0])(3.0)
    with pytest.raises(AttributeError):
        codipy.grad(lambda x: x * getattr(x, "values") + np.zeros(1)[0])(3.0)  # noqa: B009


def by_local_overloads(x):
    @functools.singledispatch
    def power(v):
        return 0.0 * v

    @power.register
    def _(v: float):
        return v * v

    @power.register(np.floating)
    def _(v):
        return v**3

    return power(x) + float(power(np.array([x])[0])) + power(3) + power.dispatch(float)(x)


def by_local_methods(x):
    class Powers:
        @functools.singledispatchmethod
        def power(self, v):
            return 0.0 * v

        @power.register
        def _(self, v: float):
            return v * v

        @power.register(np.ndarray)
        def _(self, v):
            return (v**3).sum()

    return Powers().power(x) + float(Powers().power(np.array([x]))) + Powers.power(Powers(), x)


def by_overloads_of_complex_numbers(x):
    power = functools.singledispatch(lambda v: 0.0 * v)
    power.register(complex, lambda v: v * v)
    return power(x * 1j).real


def by_overloads_of_classes(x):
    unboxed = functools.singledispatch(lambda v: 0.0 * x)
    unboxed.register(Box, lambda v: v.v * x * x)
    return unboxed(Box(x)) + unboxed(2)


@pytest.mark.parametrize(
    "f", [by_local_overloads, by_local_methods, by_overloads_of_complex_numbers, by_overloads_of_classes]
)
def test_overloads_that_rebound_code_makes_choose_by_the_plain_class(f):
    check(f)


def test_overloads_that_rebound_code_makes_are_called_with_something():
    def f(x):
        try:
            return functools.singledispatch(stored)()
        except TypeError:
            return x * x

    check(f)
