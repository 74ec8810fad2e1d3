# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the incomplete gamma and beta functions by their shapes, for which SciPy has no function.

Below the mode the ascending series of the function, term by term: its terms have one sign, and so have nearly all of
their derivatives. Above it the integral over the tail, by the double exponential rule. What is given is that of the
regularised functions P(a, x) and I_x(a, b). Rejected: differences, which keep half of the digits.
"""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.array import call, is_active

from .elementary import elementwise_primitive, not_differentiated

__all__ = ["FUNCTIONS"]

_MOST = 200_000  # terms of a series
_STEP = 0.03
_U = np.arange(-150, 151) * _STEP
_NODES = np.exp(np.pi / 2 * np.sinh(_U))  # of the integral from 0 to infinity
_WEIGHTS = _STEP * np.pi / 2 * np.cosh(_U) * _NODES


def _sp():
    return sys.modules["scipy.special"]


def _summed(term, factor, slope):
    """The sum of ``term * slope(n)``, of which ``factor(n)`` makes the next term."""
    total, n = np.zeros(np.shape(term)), 0
    while n < _MOST:
        part = term * slope(n)
        total = total + part
        if n > 4 and np.all(~(np.abs(part) > 1e-17 * np.abs(total))):
            break
        term, n = term * factor(n), n + 1
    return total


def _elementwise(function):
    """A function of vectors, of arrays that are broadcast."""

    def of_arrays(*args):
        args = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in args))
        with np.errstate(all="ignore"):
            return np.reshape(function(*(np.ravel(x) for x in args)), args[0].shape)[()]

    return of_arrays


def _gammainc_by(order):
    @_elementwise
    def slope(a, x):
        sp, found = _sp(), np.zeros(x.shape)
        inside = (x > 0) & np.isfinite(x)
        low = inside & (x <= a + 1)
        if low.any():
            b, y = a[low], x[low]
            first = np.exp(sp.xlogy(b, y) - y - sp.gammaln(b + 1))
            found[low] = _summed(first, lambda n: y / (b + n + 1), lambda n: _moment(np.log(y), b + n + 1, order))
        high = inside & ~low
        if high.any():
            b, y = a[high][:, None], x[high][:, None]
            density = np.exp((b - 1) * np.log1p(_NODES / y) - _NODES) * _moment(np.log(y + _NODES), b, order)
            scale = np.exp(sp.xlogy(b - 1, y) - y - sp.gammaln(b))
            found[high] = -(scale * np.sum(density * _WEIGHTS, axis=1, keepdims=True))[:, 0]
        return np.where(np.isnan(a + x), np.nan, found)

    return slope


def _moment(log_x, a, order):
    """The first or the second derivative of x^a / Gamma(a) by a, relative to that."""
    first = log_x - _sp().psi(a)
    return first if order == 1 else first**2 - _trigamma(a)


def _trigamma(x):
    return _sp().zeta(2.0, x)


def _beta_part(a, b, x, wanted):
    """The derivative of I_x(a, b) by each that is wanted, by a (0) or b (1), below the mode."""
    sp = _sp()
    first = np.exp(sp.xlogy(a, x) + sp.xlog1py(b, -x) - sp.betaln(a, b)) / a

    def slope(n):
        by_both = sp.psi(a + b + n)
        found = [by_both + (np.log(x) - sp.psi(a + n + 1) if k == 0 else np.log1p(-x) - sp.psi(b)) for k in wanted]
        if len(found) == 1:
            return found[0]
        apart = 0.0 if wanted[0] != wanted[1] else _trigamma(a + n + 1 if wanted[0] == 0 else b)
        return found[0] * found[1] + _trigamma(a + b + n) - apart

    return _summed(first, lambda n: x * (a + b + n) / (a + n + 1), slope)


def _betainc_by(*wanted):
    others = tuple(1 - k for k in wanted)

    @_elementwise
    def slope(a, b, x):
        found = np.zeros(x.shape)
        inside = (x > 0) & (x < 1)
        low = inside & (x * (a + b) <= a)
        high = inside & ~low
        if low.any():
            found[low] = _beta_part(a[low], b[low], x[low], wanted)
        if high.any():
            found[high] = -_beta_part(b[high], a[high], 1 - x[high], others)
        return np.where(np.isnan(a + b + x), np.nan, found)

    return slope


def _gamma_density_by(order):
    return lambda a, x, w: np.exp(_sp().xlogy(a - 1, x) - x - _sp().gammaln(a)) * _moment(np.log(x), a, order)


def _beta_density_by(*wanted):
    """The derivative by x of that of I_x(a, b) by each that is wanted."""

    def by_x(a, b, x, w):
        sp = _sp()
        density = np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))
        logs = [(np.log(x) - sp.psi(a) if k == 0 else np.log1p(-x) - sp.psi(b)) + sp.psi(a + b) for k in wanted]
        if len(logs) == 1:
            return density * logs[0]
        apart = 0.0 if wanted[0] != wanted[1] else _trigamma((a, b)[wanted[0]])
        return density * (logs[0] * logs[1] + _trigamma(a + b) - apart)

    return by_x


def _slope_of(name):
    return lambda *args: FUNCTIONS[name](*args[:-1])


def _function(name, plain, partials):
    primitive = elementwise_primitive(f"the slope {name}", plain, partials)
    return lambda *args: call(primitive, args) if any(map(is_active, args)) else plain(*args)


_GAMMA = not_differentiated("the second derivative of scipy.special.gammainc by its shape a")
_BETA = not_differentiated("a second derivative of scipy.special.betainc by its shapes a and b")

# By the names that the texts of `special.py` use, and their slopes.
FUNCTIONS = {name: _function(name, plain, partials) for name, (plain, *partials) in {
    "gammainc_a": (_gammainc_by(1), _slope_of("gammainc_aa"), _gamma_density_by(1)),
    "gammainc_aa": (_gammainc_by(2), _GAMMA, _gamma_density_by(2)),
    "betainc_a": (_betainc_by(0), _slope_of("betainc_aa"), _slope_of("betainc_ab"), _beta_density_by(0)),
    "betainc_b": (_betainc_by(1), _slope_of("betainc_ab"), _slope_of("betainc_bb"), _beta_density_by(1)),
    "betainc_aa": (_betainc_by(0, 0), _BETA, _BETA, _beta_density_by(0, 0)),
    "betainc_ab": (_betainc_by(0, 1), _BETA, _BETA, _beta_density_by(0, 1)),
    "betainc_bb": (_betainc_by(1, 1), _BETA, _BETA, _beta_density_by(1, 1)),
}.items()}  # fmt: skip
