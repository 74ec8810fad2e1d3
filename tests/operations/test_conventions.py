# SPDX-License-Identifier: Apache-2.0
"""What is returned where a derivative does not exist, and that nothing overflows on the way to one that does."""

import math

import pytest

from codipy._testing import kernels as c
from codipy.operations import TABLE

INF, NAN = math.inf, math.nan

# name, arguments, first partials. One line for each `kink` of the table.
CONVENTIONS = [
    ("absolute", (0.0,), (0,)),
    ("absolute", (-0.0,), (0,)),
    ("fabs", (0.0,), (0,)),
    ("power", (0.0, 0.5), (INF, 0)),
    ("power", (0.0, 0.0), (0, 0)),
    ("power", (3.0, 0.0), (0, math.log(3))),
    ("power", (0.0, 1.0), (1, 0)),
    ("power", (0.0, 2.0), (0, 0)),
    ("power", (0.0, 1.5), (0, 0)),
    ("power", (-2.0, 2.0), (-4, NAN)),
    ("sqrt", (0.0,), (INF,)),
    ("sqrt", (-0.0,), (INF,)),
    ("cbrt", (0.0,), (INF,)),
    ("cbrt", (-0.0,), (INF,)),
    ("asin", (1.0,), (INF,)),
    ("asin", (-1.0,), (INF,)),
    ("acos", (1.0,), (-INF,)),
    ("acosh", (1.0,), (INF,)),
    ("hypot", (0.0, 0.0), (0, 0)),
    ("atan2", (0.0, 0.0), (0, 0)),
    ("atan2", (-0.0, -0.0), (0, 0)),
    ("mod", (4.0, 2.0), (1, -2)),
    ("mod", (-4.0, 2.0), (1, 2)),
    ("fmod", (-5.0, 2.0), (1, 2)),
    ("remainder", (5.0, 2.0), (1, -2)),
    ("remainder", (7.0, 2.0), (1, -4)),
    ("digamma", (-1.0,), (INF,)),
    ("logaddexp", (-INF, -INF), (0.5, 0.5)),
    ("logaddexp", (INF, INF), (0.5, 0.5)),
    ("logaddexp", (-INF, 1.0), (0, 1)),
    ("logaddexp", (2.0, 2.0), (0.5, 0.5)),
    ("copysign", (0.0, -1.0), (0, 0)),
    ("copysign", (-2.0, -1.0), (1, 0)),
    ("copysign", (2.0, -0.0), (-1, 0)),
    ("maximum", (1.0, 1.0), (1, 0)),
    ("maximum", (0.0, -0.0), (1, 0)),
    ("maximum", (1.0, NAN), (0, 1)),
    ("maximum", (NAN, 1.0), (1, 0)),
    ("minimum", (1.0, 1.0), (1, 0)),
    ("minimum", (1.0, NAN), (0, 1)),
    ("fmax", (1.0, 1.0), (1, 0)),
    ("fmax", (NAN, 1.0), (0, 1)),
    ("fmax", (1.0, NAN), (1, 0)),
    ("fmin", (1.0, 1.0), (1, 0)),
    ("fmin", (NAN, 1.0), (0, 1)),
    ("scale", (3.0, 4.0), (16, 0)),
    ("scale", (0.0, -2.0), (0.25, 0)),
    ("mantissa", (8.0,), (0.0625,)),
    ("mantissa", (0.0,), (1,)),
    ("fraction", (-2.0,), (1,)),
    ("single", (0.1,), (1,)),
]

# name, arguments, first partials: what a formula without care would lose to an overflow.
LARGE = [
    ("tanh", (800.0,), (0,)),
    ("tanh", (-800.0,), (0,)),
    ("expit", (1000.0,), (0,)),
    ("expit", (-1000.0,), (0,)),
    ("expit", (-740.0,), (math.exp(-740.0),)),
    ("hypot", (1e300, 1e300), (math.sqrt(0.5), math.sqrt(0.5))),
    ("hypot", (1.5e308, 1.5e308), (math.sqrt(0.5), math.sqrt(0.5))),
    ("hypot", (3e-320, 4e-320), (0.6, 0.8)),
    ("hypot", (INF, 1.0), (1, 0)),
    ("hypot", (1.0, -INF), (0, -1)),
    ("atan2", (1e300, 1e300), (0.5e-300, -0.5e-300)),
    ("atan2", (1e-300, 1e-300), (0.5e300, -0.5e300)),
    ("log1p", (1e300,), (1e-300,)),
    ("asinh", (1e200,), (1e-200,)),
    ("acosh", (1e300,), (1e-300,)),
    ("atan", (1e200,), (0,)),
    ("erf", (1e200,), (0,)),
    ("erfc", (INF,), (0,)),
    ("logaddexp", (1000.0, -1000.0), (1, 0)),
    ("sqrt", (INF,), (0,)),
    ("power", (INF, 0.5), (0, INF)),
    ("power", (1e-200, 2.0), (2e-200, 0)),
    ("power", (2.0, -2000.0), (0, 0)),
    ("digamma", (INF,), (0,)),
]


def same(found, expected):
    tolerance = 1e-3 if abs(found) < 1e-310 else 1e-14  # subnormal numbers have few digits
    return (found != found and expected != expected) or math.isclose(found, expected, rel_tol=tolerance)


@pytest.mark.parametrize(("name", "arguments", "expected"), CONVENTIONS + LARGE)
def test_partials(name, arguments, expected):
    found = c.partials(name, c.value(name, *arguments), *arguments)
    assert len(found) == len(expected)
    assert all(map(same, found, expected)), found


def test_every_kink_of_the_table_has_a_line():
    assert {row.name for row in TABLE if row.kink} <= {name for name, _, _ in CONVENTIONS}


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("hypot", (0.0, 0.0), (0, 0, 0)),
        ("atan2", (0.0, 0.0), (0, 0, 0)),
        ("tanh", (800.0,), (0,)),
        ("expit", (1000.0,), (0,)),
        ("erf", (1e200,), (0,)),
        ("sqrt", (0.0,), (-INF,)),
        ("power", (0.0, 2.0), (2, 0, 0)),
        ("power", (0.0, 3.0), (0, 0, 0)),
        ("power", (-2.0, 1.0), (0, NAN, NAN)),
        ("logaddexp", (-INF, -INF), (0.25, -0.25, 0.25)),
        ("hypot", (1e300, 1e300), (math.sqrt(0.125) * 1e-300, -math.sqrt(0.125) * 1e-300, math.sqrt(0.125) * 1e-300)),
    ],
)
def test_second_partials(name, arguments, expected):
    found = c.second(name, c.value(name, *arguments), *arguments)
    assert all(map(same, found, expected)), found


CURVED = [row for row in TABLE if set(row.second) != {"0"} and row.name != "fma"]


@pytest.mark.parametrize("row", CURVED, ids=[row.name for row in CURVED])
def test_nan_goes_through(row):
    """A NaN argument never gives a finite derivative where the derivative depends on every argument."""
    arguments = (NAN,) * row.arity
    assert all(p != p for p in c.partials(row.name, NAN, *arguments))
