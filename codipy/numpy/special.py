# SPDX-License-Identifier: Apache-2.0
"""The ufuncs of `scipy.special` that have a derivative: partials by name, beside those of the operations table."""

from __future__ import annotations

import sys

import numpy as np

from codipy.operations import BY_NAME

from .elementary import elementwise_primitive
from .special_slopes import FUNCTIONS

__all__ = ["ARGUMENTS", "NAMES", "REFUSED", "WHOLE", "lacking", "partials_of", "primitive_of", "row_of", "ufunc_of"]

# Partials in the arguments and the result w, one text per argument; "-" where there is none to be had. Texts see NumPy
# as np, scipy.special as sp, and the functions of `special_slopes`.
_ONE = {
    "erfcx": "erfcx_slope(x, w)",
    "erfi": "2 / np.sqrt(np.pi) * np.exp(x * x)",
    "erfinv": "np.sqrt(np.pi) / 2 * np.exp(w * w)",
    "erfcinv": "-np.sqrt(np.pi) / 2 * np.exp(w * w)",
    "dawsn": "dawson_slope(x, w)",
    "loggamma": "sp.psi(x)",
    "rgamma": "reciprocal_gamma_slope(x, w)",
    "logit": "1 / x + 1 / (1 - x)",
    "log_expit": "sp.expit(-x)",
    "exp10": "w * np.log(10)",
    "cosm1": "-np.sin(x)",
    "exprel": "power_slope(x)",
    "ndtr": "np.exp(-x * x / 2) / np.sqrt(2 * np.pi)",
    "log_ndtr": "log_ndtr_slope(x, w)",
    "ndtri": "np.sqrt(2 * np.pi) * np.exp(w * w / 2)",
    "ndtri_exp": "np.sqrt(2 * np.pi) * np.exp(x + w * w / 2)",
    "j0": "-sp.j1(x)",
    "j1": "(sp.j0(x) - sp.jv(2, x)) / 2",
    "y0": "-sp.y1(x)",
    "y1": "(sp.y0(x) - sp.yv(2, x)) / 2",
    "i0": "sp.i1(x)",
    "i1": "(sp.i0(x) + sp.iv(2, x)) / 2",
    "i0e": "scaled_slope(-1, 0, x, sp.i1e(x) - np.sign(x) * w)",
    "i1e": "scaled_slope(-1, 1, x, (sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * w)",
    "k0": "-sp.k1(x)",
    "k1": "-(sp.k0(x) + sp.kv(2, x)) / 2",
    "k0e": "scaled_slope(1, 0, x, w - sp.k1e(x))",
    "k1e": "scaled_slope(1, 1, x, w - (sp.k0e(x) + sp.kve(2, x)) / 2)",
    "entr": "-np.log(x) - 1",
    "ellipk": "first_kind_slope(x)",
    "ellipe": "second_kind_slope(x)",
    "ellipkm1": "-carlson_d(0.0, 1.0, x) / 6",
    "expi": "exponential_quotient(x)",
    "exp1": "exponential_quotient(-x)",
    "spence": "spence_slope(x)",
    "wrightomega": "share(w)",
    "sindg": "sp.cosdg(x) * np.pi / 180",
    "cosdg": "-sp.sindg(x) * np.pi / 180",
    "tandg": "(1 + w * w) * np.pi / 180",
    "cotdg": "-(1 + w * w) * np.pi / 180",
    "ber": "sp.berp(x)",
    "bei": "sp.beip(x)",
    "ker": "sp.kerp(x)",
    "kei": "sp.keip(x)",
    "berp": "at(x == 0, 0, -sp.bei(x) - w / x)",
    "beip": "at(x == 0, 0.5, sp.ber(x) - w / x)",
    "kerp": "-sp.kei(x) - w / x",
    "keip": "sp.ker(x) - w / x",
    "kolmogorov": "spu._kolmogp(x)",
    "kolmogi": "1 / spu._kolmogp(w)",
    "_kolmogc": "-spu._kolmogp(x)",
    "_kolmogci": "-1 / spu._kolmogp(w)",
    "itstruve0": "sp.struve(0, x)",
    "it2struve0": "-struve_quotient(x)",
    "itmodstruve0": "sp.modstruve(0, x)",
    "_cosine_cdf": "np.where(np.abs(x) < np.pi, (1 + np.cos(x)) / (2 * np.pi), 0)",
    "_cosine_invcdf": "2 * np.pi / (1 + np.cos(w))",
    "_log1mexp": "-1 / np.expm1(-x)",
    "_log1pmx": "-share(x)",
    "_lgam1p": "sp.psi(1 + x)",
    "_sinpi": "np.pi * spu._cospi(x)",
    "_cospi": "-np.pi * spu._sinpi(x)",
    "_scaled_exp1": "scaled_integral_slope(x, w)",
}
_TWO = {
    "beta": ("-w * psi_rise(x, y)", "-w * psi_rise(y, x)"),
    "betaln": ("-psi_rise(x, y)", "-psi_rise(y, x)"),
    "binom": ("binomial_slope(x, y, w)", "w * (sp.psi(x - y + 1) - sp.psi(y + 1))"),
    "_nbinom_mean": ("(1 - y) / y", "-x / y**2"),
    "_nbinom_variance": ("(1 - y) / y**2", "x * (y - 2) / y**3"),
    "_nbinom_skewness": ("-w / (2 * x)", "w * (0.5 / (1 - y) - 1 / (2 - y))"),
    "_nbinom_kurtosis_excess": ("-w / x", "(2 * y - y * y) / (x * (1 - y)**2)"),
    "poch": ("rising_slope(x, y, w)", "w * sp.psi(x + y)"),
    # Where x is 0 all are 0 whatever y is, also at the end of its range.
    "xlogy": ("np.log(y)", "x / np.where(np.equal(x, 0) & np.equal(y, 0), 1, y)"),
    "xlog1py": ("np.log1p(y)", "x / np.where(np.equal(x, 0) & np.equal(y, -1), 1, 1 + y)"),
    "rel_entr": ("np.log(x / y) + 1", "-x / np.where(np.equal(x, 0) & np.equal(y, 0), 1, y)"),
    "kl_div": ("np.log(x / y)", "1 - x / np.where(np.equal(x, 0) & np.equal(y, 0), 1, y)"),
    "huber": ("np.maximum(np.abs(y) - x, 0)", "np.clip(y, -x, x)"),
    "pseudo_huber": (
        "y * (y / np.hypot(x, y)) * (y / (x + np.hypot(x, y))) ** 2",
        "pseudo_huber_slope(x, y)",
    ),
    "jv": ("jv_v(x, y)", "(sp.jv(x - 1, y) - sp.jv(x + 1, y)) / 2"),
    "yv": ("yv_v(x, y)", "(sp.yv(x - 1, y) - sp.yv(x + 1, y)) / 2"),
    "yn": ("-", "(sp.yv(np.trunc(x) - 1, y) - sp.yv(np.trunc(x) + 1, y)) / 2"),  # SciPy cuts the order off
    "iv": ("iv_v(x, y)", "(sp.iv(x - 1, y) + sp.iv(x + 1, y)) / 2"),
    "ive": ("ive_v(x, y)", "scaled_slope(-1, x, y, (sp.ive(x - 1, y) + sp.ive(x + 1, y)) / 2 - np.sign(y) * w)"),
    "kv": ("kv_v(x, y)", "-(sp.kv(x - 1, y) + sp.kv(x + 1, y)) / 2"),
    "kn": ("-", "-(sp.kv(np.trunc(x) - 1, y) + sp.kv(np.trunc(x) + 1, y)) / 2"),
    "kve": ("kve_v(x, y)", "scaled_slope(1, x, y, w - (sp.kve(x - 1, y) + sp.kve(x + 1, y)) / 2)"),
    "gammainc": ("gammainc_a(x, y)", "edge(y == 0, np.exp(sp.xlogy(x - 1, y) - y - sp.gammaln(x)))"),
    "gammaincc": ("-gammainc_a(x, y)", "edge(y == 0, -np.exp(sp.xlogy(x - 1, y) - y - sp.gammaln(x)))"),
    "gammaincinv": (
        "at(w == 0, 0, -gammainc_a(x, w) * np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w)))",
        "np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w))",
    ),
    "gammainccinv": (
        "at(w == 0, 0, -gammainc_a(x, w) * np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w)))",
        "-np.exp(sp.gammaln(x) + w - sp.xlogy(x - 1, w))",
    ),
    "expn": ("-", "-np.where(x >= 1, sp.expn(np.maximum(np.trunc(x) - 1, 0), y), w * (1 + 1 / y))"),
    "hyp0f1": ("-", "sp.hyp0f1(x + 1, y) / x"),
    "ellipkinc": (
        "1 / np.sqrt(1 - y * np.sin(x) ** 2)",
        "incomplete_slope(x, y, True)",
    ),
    "ellipeinc": ("np.sqrt(1 - y * np.sin(x) ** 2)", "incomplete_slope(x, y, False)"),
    "boxcox": ("x ** (y - 1)", "np.log(x) ** 2 * power_slope(y * np.log(x))"),
    "boxcox1p": ("(1 + x) ** (y - 1)", "np.log1p(x) ** 2 * power_slope(y * np.log1p(x))"),
    "inv_boxcox": ("w ** (1 - y)", "w * x * x * root_slope(x * y)"),
    "owens_t": (
        "-np.exp(-x * x / 2) * sp.erf(x * y / np.sqrt(2)) / (2 * np.sqrt(2 * np.pi))",
        "np.exp(-x * x * (1 + y * y) / 2) / (2 * np.pi * (1 + y * y))",
    ),
    "stdtr": ("student_slope(x, y)", "np.exp(-(x + 1) / 2 * np.log1p(y * y / x) - sp.betaln(x / 2, 0.5)) / np.sqrt(x)"),
    "stdtrit": (
        "-student_slope(x, w) * np.exp((x + 1) / 2 * np.log1p(w * w / x) + sp.betaln(x / 2, 0.5)) * np.sqrt(x)",
        "np.exp((x + 1) / 2 * np.log1p(w * w / x) + sp.betaln(x / 2, 0.5)) * np.sqrt(x)",
    ),
    "chdtr": (
        "gammainc_a(x / 2, y / 2) / 2",
        "edge(y == 0, np.exp(sp.xlogy(x / 2 - 1, y / 2) - y / 2 - sp.gammaln(x / 2)) / 2)",
    ),
    "chdtrc": (
        "-gammainc_a(x / 2, y / 2) / 2",
        "edge(y == 0, -np.exp(sp.xlogy(x / 2 - 1, y / 2) - y / 2 - sp.gammaln(x / 2)) / 2)",
    ),
    "pdtr": ("-", "-np.exp(sp.xlogy(np.floor(x), y) - y - sp.gammaln(np.floor(x) + 1))"),
    "pdtrc": ("-", "np.exp(sp.xlogy(np.floor(x), y) - y - sp.gammaln(np.floor(x) + 1))"),
    "eval_legendre": ("-", "np.where(x == 0, 0, sp.eval_gegenbauer(x - 1, 1.5, y))"),
    "eval_chebyt": ("-", "np.where(x == 0, 0, x * sp.eval_chebyu(x - 1, y))"),
    "eval_chebyu": ("-", "np.where(x == 0, 0, 2 * sp.eval_gegenbauer(x - 1, 2, y))"),
    "eval_hermite": ("-", "np.where(x == 0, 0, 2 * x * sp.eval_hermite(np.maximum(x - 1, 0), y))"),
    "eval_hermitenorm": ("-", "np.where(x == 0, 0, x * sp.eval_hermitenorm(np.maximum(x - 1, 0), y))"),
    "jve": ("jv_v(x, y)", "(sp.jve(x - 1, y) - sp.jve(x + 1, y)) / 2"),
    "yve": ("yv_v(x, y)", "(sp.yve(x - 1, y) - sp.yve(x + 1, y)) / 2"),
    "struve": ("-", "struve_slope(sp.struve, -1, x, y, w)"),
    "modstruve": ("-", "struve_slope(sp.modstruve, 1, x, y, w)"),
    "powm1": ("y * x ** (y - 1.0)", "at(x == 0, 0, x**y * np.log(x))"),
    "agm": ("agm_slope(x, y)", "agm_slope(y, x)"),
    "elliprc": ("-carlson_d(y, y, x) / 6", "-carlson_d(x, y, y) / 3"),
    "inv_boxcox1p": ("(1 + w) ** (1 - y)", "(1 + w) * x * x * root_slope(x * y)"),
    "chdtri": (
        "at(w == 0, 0, -gammainc_a(x / 2, w / 2) / np.exp(sp.xlogy(x / 2 - 1, w / 2) - w / 2 - sp.gammaln(x / 2)))",
        "-2 / np.exp(sp.xlogy(x / 2 - 1, w / 2) - w / 2 - sp.gammaln(x / 2))",
    ),
    "pdtri": ("-", "-np.exp(sp.gammaln(np.floor(x) + 1) + w - sp.xlogy(np.floor(x), w))"),
    "smirnov": ("-", "spu._smirnovp(x, y)"),
    "smirnovi": ("-", "1 / spu._smirnovp(x, w)"),
    "_smirnovc": ("-", "-spu._smirnovp(x, y)"),
    "_smirnovci": ("-", "-1 / spu._smirnovp(x, w)"),
    "tklmbda": (
        "edge((w <= 0) | (w >= 1), np.where((w <= 0) | (w >= 1), 0, 1 / (w ** (y - 1) + (1 - w) ** (y - 1))))",
        "edge((w <= 0) | (w >= 1) | (y == 0), np.where((w <= 0) | (w >= 1), 0, -(w**y * np.log(w)"
        " - (1 - w)**y * np.log1p(-w) - x) / y / (w ** (y - 1) + (1 - w) ** (y - 1))))",
    ),
    "eval_chebyc": ("-", "np.where(x == 0, 0, x * sp.eval_chebyu(x - 1, y / 2))"),
    "eval_chebys": ("-", "np.where(x == 0, 0, sp.eval_gegenbauer(x - 1, 2, y / 2))"),
    "eval_sh_legendre": ("-", "np.where(x == 0, 0, 2 * sp.eval_gegenbauer(x - 1, 1.5, 2 * y - 1))"),
    "eval_sh_chebyt": ("-", "np.where(x == 0, 0, 2 * x * sp.eval_chebyu(x - 1, 2 * y - 1))"),
    "eval_sh_chebyu": ("-", "np.where(x == 0, 0, 4 * sp.eval_gegenbauer(x - 1, 2, 2 * y - 1))"),
    "_zeta": ("-", "-x * spu._zeta(x + 1, y)"),
    "eval_laguerre": ("-", "np.where(x == 0, 0, -sp.eval_genlaguerre(x - 1, 1, y))"),
}
_THREE = {
    "betainc": (
        "betainc_a(x, y, z)", "betainc_b(x, y, z)",
        "edge(z * (1 - z) == 0, np.exp(sp.xlogy(x - 1, z) + sp.xlog1py(y - 1, -z) - sp.betaln(x, y)))",
    ),
    "betaincc": (
        "-betainc_a(x, y, z)", "-betainc_b(x, y, z)",
        "edge(z * (1 - z) == 0, -np.exp(sp.xlogy(x - 1, z) + sp.xlog1py(y - 1, -z) - sp.betaln(x, y)))",
    ),
    "betaincinv": (
        "at(w * (1 - w) == 0, 0, -betainc_a(x, y, w) / beta_density(x, y, w))",
        "at(w * (1 - w) == 0, 0, -betainc_b(x, y, w) / beta_density(x, y, w))",
        "np.exp(sp.betaln(x, y) - sp.xlogy(x - 1, w) - sp.xlog1py(y - 1, -w))",
    ),
    "betainccinv": (
        "at(w * (1 - w) == 0, 0, -betainc_a(x, y, w) / beta_density(x, y, w))",
        "at(w * (1 - w) == 0, 0, -betainc_b(x, y, w) / beta_density(x, y, w))",
        "-1 / beta_density(x, y, w)",
    ),
    "_beta_ppf": (
        "1 / beta_density(y, z, w)",
        "at(w * (1 - w) == 0, 0, -betainc_a(y, z, w) / beta_density(y, z, w))",
        "at(w * (1 - w) == 0, 0, -betainc_b(y, z, w) / beta_density(y, z, w))",
    ),
    "_beta_pdf": (
        "w * ((y - 1) / x - (z - 1) / (1 - x))",
        "np.where(np.equal(w, 0), 0, w * (np.log(x) - sp.psi(y) + sp.psi(y + z)))",
        "np.where(np.equal(w, 0), 0, w * (np.log1p(-x) - sp.psi(z) + sp.psi(y + z)))",
    ),
    "bdtr": ("-", "-", "-binomial_density(x, y, z)"),
    "bdtrc": ("-", "-", "binomial_density(x, y, z)"),
    "bdtri": ("-", "-", "-1 / binomial_density(x, y, w)"),
    "nbdtr": ("-", "-", "edge(z * (1 - z) == 0, beta_density(np.trunc(y), np.trunc(x) + 1, z))"),
    "nbdtrc": ("-", "-", "-edge(z * (1 - z) == 0, beta_density(np.trunc(y), np.trunc(x) + 1, z))"),
    "nbdtri": ("-", "-", "1 / beta_density(np.trunc(y), np.trunc(x) + 1, w)"),
    "_binom_pmf": ("-", "-", "w * (x / z - (y - x) / (1 - z))"),
    "_binom_cdf": ("-", "-", "-binomial_density(x, y, z)"),
    "_binom_sf": ("-", "-", "binomial_density(x, y, z)"),
    "_nbinom_pmf": ("-", "w * (np.log(z) + psi_rise(y, x))", "w * (y / z - x / (1 - z))"),
    "_nbinom_cdf": ("-", "betainc_a(y, x + 1, z)", "beta_density(y, x + 1, z)"),
    "_nbinom_sf": ("-", "-betainc_a(y, x + 1, z)", "-beta_density(y, x + 1, z)"),
    "fdtr": ("fisher_slope(0, x, y, z)", "fisher_slope(1, x, y, z)", "edge(z == 0, fisher_density(x, y, z))"),
    "fdtrc": ("-fisher_slope(0, x, y, z)", "-fisher_slope(1, x, y, z)", "-edge(z == 0, fisher_density(x, y, z))"),
    "fdtri": (
        "at(w == 0, 0, -fisher_slope(0, x, y, w) / fisher_density(x, y, w))",
        "at(w == 0, 0, -fisher_slope(1, x, y, w) / fisher_density(x, y, w))",
        "1 / fisher_density(x, y, w)",
    ),
    "gdtr": ("z * gamma_density(y, x * z)", "gammainc_a(y, x * z)", "x * gamma_density(y, x * z)"),
    "gdtrc": ("-z * gamma_density(y, x * z)", "-gammainc_a(y, x * z)", "-x * gamma_density(y, x * z)"),
    "gdtrix": (
        "-w / x",
        "at(w == 0, 0, -gammainc_a(y, x * w) / (x * gamma_density(y, x * w)))",
        "1 / (x * gamma_density(y, x * w))",
    ),
    "chndtr": ("spu._ncx2_pdf(x, y, z)", "-", "(sp.chndtr(x, y + 2, z) - w) / 2"),
    "chndtrix": (
        "1 / spu._ncx2_pdf(w, y, z)", "-",
        "at(w == 0, 0, (x - sp.chndtr(w, y + 2, z)) / (2 * spu._ncx2_pdf(w, y, z)))",
    ),
    "_ncx2_pdf": (
        "w * ((y / 2 - 1) / x - 0.5) + z / (2 * x) * spu._ncx2_pdf(x, y + 2, z)",
        "-", "(spu._ncx2_pdf(x, y + 2, z) - w) / 2",
    ),
    "_ncx2_cdf": ("spu._ncx2_pdf(x, y, z)", "-", "(spu._ncx2_cdf(x, y + 2, z) - w) / 2"),  # of SciPy up to 1.16
    "_ncx2_ppf": (
        "1 / spu._ncx2_pdf(w, y, z)", "-",
        "at(w == 0, 0, (x - spu._ncx2_cdf(w, y + 2, z)) / (2 * spu._ncx2_pdf(w, y, z)))",
    ),
    "_ncx2_sf": ("-spu._ncx2_pdf(x, y, z)", "-", "(spu._ncx2_sf(x, y + 2, z) - w) / 2"),
    "_ncx2_isf": (
        "-1 / spu._ncx2_pdf(w, y, z)", "-",
        "at(w == 0, 0, (spu._ncx2_sf(w, y + 2, z) - x) / (2 * spu._ncx2_pdf(w, y, z)))",
    ),
    "_nct_isf": ("-1 / spu._nct_pdf(w, y, z)", "-", "-"),
    "_nct_pdf": (
        "edge(x == 0, y / x * (np.sqrt(1 + 2 / y) * spu._nct_pdf(x * np.sqrt(1 + 2 / y), y + 2, z) - w) - w / x)",
        "-", "-",
    ),
    "_invgauss_ppf": ("1 / wald_density(w, y, z)", "wald_slope(w, y, z) / wald_density(w, y, z)", "-"),
    "_invgauss_isf": ("-1 / wald_density(w, y, z)", "wald_slope(w, y, z) / wald_density(w, y, z)", "-"),
    "nctdtr": ("-", "-", "spu._nct_pdf(z, x, y)"),
    "nctdtrit": ("-", "-", "1 / spu._nct_pdf(w, x, y)"),
    "_nct_sf": ("-spu._nct_pdf(x, y, z)", "-", "-"),
    "_landau_cdf": ("spu._landau_pdf(x, y, z)", "-spu._landau_pdf(x, y, z)", "-"),
    "_landau_sf": ("-spu._landau_pdf(x, y, z)", "spu._landau_pdf(x, y, z)", "-"),
    "_landau_ppf": ("1 / spu._landau_pdf(w, y, z)", "1 + 0 * w", "-"),
    "_landau_isf": ("-1 / spu._landau_pdf(w, y, z)", "1 + 0 * w", "-"),
    "_cauchy_ppf": ("np.pi * z * (1 + ((w - y) / z) ** 2)", "1 + 0 * w", "(w - y) / z"),
    "_cauchy_isf": ("-np.pi * z * (1 + ((w - y) / z) ** 2)", "1 + 0 * w", "(w - y) / z"),
    "wright_bessel": ("-", "-", "sp.wright_bessel(x, x + y, z)"),
    "log_wright_bessel": ("-", "-", "np.exp(sp.log_wright_bessel(x, x + y, z) - w)"),
    "besselpoly": ("sp.besselpoly(x, y + 1, z - 1) - sp.besselpoly(x, y + 1, z + 1)", "-", "-"),
    "elliprf": ("-carlson_d(y, z, x) / 6", "-carlson_d(z, x, y) / 6", "-carlson_d(x, y, z) / 6"),
    "elliprg": ("(sp.elliprf(x, y, z) - faded(x, carlson_d(y, z, x)) / 3) / 4",
                "(sp.elliprf(x, y, z) - faded(y, carlson_d(z, x, y)) / 3) / 4",
                "(sp.elliprf(x, y, z) - faded(z, carlson_d(x, y, z)) / 3) / 4"),
    "lpmv": ("-", "-", "(y * z * w - (y + x) * sp.lpmv(x, y - 1, z)) / (z * z - 1)"),
    "radian": ("np.pi / 180 + 0 * w", "np.pi / 10800 + 0 * w", "np.pi / 648000 + 0 * w"),
    "voigt_profile": ("voigt_slope(0, x, y, z)", "voigt_slope(1, x, y, z)", "voigt_slope(2, x, y, z)"),
    "hyp1f1": ("-", "-", "x / y * sp.hyp1f1(x + 1, y + 1, z)"),
    "hyperu": ("-", "-", "-x * sp.hyperu(x + 1, y + 1, z)"),
    "eval_genlaguerre": ("-", "-", "np.where(x == 0, 0, -sp.eval_genlaguerre(x - 1, y + 1, z))"),
    "eval_gegenbauer": ("-", "-", "np.where(x == 0, 0, 2 * y * sp.eval_gegenbauer(x - 1, y + 1, z))"),
}
_FOUR = {
    "eval_sh_jacobi": (
        "-", "-", "-",
        "np.where(x == 0, 0, (x + y) * sp.eval_jacobi(x - 1, y - z + 1, z, 2 * u - 1) / sp.binom(2 * x + y - 1, x))",
    ),
    "ncfdtr": ("-", "-", "(sp.ncfdtr(x + 2, y, z, u * x / (x + 2)) - w) / 2", "spu._ncf_pdf(u, x, y, z)"),
    "ncfdtri": (
        "-", "-", "at(w == 0, 0, (u - sp.ncfdtr(x + 2, y, z, w * x / (x + 2))) / (2 * spu._ncf_pdf(w, x, y, z)))",
        "1 / spu._ncf_pdf(w, x, y, z)",
    ),
    "_ncf_sf": ("-spu._ncf_pdf(x, y, z, u)", "-", "-", "(spu._ncf_sf(x * y / (y + 2), y + 2, z, u) - w) / 2"),
    "_ncf_isf": (
        "-1 / spu._ncf_pdf(w, y, z, u)", "-", "-",
        "at(w == 0, 0, (spu._ncf_sf(w * y / (y + 2), y + 2, z, u) - x) / (2 * spu._ncf_pdf(w, y, z, u)))",
    ),
    "_skewnorm_isf": (
        "-1 / skew_density(w, y, z, u)", "1 + 0 * w", "(w - y) / z",
        "np.exp(-(1 + u * u) * ((w - y) / z) ** 2 / 2) / (np.pi * (1 + u * u)) / skew_density(w, y, z, u)",
    ),
    "_skewnorm_cdf": (
        "skew_density(x, y, z, u)", "-skew_density(x, y, z, u)", "-(x - y) / z * skew_density(x, y, z, u)",
        "-np.exp(-(1 + u * u) * ((x - y) / z) ** 2 / 2) / (np.pi * (1 + u * u))",
    ),
    "_skewnorm_ppf": (
        "1 / skew_density(w, y, z, u)", "1 + 0 * w", "(w - y) / z",
        "np.exp(-(1 + u * u) * ((w - y) / z) ** 2 / 2) / (np.pi * (1 + u * u)) / skew_density(w, y, z, u)",
    ),
    "hyp2f1": ("-", "-", "-", "x * y / z * sp.hyp2f1(x + 1, y + 1, z + 1, u)"),
    "eval_jacobi": ("-", "-", "-", "np.where(x == 0, 0, (x + y + z + 1) / 2 * sp.eval_jacobi(x - 1, y + 1, z + 1, u))"),
}
# Several results: a text for each.
_SEVERAL = {
    "sici": ("sine_quotient(x)", "np.cos(x) / x"),
    "shichi": ("sinh_quotient(x)", "np.cosh(x) / x"),
    "fresnel": ("np.sin(np.pi * x * x / 2)", "np.cos(np.pi * x * x / 2)"),
    "airy": ("w[1]", "x * w[0]", "w[3]", "x * w[2]"),
    "airye": (
        "airye_slope(0, x, w[1] + np.sqrt(x) * w[0])",
        "airye_slope(1, x, x * w[0] + np.sqrt(x) * w[1])",
        "airye_slope(2, x, w[3] - np.sqrt(np.maximum(x, 0)) * w[2])",
        "airye_slope(3, x, x * w[2] - np.sqrt(np.maximum(x, 0)) * w[3])",
    ),
    "itairy": ("sp.airy(x)[0]", "sp.airy(x)[2]", "sp.airy(-x)[0]", "sp.airy(-x)[2]"),
    "itj0y0": ("sp.j0(x)", "sp.y0(x)"),
    "iti0k0": ("sp.i0(x)", "sp.k0(x)"),
    "it2j0y0": ("j0_quotient(x)", "-sp.y0(x) / x"),
    "it2i0k0": ("i0_quotient(x)", "-sp.k0(x) / x"),
}
# Several results of several arguments: a text for each result and argument.
_SEVERAL_OF_TWO = {
    "ellipj": (
        ("w[1] * w[2]", "w[1] * am_slope(x, y, w)"),
        ("-w[0] * w[2]", "-w[0] * am_slope(x, y, w)"),
        ("-y * w[0] * w[1]", "-(w[0] ** 2 + 2 * y * w[0] * w[1] * am_slope(x, y, w)) / (2 * w[2])"),
        ("w[2]", "am_slope(x, y, w)"),
    ),
    "pbdv": (("-", "w[1]"), ("-", "(y * y / 4 - x - 0.5) * w[0]")),
    "pbvv": (("-", "w[1]"), ("-", "(y * y / 4 - x - 0.5) * w[0]")),
    "pbwa": (("-", "w[1]"), ("-", "-(y * y / 4 - x) * w[0]")),
}

# Of the operations table, by the name there: they become part of an expression.
_ROWS = {"erf": "erf", "erfc": "erfc", "expit": "expit", "gamma": "gamma", "gammaln": "lgamma", "psi": "digamma"}

# Of the table too, but SciPy's values are others in the last bit than NumPy's: the partials alone are the table's.
_SLOPES = {name: BY_NAME[name].partials for name in ("cbrt", "exp2", "expm1", "log1p")}

# What to write instead of those without a derivative.
_EQUATIONS = {"btdtria": "betainc", "btdtrib": "betainc", "chdtriv": "chdtr", "fdtridfd": "fdtr", "gdtria": "gdtr",
              "gdtrib": "gdtr", "nrdtrimn": "ndtr", "nrdtrisd": "ndtr", "stdtridf": "stdtr"}  # fmt: skip
_INSTEAD = {name: f"it solves an equation, so take `scipy.optimize.brentq` of `{other}`"
            for name, other in _EQUATIONS.items()}
_INSTEAD |= {
    "elliprd": "take the slope of another, `-6 * codipy.grad(elliprf, argnums=2)(x, y, z)`, which has derivatives",
    "elliprj": "integrate its definition with `scipy.integrate.quad`, which has the derivatives of the integrand",
    "kelvin": "take its parts by `ber`, `bei`, `ker`, `kei`, `berp`, `beip`, `kerp` and `keip`",
    "zetac": "take `zeta(x) - 1`",
    **dict.fromkeys(("gammasgn", "round"), "it is constant but where it jumps, so take `codipy.value(x)`"),
}
REFUSED = {name: f"codipy has no derivative for it: {advice}" for name, advice in _INSTEAD.items()}

# For each argument the text of the slope, or of that of the first result.
ARGUMENTS: dict[str, tuple[str, ...]] = {**{name: (text,) for name, text in _ONE.items()}, **_TWO, **_THREE, **_FOUR}
ARGUMENTS |= {name: texts[:1] for name, texts in _SEVERAL.items()}
ARGUMENTS |= {name: texts[0] for name, texts in _SEVERAL_OF_TWO.items()}
WHOLE = {*_ROWS, *_SLOPES}  # and these by all
NAMES = sorted({*_ONE, *_TWO, *_THREE, *_FOUR, *_SEVERAL, *_SEVERAL_OF_TWO, *_ROWS, *_SLOPES})
_LACKING: dict = {}  # the ufunc itself -> arguments in which it has no derivative
_PRIMITIVES: dict = {}  # the ufunc itself -> its primitive, as soon as somebody has imported scipy.special


def _partial(text, arity, special):
    """The function of a text."""
    if text == "-":
        return None
    names = ", ".join([*"xyzu"[:arity], "w"])
    return eval(f"lambda {names}: {text}", {"np": np, "sp": special, "spu": special._ufuncs} | FUNCTIONS)


def ufunc_of(name, special):
    """SciPy's ufunc of a name, also one that only its own code calls; None where this version has none."""
    found = getattr(special, name, None)
    return found if isinstance(found, np.ufunc) else getattr(special._ufuncs, name, None)


def _fill(special):
    rows = {name: (text,) for name, text in _ONE.items()} | _TWO | _THREE | _FOUR | _SLOPES
    for name, texts in rows.items():
        if ufunc := ufunc_of(name, special):
            partials = [_partial(text, len(texts), special) for text in texts]
            _PRIMITIVES[ufunc] = elementwise_primitive(f"scipy.special.{name}", ufunc, partials)
            _LACKING[ufunc] = [k for k, partial in enumerate(partials) if partial is None]
    several = {name: tuple((text,) for text in texts) for name, texts in _SEVERAL.items()} | _SEVERAL_OF_TWO
    for name, rows in several.items():
        ufunc = ufunc_of(name, special)
        partials = [[_partial(text, len(texts), special) for text in texts] for texts in rows]
        _PRIMITIVES[ufunc] = elementwise_primitive(f"scipy.special.{name}", ufunc, partials, several=True)
        _LACKING[ufunc] = [k for k, partial in enumerate(partials[0]) if partial is None]


def partials_of(name, special, others=None):
    """The partials of a ufunc of one result, or the rows of them of one of several; None where there is none.

    Parameters
    ----------
    name : str
        The ufunc's.
    special : module
        `scipy.special`.
    others : dict, optional
        Texts that stand before those of this module.
    """
    of_one = {one: (text,) for one, text in _ONE.items()}
    texts = {**_SEVERAL, **of_one, **_TWO, **_THREE, **_FOUR, **(others or {})}[name]
    arity = ufunc_of(name, special).nin
    return [_partial(text, arity, special) for text in texts]


def primitive_of(ufunc):
    """The primitive of a ufunc of `scipy.special`, or None."""
    special = sys.modules.get("scipy.special")
    if special is not None and not _PRIMITIVES:
        _fill(special)
    return _PRIMITIVES.get(ufunc)


def row_of(ufunc):
    """The row of the operations table that a ufunc of `scipy.special` has, or None."""
    special = sys.modules.get("scipy.special")
    return next((row for name, row in _ROWS.items() if getattr(special, name, None) is ufunc), None)


def lacking(ufunc):
    """The positions of arguments in which a ufunc of `scipy.special` has no derivative."""
    return _LACKING.get(ufunc, ())
