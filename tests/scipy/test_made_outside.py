# SPDX-License-Identifier: Apache-2.0
"""Objects of SciPy that a program made of plain data before, and calls with what is active."""

import numpy as np
import pytest
import scipy.interpolate as si
import scipy.spatial
import scipy.stats as st

import codipy
from tests.strategies import each_strategy

T = np.linspace(0.0, 3.0, 8)
V = np.sin(T) + 0.1 * T
GRID = np.outer(V, V)
SITES = np.random.default_rng(1).random((10, 2))
POINT = np.array([0.3, 1.7, 2.2])
CUBIC = si.CubicSpline(T, V)
POLYNOMIALS = si.PPoly.from_spline(si.splrep(T, V))
TREE = scipy.spatial.KDTree(SITES)
MADE = {
    "CubicSpline": CUBIC, "a derivative": CUBIC.derivative(), "an antiderivative": CUBIC.antiderivative(),
    "PchipInterpolator": si.PchipInterpolator(T, V), "Akima1DInterpolator": si.Akima1DInterpolator(T, V),
    "CubicHermiteSpline": si.CubicHermiteSpline(T, V, np.cos(T)), "PPoly": POLYNOMIALS,
    "BPoly": si.BPoly.from_power_basis(POLYNOMIALS), "interp1d": si.interp1d(T, V),
    "interp1d, cubic": si.interp1d(T, V, kind="cubic"), "BSpline": si.make_interp_spline(T, V),
    "UnivariateSpline": si.UnivariateSpline(T, V, s=0), "smoothing": si.make_smoothing_spline(T, V, lam=0.1),
    "BarycentricInterpolator": si.BarycentricInterpolator(T, V), "KroghInterpolator": si.KroghInterpolator(T, V),
    "norm": st.norm(1.0, 2.0).logpdf, "gamma": st.gamma(2.0, scale=1.5).cdf, "gaussian_kde": st.gaussian_kde(V),
}  # fmt: skip
SPLINES = si.RectBivariateSpline(T, T, GRID)
RADIAL = si.RBFInterpolator(SITES, SITES[:, 0])
FIELD = si.RegularGridInterpolator((T, T), GRID)
PLANE = si.NdPPoly(np.random.default_rng(2).random((4, 3, 2, 3)), (np.array([0, 1.5, 3]), np.array([0, 0.7, 1.5, 3])))
LINEAR = si.LinearNDInterpolator(SITES, np.arange(10.0))


def _called(name):
    def f(p):
        return MADE[name](p)

    return f


PROGRAMS = {name: _called(name) for name in MADE}
PROGRAMS |= {
    "with an order": lambda p: CUBIC(p, 1),
    "its derivative": lambda p: CUBIC.derivative()(p),
    "at an element": lambda p: CUBIC(p[0]) * p[1],
    "a grid": lambda p: FIELD(np.stack([p, p[::-1]], axis=1)),
    "surfaces": lambda p: SPLINES.ev(p, p[::-1]),
    "polynomials of two variables": lambda p: PLANE(np.stack([p, p[::-1]], axis=1)),
    "radial": lambda p: RADIAL(np.stack([p, p[::-1]], axis=1) / 4),
    "scattered": lambda p: LINEAR(np.stack([p, p[::-1]], axis=1) / 9 + 0.4),
    "a tree": lambda p: TREE.query(np.stack([p, p[::-1]], axis=1) / 4, k=2)[0],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name):
    def f(p):
        y = PROGRAMS[name](p)
        return np.sum(y * (1.0 + np.arange(np.size(y)).reshape(np.shape(y)))) + np.sum(y * y)

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    expected = [(f(POINT + e) - f(POINT - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    tangent = np.array([0.3, -0.7, 1.1])
    assert codipy.jvp(f, (POINT,), (tangent,))[1] == pytest.approx(gradient @ tangent, rel=1e-10)
    product = codipy.hvp(f, (POINT,), (tangent,))[0]
    ahead, behind = (codipy.grad(f)(POINT + step * tangent) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(product, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


def test_an_integral():
    def f(p):
        return CUBIC.integrate(p[0], p[1])

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    np.testing.assert_allclose(gradient, [-CUBIC(POINT[0]), CUBIC(POINT[1]), 0.0], rtol=1e-12)


@each_strategy
def test_every_strategy(strategy):
    def f(p):
        return np.sum(CUBIC(p) * MADE["BarycentricInterpolator"](p)) + TREE.query(p[:2])[0]

    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(POINT), codipy.grad(f)(POINT), rtol=1e-12)


def test_what_the_function_changes_is_changed_for_all():
    spline = si.CubicSpline(T, V)

    def f(p):
        spline.extend(np.array([[0.0], [0.0], [1.0], [2.0]]), np.array([4.0]))
        spline.axis = 0
        return spline(p[0] + 3.2)

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert (value, gradient[0]) == (spline(3.5), spline(3.5, 1)) == (2.0 + 0.5, 1.0)
    assert spline.x[-1] == 4.0 and len(spline.x) == 9


def test_what_outlives_the_object_keeps_its_data():
    kept = []

    def f(p):
        kept.append(si.CubicSpline(T, V) if not kept else kept[0])
        return kept[0](p[0])

    assert codipy.value_and_grad(f)(POINT)[0] == CUBIC(POINT[0])
    assert codipy.value_and_grad(f)(POINT)[0] == f(POINT) == CUBIC(POINT[0])
