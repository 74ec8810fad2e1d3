# SPDX-License-Identifier: Apache-2.0
"""Finite differences and the errors that they admit; differences of gradients with NaN and infinities."""
import math

import numpy as np
import pytest

from codipy.tools.comparison.differences import Directions, agreement, finite_differences, largest_difference


@pytest.mark.parametrize("x", [1e-9, 0.01, 1.0, 30.0, 1e6])
def test_the_error_is_within_what_is_admitted(x):
    for function, derivative in [
        (math.log, 1.0 / x),
        (lambda v: v**3, 3.0 * x**2),
        (lambda v: math.sin(v) + 1e3, math.cos(x)),
    ]:
        result, error = finite_differences(lambda v: function(v[0]), [x])  # noqa: B023
        assert abs(result[0] - derivative) <= error[0] + 1e-7 * abs(derivative)
        assert error[0] <= 1e-4 * max(abs(derivative), 1.0)


def test_one_number_at_a_time():
    result, error = finite_differences(lambda v: v[0] * v[1], [2.0, 5.0])
    assert result == pytest.approx([5.0, 2.0], rel=1e-8)
    assert (error < 1e-6).all()


def test_no_step_that_works():
    def fails(x):
        raise ZeroDivisionError

    for function in (fails, lambda x: math.nan):
        result, error = finite_differences(function, [1.0])
        assert np.isnan(result).all() and np.isinf(error).all()


def test_a_kink_admits_that_it_knows_nothing():
    _, error = finite_differences(lambda v: 1.0 if v[0] > 1.0 else 0.0, [1.0])
    assert error[0] > 1.0


def test_agreement():
    a = np.array([1.0, math.nan, math.inf, math.nan, -math.inf, 1.0])
    b = np.array([1.5, math.nan, math.inf, 1.0, math.inf, math.nan])
    assert agreement(a, b).tolist() == [0.5, 0.0, 0.0, math.inf, math.inf, math.inf]


def test_the_largest_difference_is_relative_to_the_largest_component():
    assert largest_difference(np.array([1.0, 100.0]), np.array([2.0, 100.0])) == 0.01
    assert largest_difference(np.array([0.5]), np.array([0.0])) == 0.5
    assert largest_difference(np.array([]), np.array([])) == 0.0
    assert largest_difference(np.array([math.nan]), np.array([1.0])) == math.inf


def test_random_directions():
    x = np.linspace(-3.0, 2.0, 50)
    runs = []

    def function(v):
        runs.append(v.copy())
        return float(np.sum(v**3))

    directions = Directions(function, x, 4)
    gradient = 3.0 * x**2
    found, scale = directions.along(gradient)
    assert len(directions) == 4 and found == pytest.approx(directions.differences, abs=1e-4)
    assert (scale >= np.abs(found)).all() and (directions.errors < 1e-3).all()
    assert all((np.abs(run - x) > 0.0).all() for run in runs) and len(runs) <= 4 * 4 * 8
    assert list(directions.off(gradient)) == []
    gradient[7] += 1.0
    lines = list(directions.off(gradient))
    assert len(lines) == 4 and "in a random direction" in lines[0]
    gradient[7] = math.nan
    assert len(list(directions.off(gradient))) == 4
    again = Directions(function, x, 4)
    assert (again.differences == directions.differences).all()


def test_no_directions_and_directions_without_differences():
    x = np.ones(3)
    assert list(Directions(np.sum, x, 0).off(x)) == []
    assert list(Directions(lambda v: math.nan, x, 2).off(x)) == []
