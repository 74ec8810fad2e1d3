# SPDX-License-Identifier: Apache-2.0
"""Grids between active end points: rules against differences."""

import numpy as np
import pytest

import codipy
from codipy.numpy.rules.grids import PRIMITIVES
from tests.numpy.rules.checking import check

A, B = np.array([1.0, 2.0, 0.5]), np.array([[3.0, 1.5, 2.5], [4.0, 0.7, 0.9]])
NAMES = ["linspace", "logspace", "geomspace"]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("name", NAMES)
def test_end_points(name, num, endpoint):
    for ends in ((1.5, 4.0), (A, B), (A, 3.0), (2.5, B)):
        check(PRIMITIVES[name], [*ends, num], {"endpoint": endpoint})
        if np.ndim(ends[1]) == 2:
            for axis in (1, -1, 0):
                check(PRIMITIVES[name], [*ends, num, endpoint], {"axis": axis})


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [2, 5])
def test_step_of_linspace(num, endpoint):
    check(PRIMITIVES["linspace"], [1.5, 4.0, num, endpoint, True])
    check(PRIMITIVES["linspace"], [A, B, num], {"endpoint": endpoint, "retstep": True, "axis": -1})


def test_base_of_logspace():
    check(PRIMITIVES["logspace"], [0.5, 2.0, 4, True, 2.0])
    check(PRIMITIVES["logspace"], [A, B, 4, False, A], {"axis": 1})
    check(PRIMITIVES["logspace"], [0.5, 2.0, 4], {"base": 3.0})


def test_negative_ends_of_geomspace():
    check(PRIMITIVES["geomspace"], [-1.5, -4.0, 5])


def test_first_and_last_point_are_the_ends():
    for name in ("linspace", "geomspace"):
        p = PRIMITIVES[name]
        out = p.forward(2.0, 7.0, 4)
        assert p.jvp({0: np.array(1.0)}, out, (2.0, 7.0, 4), {})[[0, -1]].tolist() == [1.0, 0.0]
        assert p.jvp({1: np.array(1.0)}, out, (2.0, 7.0, 4), {})[[0, -1]].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("axis", [0, -1])
def test_logspace_of_a_number_and_an_array_of_bases(axis):
    bases = np.array([[1.2], [1.5], [1.9]])

    def f(x):
        return np.logspace(0.0, x[0], 4, endpoint=False, base=bases * x[1], axis=axis)

    def weighted(x):
        found = f(x)
        return np.sum(found * np.cos(np.arange(found.size)).reshape(found.shape))

    x, step = np.array([0.37, 1.1]), 1e-6
    assert np.array_equal(codipy.vjp(f, x)[0], f(x))
    expected = [(weighted(x + e) - weighted(x - e)) / (2 * step) for e in step * np.eye(2)]
    assert codipy.grad(weighted)(x) == pytest.approx(expected, rel=1e-8)
