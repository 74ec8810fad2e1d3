# SPDX-License-Identifier: Apache-2.0
"""rebind and what Python itself calls: special methods, nested and generic classes, single dispatch."""

import functools
from typing import Generic, TypeVar

import numpy as np

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
