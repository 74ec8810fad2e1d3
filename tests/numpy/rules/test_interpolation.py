# SPDX-License-Identifier: Apache-2.0
"""Linear interpolation: rules against differences, knots and ends against the conventions."""

import numpy as np
import pytest

from codipy.numpy.rules.interpolation import PRIMITIVES
from tests.numpy.rules.checking import check

INTERP = PRIMITIVES["interp"]
XP, FP = np.array([-1.0, 0.5, 1.0, 3.0]), np.array([2.0, -1.0, 0.5, 4.0])
X = np.array([[-3.0, -0.2, 0.7], [2.2, 5.0, 0.9]])


@pytest.mark.parametrize("x", [X, X[0], np.array(0.7), 0.7, 9.0, -9.0])
def test_all_arguments(x):
    check(INTERP, [x, XP, FP])
    check(INTERP, [x, XP, FP, 7.0, -7.0])
    check(INTERP, [x, XP, FP, 7.0])
    check(INTERP, [x, XP, FP], {"left": 1.0})


@pytest.mark.parametrize("period", [5.0, 2.9, -5.0, 360.0])
def test_period(period):
    check(INTERP, [X, XP, FP], {"period": period})
    check(INTERP, [0.7, XP, FP], {"period": period, "left": 3.0})


def test_one_point():
    check(INTERP, [X, np.array([1.0]), np.array([2.0])], argnums=(0, 2))
    check(INTERP, [X, np.array([0.6]), np.array([2.0]), 5.0, 6.0])


def test_knots_have_the_slope_to_their_right():
    out = INTERP.forward(XP, XP, FP)
    slopes = INTERP.vjp(np.ones(4), out, (XP, XP, FP), {}, (0,))[0]
    np.testing.assert_allclose(slopes, [-2.0, 3.0, 1.75, 1.75])
    shares = INTERP.jvp({2: np.array([1.0, 10.0, 100.0, 1000.0])}, out, (XP, XP, FP), {})
    assert shares.tolist() == [1.0, 10.0, 100.0, 1000.0]


def test_outside_is_the_end_value():
    x = np.array([-2.0, 4.0])
    for ends, expected in (((), [1.0, 0.0, 0.0, 1.0]), ((0.0, 0.0), [0.0] * 4), ((0.0,), [0.0, 0.0, 0.0, 1.0])):
        args = (x, XP, FP, *ends)
        assert INTERP.vjp(np.ones(2), None, args, {}, (2,))[0].tolist() == expected
