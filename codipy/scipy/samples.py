# SPDX-License-Identifier: Apache-2.0
"""What is what in `scipy.stats` beside distributions: SciPy's functions that are rebuilt, passive and refused ones."""

from __future__ import annotations

__all__ = ["REBUILT", "REFUSED", "RULED", "STEPS", "WITHOUT_VALUES"]

RULED: dict = {}
# Rebuilt functions, each with the arguments that may be active, None for all.
REBUILT: dict[str, tuple | None] = dict.fromkeys((
    "alexandergovern", "bartlett", "binned_statistic", "binned_statistic_2d", "binned_statistic_dd", "binomtest",
    "boxcox", "boxcox_llf", "boxcox_normmax", "chi2_contingency", "chisquare", "circmean", "circstd", "circvar",
    "combine_pvalues", "cramervonmises", "describe", "differential_entropy", "directional_stats", "energy_distance",
    "entropy", "epps_singleton_2samp", "estimated_cdf", "expectile", "f_oneway", "false_discovery_control", "gmean",
    "gstd", "gzscore", "hmean", "iqr", "jarque_bera", "ks_2samp", "kstat", "kstatvar", "kurtosis", "kurtosistest",
    "levene", "linregress", "lmoment", "median_abs_deviation", "mode", "moment", "normaltest", "obrientransform",
    "pearsonr", "pmean", "pointbiserialr", "poisson_means_test", "power_divergence", "probplot", "quantile",
    "scoreatpercentile", "sem", "sigmaclip", "skew", "skewtest", "theilslopes", "tmax", "tmean", "tmin", "trim1",
    "trim_mean", "trimboth", "tsem", "tstd", "ttest_1samp", "ttest_ind", "ttest_ind_from_stats", "ttest_rel", "tvar",
    "variation", "wasserstein_distance", "yeojohnson", "yeojohnson_llf", "yeojohnson_normmax", "zmap", "zscore",
))  # fmt: skip
# What depends on the order of samples or on counts alone, so that its slope is zero.
STEPS = frozenset((
    "anderson_ksamp", "ansari", "barnard_exact", "boschloo_exact", "brunnermunzel", "bws_test", "chatterjeexi",
    "cramervonmises_2samp", "fisher_exact", "fligner", "friedmanchisquare", "kendalltau", "kruskal", "logrank",
    "mannwhitneyu", "mood", "page_trend_test", "percentileofscore", "rankdata", "ranksums", "somersd", "spearmanr",
    "spearmanrho", "tiecorrect", "weightedtau", "wilcoxon",
))  # fmt: skip
WITHOUT_VALUES = frozenset(("abs", "exp", "log", "make_distribution"))  # of distributions, which are passive
_DRAWN = "it draws samples anew: write the statistic of each with indices that are drawn before, `x[indices]`"
_COUNTED = ("its counts are constant, its limits and widths are those of `np.min(x)` and `np.max(x)`: take "
            "`np.histogram` of `codipy.value(x)`")  # fmt: skip
_EMPIRICAL = ("take the distance of the two distribution functions, `np.max(np.abs(np.arange(1, n + 1) / n - "
              "dist.cdf(np.sort(x))))` and with `np.arange(n) / n`")  # fmt: skip
REFUSED = {
    **dict.fromkeys(("bootstrap", "monte_carlo_test", "permutation_test", "power", "sobol_indices"), _DRAWN),
    **dict.fromkeys(("cumfreq", "relfreq"), _COUNTED),
    **dict.fromkeys(("order_statistic", "truncate"),
                    "distributions that are made by `make_distribution` are passive: take those that have names"),
    **dict.fromkeys(("goodness_of_fit", "ks_1samp", "kstest"), _EMPIRICAL),
    **dict.fromkeys(("bayes_mvs", "mvsdist"), "take `np.mean(x)`, `np.var(x)` and their limits by `scipy.stats.t.ppf`"),
    "anderson": "take `np.sort(x)`, and the sum of `logcdf` and `logsf` that defines it",
    "dunnett": "take `scipy.stats.ttest_ind` of each with the control, or its formula",
    "ecdf": "it is constant but at the samples: take it of `codipy.value(x)`",
    "fit": "write `scipy.optimize.minimize(lambda q: -np.sum(dist.logpdf(data, *q)), start).x`",
    "median_test": "its table is constant, and its median is `np.median`: take that",
    "multiscale_graphcorr": "take `scipy.stats.pearsonr` of the distances",
    "ppcc_max": "take `scipy.stats.probplot` and `scipy.optimize.minimize_scalar`",
    "quantile_test": "its count is constant, and its interval has elements of `np.sort(x)`: take these",
    "shapiro": "its coefficients come from compiled loops: take `scipy.stats.probplot(x)[1][2] ** 2`",
    "siegelslopes": "take `np.median` of the medians of slopes, or `scipy.stats.theilslopes`",
    "tukey_hsd": "its p-values have no derivative: take differences of `np.mean` over their standard error",
    "wasserstein_distance_nd": "take `scipy.optimize.linprog` with the distances of the points as its costs",
    **dict.fromkeys(("boxcox_normplot", "ppcc_plot", "yeojohnson_normplot"), "it draws: take `codipy.value(x)`"),
}  # fmt: skip
