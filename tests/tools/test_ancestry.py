# SPDX-License-Identifier: Apache-2.0
"""Rebuilt code finds of a variable's class, and of a class of the user's, what the plain run finds there."""

import abc
import operator

import numpy as np
import pytest

import codipy
from codipy.tape.strategies.table import STRATEGIES

CLASS = operator.attrgetter("__class__")
NAME = operator.attrgetter("__class__.__name__")
BOTH = operator.attrgetter("real", "__class__")


class Model:
    RATE = 2.0

    def rate(self, v):
        return v if isinstance(v, float) else 2 * v


class Further(Model):
    def rate(self, v):
        return super().rate(v)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def unit(self): ...

    def rate(self, v):
        return v if isinstance(v, float) else 2 * v


class Concrete(Abstract):
    def unit(self):
        return 1.0


def derived(v):
    class Local(Further):
        pass

    return Local().rate(v) * len(Local.__mro__)


MODEL, FURTHER, CONCRETE = Model(), Further(), Concrete()
OF_VALUES = {
    "attrgetter": lambda v: operator.attrgetter("__class__")(v),
    "attrgetter of before": lambda v: CLASS(v),
    "attrgetter of a name": lambda v: NAME(v),
    "attrgetter of two": lambda v: BOTH(v)[1],
    "map": lambda v: list(map(operator.attrgetter("__class__"), [v])),
    "bases": lambda v: type(v).__bases__,
    "base": lambda v: type(v).__base__,
    "mro": lambda v: type(v).__mro__,
    "mro method": lambda v: type(v).mro(),
    "getattr": lambda v: getattr(type(v), "__mro__"),  # noqa: B009
    "class": lambda v: v.__class__.__bases__,
    "type of the type": lambda v: type(type(v)),
    "class of the type": lambda v: type(v).__class__,
    "dict": lambda v: "hex" in type(v).__dict__,
    "vars": lambda v: "hex" in vars(type(v)),
}
OF_CLASSES = {
    "type": lambda v: v if type(Model) is type and type(Abstract) is abc.ABCMeta else 2 * v,
    "class": lambda v: v if Model.__class__ is type and type(MODEL).__class__ is type else 2 * v,
    "mro": lambda v: v if Further.__mro__ == (Further, Model, object) == tuple(Further.mro()) else 2 * v,
    "bases": lambda v: v if Further.__bases__ == (Model,) and type(FURTHER).__base__ is Model else 2 * v,
    "names": lambda v: v * len("".join(cls.__name__ for cls in type(CONCRETE).__mro__)),
    "sum": lambda v: v * sum(vars(cls).get("RATE", 0.0) for cls in type(FURTHER).__mro__),
    "method of a base": lambda v: vars(Further.__mro__[1])["rate"](FURTHER, v) + Further.__bases__[0]().rate(v),
    "derived": derived,
}


def plain(found):
    """What is compared: names, of which a class and its stand-in have the same."""
    if isinstance(found, (tuple, list)):
        return type(found)(map(plain, found))
    return (found.__module__, found.__qualname__) if isinstance(found, type) else found


@pytest.mark.parametrize("ask", OF_VALUES.values(), ids=OF_VALUES)
@pytest.mark.parametrize("x", [0.7, np.array([0.7, 1.5])], ids=["number", "array"])
def test_classes_of_variables(ask, x):
    found = []

    def f(x):
        found.append(plain(ask(x)))
        return x if isinstance(x, float) else x.sum()

    codipy.grad(f)(x)
    f(x)
    assert found[0] == found[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("f", OF_CLASSES.values(), ids=OF_CLASSES)
def test_classes_of_the_user(f, strategy):
    value, slope = codipy.value_and_grad(f, strategy=strategy)(0.7)
    assert value == f(0.7)
    assert slope == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)


def test_getters_are_python_s_own_where_no_class_is_asked_for():
    def f(x):
        assert type(operator.attrgetter("real")).__name__ == "attrgetter"
        return operator.attrgetter("real", "imag")(x)[0] * operator.itemgetter(0)([x])

    assert codipy.grad(f)(3.0) == 6.0
