# SPDX-License-Identifier: Apache-2.0
"""Functions and objects that no twin and no view shows, for all tests of what rebuilt code finds as it stands.

Each function would be another one of a variable than of a plain number: it asks `isinstance` and `type`, writes into an
array of NumPy's, calls `math` and `float`. After each test all functions have the code that they had.
"""

import collections
import contextlib
import dataclasses
import enum
import functools
import inspect
import math
import types

import numpy as np
import pytest

import codipy
from codipy.tape.strategies.table import STRATEGIES

AT = 0.7


def weigh(v):
    return v * (1.0 if isinstance(v, float) else 10.0) + v * (100.0 if type(v) is float else 1000.0)


def sums(v):
    a = np.zeros(2)
    a[0] = v
    return a[0] * weigh(v) + math.sin(v) + float(v)


class Members:
    """What the classes below have."""

    __slots__ = ()

    def ask(self, v):
        return weigh(v) + v * (1.0 if isinstance(v, float) else 7.0)

    def fill(self, v, *more, factor=2.0, **others):
        a = np.zeros(2)
        a[0] = v * factor
        return a[0] + sum(more) + sum(others.values())

    def by_default(self, v, /, function=sums, *, other=math.sin):
        return function(v) * other(v) + (v if inspect.signature(function).parameters else 3 * v)

    def numbers(self, v):
        yield v * v if isinstance(v, float) else v
        yield math.sin(v)

    def recursive(self, v, n=3):
        return v if not n else weigh(v) * type(self).recursive(self, v, n - 1)

    @classmethod
    def of_class(cls, v):
        return weigh(v) + (v if isinstance(v, float) else 3 * v)

    @staticmethod
    def of_none(v):
        return weigh(v) + (v if isinstance(v, float) else 3 * v)

    @property
    def way(self):
        return lambda v: v * v if isinstance(v, float) else v

    @contextlib.contextmanager
    def context(self, v):
        yield v * v if isinstance(v, float) else v

    def __call__(self, v):
        return v * v if isinstance(v, float) else v

    def __enter__(self):
        return lambda v: v * v if isinstance(v, float) else v

    def __exit__(self, *_):
        pass

    def __matmul__(self, v):
        return v * v if isinstance(v, float) else v

    def __rmatmul__(self, v):
        return v * v if isinstance(v, float) else v

    def __rtruediv__(self, v):
        return v * v if isinstance(v, float) else v

    partial = functools.partialmethod(fill, factor=3.0)


class Inherited(Members):
    __slots__ = ()

    def ask(self, v):
        return super().ask(v) * (1.0 if isinstance(v, float) else 5.0)


def given(*skipped):
    def give(cls):
        for name, member in vars(Members).items():
            if name not in {"__slots__", "__doc__", "__module__", *skipped}:
                type.__setattr__(cls, name, member)
        return cls

    return give


class Plain:
    def __init__(self):
        self.held = sums

    def ask(self, v):
        return weigh(v) + v * (1.0 if isinstance(v, float) else 7.0)


@given()
@dataclasses.dataclass(slots=True)
class Slots:
    held: object = sums
    inner: object = dataclasses.field(default_factory=Plain)


class Heir(Inherited):
    __slots__ = ("held", "inner")

    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Finalised:
    def __init__(self):
        self.held, self.inner = sums, Plain()

    def __del__(self):
        pass


class Meta(type):
    def made(cls, v):
        return v * v if isinstance(v, float) else v


@given()
class OfMeta(metaclass=Meta):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Mode(enum.Enum):
    FIRST = 1

    @property
    def held(self):
        return sums

    @property
    def inner(self):
        return PLAIN


PLAIN = Plain()


@given("__getitem__")
class Named(collections.namedtuple("Named", "held inner")):
    __slots__ = ()


@given()
class Listed(list):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Mapped(dict):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given("__rtruediv__")
class Number(float):
    held, inner = staticmethod(sums), Plain()


@given()
class Text(str):
    held, inner = staticmethod(sums), Plain()


@given()
class Failure(Exception):
    def __init__(self):
        self.held, self.inner = sums, Plain()


KINDS = {"slots": Slots(), "heir": Heir(), "finaliser": Finalised(), "metaclass": OfMeta(), "enumeration": Mode.FIRST,
         "named tuple": Named(sums, Plain()), "list": Listed(), "dict": Mapped(), "float": Number(1.5),
         "text": Text("a"), "exception": Failure()}  # fmt: skip


FUNCTIONS = [member for cls in (Members, Inherited, Plain) for member in vars(cls).values()
             if type(member) is types.FunctionType] + [sums, weigh]  # fmt: skip
CODES = [f.__code__ for f in FUNCTIONS]


def demand_codes():
    """Raise where a function has another code than it had at first."""
    assert [f.__code__ is code for f, code in zip(FUNCTIONS, CODES)] == [True] * len(CODES)


def check(f, x=AT, strategies=STRATEGIES):
    """Value and derivative of all strategies against the plain run and differences of it."""
    expected, h = f(x), 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    for strategy in strategies:
        value, derivative = codipy.value_and_grad(f, strategy=strategy)(x)
        assert value == expected
        assert derivative == pytest.approx(slope, rel=1e-7, abs=1e-7)
