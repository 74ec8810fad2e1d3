# SPDX-License-Identifier: Apache-2.0
"""Moments, entropy, median and intervals of distributions by their parameters, and densities by weights."""

import numpy as np
import pytest
import scipy.stats as st

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

pytestmark = pytest.mark.filterwarnings("ignore")
# Distributions with shapes, of which all of these exist.
CONTINUOUS = {
    "norm": (), "expon": (), "uniform": (), "logistic": (), "laplace": (), "gumbel_r": (), "rayleigh": (),
    "gamma": (2.3,), "beta": (2.1, 3.4), "lognorm": (0.6,), "weibull_min": (1.8,), "chi2": (4.2,), "t": (6.5,),
    "pareto": (6.2,), "triang": (0.3,), "invgamma": (6.1,), "f": (5.3, 11.2),
}  # fmt: skip
DISCRETE = {"poisson": (2.7,), "geom": (0.3,), "nbinom": (4.0, 0.4), "logser": (0.4,), "planck": (0.5,)}
METHODS = {
    "mean": lambda d: d.mean(), "var": lambda d: d.var(), "std": lambda d: d.std(), "entropy": lambda d: d.entropy(),
    "stats": lambda d: sum(w * x for w, x in zip((1.0, 0.7, 0.3, 0.2), d.stats("mvsk"))),
    "two of stats": lambda d: d.stats()[0] * d.stats()[1], "moment": lambda d: d.moment(3),
    "median": lambda d: d.median(),
    "interval": lambda d: d.interval(0.7)[0] * d.interval(0.7)[1],
}  # fmt: skip
OF_STEPS = {"median", "interval"}


def demand_right(f, p, h=1e-4):
    """The value is SciPy's, and the derivatives are those by differences in a direction that has all parameters."""
    value, gradient = codipy.value_and_grad(f)(p)
    assert value == f(p)
    tangent = np.cos(0.3 + np.arange(len(p)))
    e = h * tangent
    slope = (8 * (f(p + e) - f(p - e)) - (f(p + 2 * e) - f(p - 2 * e))) / (12 * h)
    np.testing.assert_allclose(gradient @ tangent, slope, rtol=1e-6, atol=1e-7)
    assert codipy.jvp(f, (p,), (tangent,))[1] == pytest.approx(gradient @ tangent, rel=1e-8)  # moments by quad


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    dist, count = getattr(st, name), len(CONTINUOUS[name])
    for method in METHODS:
        demand_right(lambda p, method=method: METHODS[method](dist(*p[:count], loc=p[-2], scale=p[-1])),
                     np.array([*CONTINUOUS[name], 0.4, 1.7]))  # fmt: skip


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    dist = getattr(st, name)
    for method in METHODS.keys() - OF_STEPS:
        f = METHODS[method]
        demand_right(lambda p, f=f: f(dist(*p)), np.array(DISCRETE[name]))


def test_in_one_call_and_by_arrays():
    shapes, scales = np.array([1.2, 2.5, 3.1]), np.array([0.4, 1.1, 2.0])

    def f(p):
        mean, var = st.gamma.stats(p[:3], scale=p[3:])
        return np.sum(mean * var) + np.sum(st.gamma.entropy(p[:3], 0.0, p[3:])) + np.sum(
            st.beta.mean(p[:3], p[3:]) * st.norm.std(p[:3], p[3:])) + st.norm.moment(4, p[0], p[1])

    demand_right(f, np.concatenate([shapes, scales]))


@each_strategy
def test_second_order_in_every_strategy(strategy):
    def f(p):
        return st.gamma(p[0], scale=p[1]).var() + st.beta(p[0], p[1]).entropy() + st.weibull_min(p[0]).mean()

    p = np.array([1.4, 2.2])
    expected = np.array([(codipy.grad(f)(p + e) - codipy.grad(f)(p - e)) / 2e-5 for e in np.eye(2) * 1e-5])
    np.testing.assert_allclose(codipy.hessian(f, strategy=strategy)(p), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("f", "match"), [
    (lambda x: st.norm(x - 0.5, 1.0).moment(2), "where loc is 0"),
    (lambda x: st.binom(x, 0.3).entropy(), "binom.entropy"),
    (lambda x: st.poisson(2.0, loc=x).median(), "loc there"),
    (lambda x: st.triang(x - 0.5).mean(), "where shape 1 is 0.0"),
])  # fmt: skip
def test_what_is_refused(f, match):
    with pytest.raises(ActiveError, match=match):
        codipy.grad(f)(0.5)


def test_of_single_precision_scipy_computes_in_double():
    p = np.array([0.7, 1.9], np.float32)
    value, gradient = codipy.value_and_grad(lambda p: st.beta.entropy(p[0], p[1]) + np.sum(st.gamma.entropy(p)))(p)
    assert value == st.beta.entropy(p[0], p[1]) + np.sum(st.gamma.entropy(p)) and gradient.dtype == np.float32


def test_steps_are_constants():
    assert codipy.grad(lambda x: x * st.geom(0.2 * x).median())(1.0) == st.geom(0.2).median()


DATA = np.random.default_rng(0).normal(size=6)
PLANE = np.random.default_rng(1).normal(size=(2, 6))
AT = np.array([0.1, 0.5, -0.7])
DENSITIES = {
    "values": lambda w: np.sum(st.gaussian_kde(DATA, weights=w)(AT) * AT),
    "logarithms": lambda w: np.sum(st.gaussian_kde(DATA, weights=w).logpdf(AT)),
    "two axes": lambda w: np.sum(st.gaussian_kde(PLANE, "silverman", weights=w)(PLANE[:, :3]) * AT),
    "of a bandwidth": lambda w: np.sum(st.gaussian_kde(PLANE, 0.4, weights=w)(PLANE[:, :3])),
    "integral": lambda w: st.gaussian_kde(DATA, weights=w).integrate_box_1d(-1.0, 0.5),
    "of another": lambda w: st.gaussian_kde(DATA, weights=w).integrate_kde(st.gaussian_kde(DATA)),
    "margin": lambda w: np.sum(st.gaussian_kde(PLANE, weights=w).marginal([1])(AT)),
    "neff": lambda w: st.gaussian_kde(PLANE, weights=w).neff,
    "by data too": lambda w: np.sum(st.gaussian_kde(w * DATA, weights=w)(AT)),
}  # fmt: skip


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_by_weights(name):
    w = np.random.default_rng(2).uniform(0.5, 1.5, 6)
    demand_right(DENSITIES[name], w)
    tangent = np.cos(np.arange(6.0))
    product = codipy.hvp(DENSITIES[name], (w,), (tangent,))[0]
    ahead, behind = (codipy.grad(DENSITIES[name])(w + move * tangent) for move in (1e-5, -1e-5))
    np.testing.assert_allclose(product, (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"ddof": 0}, {"bias": True}, {"ddof": 2, "fweights": [1, 2, 1, 3, 1, 2]}])
def test_covariances_by_weights(options):
    def f(w):
        return np.sum(np.cov(PLANE * w, aweights=w * w, **options) * [[1.0, 0.3], [-0.4, 2.0]])

    w = np.random.default_rng(2).uniform(0.5, 1.5, 6)
    demand_right(f, w)
    product = codipy.hvp(f, (w,), (w,))[0]
    np.testing.assert_allclose(product, (codipy.grad(f)(w * 1.00001) - codipy.grad(f)(w * 0.99999)) / 2e-5, rtol=1e-5)
