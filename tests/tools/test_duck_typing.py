# SPDX-License-Identifier: Apache-2.0
"""What code asks a value to learn what it is, ``hasattr`` and its like, is answered as of the plain value."""

import builtins
import dataclasses
import typing
from typing import Protocol, SupportsComplex, SupportsFloat, SupportsIndex, runtime_checkable

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

POINT = np.array([0.7, 1.3, 0.4])
NAMES = sorted({*dir(float), *dir(np.float64), *dir(np.ndarray), *dir(complex), "value", "identifier", "is_active"})


@runtime_checkable
class HasArray(Protocol):
    def __array__(self): ...


def of_kinds(x):
    return {
        "element": x[0], "float": float(x[0]), "array": x, "made": np.zeros(3), "single": np.float32(x[1]),
        "complex": complex(0.0, x[0]), "complex array": 1j * x, "complex element": (1j * x)[0],
    }  # fmt: skip


def questions(x):
    return [
        (kind, name, hasattr(value, name), name in dir(value))
        for kind, value in of_kinds(x).items()
        for name in NAMES
        if name != "mT"  # of which NumPy raises for a vector
    ]


def test_attributes_are_those_of_plain_values():
    found = []

    def f(x):
        found.append(questions(x))
        return np.sum(x * x)

    codipy.grad(f)(POINT)
    assert [one for one, other in zip(found[0], questions(POINT), strict=True) if one != other] == []


@pytest.mark.parametrize("protocol", [HasArray, SupportsComplex, SupportsFloat, SupportsIndex])
def test_protocols(protocol):
    found = []

    def f(x):
        found.append([(kind, isinstance(value, protocol)) for kind, value in of_kinds(x).items()])
        found.append([isinstance(x[0], (str, protocol)), isinstance(x[0], protocol | None)])
        return np.sum(x * x)

    codipy.grad(f)(POINT)
    f(POINT)
    assert found[:2] == found[2:]


def test_what_depends_on_the_dimensions():
    def f(x):
        return np.sum(x * x) if hasattr(np.outer(x, x), "mT") else np.sum(x)

    assert codipy.grad(f)(POINT) == pytest.approx(2 * POINT)


def test_branches_are_those_of_the_plain_run():
    def f(x):
        n = float(x[1])
        power = x[0] ** 2 if hasattr(n, "__index__") else x[0] ** n
        size = np.sqrt(np.sum(x * x)) if hasattr(x, "__array_interface__") else np.sum(np.abs(x))
        return power + size + (x[0] * 2 if hasattr(x[0], "__array__") else x[0])

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    steps = np.eye(3) * 1e-6
    assert gradient == pytest.approx([(f(POINT + e) - f(POINT - e)) / 2e-6 for e in steps], rel=1e-8)


def test_what_a_variable_has_not_is_no_default():
    def f(x):
        return np.sum(x) if getattr(x, "__array_struct__", None) is None else np.sum(x * x)

    with pytest.raises(ActiveError, match="an active ndarray has no __array_struct__, which a plain one has"):
        codipy.grad(f)(POINT)


def test_variables_are_codipys_own_too():
    def f(x):
        assert isinstance(x[0], codipy.Real) and isinstance(x[0], (codipy.Real, str)) and isinstance(x, codipy.Array)
        assert not isinstance(x[0], codipy.Array) and isinstance(x[0], codipy.Real | int)
        return x[0]

    codipy.grad(f)(POINT)


@dataclasses.dataclass
class Settings:
    rate: float
    start: np.ndarray
    size: int = 3


def typed(v: float):
    return v


IDENTITIES = {
    "fields": lambda x: [field.type is float for field in dataclasses.fields(Settings)],
    "no float": lambda x: [field.type is not float for field in dataclasses.fields(Settings(1.0, x))],
    "annotations": lambda x: [type(float(x[0])) is hint for hint in typing.get_type_hints(typed).values()],
    "dtype": lambda x: (x.dtype.type is np.float64, type(x[0]) is x.dtype.type, x.dtype.type is float),
    "classes": lambda x: (type(Settings(1.0, x)) is Settings, Settings(1.0, x).__class__ is not Settings),
    "items": lambda x: [v is w for v in x[:2].tolist() for w in (x, x[0], float)],
    "builtins": lambda x: [builtins.type(v) is c for v in of_kinds(x).values() for c in (float, np.ndarray, complex)],
    "instances": lambda x: [builtins.isinstance(v, np.generic) for v in of_kinds(x).values()],
    "attributes": lambda x: [builtins.hasattr(v, "value") for v in of_kinds(x).values()],
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_classes_are_those_of_the_plain_run(name):
    found = []

    def f(x):
        found.append(IDENTITIES[name](x))
        return np.sum(x * x)

    codipy.grad(f)(POINT)
    f(POINT)
    assert found[0] == found[1]
