# SPDX-License-Identifier: Apache-2.0
"""The fast sine and cosine of the partials are as exact as their header says, multiples of pi / 2 included."""
import math
import random

import pytest

from codipy._testing import kernels as c
from codipy.operations.trigonometry import slope_cos, slope_sin

POINTS = [0.0, -0.0, 1e-300, 1e5, 1.0000001e5, 1e22, *(k * math.pi / 2 for k in range(-50, 51)), 6e4 * math.pi / 2]


@pytest.mark.parametrize("name, exact", [("sin", math.cos), ("cos", lambda x: -math.sin(x))])
def test_partial_within_two_ulps_of_libm(name, exact):
    generator = random.Random(5)
    points = [generator.uniform(-width, width) for width in (10, 1e5) for _ in range(20000)]
    for x in POINTS + points:
        partial = c.partials(name, math.sin(x) if name == "sin" else math.cos(x), x)[0]
        assert abs(partial - exact(x)) <= 2 * math.ulp(exact(x)), x


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_no_partial_where_there_is_no_value(x):
    assert math.isnan(c.partials("sin", math.nan, x)[0])


@pytest.mark.parametrize("name, twin", [("sin", slope_cos), ("cos", lambda x: -slope_sin(x))])
def test_c_and_its_readable_twin_agree_to_the_last_bit(name, twin):
    generator = random.Random(6)
    for x in POINTS + [generator.uniform(-1e5, 1e5) for _ in range(5000)]:
        assert float(twin(x)).hex() == float(c.partials(name, 0.0, x)[0]).hex(), x
