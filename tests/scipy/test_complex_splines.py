# SPDX-License-Identifier: Apache-2.0
"""Splines of plain complex values at active points: no imaginary part is dropped."""

import numpy as np
import pytest
from scipy.interpolate import (
    Akima1DInterpolator,
    BarycentricInterpolator,
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    PPoly,
    RBFInterpolator,
    interp1d,
    make_interp_spline,
)

import codipy
from codipy.errors import ActiveError
from tests.covering import in_turn
from tests.strategies import STRATEGIES

X = np.linspace(0.0, 3.0, 9)
Z = np.exp(1j * X)
C = np.array([[1j, 2.0], [1.0, 3j]])
POINT = np.array([0.7, 1.9])

CASES = {
    "cubic spline": lambda p: CubicSpline(X, Z)(p),
    "at an element": lambda p: CubicSpline(X, Z)(p[0]),
    "its slope": lambda p: CubicSpline(X, Z)(p, 1),
    "its derivative": lambda p: CubicSpline(X, Z).derivative()(p),
    "its antiderivative": lambda p: CubicSpline(X, Z).antiderivative()(p),
    "Hermite": lambda p: CubicHermiteSpline(X, Z, 1j * Z)(p),
    "polynomials": lambda p: PPoly(C, [0.0, 1.0, 2.0])(p),
    "by a breakpoint": lambda p: PPoly(C, np.array([0.0, p[0], 2.0]))(0.8),
    "B-spline": lambda p: BSpline(np.arange(10.0) - 3.0, Z[:6], 3)(p),
    "interpolating": lambda p: make_interp_spline(X, Z)(p),
    "interp1d": lambda p: interp1d(X, Z, kind="cubic")(p),
    "quadratic": lambda p: interp1d(X, Z, kind="quadratic")(p),
    "linear": lambda p: interp1d(X, Z)(p),
    "barycentric": lambda p: BarycentricInterpolator(X, Z)(p),
    "radial": lambda p: RBFInterpolator(X[:, None], Z)(p[:, None]),
    "by values": lambda p: CubicSpline(X, Z * p[0])(p[1]),
    "by coefficients": lambda p: PPoly(C * p[0], [0.0, 1.0, 2.0])(p[1] - 0.5),
    "linear by values": lambda p: interp1d(X, 1j * X * p[0])(p),
    "Akima": lambda p: Akima1DInterpolator(X, Z.real)(p) * 1j,
}


@pytest.mark.parametrize(("strategy", "name"), in_turn(STRATEGIES, CASES))
def test_values_and_gradients(name, strategy):
    def f(p):
        return np.sum(np.abs(CASES[name](p) + 1.0) ** 2)

    value, gradient = codipy.value_and_grad(f, strategy=strategy)(POINT)
    assert value == f(POINT)
    expected = [(f(POINT + e) - f(POINT - e)) / 2e-6 for e in np.eye(2) * 1e-6]
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("f", [
    lambda p: CubicSpline(X, Z).integrate(0.0, p[0]),
    lambda p: make_interp_spline(X * p[0], Z)(0.5),
])  # fmt: skip
def test_what_is_refused(f):
    with pytest.raises(ActiveError, match="of complex numbers, beside what is active.*the real and with the imaginary"):
        codipy.grad(lambda p: abs(f(p)))(POINT)
