# SPDX-License-Identifier: Apache-2.0
"""digamma and its derivatives: known values, recurrence, reflection, the root; C and the readable twin alike."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codipy._testing import kernels as c
from codipy.operations import helpers

EULER, ZETA3, CATALAN = 0.5772156649015329, 1.2020569031595942, 0.915965594177219
LIMITS = [math.inf, -math.inf, math.nan]


def digamma(x):
    return c.value("digamma", x)


def trigamma(x):
    return c.partials("digamma", 0.0, x)[0]


def tetragamma(x):
    return c.second("digamma", 0.0, x)[0]


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (digamma, 1.0, -EULER),
        (digamma, 0.5, -EULER - 2 * math.log(2)),
        (digamma, 0.25, -EULER - math.pi / 2 - 3 * math.log(2)),
        (digamma, 10.0, -EULER + sum(1 / k for k in range(1, 10))),
        (digamma, -0.5, -EULER - 2 * math.log(2) + 2),
        (digamma, 1e10, math.log(1e10) - 0.5e-10),
        (trigamma, 1.0, math.pi**2 / 6),
        (trigamma, 0.5, math.pi**2 / 2),
        (trigamma, 0.25, math.pi**2 + 8 * CATALAN),
        (trigamma, -0.5, math.pi**2 / 2 + 4),
        (trigamma, 1e10, 1e-10 + 0.5e-20),
        (tetragamma, 1.0, -2 * ZETA3),
        (tetragamma, 0.5, -14 * ZETA3),
        (tetragamma, -0.5, -14 * ZETA3 + 16),
        (tetragamma, 1e10, -1e-20 - 1e-30),
    ],
)
def test_known_values(function, x, expected):
    assert math.isclose(function(x), expected, rel_tol=1e-14)


def test_the_root_is_relatively_exact():
    """At the double nearest to the root, digamma is the distance between the two times its slope."""
    assert math.isclose(digamma(1.4616321449683622), -9.549995429965697e-17 * 0.9676722454476212, rel_tol=1e-14)
    for d in (-0.1499, -0.1501, 0.1499, 0.1501):  # on both sides of the seam
        x = 1.4616321449683622 + d
        assert math.isclose(digamma(x), digamma(x + 1) - 1 / x, rel_tol=2e-14)


@given(st.floats(-20, 20).filter(lambda x: abs(x - round(x)) > 1e-3))
def test_recurrence(x):
    for function, term in ((digamma, 1 / x), (trigamma, -1 / x**2), (tetragamma, 2 / x**3)):
        scale = max(abs(term), abs(function(x)))
        if abs(x + 1 - round(x + 1)) > 1e-3:
            assert abs(function(x + 1) - function(x) - term) <= 3e-11 * scale + 1e-14


@given(st.floats(0.01, 0.99))
def test_reflection(x):
    cot = 1 / math.tan(math.pi * x)
    assert math.isclose(digamma(1 - x) - digamma(x), math.pi * cot, rel_tol=1e-11, abs_tol=1e-13)
    assert math.isclose(trigamma(1 - x) + trigamma(x), math.pi**2 * (1 + cot**2), rel_tol=1e-11)


def test_poles():
    assert digamma(0.0) == -math.inf
    assert digamma(-0.0) == math.inf
    for pole in (-1.0, -2.0, -1e300, -math.inf):
        assert math.isnan(digamma(pole))
    for pole in (0.0, -1.0, -2.0):
        assert trigamma(pole) == math.inf
        assert not math.isfinite(tetragamma(pole))
    assert math.isnan(trigamma(-math.inf))


def test_limits():
    assert digamma(math.inf) == math.inf
    assert trigamma(math.inf) == tetragamma(math.inf) == 0
    for function in (digamma, trigamma, tetragamma):
        assert math.isnan(function(math.nan))


@pytest.mark.parametrize("x", [0.3, 1.4, 7.0, 12.5, -0.3, -5.7, 0.0, -0.0, -3.0, 1e300, -1e300, *LIMITS])
@pytest.mark.parametrize("function", [digamma, trigamma, tetragamma])
def test_the_twin_is_the_same(function, x):
    found, twin = function(x), helpers.evaluate(f"{function.__name__}(x)", x)
    assert found == twin or math.isclose(found, twin, rel_tol=1e-15) or (found != found and twin != twin)


def test_scipy_agrees():
    special = pytest.importorskip("scipy.special")
    for k in range(1, 400):
        x = k / 16 - 10.03
        assert math.isclose(digamma(x), float(special.digamma(x)), rel_tol=2e-13, abs_tol=1e-13)
        assert math.isclose(trigamma(abs(x)), float(special.polygamma(1, abs(x))), rel_tol=1e-13)
        assert math.isclose(tetragamma(abs(x)), float(special.polygamma(2, abs(x))), rel_tol=1e-13)
