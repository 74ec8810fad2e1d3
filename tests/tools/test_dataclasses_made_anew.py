# SPDX-License-Identifier: Apache-2.0
"""A dataclass as an argument has the values that the caller's object has, also where making it anew gives others."""

import math
import re
from dataclasses import InitVar, dataclass, field

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

X = np.array([1.0, 2.0, 3.0])


@dataclass
class InOtherUnits:
    angle: np.ndarray

    def __post_init__(self):
        self.angle = np.deg2rad(self.angle)


@dataclass
class Cumulated:
    a: float
    b: float

    def __post_init__(self):
        self.b = self.a + self.b


@dataclass
class WithCounts:
    position: np.ndarray
    scale: float = field(init=False, default=2.0)
    steps: list = field(init=False, default_factory=list)


@dataclass
class WithSquare:
    a: float

    def __post_init__(self):
        self.square = self.a * self.a


@dataclass
class OfMore:
    position: np.ndarray
    factor: InitVar[float]

    def __post_init__(self, factor):
        self.position = self.position * factor


@pytest.mark.parametrize("driver", [codipy.grad, codipy.value_and_grad, codipy.hessian, codipy.jacobian])
@pytest.mark.parametrize("made, read, name", [
    (InOtherUnits(X), lambda s: (s.angle * s.angle).sum(), "InOtherUnits.angle"),
    (Cumulated(1.0, 2.0), lambda s: s.a * s.b, "Cumulated.b"),
    ([{"of": Cumulated(1.0, 2.0)}], lambda s: s[0]["of"].a * s[0]["of"].b, "Cumulated.b"),
    (OfMore(X, 2.0), lambda s: (s.position * s.position).sum(), "OfMore is made of factor"),
])  # fmt: skip
def test_other_values_of_what_is_made_anew_raise(driver, made, read, name):
    with pytest.raises(ActiveError, match=name):
        driver(read)(made)


def test_a_derived_attribute_that_was_set_raises():
    s = WithSquare(3.0)
    assert codipy.value_and_grad(lambda s: s.square * s.a)(s) == (27.0, WithSquare(27.0))
    s.square = 5.0
    with pytest.raises(ActiveError, match=r"WithSquare\.square has another value"):
        codipy.grad(lambda s: s.square * s.a)(s)


def test_passive_attributes_have_the_values_of_now():
    s = WithCounts(X.copy())
    s.scale, s.extra = 5.0, 10.0
    s.steps.append(7.0)

    def f(s):
        s.steps.append(1.0)
        return (s.position * s.position).sum() * s.scale * s.extra * s.steps[0]

    value, gradient = codipy.value_and_grad(f)(s)
    assert s.steps == [7.0] and value == f(s)
    assert gradient.position.tolist() == (2.0 * X * 350.0).tolist()


@dataclass
class OfFloats:
    """What does not take a variable, where it is not rebuilt."""

    a: object
    kind: str = field(metadata={"static": True})

    def __post_init__(self):
        if self.kind == "type" and type(self.a) is not float:
            raise TypeError("a must be a float")
        self.read = float(repr(self.a)) if self.kind == "text" else self.a
        self.root = math.sqrt(self.a) if self.kind == "math" else self.a


@pytest.mark.parametrize("rebind", [True, False])
@pytest.mark.parametrize("kind, said", [
    ("type", "TypeError: a must be a float"), ("text", "ValueError: could not convert"),
    ("math", "ActiveError: float.. of an active Real would lose its derivative"),
])  # fmt: skip
def test_what_is_made_of_numbers_alone_names_the_cure(kind, said, rebind):
    made = OfFloats(2.0, kind)
    cure = "pass the numbers, and call OfFloats(...) inside of the function"
    with pytest.raises(ActiveError, match=f"OfFloats is made anew .*{re.escape(cure)}. It raised {said}"):
        codipy.grad(lambda s: s.a * s.root, rebind=rebind)(made)
    if rebind:
        assert codipy.grad(lambda a: OfFloats(a, kind).root)(4.0) == (0.25 if kind == "math" else 1.0)
