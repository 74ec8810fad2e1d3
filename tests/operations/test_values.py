# SPDX-License-Identifier: Apache-2.0
"""Values are Python's to the last bit, and so are the exceptions; the readable twin computes what C computes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codipy._testing import kernels as c
from codipy.operations import BY_NAME, TABLE, helpers
from codipy.operations.callables import python_callable

from .sampling import anywhere, bits, inside, names

# Python 3.10 has no cbrt and exp2 of its own that the values could be.
MISSING = [name for name in ("cbrt", "exp2") if not hasattr(math, name)]
EXACT = [row for row in TABLE if not row.python_value and row.name not in MISSING]


def python(row, arguments):
    """Python's value, or the exception that it raises."""
    try:
        return python_callable(row.python)(*arguments)
    except (ArithmeticError, ValueError) as error:
        return error


def differs(row, arguments):
    """Whether the C value would be recorded although it is not Python's."""
    value = c.value(row.name, *arguments)
    if not math.isfinite(value):
        return False  # then Python is asked
    expected = python(row, arguments)
    return type(expected) is not float or bits(value) != bits(expected)


@pytest.mark.parametrize("row", EXACT, ids=names(EXACT))
def test_a_finite_value_is_pythons(row):
    wrong = [point for point in anywhere(row, 3000) + inside(row, 1000) if differs(row, point)]
    assert wrong[:3] == []


@pytest.mark.parametrize("name", ["hypot", "gamma", "lgamma"])
def test_python_value_is_needed(name):
    """Where C were to agree as well, the detour over Python could go."""
    row = BY_NAME[name]
    assert row.python_value
    assert any(differs(row, point) for point in inside(row, 3000))


@given(row=st.sampled_from(EXACT), numbers=st.tuples(*[st.floats()] * 3))
def test_any_double(row, numbers):
    if not row.constant:
        assert not differs(row, numbers[: row.arity])


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_the_twin_computes_the_same_value(row):
    """To the last bit; where Python's own function is another one, to a few units in the last place."""
    for point in inside(row, 200) + anywhere(row, 200):
        expected = c.value(row.name, *point)
        value = helpers.evaluate(row.value, *point)
        if (row.python_value or row.name in MISSING) and math.isfinite(expected):
            assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-13), point
        else:
            assert bits(value) == bits(expected), point


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("divide", (1.0, 0.0), ZeroDivisionError, "division by zero"),
        ("reciprocal", (0.0,), ZeroDivisionError, "division by zero"),
        ("mod", (1.0, 0.0), ZeroDivisionError, "modulo|zero"),
        ("power", (0.0, -1.0), ZeroDivisionError, "negative power"),
        ("power", (10.0, 400.0), OverflowError, "."),
        ("sqrt", (-1.0,), ValueError, "."),
        ("log", (0.0,), ValueError, "."),
        ("exp", (1000.0,), OverflowError, "math range error"),
        ("sin", (math.inf,), ValueError, "."),
        ("acosh", (0.5,), ValueError, "."),
        ("gamma", (-1.0,), ValueError, "."),
        ("lgamma", (0.0,), ValueError, "."),
        ("fmod", (1.0, 0.0), ValueError, "."),
        ("remainder", (math.inf, 1.0), ValueError, "."),
        ("fma", (1e300, 1e300, 0.0), OverflowError, "overflow in fma"),
        ("fma", (math.inf, 0.0, 0.0), ValueError, "invalid operation in fma"),
        ("scale", (1.0, 5000.0), OverflowError, "math range error"),
        ("exp2", (5000.0,), OverflowError, "math range error"),
    ],
)
def test_pythons_exceptions(name, arguments, error, message):
    """The C value is not finite, so Python is asked and raises."""
    assert not math.isfinite(c.value(name, *arguments))
    with pytest.raises(error, match=message):
        python_callable(BY_NAME[name].python)(*arguments)


def test_a_negative_base_leaves_the_reals():
    assert math.isnan(c.value("power", -8.0, 1 / 3))
    assert isinstance(python(BY_NAME["power"], (-8.0, 1 / 3)), complex)


@pytest.mark.parametrize(
    "name", ["maximum", "minimum", "fmax", "fmin", "logaddexp", "square", "reciprocal", "copysign"]
)
def test_numpy_agrees(name):
    """These follow NumPy where Python has nothing; a tie of zeros is left to NumPy's loops."""
    row = BY_NAME[name]
    with np.errstate(all="ignore"):
        for point in anywhere(row, 300):
            if row.arity == 2 and point[0] == point[1] == 0:
                continue
            expected, value = float(getattr(np, name)(*point)), c.value(name, *point)
            assert bits(value) == bits(expected) or math.isclose(value, expected, rel_tol=1e-15), point


@pytest.mark.parametrize("name", ["erf", "erfc", "gamma", "lgamma", "digamma", "expit"])
def test_scipy_agrees(name):
    special = pytest.importorskip("scipy.special")
    row = BY_NAME[name]
    for point in inside(row, 300):
        expected = float(getattr(special, row.scipy)(*point))
        assert math.isclose(c.value(name, *point), expected, rel_tol=1e-14, abs_tol=1e-15), point


@pytest.mark.parametrize("name", [row.name for row in TABLE if row.total])
def test_total_rows_are_pythons_where_nothing_is_finite(name):
    special = [0.0, -0.0, 1.5, 1.7e308, -1.7e308, 5e-324, math.inf, -math.inf, math.nan]
    row = BY_NAME[name]
    for arguments in itertools.product(special, repeat=row.arity):
        expected, value = python_callable(row.python)(*arguments), c.value(name, *arguments)
        assert bits(value) == bits(expected)
