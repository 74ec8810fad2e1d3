# SPDX-License-Identifier: Apache-2.0
"""Objects of SciPy's that are made of active data, in functions that its solvers call for values alone."""

import numpy as np
import pytest
import scipy.interpolate as si
import scipy.stats as st
from scipy import linalg, optimize, spatial
from scipy.integrate import quad, solve_ivp

import codipy

LINE = np.linspace(0.0, 1.0, 9)
MADE = {
    "gaussian_kde": (lambda a: st.gaussian_kde(a), lambda o, t: o(t)[0]),
    "logpdf": (lambda a: st.gaussian_kde(a), lambda o, t: o.logpdf(t)[0]),
    "weights": (lambda a: st.gaussian_kde(LINE, weights=a), lambda o, t: o(t)[0]),
    "NdPPoly": (lambda a: si.NdPPoly(a[:4].reshape(2, 2, 1, 1), ([0, 1.0], [0, 1.0])), lambda o, t: o((t, 0.5))[()]),
    "CubicSpline": (lambda a: si.CubicSpline(LINE, a**2), lambda o, t: o(t)),
    "BSpline": (lambda a: si.make_interp_spline(LINE, a**2), lambda o, t: o(t)),
    "RBFInterpolator": (lambda a: si.RBFInterpolator(LINE[:, None], a), lambda o, t: o(np.reshape(t, (1, 1)))[0]),
    "a grid": (lambda a: si.RegularGridInterpolator((LINE,), a**2), lambda o, t: o(np.reshape(t, (1, 1)))[0]),
    "KDTree": (lambda a: spatial.KDTree(a[:, None]), lambda o, t: o.query(np.reshape(t, (1,)))[0]),
    "multivariate_normal": (lambda a: st.multivariate_normal(a[:2]), lambda o, t: o.pdf(np.array([t, 1.0]))),
    "lu_factor": (lambda a: linalg.lu_factor(np.diag(a)), lambda o, t: linalg.lu_solve(o, np.full(9, t))[3]),
}  # fmt: skip
SOLVED = {
    "quad": lambda h: quad(h, 0.31, 0.42, epsabs=1e-5, epsrel=1e-5)[0],
    "brentq": lambda h: optimize.brentq(lambda t: t * t + 0.05 * h(t) - 0.3, 0.05, 0.95, xtol=1e-13),
    "solve_ivp": lambda h: solve_ivp(lambda t, y: [0.1 * h(t) - y[0]], (0.3, 0.4), [1.0], rtol=1e-8).y[0, -1],
}


@pytest.mark.parametrize("by", SOLVED)
@pytest.mark.parametrize("name", MADE)
def test_objects_of_active_data(name, by):
    make, call = MADE[name]

    def f(x):
        found = make(x + LINE)
        return SOLVED[by](lambda t: call(found, t))

    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", ["minimize", "root", "least_squares"])
def test_a_density_in_systems(name):
    def f(x):
        density = st.gaussian_kde(x + LINE)
        if name == "minimize":
            return optimize.minimize(lambda u: -density(u[0])[0], [1.0], tol=1e-9).x[0]
        return getattr(optimize, name)(lambda u: [density(u[0])[0] - 0.2], [0.7]).x[0]

    assert codipy.grad(f)(0.7) == pytest.approx(1.0, rel=1e-6)
