# SPDX-License-Identifier: Apache-2.0
"""scipy.stats' functions of samples in rebound code: SciPy's bits, and derivatives against differences of the same."""

import inspect

import numpy as np
import pytest
import scipy.stats

import codipy
from codipy.errors import ActiveError
from codipy.scipy import samples
from tests.scipy.versions import LATER
from tests.strategies import each_strategy

SAMPLE = np.linspace(0.2, 1.5, 36) ** 2 + 0.01 * np.sin(np.arange(36.0))
SAMPLE = SAMPLE[np.random.default_rng(2).permutation(36)] + 0.05
TIMES = np.arange(36.0)
WEIGHTS = np.random.default_rng(1).uniform(0.5, 1.5, 400)
DIRECTIONS = np.random.default_rng(3).uniform(-1.0, 1.0, (2, 36))

# Texts, so that each is compiled into a function of its own and rebuilt as a user's is; of a vector x.
CASES = [
    "alexandergovern(x[:12], x[12:24], x[24:])", "bartlett(x[:12], x[12:24], x[24:])", "binomtest(7, 20, x[0] / 3)",
    "binned_statistic(TIMES, x, 'mean', bins=4)[0]", "binned_statistic(TIMES, x, 'std', bins=4)[0]",
    "binned_statistic(TIMES, x, 'median', bins=4)[0]", "binned_statistic(TIMES, x, 'sum', bins=4)[0]",
    "binned_statistic(TIMES, x, 'min', bins=4)[0]", "binned_statistic(TIMES, x, 'max', bins=4)[0]",
    "binned_statistic(x, x ** 2, 'mean', bins=4)", "binned_statistic(TIMES, [x, x ** 2], 'mean', bins=4)[0]",
    "binned_statistic_2d(TIMES, TIMES[::-1], x, 'mean', bins=3)[0]",
    "binned_statistic_dd(np.stack([TIMES, TIMES[::-1]], 1), x, 'std', bins=3)[0]", "boxcox(x, 0.3)", "boxcox(x)",
    "boxcox(x, x[0])", "boxcox_llf(0.3, x)", "boxcox_llf(x[0], x[1:])", "boxcox_normmax(x)",
    "chi2_contingency(x[:9].reshape(3, 3) * 30)", "chisquare(x)", "chisquare(x / x.sum(), np.ones(36) / 36)",
    "chisquare(x.reshape(6, 6), axis=None)", "circmean(x)", "circmean(x, high=2, low=0)", "circstd(x)", "circvar(x)",
    "combine_pvalues(x / 3, 'fisher')", "combine_pvalues(x / 3, 'pearson')", "combine_pvalues(x / 3, 'tippett')",
    "combine_pvalues(x / 3, 'stouffer')", "combine_pvalues(x / 3, 'mudholkar_george')", "cramervonmises(x, 'norm')",
    "describe(x)", "differential_entropy(x, method='vasicek')", "differential_entropy(x, method='van es')",
    "differential_entropy(x, method='ebrahimi')", "differential_entropy(x, method='correa')",
    "differential_entropy(x, method='auto')", "directional_stats(x.reshape(12, 3)).mean_direction",
    "directional_stats(x.reshape(12, 3)).mean_resultant_length", "energy_distance(x[:18], x[18:] + 0.1)", "entropy(x)",
    "entropy(x[:18], x[18:], base=2)", "estimated_cdf(x, np.array([0.5, 0.9]))", "estimated_cdf(x, x[:2] + 0.01)",
    "epps_singleton_2samp(x[:18], x[18:] + 0.1)", "expectile(x, 0.3)", "expectile(x, 0.7, weights=x[::-1])",
    "f_oneway(x[:12], x[12:24], x[24:])", "f_oneway(x[:12], x[12:24], x[24:], equal_var=False)",
    "false_discovery_control(x / 3)", "gmean(x)", "gmean(x, weights=x[::-1])", "gstd(x)", "gzscore(x)", "hmean(x)",
    "hmean(x, weights=x[::-1])", "iqr(x)", "iqr(x, rng=(20, 70), scale='normal')",
    "iqr(x.reshape(6, 6), axis=0, interpolation='midpoint')", "jarque_bera(x)", "ks_2samp(x[:18], x[18:] + 0.1)",
    "kstat(x, 3)", "kstat(x, 4)", "kstatvar(x, 2)", "kurtosis(x)", "kurtosis(x, fisher=False, bias=False)",
    "kurtosistest(x)", "levene(x[:12], x[12:24], x[24:])", "levene(x[:12], x[12:24], center='mean')",
    "linregress(x[:18], x[18:])", "linregress(x[:18], x[18:], alternative='less')", "lmoment(x)",
    "lmoment(x, order=3, standardize=False)", "median_abs_deviation(x)",
    "median_abs_deviation(x.reshape(6, 6), axis=1, scale='normal')", "mode(x)", "moment(x, 3)", "moment(x, [2, 3])",
    "moment(x, 2, center=0.3)", "normaltest(x)", "obrientransform(x[:12], x[12:])", "pearsonr(x[:18], x[18:])",
    "pearsonr(x.reshape(6, 6), x[::-1].reshape(6, 6), axis=1)", "pmean(x, 2.5)", "pmean(x, 0)",
    "pointbiserialr(TIMES > 17, x)", "poisson_means_test(3, x[0] * 10, 4, x[1] * 10)",
    "power_divergence(x, lambda_='log-likelihood')", "probplot(x)", "quantile(x, 0.3)",
    "quantile(x, [0.2, 0.8], method='median_unbiased')", "quantile(x, x[:2] / 2)", "scoreatpercentile(x, 30)",
    "scoreatpercentile(x, [20, 50], limit=(0.3, 1.2))", "sem(x)", "sem(x.reshape(6, 6), axis=1, ddof=0)",
    "sigmaclip(x, 1.5, 1.5)", "skew(x)", "skew(x.reshape(6, 6), axis=None, bias=False)", "skewtest(x)",
    "theilslopes(x)", "theilslopes(x[:18], x[18:])", "tmax(x, 1.2)", "tmean(x)", "tmean(x, (0.3, 1.2))", "tmin(x, 0.4)",
    "tmin(x)", "trim1(x, 0.1)", "trim_mean(x, 0.1)", "trim_mean(x.reshape(6, 6), 0.2, axis=1)", "trimboth(x, 0.1)",
    "tsem(x, (0.3, 1.2))", "tstd(x, (0.3, 1.2))", "ttest_1samp(x, 0.5)", "ttest_1samp(x, x[0])",
    "ttest_1samp(x.reshape(6, 6), 0.5, axis=1, alternative='less')", "ttest_ind(x[:18], x[18:] + 0.1)",
    "ttest_ind(x[:18], x[18:] + 0.1, equal_var=False)", "ttest_ind(x[:18], x[18:] + 0.1, trim=0.1)",
    "ttest_ind(x[:18], x[18:] + 0.1, nan_policy='omit')", "ttest_ind_from_stats(x[0], x[1], 12, x[2], x[3], 14)",
    "ttest_rel(x[:18], x[18:] + 0.1)", "tvar(x)", "tvar(x, (0.3, 1.2))", "variation(x)", "variation(x, ddof=1)",
    "wasserstein_distance(x[:10], x[10:20], x[20:30])", "wasserstein_distance(x[:18], x[18:] + 0.1)",
    "yeojohnson(x, 0.3)", "yeojohnson(x)", "yeojohnson(x - 0.7, 1.4)", "yeojohnson_llf(0.3, x)",
    "yeojohnson_normmax(x)", "zmap(x[:18], x[18:])", "zscore(x)",
    "zscore(x.reshape(6, 6), axis=1, ddof=1, nan_policy='omit')",
]  # fmt: skip
SEARCHED = ("boxcox(x)", "boxcox_normmax", "yeojohnson(x)", "yeojohnson_normmax")  # to eight digits, by a search


def numbers_of(result):
    """The floating point numbers in what a function of samples returns, in one sum."""
    if hasattr(result, "statistic") and hasattr(result, "pvalue"):
        return numbers_of((result.statistic, result.pvalue, getattr(result, "statistic_location", 0.0)))
    if isinstance(result, tuple | list):
        return sum((numbers_of(part) for part in result), 0.0)
    found = np.ravel(np.asarray(result))
    if found.dtype.kind == "O":
        return sum((numbers_of(part) for part in found), 0.0)
    if found.dtype.kind != "f":
        return 0.0
    found = found[np.isfinite(found)]
    return np.sum(found * WEIGHTS[:found.size])


def program(text):
    """A program as users write one."""
    space = {"np": np, "st": scipy.stats, "TIMES": TIMES, "numbers_of": numbers_of}
    exec(f"def f(x):\n    return numbers_of(st.{text})", space)
    return space["f"]


def is_there(text):
    name = text.partition("(")[0]
    # Which SciPy finds by `find_root` from 1.18 on, of which there is no derivative: it raises.
    version = np.lib.NumpyVersion(scipy.__version__)
    is_searched = name == "expectile" and version >= "1.18.0"
    is_later = name == "f_oneway" and "equal_var" in text and version < "1.16.0"
    return hasattr(scipy.stats, name) and not is_searched and not is_later


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", list(filter(is_there, CASES)))
def test_values_are_scipys_and_derivatives_right(text):
    f, searched = program(text), text.startswith(SEARCHED)
    value, gradient = codipy.value_and_grad(f)(SAMPLE)
    assert value == f(SAMPLE)
    assert np.any(gradient != 0.0)
    step = 2e-3 if searched else 1e-5
    for direction in DIRECTIONS:
        near = [f(SAMPLE + k * step * direction) for k in (-2, -1, 1, 2)]
        slope = (8.0 * (near[2] - near[1]) - (near[3] - near[0])) / (12.0 * step)
        assert gradient @ direction == pytest.approx(slope, rel=1e-3 if searched else 1e-6, abs=1e-7)


@each_strategy
def test_second_order_and_forwards(strategy):
    def f(x):
        t = scipy.stats.ttest_ind(x[:18], x[18:], equal_var=False)
        return t.statistic * scipy.stats.trim_mean(x, 0.1) + scipy.stats.circmean(x) + scipy.stats.tvar(x)

    value, gradient = codipy.value_and_grad(f, strategy=strategy)(SAMPLE)
    direction = DIRECTIONS[0]
    assert value == f(SAMPLE)
    change = codipy.jvp(f, (SAMPLE,), (direction,), strategy=strategy)[1]
    assert change == pytest.approx(gradient @ direction, rel=1e-11)
    (product,) = codipy.hvp(f, (SAMPLE,), (direction,))
    change = (codipy.grad(f)(SAMPLE + 1e-5 * direction) - codipy.grad(f)(SAMPLE - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(product, change, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [
    "rankdata(x)", "spearmanr(x[:18], x[18:])[0]", "kendalltau(x[:18], x[18:])[1]", "mannwhitneyu(x[:18], x[18:])[1]",
    "wilcoxon(x - 0.7)[1]", "fligner(x[:18], x[18:])[0]"])
def test_ranks_are_constant(text):
    """They are passive: what is multiplied with them has the derivative of a product with a number."""
    space = {"np": np, "st": scipy.stats}
    exec(f"def f(x):\n    return np.sum(st.{text} * np.sin(x))\ndef ranks(x):\n    return st.{text}", space)
    value, gradient = codipy.value_and_grad(space["f"])(SAMPLE)
    assert value == space["f"](SAMPLE)
    np.testing.assert_allclose(gradient, space["ranks"](SAMPLE) * np.cos(SAMPLE), rtol=1e-14)


@pytest.mark.parametrize("name", sorted(filter(is_there, samples.REFUSED)))
def test_refused_functions_say_so(name):
    with pytest.raises(ActiveError, match=rf"scipy\.stats\.{name}: codipy has no derivative for it"):
        codipy.grad(lambda x: np.sum(getattr(codipy.scipy.stats, name)(x)))(SAMPLE)


def test_every_function_is_in_one_set():
    """Nobody meets a function of SciPy's that neither works nor says what to write instead."""
    sets = [set(samples.REBUILT), samples.STEPS, samples.WITHOUT_VALUES, set(samples.REFUSED)]
    assert sum(map(len, sets)) == len(set().union(*sets))
    names = {name for name in scipy.stats.__all__ if inspect.isroutine(getattr(scipy.stats, name))}
    names -= {"find_repeats"}  # which later versions have no more
    assert not names & LATER["stats"] and names | LATER["stats"] == set().union(*sets)
    assert {text.partition("(")[0] for text in CASES} == sets[0], "a case for each"
