# SPDX-License-Identifier: Apache-2.0
"""What variables have as attributes and plain values have not, rebuilt code does not find: units are taken off so."""

import contextlib
import enum
import operator

import numpy as np
import pytest

import codipy
from codipy.operations import TABLE
from codipy.tools.rebinding.wrapping import OF_VARIABLES
from tests.strategies import STRATEGIES

X = np.array([0.7, -0.3, 1.9])


class Parameter:
    def __init__(self, value):
        self.value, self.gradient, self.scale = value, [value], np.zeros(2)


class Doubled:
    value = property(lambda self: self.half * 2.0)

    def __init__(self, half):
        self.half = half


class Kind(enum.Enum):
    TWO = 2.0


def number_of(p):
    try:
        return p.value
    except AttributeError:
        return p


def named_as_in_a_method(self):
    try:
        return self.value
    except AttributeError:
        return self * 2.0


class Reader:
    def __init__(self, value):
        self.value = value

    def read(self, other):
        def inner():
            return self.value

        try:
            return other.value * inner()
        except AttributeError:
            return other * self.value


def gradient_of(p):
    try:
        return p.gradient
    except AttributeError:
        return p * p


def by_a_getter(x):
    get = operator.attrgetter("value")
    try:
        return get(x[0]) * 2.0
    except AttributeError:
        return x[0] * 3.0 + get(Parameter(x[1]))


def suppressed(x):
    with contextlib.suppress(AttributeError):
        return x[0].value * 2.0
    return x[1] * x[0]


def of_scalars_of_numpy(x):
    try:
        return x[0].dot(2.0)
    except AttributeError:
        return x[0] * 3.0


def of_users_own(x):
    p = Parameter(x[0])
    p.value += x[1]
    p.gradient.append(p.value * 2.0)
    p.scale[0] = x[2]
    p.scale[1:] += 1.0
    both = Doubled(x[1]).value * Doubled.value.fget(Doubled(x[0]))
    return p.value * p.gradient[-1] + np.sum(p.scale) * Kind.TWO.value + both


def of_many(x):
    all_of_them = [Parameter(v) for v in x]
    largest = max(all_of_them, key=operator.attrgetter("value"))
    return sum(p.value for p in all_of_them) + max(all_of_them, key=lambda p: p.value).value * largest.value


def deleted(x):
    p = Parameter(x[0])
    del p.value
    p.value = x[1]
    try:
        return getattr(x, "value") * p.value  # noqa: B009
    except AttributeError:
        return getattr(p, "value") * 2.0  # noqa: B009


PROGRAMS = {
    "value": lambda x: number_of(x[0]) * number_of(Parameter(x[1])) + number_of(x).sum(),
    "gradient": lambda x: gradient_of(x[0]) + gradient_of(float(x[1])) + gradient_of(x * 1j).real.sum(),
    "self": lambda x: named_as_in_a_method(x[0]) + Reader(x[1]).read(x[2]) + Reader(x[1]).read(Reader(x[0])),
    "attrgetter": by_a_getter,
    "suppress": suppressed,
    "dot": of_scalars_of_numpy,
    "users' own": of_users_own,
    "several": of_many,
    "getattr": deleted,
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_they_are_those_of_the_plain_run(f):
    value, gradient = codipy.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    expected = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    for strategy in STRATEGIES:
        np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(X.copy()), gradient, rtol=1e-12)


def test_all_of_them_are_known():
    """What rebuilt code asks for is looked at by name; functions of the table refuse themselves."""
    functions = {name for row in TABLE for name in (row.name, row.math_name, *row.numpy)} | {"rint"}
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        others = {name for variable, plain in ((x[0], np.float64(1.0)), (x, X)) for name in dir(variable)
                  if not name.startswith("_") and name not in dir(plain)}  # fmt: skip
    assert others - functions - OF_VARIABLES <= {"dot", "ptp"}  # which NumPy's scalars have had


def test_where_nothing_is_rebuilt_they_are_there():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
        assert number_of(x) == 2.0 and x.sin().value == np.sin(2.0)
