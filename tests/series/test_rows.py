# SPDX-License-Identifier: Apache-2.0
"""The power series of every row of the table, against mpmath's of the same function."""

import math

import mpmath
import numpy as np
import pytest

import codipy
from codipy.active.array import is_active
from codipy.active.arrays.elementwise_door import elementwise
from codipy.operations import TABLE

ORDER = 7
POINTS = 3

SMOOTH = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "power": lambda x, y: x**y, "negative": lambda x: -x, "positive": lambda x: x,
    "identity": lambda x: x, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "fma": lambda x, y, z: x * y + z,
    "sqrt": mpmath.sqrt, "cbrt": mpmath.cbrt, "exp": mpmath.exp, "exp2": lambda x: mpmath.mpf(2) ** x,
    "expm1": mpmath.expm1, "log": mpmath.log, "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10), "log1p": lambda x: mpmath.log(1 + x), "sin": mpmath.sin,
    "cos": mpmath.cos, "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan,
    "atan2": mpmath.atan2, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asinh": mpmath.asinh,
    "acosh": mpmath.acosh, "atanh": mpmath.atanh, "hypot": lambda x, y: mpmath.sqrt(x * x + y * y),
    "degrees": mpmath.degrees, "radians": mpmath.radians, "erf": mpmath.erf, "erfc": mpmath.erfc,
    "gamma": mpmath.gamma, "lgamma": lambda x: mpmath.log(mpmath.gamma(x)),
    "digamma": lambda x: mpmath.psi(0, x), "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
}  # fmt: skip


def points(row):
    random = np.random.default_rng(row.code)
    spans = [row.domain[k] for k in range(row.arity)]
    x = np.array([random.uniform(low, high, POINTS) for low, high in spans])
    direction = random.uniform(-1.0, 1.0, x.shape)
    direction[list(row.constant)] = 0.0
    if row.constant:
        x[list(row.constant)] = np.rint(x[list(row.constant)])
    return x, direction


def rows():
    return pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def apply(row, *operands):
    """A row by its name, of Arrays and of Reals; exponents of ldexp are whole numbers."""
    if row.name == "scale":
        operands = operands[0], np.asarray(codipy.value(operands[1]), np.int64)[()]
    return elementwise(row.name, *operands)


@rows()
def test_coefficients(row):
    x, direction = points(row)
    found = codipy.taylor(lambda x: apply(row, *[x[k] for k in range(row.arity)]), x, direction, ORDER)
    assert len(found) == ORDER + 1
    found = np.array(found)
    for place in range(POINTS if not row.constant else 0):
        one = codipy.taylor(lambda x: apply(row, *x), x[:, place].tolist(), direction[:, place].tolist(), ORDER)
        np.testing.assert_allclose(one, found[:, place], rtol=1e-12, atol=1e-300)
    if row.name not in SMOOTH:      # linear between its kinks
        assert not found[2:].any()
        first = codipy.jvp(lambda x: apply(row, *[x[k] for k in range(row.arity)]), (x,), (direction,))[1]
        np.testing.assert_allclose(found[1], first, rtol=1e-14)
        return
    with mpmath.workdps(40):
        for place in range(POINTS):
            def along(t, place=place):
                return SMOOTH[row.name](*[mpmath.mpf(a) + t * mpmath.mpf(d)
                                          for a, d in zip(x[:, place], direction[:, place])])

            expected = [float(mpmath.re(c)) for c in mpmath.taylor(along, 0, ORDER)]
            scale = np.maximum.accumulate(np.abs(expected)[::-1])[::-1]      # a coefficient that cancels has the next's
            assert np.all(np.abs(found[:, place] - expected) <= 2e-12 * np.maximum(scale, np.abs(expected)))


def test_every_smooth_row_has_its_oracle():
    flat = {row.name for row in TABLE if not any(text not in ("0",) for text in row.second)}
    assert {row.name for row in TABLE} - SMOOTH.keys() <= flat


@pytest.mark.parametrize(("f", "x", "expected"), [
    (lambda x: x**2, 0.0, [0.0, 0.0, 1.0, 0.0]),
    (lambda x: x**5, 0.0, [0.0, 0.0, 0.0, 0.0]),
    (lambda x: x**2.5, 0.0, [0.0, 0.0, 0.0, math.inf]),
    (lambda x: abs(x), 0.0, [0.0, 0.0, 0.0, 0.0]),
    (lambda x: np.maximum(x, 0.0), -1.0, [0.0, 0.0, 0.0, 0.0]),
    (lambda x: 0.0 * np.sqrt(x * 0.0) + x, 2.0, [2.0, 1.0, 0.0, 0.0]),
    (lambda x: np.where(x > 0.0, np.sqrt(x), 0.0), np.zeros(1), [0.0, 0.0, 0.0, 0.0]),
    (lambda x: np.power(-2.0, 3.0) * x, 1.0, [-8.0, -8.0, 0.0, 0.0]),
    (lambda x: x ** np.array([0.0, 1.0, 2.0, 3.0]), np.zeros(4), np.eye(4)),
    (lambda x: (x - 2.0) ** 3 / (x - 1.0), 2.0, [0.0, 0.0, 0.0, 1.0]),
    (lambda x: np.exp(x) / np.exp(x), 700.0, [1.0, 0.0, 0.0, 0.0]),
    (lambda x: np.tanh(x), 30.0, None),
])
def test_edges(f, x, expected):
    found = codipy.taylor(f, x, np.ones(np.shape(x))[()], 3)
    if expected is None:      # 1 - tanh(30)**2 is no zero, and the others are its like
        slope = 4.0 * math.exp(-60.0)
        expected = [1.0, slope, -slope, slope * 2.0 / 3.0]
    for place, wanted in zip(found, expected):
        np.testing.assert_allclose(place, np.broadcast_to(wanted, np.shape(place)), rtol=1e-13, atol=1e-290)


def test_what_does_not_move_passes_no_infinity_on():
    """One element of sqrt has an infinite slope, and does not move."""
    found = codipy.taylor(lambda x: np.sqrt(x) * np.cbrt(x), np.array([0.0, 4.0]), np.array([0.0, 1.0]), 3)
    assert [c[0] for c in found] == [0.0] * 4
    with mpmath.workdps(30):
        expected = [float(c) for c in mpmath.taylor(lambda t: mpmath.sqrt(t) * mpmath.cbrt(t), 4, 3)]
    np.testing.assert_allclose([c[1] for c in found], expected, rtol=1e-13)


@rows()
def test_nested_derivatives_say_the_same(row):
    x, direction = (given[:, 0].tolist() for given in points(row))

    def line(t):
        return apply(row, *[int(x[k]) if k in row.constant else x[k] + t * direction[k] for k in range(row.arity)])

    found = codipy.taylor(line, 0.0, 1.0, 3)

    derivative = line
    for k in range(1, 4):
        derivative = codipy.grad(derivative)
        expected = derivative(0.0) / math.factorial(k)
        assert found[k] == pytest.approx(expected, rel=1e-10, abs=1e-12)
    assert not is_active(found[3])


@pytest.mark.parametrize("of", ["numbers", "array"])
@pytest.mark.parametrize(("x", "exponent"), [(1e-130, 2.5), (1e-250, 1.5), (-1e-130, 3.0), (1e-310, 2.5), (1e-100, 4.0),
                                             (1e140, 2.5), (1e-130, 0.7)])
def test_a_power_that_is_too_small_or_large_for_a_number_has_coefficients_that_are_not(x, exponent, of):
    def f(x):
        if of == "numbers":
            return np.power(np.float64(1.0) * x, exponent)
        return np.power(np.stack([x, 2.0 * x]), exponent)[0]

    with np.errstate(all="ignore"):
        found = codipy.taylor(f, x, 1.0, 4)
    with mpmath.workdps(40):
        exact = [mpmath.binomial(exponent, k) * mpmath.re(mpmath.mpf(x) ** (mpmath.mpf(exponent) - k))
                 for k in range(5)]
    for k in range(1, 5):
        expected = math.copysign(math.inf, exact[k]) if abs(exact[k]) > 1.7e308 else float(exact[k])
        assert found[k] == pytest.approx(expected, rel=1e-12, abs=1e-300), k
