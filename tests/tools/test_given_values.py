# SPDX-License-Identifier: Apache-2.0
"""Objects with ``__array__`` and ``__float__`` in all that takes an array or a number, of classes of every kind."""

import abc
import math
import typing
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import codipy

X = np.array([1.0, 2.0, 3.0])


class Plain:
    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.v, dtype=dtype)

    def __float__(self):
        return float(self.v)


class Slotted:
    """Its methods are not rebuilt."""

    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v

    def __float__(self):
        return self.v


class Meta(type):
    pass


class OfMeta(metaclass=Meta):
    """Nor are these."""

    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v

    def __float__(self):
        return self.v


class Abstract(abc.ABC):  # noqa: B024
    __init__, __array__, __float__ = Plain.__init__, Plain.__array__, Plain.__float__


@dataclass(frozen=True)
class Frozen:
    v: object

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.v)

    def __float__(self):
        return float(self.v)


@dataclass(slots=True)
class SlottedData:
    v: object

    def __array__(self, dtype=None, copy=None):
        return self.v

    def __float__(self):
        return self.v


class Own(Plain):
    """NumPy's reduction asks it for its own."""

    def sum(self, axis=None, out=None, dtype=None):
        return 7.0 * np.sum(self.v)


CLASSES = [Plain, Slotted, OfMeta, Abstract, Frozen, SlottedData, Own]


def filled(kind, x):
    y = np.zeros(3)
    y[:] = kind(x)
    return np.sum(y * x)


def element(kind, x):
    y = np.zeros(2)
    y[0] = kind(x[0].item())
    return y[0] * x[1]


USES = {
    "asarray": lambda kind, x: np.sum(np.asarray(kind(x)) * x),
    "array": lambda kind, x: np.sum(np.array(kind(x)) * x),
    "operator": lambda kind, x: np.sum(x * kind(x)),
    "ufunc": lambda kind, x: np.sum(np.sin(kind(x))) + np.sum(np.add(kind(x), kind(x))),
    "function": lambda kind, x: np.dot(kind(x), x) + np.linalg.norm(kind(x)) + np.cumsum(kind(x))[1],
    "sum": lambda kind, x: np.sum(kind(x)),
    "sequence": lambda kind, x: np.sum(np.concatenate([kind(x), x]) ** 2),
    "filled": filled,
    "element": element,
    "float": lambda kind, x: float(kind(x[0].item())) * x[1],
    "math": lambda kind, x: math.sin(kind(x[0].item())) * math.hypot(kind(x[1].item()), 2.0),
}


@pytest.mark.filterwarnings("ignore:.*returned non-float:DeprecationWarning")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", CLASSES)
def test_what_they_give_keeps_its_derivative_also_where_errors_are_caught(kind, use):
    def function(x):
        return USES[use](kind, x)

    def caught(x):
        try:
            return function(x)
        except (TypeError, ValueError):
            return np.sum(x) * 0.0

    slopes = [(function(X + row) - function(X - row)) / 2e-6 for row in 1e-6 * np.eye(3)]
    for each in (function, caught):
        value, gradient = codipy.value_and_grad(each)(X)
        assert value == function(X)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


class Pair(typing.NamedTuple):
    first: object
    second: object

    def __float__(self):
        return self.first


def test_a_named_tuple_with_a_float():
    def function(x):
        return float(Pair(x[0].item(), 2.0)) * x[1]

    assert codipy.grad(function)(X).tolist() == [2.0, 1.0, 0.0]


def test_assertions_of_numpy_see_the_values():
    def function(x):
        np.testing.assert_allclose(x[0], 1.0)
        np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])
        np.testing.assert_equal({"a": x[1]}, {"a": 2.0})
        np.testing.assert_array_less(x, x + 1.0)
        return np.sum(x * x)

    assert codipy.grad(function)(X).tolist() == [2.0, 4.0, 6.0]

    def fails(x):
        np.testing.assert_allclose(x, 2.0 * x)
        return x[0]

    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        codipy.grad(fails)(X)


def test_outer_of_a_number_and_a_list():
    def function(x):
        return np.sum(np.ldexp.outer(x[0], [1, 2])) + np.sum(np.multiply.outer(x[1], [3.0, 4.0]))

    value, gradient = codipy.value_and_grad(function)(X)
    assert value == function(X)
    assert gradient.tolist() == [6.0, 7.0, 0.0]


def test_what_to_write_for_an_array_of_objects():
    def function(x):
        return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x).astype(float))

    def cured(x):
        return np.sum(codipy.numpy.array(np.frompyfunc(lambda v: v * v, 1, 1)(x), dtype=float))

    assert codipy.grad(function)(X).tolist() == [2.0, 4.0, 6.0]
    with pytest.raises(codipy.errors.ActiveError, match=r"codipy\.numpy\.array\(objects, dtype=float\)"):
        codipy.grad(function, rebind=False)(X)
    assert codipy.grad(cured, rebind=False)(X).tolist() == [2.0, 4.0, 6.0]


def test_float_of_one_element_is_what_numpy_says():
    def f(x):
        try:
            return 2.0 * float(x[:1])
        except TypeError:
            return 5.0 * x[0] + 3.0 * float(x[:1].reshape(()))

    x = np.array([0.1, 0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slope = f(np.array([1.0, 0.0]))
        assert codipy.value_and_grad(f)(x)[0] == f(x)
    assert codipy.grad(f)(x).tolist() == [slope, 0.0]
