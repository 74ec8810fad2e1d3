# SPDX-License-Identifier: Apache-2.0
"""Objects of the user's that NumPy takes for arrays, by ``__array__``."""

import math
import subprocess
import sys

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

X = np.array([0.5, 2.0])


class Measured:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Plain:
    """Nothing in it needs to be rebuilt."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


def converted(x):
    return np.sum(np.asarray(Measured(x)) ** 3 + np.array(Plain(x), dtype=np.float64))


def of_reals(x):
    return np.sum(np.asarray(Measured([x[0], x[0] * x[1]])) ** 2)


def written_through(x):
    kept = Plain(x.copy())
    np.asarray(kept)[0] *= 3.0
    return np.sum(kept.values * np.array(kept))


def of_a_class_in_the_function(x):
    class Local:
        def __array__(self, dtype=None, copy=None):
            return x * x

    return np.sum(np.asarray(Local()) * x)


def passive(x):
    return np.sum(np.sin(Measured([1.0, 2.0]))) * x[0] + np.dot(x, Measured(np.ones(2)))


class Own(Measured):
    """It has operators, for which NumPy does not ask it."""

    def __rmul__(self, other):
        return 100.0 * other * np.asarray(self.values)

    __radd__ = __rsub__ = __rmul__


class Asked(Own):
    __array_priority__ = 1.0


def operators(x):
    return np.sum(x * Own(x) + (x - Own([1.0, 3.0])) ** 2 + x / Measured(x[0]) + Measured(x) * x)


def operators_of_elements(x):
    return np.sum(x[0] * Own(x) + (x[1] + Measured([1.0, 2.0])) ** 2) + np.sum(float(x[0]) * Own(x))


def operators_of_its_own(x):
    return np.sum(x * Asked(x) + x[0] * Asked(x))


def in_place(x):
    y = x * np.ones((2, 2))
    part = y[0]
    part *= Own(x)
    part += Measured([x[0], 2.0])
    y[1] = Measured(x * x)
    y[:, 0] -= np.poly1d([2.0, 1.0])
    return np.sum(y**2)


@each_strategy
@pytest.mark.parametrize(
    "f",
    [
        operators,
        operators_of_elements,
        operators_of_its_own,
        in_place,
        converted,
        of_reals,
        written_through,
        of_a_class_in_the_function,
        passive,
    ],
)
def test_what_the_object_gives_is_differentiated(strategy, f):
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    quotients = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert value == f(X)
    np.testing.assert_allclose(gradient, quotients, rtol=1e-6)


@pytest.mark.parametrize("kept", [Exception, ValueError])
@pytest.mark.parametrize("cls", [Measured, Plain])
def test_a_fallback_is_not_taken_in_silence(kept, cls):
    def f(x):
        try:
            return np.sum(np.array([cls(x)]))
        except kept:
            return 7.0

    with pytest.raises(ActiveError, match="np.asarray"):
        codipy.grad(f)(X)


class Number:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


def by_float(x):
    return float(Number(x[0]))


def by_math(x):
    return math.sin(Number(x[0]))


def by_assignment(x):
    y = np.zeros(2)
    y[0] = Number(x[0])
    return y[0]


@pytest.mark.parametrize("f", [by_float, by_math, by_assignment])
def test_a_float_of_an_object_is_differentiated(f):
    value, gradient = codipy.value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, [(f(X + [1e-6, 0.0]) - f(X - [1e-6, 0.0])) / 2e-6, 0.0], rtol=1e-9)


def by_text(x):
    return float("%.17g" % Number(x[0]))  # noqa: UP031


def by_a_list(x):
    return np.sum(np.array([Number(x[0])], dtype=float))


@pytest.mark.parametrize("leaves", [by_text, by_a_list])
def test_a_float_of_an_object_is_not_lost_in_silence(leaves):
    def f(x):
        try:
            return leaves(x)
        except TypeError:
            return 7.0

    with pytest.raises(ActiveError, match="caught"):
        codipy.grad(f)(X)


def test_a_passive_float_of_an_object_is_one():
    assert codipy.grad(lambda x: float(Number(2.0)) * x + math.sqrt(Number(4.0)) * x)(3.0) == 4.0


def test_the_first_call_of_a_process_fills_a_global_array(tmp_path):
    """Views of the module are made before the array is exchanged in it: those made later were not found."""
    program = """
import numpy as np, codipy
def g(x, work): work[:3] = x; return work.sum()
x, work = np.array([1.0, 2.0, 3.0]), np.zeros(5)
print(codipy.grad(g)(x, work).tolist(), type(work).__name__, work.tolist())
"""
    (tmp_path / "first.py").write_text(program)
    found = subprocess.run([sys.executable, tmp_path / "first.py"], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[1.0, 1.0, 1.0] ndarray [1.0, 2.0, 3.0, 0.0, 0.0]"
