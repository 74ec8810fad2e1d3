# SPDX-License-Identifier: Apache-2.0
"""The benchmarks' NumPy programs: codipy's value is NumPy's bit for bit, each gradient element that of differences."""
import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

pytest.importorskip("scipy")

MODULES = ("array_work", "array_points", "array_checks", "bench_arrays", "timing")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
try:
    work, points, checks, bench, _ = (importlib.import_module(module) for module in MODULES)
finally:        # the programs stay known by their names, as any program is; `timing` is not for other tests to find
    del sys.path[0]
    for added in ("bench_arrays", "timing"):
        sys.modules.pop(added, None)

LARGER = {
    "burgers": {"size": 70, "rows": 40, "steps": 3}, "burgers-fill": {"size": 70, "rows": 40, "steps": 3},
    "black-scholes-arrays": {"size": 3001}, "logistic": {"size": 1203}, "perceptron": {"size": 65},
    "mixture": {"size": 130}, "heat": {"size": 3, "cells": 70}, "stencil": {"size": 2501, "steps": 5},
    "stencil-nonlinear": {"size": 2501, "steps": 5}, "fill": {"size": 1300, "columns": 65},
    "small-arrays": {"size": 8, "length": 1501}, "small-arrays-expressions": {"size": 8, "length": 1501},
}


@each_strategy
@pytest.mark.parametrize("name", points.POINTS)
def test_gradient(name, strategy):
    point = points.POINTS[name]
    checks.check_small(point, codipy.value_and_grad(point.function, argnums=point.argnums, strategy=strategy))


@pytest.mark.parametrize("name", LARGER)
def test_gradient_of_arrays_of_several_tiles(name):
    point = points.POINTS[name]
    arguments = point.start(**LARGER[name])
    value, gradients = codipy.value_and_grad(point.function, argnums=point.argnums)(*arguments)
    checks.check_direction(point, arguments, value, gradients)


def test_each_figure_has_a_point_and_the_two_forms_of_a_program_agree():
    assert set(points.POINTS) - set(bench.WORK) == {"squares"} and set(bench.WORK) <= set(points.POINTS)
    for one, other in (("burgers", "burgers-fill"), ("small-arrays", "small-arrays-expressions")):
        values = [points.POINTS[name].function(*points.POINTS[name].start(7)) for name in (one, other)]
        assert values[0] == values[1]


def exact(*arguments):
    """Value and gradient of the sum of squares."""
    return float(work.squares(*arguments)), (2.0 * arguments[0],)


def wrong_element(x):
    gradient = 2.0 * x
    gradient[-1] *= 1.001
    return float(work.squares(x)), (gradient,)


def wrong_value(x):
    return float(np.nextafter(work.squares(x), np.inf)), (2.0 * x,)


def wrong_shape(x):
    return float(work.squares(x)), (2.0 * x[:, None],)


def changed_argument(x):
    result = exact(x)
    x[0] += 1.0
    return result


def no_float(x):
    return work.squares(x)[None], (2.0 * x,)


def test_the_checks_let_an_exact_gradient_pass():
    point = points.POINTS["squares"]
    checks.check_small(point, exact)
    x, = point.start(10)
    checks.check_direction(point, (x,), *exact(x))


@pytest.mark.parametrize("driver, message", [(wrong_element, "differ by"), (wrong_value, "plain value"),
                                             (wrong_shape, "shape"), (changed_argument, "changed an argument"),
                                             (no_float, "not a float")])
def test_the_checks_catch(driver, message):
    with pytest.raises(AssertionError, match=message):
        checks.check_small(points.POINTS["squares"], driver)


@pytest.mark.parametrize("driver, message", [(wrong_element, "slope"), (wrong_value, "plain value")])
def test_the_check_along_a_direction_catches(driver, message):
    x, = points.POINTS["squares"].start(10)
    with pytest.raises(AssertionError, match=message):
        checks.check_direction(points.POINTS["squares"], (x,), *driver(x))


def test_a_missing_gradient_is_caught():
    with pytest.raises(AssertionError, match="1 gradients for 2"):
        checks.check_small(replace(points.POINTS["fill"], argnums=(0, 1)),
                           lambda x, y: (float(work.fill(x, y)), (x,)))
