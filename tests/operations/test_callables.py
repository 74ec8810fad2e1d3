# SPDX-License-Identifier: Apache-2.0
"""The callables that stand in for functions which older versions of Python's `math` lack."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codipy._testing import kernels as c
from codipy.operations import callables

from .sampling import bits


@given(st.floats(), st.floats(), st.floats())
def test_fma_is_that_of_c(x, y, z):
    """C rounds once too; what is not finite there is an exception or comes from arguments that are not finite."""
    expected = c.value("fma", x, y, z)
    try:
        assert bits(callables._fma(x, y, z)) == bits(expected)
    except OverflowError:
        assert math.isinf(expected)
    except ValueError:
        assert math.isnan(expected)


@given(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100), st.floats(-1e200, 1e200))
def test_fma_rounds_once(x, y, z):
    assert callables._fma(x, y, z) == float(Fraction(x) * Fraction(y) + Fraction(z))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((-0.0, 1.0, -0.0), -0.0),
        ((-0.0, 1.0, 0.0), 0.0),
        ((1.0, -1.0, 1.0), 0.0),
        ((1e-200, -1e-200, 0.0), -0.0),
        ((1e200, 1e200, -math.inf), -math.inf),
        ((math.inf, 1.0, 1.0), math.inf),
        ((0.1, 10.0, -1.0), 5.551115123125783e-17),
    ],
)
def test_fma_at_zeros_and_infinities(arguments, expected):
    assert bits(callables._fma(*arguments)) == bits(expected)


@given(st.floats(-1000, 1000))
def test_cbrt_and_exp2_for_old_pythons(x):
    assert math.isclose(callables._cbrt(x), c.value("cbrt", x), rel_tol=1e-15, abs_tol=0)
    assert math.isclose(callables._exp2(x), c.value("exp2", x), rel_tol=1e-15)


def test_paths():
    assert callables.python_callable("math.sin") is math.sin
    assert callables.python_callable("expit") is callables.expit
    with pytest.raises(KeyError):
        callables.python_callable("no_such_callable")
