# SPDX-License-Identifier: Apache-2.0
"""Overloads of a function of the module, which are found when they are called: in each gradient, not only the first.

They stand in a module of their own, whose functions no other test has asked for.
"""

import functools

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy


def cube(x):
    z = np.zeros(2)
    z[0] = x * x * x
    return z[0]


@functools.singledispatch
def measured(x):
    raise AssertionError("no number")


@measured.register(float)
@measured.register(np.float64)
def _(x):
    return cube(x)


@measured.register(np.ndarray)
def _(x):
    return np.sum(x) * cube(x[0])


class Meter:
    @functools.singledispatchmethod
    def read(self, x):
        raise AssertionError("no number")

    @read.register
    def _(self, x: float):
        return cube(x) * 2.0

    @read.register(np.ndarray)
    def _(self, x):
        return cube(x[1])


METER = Meter()
PROGRAMS = {
    "a function": lambda x: measured(x) + measured(np.array([x, x])),
    "a method": lambda x: METER.read(x) + Meter().read(np.array([x, x])),
}


@each_strategy
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_gradient_finds_them(name, strategy):
    f, x = PROGRAMS[name], 0.7
    gradient = codipy.value_and_grad(f, strategy=strategy)
    for run in (gradient, gradient, codipy.value_and_grad(f, strategy=strategy)):
        value, slope = run(x)
        assert value == f(x)
        assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
