# SPDX-License-Identifier: Apache-2.0
"""Distributions of scipy.stats by value and parameters: SciPy's bits, slopes against differences, or a refusal."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy
import scipy.stats as st
from scipy.stats._distr_params import distcont, distdiscrete

import codipy
from codipy.errors import ActiveError
from codipy.tools.rebinding import distributions
from tests.strategies import each_strategy

# The table of the page is that of 1.17; the others are refused less. What else there is lacks or has more beside it.
VERSIONS, OF_PAGE = ("1.16", "1.17", "1.18"), "1.17"
pytestmark = [pytest.mark.filterwarnings("ignore"),
              pytest.mark.skipif(not scipy.__version__.startswith(VERSIONS), reason="other distributions")]
LEVELS = np.array([0.3, 0.62])
SLOW = {"levy_stable", "studentized_range"}  # quadratures of seconds; refused below
CONTINUOUS = {name: shapes for name, shapes in distcont if isinstance(name, str) and name not in SLOW}
DISCRETE = {name: shapes for name, shapes in distdiscrete if isinstance(name, str)}
PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


def lacking():
    """The table of the page: for each distribution, pairs of methods and arguments."""
    found = {}
    for name, cells in re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text().partition("## scipy.stats")[2], re.M):
        found[name] = [(set(methods.split()), set(by.replace(",", " ").split()))
                       for methods, by in re.findall(r"`([\w ]+)` by ([\w, ]+)", cells)]  # fmt: skip
    return found


def expected_to_lack(name, method, argument):
    return any(method in methods and argument in by for methods, by in lacking().get(name, []))


def agrees(lacks, *asked):
    """Whether a derivative is there as the page says."""
    expected = expected_to_lack(*asked)
    return lacks == expected or (expected and not scipy.__version__.startswith(OF_PAGE))


def slope(f, at, h):
    return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h)


def outcomes(name, shapes, methods, points):
    """Whether each method has the right derivative by each argument: triples of method, argument, True or the error."""
    dist, ours = getattr(st, name), distributions.FUNCTIONS[name]
    labels = ["x", *(part.strip() for part in dist.shapes.split(","))] if dist.shapes else ["x"]
    for method in methods:
        given = [points(method), *map(float, shapes)]
        value = getattr(dist, method)(*given)
        for k, label in enumerate(labels):
            if k == 0 and not isinstance(dist, st.rv_continuous):
                continue
            tape = codipy.Tape()
            try:
                with tape:
                    x = tape.register_input(given[k])
                    y = getattr(ours, method)(*given[:k], x, *given[k + 1:])
                    is_active = codipy.active.array.is_active(y)
                    y = tape.register_output(y) if is_active else y
            except ActiveError as error:
                assert f"scipy.stats.{name}" in str(error)
                yield method, label, str(error)
                continue
            assert np.array_equal(codipy.value(y), value, equal_nan=True), (name, method, label)
            gradient = 0.0
            if is_active:
                y.gradient = np.array([1.0, 0.7])
                tape.evaluate()
                gradient = x.gradient

            def moved(s, k=k, method=method, given=given):
                return getattr(dist, method)(*given[:k], s, *given[k + 1:]) * [1.0, 0.7]

            wanted = slope(moved, given[k], 1e-4 * np.maximum(np.abs(given[k]), 1e-2))
            wanted = wanted if k == 0 else np.sum(wanted)
            assert np.all(np.isclose(gradient, wanted, 2e-5, 1e-6) | ~np.isfinite(wanted)), (name, method, label)
            yield method, label, True


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    shapes = CONTINUOUS[name]
    quantiles = getattr(st, name).ppf(LEVELS, *shapes)

    def points(method):
        return LEVELS if method in ("ppf", "isf") else quantiles

    for method, label, outcome in outcomes(name, shapes, distributions.CONTINUOUS, points):
        lacks = "has a formula of its own" not in str(outcome) and outcome is not True
        assert agrees(lacks, name, method, label), (name, method, label, outcome)


@pytest.mark.parametrize("name", [name for name, shapes in DISCRETE.items() if not any(map(np.ndim, shapes))])
def test_discrete_distributions(name):
    shapes = DISCRETE[name]
    quantiles = getattr(st, name).ppf(LEVELS, *shapes)
    for method, label, outcome in outcomes(name, shapes, distributions.DISCRETE, lambda method: quantiles):
        assert agrees(outcome is not True, name, method, label), (name, method, label, outcome)


@pytest.mark.parametrize("name", sorted(distributions.SPECIAL))
def test_a_formula_for_one_value_of_a_shape_is_no_constant(name):
    ours = distributions.FUNCTIONS[name]
    shapes = dict(distcont)[name]
    for k, points in distributions.SPECIAL[name].items():
        for point in points:
            with pytest.raises(ActiveError, match=f"scipy.stats.{name}.logpdf: where shape {k + 1} is {point}"):
                codipy.grad(lambda s, k=k: ours.logpdf(0.3, *shapes[:k], s, *shapes[k + 1:]))(point)


SAMPLE = np.random.default_rng(0).uniform(0.5, 2.0, 8)
OTHER = np.random.default_rng(1).uniform(0.5, 2.0, 8)
PROGRAMS = {
    "entropy": lambda x: st.entropy(x) + st.entropy(x, OTHER), "gmean": lambda x: st.gmean(x, weights=OTHER),
    "gzscore": lambda x: np.sum(st.gzscore(x) ** 3), "hmean": lambda x: st.hmean(x),
    "kurtosis": lambda x: st.kurtosis(x) + st.kurtosis(x, bias=False),
    "linregress": lambda x: sum(st.linregress(x, OTHER)[:5]), "moment": lambda x: st.moment(x, 3),
    "pearsonr": lambda x: st.pearsonr(x, OTHER)[0] + st.pearsonr(x, OTHER)[1], "pmean": lambda x: st.pmean(x, 2),
    "sem": lambda x: st.sem(x), "skew": lambda x: st.skew(x) + st.skew(x, bias=False),
    "variation": lambda x: st.variation(x), "zmap": lambda x: np.sum(st.zmap(x, OTHER) ** 2),
    "zscore": lambda x: np.sum(st.zscore(x) ** 3),
    "multivariate_normal": lambda x: np.sum(st.multivariate_normal.logpdf(
        OTHER.reshape(4, 2), x[:2], np.diag(x[2:4]) + 0.1)),
    "frozen": lambda x: np.sum(st.norm(x[0], scale=x[1]).logpdf(OTHER)) + st.gamma(x[2]).cdf(x[3]),
    "frozen before": lambda x: np.sum(BEFORE.logpdf(x)) + POISSON.cdf(3.0) * x[0],
    "loc and scale": lambda x: np.sum(st.t.logcdf(x, 3.0, loc=x[0], scale=x[1])) + st.beta.ppf(0.3, x[2], 2.0, x[3]),
    "discrete": lambda x: np.sum(st.poisson.logpmf(np.arange(4), x[0])) + st.binom.cdf(2, 5, x[1] / 3.0),
    "outside of the support": lambda x: np.sum(st.gamma.pdf(x - 1.0, 2.0)) + np.sum(st.uniform.cdf(x * 0.7)),
}  # fmt: skip
PROGRAMS |= {
    "density of data": lambda x: np.sum(st.gaussian_kde(x)(OTHER) * OTHER) + st.gaussian_kde(x, 0.3).pdf(0.8)[0],
    "density at points": lambda x: np.sum(st.gaussian_kde(OTHER)(x) * OTHER) + np.sum(DENSITY.logpdf(x)),
    "density of two axes": lambda x: np.sum(st.gaussian_kde(x.reshape(2, 4), "silverman").logpdf(x[:4].reshape(2, 2))),
    "density of weights": lambda x: np.sum(st.gaussian_kde(x, weights=OTHER)(OTHER)),
    "density of a bandwidth": lambda x: np.sum(st.gaussian_kde(OTHER, bw_method=x[0])(x)),
    "integrals of densities": lambda x: st.gaussian_kde(x).integrate_box_1d(x[0] - 1.0, x[1]) + st.gaussian_kde(
        x).integrate_kde(DENSITY) * st.gaussian_kde(x.reshape(2, 4)).integrate_gaussian(x[:2], np.diag(x[2:4])),
    "parts of a density": lambda x: np.sum(st.gaussian_kde(x.reshape(2, 4)).marginal([1])(OTHER)) + np.sum(
        st.gaussian_kde(x.reshape(2, 4)).inv_cov),
    "geninvgauss": lambda x: np.sum(st.geninvgauss.logpdf(x, 1.3, x[0])) + np.sum(
        st.geninvgauss.ppf(x / 4, 1.3, 0.7) * st.geninvgauss.cdf(x, 1.3, 0.7)),
}  # fmt: skip
DENSITY = st.gaussian_kde(OTHER)
BEFORE, POISSON = st.norm(0.3, 2.0), st.poisson(2.0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f = PROGRAMS[name]
    value, gradient = codipy.value_and_grad(f)(SAMPLE)
    assert value == f(SAMPLE)
    steps = 1e-5 * np.eye(SAMPLE.size)
    np.testing.assert_allclose(gradient, [(f(SAMPLE + h) - f(SAMPLE - h)) / 2e-5 for h in steps], 1e-6, 1e-7)


@pytest.mark.parametrize("name", ["density of data", "density of two axes", "geninvgauss"])
def test_densities_forward_and_of_second_order(name):
    f, direction = PROGRAMS[name], np.cos(np.arange(SAMPLE.size))
    gradient = codipy.grad(f)(SAMPLE)
    assert codipy.jvp(f, (SAMPLE,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-10)
    (product,) = codipy.hvp(f, (SAMPLE,), (direction,))
    change = (codipy.grad(f)(SAMPLE + 1e-5 * direction) - codipy.grad(f)(SAMPLE - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(product, change, rtol=1e-5, atol=1e-6)


@each_strategy
def test_a_likelihood(strategy):
    """Second order, and both modes."""

    def f(p):
        return (-np.sum(st.gamma.logpdf(SAMPLE, p[0], scale=p[1])) + st.norm.cdf(p[2]) * st.t.ppf(0.9, p[0])
                + st.gamma.ppf(0.3, p[0]))  # fmt: skip

    p = np.array([2.5, 0.6, 0.4])
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(p)
    assert value == f(p)
    np.testing.assert_allclose(gradient, [slope(lambda s, e=e: f(p + s * e), 0.0, 1e-4) for e in np.eye(3)], 1e-8)
    assert codipy.jvp(f, (p,), (p,), strategy=strategy)[1] == pytest.approx(gradient @ p, rel=1e-11)


def test_a_quantile_found_by_a_search_is_run_again_and_of_any_order():
    def g(p):
        return st.johnsonsb.ppf(0.3, p[0], p[1]) * st.burr12.ppf(0.4, p[0], p[1]) + st.genlogistic.isf(p[0] / 9.0, p[1])

    p = np.array([1.3, 2.1])
    np.testing.assert_allclose(codipy.hessian(g)(p), [slope(lambda s, e=e: codipy.grad(g)(p + s * e), 0.0, 1e-3)
                                                      for e in np.eye(2)], 1e-6, 1e-8)  # fmt: skip
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(p)
        y = tape.register_output(codipy.rebind(lambda p: st.fatiguelife.ppf(0.3, p[0]) + st.alpha.ppf(0.2, p[1])
                                               + st.exponnorm.ppf(0.4, p[0]))(x))  # fmt: skip
    tape.set_primal(x, p + 1.0)
    tape.evaluate_primal()
    q = p + 1.0
    assert tape.get_primal(y) == st.fatiguelife.ppf(0.3, q[0]) + st.alpha.ppf(0.2, q[1]) + st.exponnorm.ppf(0.4, q[0])


def test_what_is_passive_is_scipys():
    ours = distributions.FUNCTIONS["norm"]
    assert ours.logpdf(0.3) == st.norm.logpdf(0.3) and ours.mean() == 0.0 and isinstance(ours, st.rv_continuous)
    assert ours(0.3, 2.0).std() == 2.0 and ours.rvs(size=2, random_state=1).shape == (2,)
    assert codipy.grad(lambda x: x * st.norm(0.3, 2.0).mean())(2.0) == 0.3


@pytest.mark.parametrize(("name", "shapes"), [("norm", ()), ("gamma", (2.0,)), ("beta", (2.0, 3.0))])
def test_random_numbers_of_frozen_distributions_move_with_location_and_scale(name, shapes):
    def f(x):
        frozen = getattr(st, name)(*shapes, loc=x[0], scale=x[1])
        drawn = frozen.rvs(5, random_state=3), frozen.rvs(size=(2, 2), random_state=np.random.default_rng(1))
        return np.sum(np.sin(drawn[0])) + np.sum(drawn[1])

    x = np.array([0.3, 1.7])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(2)], 1e-7)
    with pytest.raises(ActiveError, match="rvs"):
        codipy.grad(lambda a: np.sum(st.gamma(a).rvs(3, random_state=1)))(2.0)


@pytest.mark.parametrize("f", [
    lambda x: st.norm(x).expect(np.sin), lambda x: st.poisson.pmf(x, 2.0), lambda x: st.norm.fit(np.array([x, 1.0]))[0],
    lambda x: st.geninvgauss.ppf(0.3, x, 1.0), lambda x: st.geninvgauss.cdf(0.3, 1.0, x),
    lambda x: st.levy_stable.pdf(x, 1.5, 0.5), lambda x: st.studentized_range.cdf(x, 3.0, 10.0),
])  # fmt: skip
def test_what_has_no_derivative_is_refused(f):
    with pytest.raises(ActiveError):
        codipy.grad(f)(1.2)
