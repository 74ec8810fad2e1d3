# SPDX-License-Identifier: Apache-2.0
"""Loops of `scipy.stats` that are compiled: sums of Gaussian kernels, and the density of `geninvgauss`."""

from __future__ import annotations

import numpy as np
import scipy.special
from scipy.stats import _stats as _compiled

from codipy.active.array import call
from codipy.active.array import plain as value_of
from codipy.numpy import bessel
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, value_tree
from codipy.numpy.elementary import elementwise_primitive
from codipy.numpy.modules import module_for
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS"]


class _Estimate:
    """``gaussian_kernel_estimate[spec]``, or its logarithm."""

    def __init__(self, original, is_log):
        self._original, self._is_log = original, is_log

    def __getitem__(self, spec):
        original = self._original[spec]

        def function(points, values, xi, cho_cov, dtype):
            def run(points, values, xi, cho_cov):
                # in Cython that may write what it is given: it takes nothing that is read-only
                return original(*(np.require(x, requirements=("C", "W")) for x in (points, values, xi, cho_cov)), dtype)

            operands = tuple(map(as_numbers, (points, values, xi, cho_cov)))
            if not holds_active(operands):
                return run(*value_tree(list(operands)))
            return with_values_of("scipy.stats.gaussian_kde", run, operands, self._formula(*operands))

        return function

    def _formula(self, points, values, xi, factor):
        steps, parts = xi[:, None] - points[None], []
        for row in range(len(factor)):
            known = sum(factor[row, column] * part for column, part in enumerate(parts))
            parts.append((steps[..., row] - known) / factor[row, row])
        powers = -0.5 * sum(part * part for part in parts)
        lengths = -0.5 * len(parts) * np.log(2 * np.pi) - np.sum(np.log(np.diagonal(factor)))
        shift = np.max(value_of(powers), axis=1)[:, None] if self._is_log else 0.0
        sums = np.exp(powers - shift) @ values
        return np.log(sums) + shift + lengths if self._is_log else sums * np.exp(lengths)


def _by_b(x, p, b, w):
    sp = scipy.special
    return (sp.kve(p - 1, b) + sp.kve(p + 1, b)) / (2 * sp.kve(p, b)) - (x + 1 / x) / 2


_logpdf = np.vectorize(_compiled.geninvgauss_logpdf, otypes=[np.float64])
_LOGPDF = elementwise_primitive("scipy.stats.geninvgauss.logpdf", _logpdf, [
    lambda x, p, b, w: (p - 1) / x - b * (1 - 1 / (x * x)) / 2,
    lambda x, p, b, w: np.log(x) - bessel.FUNCTIONS["kve_v"](p, b) / scipy.special.kve(p, b), _by_b,
])  # fmt: skip


def _geninvgauss_logpdf(x, p, b):
    if holds_active((x, p, b)):
        return call(_LOGPDF, (x, p, b))
    return _compiled.geninvgauss_logpdf(*value_tree([x, p, b]))


FUNCTIONS = {"gaussian_kernel_estimate": _Estimate(_compiled.gaussian_kernel_estimate, False),
             "gaussian_kernel_estimate_log": _Estimate(_compiled.gaussian_kernel_estimate_log, True),
             "geninvgauss_logpdf": _geninvgauss_logpdf}  # fmt: skip
_stats = module_for(_compiled, FUNCTIONS)
