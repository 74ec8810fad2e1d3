# SPDX-License-Identifier: Apache-2.0
"""What the partials in `codipy.numpy.special` call beside NumPy and SciPy: slopes that are more than a formula."""

from __future__ import annotations

import math
import sys

import numpy as np

from codipy.active.array import is_active
from codipy.active.array import plain as value_of
from codipy.errors import UndifferentiableError

from . import bessel, far_out, incomplete

__all__ = ["FUNCTIONS"]


def _at(points, limit, slope):
    """A slope, and at some points its limit, whose own slope is not known here."""
    if is_active(slope) and np.any(points):
        raise UndifferentiableError("the first derivative there is a limit whose derivative has no rule")
    return np.where(points, limit, slope)


def _edge(points, slope):
    """A slope, at some points of which the formula has no slope itself."""
    return _at(points, slope, slope)


def _special():
    return sys.modules["scipy.special"]


def _away_from_zero(formula, width, coefficients, centre=0.0):
    """A formula in one argument of which the parts cancel near 0; nearer than `width` its series stands for it."""

    def slope(t):
        near, series = np.abs(t - centre) < width, 0.0
        step = np.where(near, t - centre, 0.0)
        for coefficient in reversed(coefficients):
            series = series * step + coefficient
        return np.where(near, series, formula(np.where(near, centre + 0.5, t)))

    return slope


def _first_kind(m):
    sp = _special()
    return (sp.ellipe(m) / (1 - m) - sp.ellipk(m)) / (2 * m)


def _second_kind(m):
    sp = _special()
    return (sp.ellipe(m) - sp.ellipk(m)) / (2 * m)


# Of the series of the complete elliptic integrals in m, https://dlmf.nist.gov/19.5
_KINDS = [(k + 1) * np.pi / 2 * (math.comb(2 * k + 2, k + 1) / 4 ** (k + 1)) ** 2 for k in range(9)]


def _beta_density(a, b, x):
    sp = _special()
    return np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


def _binomial_density(k, n, p):
    """Of the sum of the terms up to k, of which SciPy takes the whole part, as of n; nothing where these are all."""
    k, n = np.floor(k), np.trunc(n)
    return np.where((k >= 0) & (k < n), _beta_density(np.maximum(k, 0) + 1, np.maximum(n - k, 1), p), 0)


def _gamma_density(a, x):
    sp = _special()
    return np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


def _fisher_density(a, b, x):
    sp = _special()
    powers = sp.xlogy(a / 2, a) + sp.xlogy(b / 2, b) + sp.xlogy(a / 2 - 1, x) - (a + b) / 2 * np.log(b + a * x)
    return np.exp(powers - sp.betaln(a / 2, b / 2))


def _fisher_slope(which, a, b, x):
    """Of the distribution function by its degrees of freedom: of I_z(a/2, b/2) where z = a x / (a x + b)."""
    z, rest = a * x / (a * x + b), b / (a * x + b)
    sp, far = _special(), z > 0.5
    moved = np.exp(sp.xlogy(a / 2, z) + sp.xlogy(b / 2, rest) - sp.betaln(a / 2, b / 2))
    by_shape = _by_shape(which, a / 2, b / 2, np.where(far, 0.5, z), np.where(far, rest, 0.5), far) / 2
    return by_shape + (-moved / b if which else moved / a)


def _by_shape(which, a, b, z, rest, far):
    """Of I_z(a, b) by a (0) or b (1), where `far` from 1 - z, which has digits that z has not."""
    names = "betainc_a", "betainc_b"
    return np.where(far, -FUNCTIONS[names[1 - which]](b, a, rest), FUNCTIONS[names[which]](a, b, z))


def _student_slope(v, t):
    """Of the distribution function by its degrees of freedom: below 0 it is I_z(v/2, 1/2)/2 where z = v / (v + t^2)."""
    z, rest = v / (v + t * t), t * t / (v + t * t)
    sp, far = _special(), z > 0.5
    moved = np.exp(sp.xlogy(v / 2, z) - sp.betaln(v / 2, 0.5)) * np.abs(t) / np.sqrt(v + t * t) / (2 * v)
    below = moved + _by_shape(0, v / 2, 0.5, np.where(far, 0.5, z), np.where(far, rest, 0.5), far) / 4
    return _at(t == 0, 0, -np.sign(t) * below)


def _skew_density(x, loc, scale, a):
    z = (x - loc) / scale
    return 2 / scale * np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * _special().ndtr(a * z)


def _wald_density(x, mean, scale):
    return np.sqrt(scale / (2 * np.pi * x**3)) * np.exp(-scale * (x - mean) ** 2 / (2 * mean * mean * x))


def _wald_slope(x, mean, scale):
    """Of the distribution function of the inverse Gaussian by its mean, with the other sign."""
    below = _special().log_ndtr(-np.sqrt(scale / x) * (x / mean + 1))
    return 2 * scale / mean**2 * np.exp(2 * scale / mean + below)


def _agm_slope(x, y):
    """By the first argument: the means themselves, whose slopes converge with them."""
    mean, root, by_mean, by_root = np.abs(x), np.abs(y), 1.0, 0.0
    for _ in range(16):  # enough for quotients of the whole range of doubles
        quotient = np.sqrt(root / mean)
        by_mean, by_root = (by_mean + by_root) / 2, (by_mean * quotient + by_root / quotient) / 2
        mean, root = (mean + root) / 2, mean * quotient
    # A mean with 0 is 0, whatever the other number is.
    return np.where(np.sign(x) * np.sign(y) < 0, np.nan, np.where(np.equal(y, 0), 0.0, by_mean))


def _carlson_d(x, y, z):
    """Carlson's integral R_D; of active values by his algorithm of duplication, which has derivatives of any order.

    https://dlmf.nist.gov/19.36.i; SciPy's has none, and this has its value within rounding.
    """
    if not any(map(is_active, (x, y, z))):
        return _special().elliprd(x, y, z)
    total, factor = 0.0, 1.0
    for _ in range(_DUPLICATIONS):
        a, b, c = np.sqrt(x), np.sqrt(y), np.sqrt(z)
        shift = a * b + c * (a + b)
        total = total + factor / (c * (z + shift))
        x, y, z, factor = (x + shift) / 4, (y + shift) / 4, (z + shift) / 4, factor / 4
    mean = (x + y + 3 * z) / 5
    u, v = (mean - x) / mean, (mean - y) / mean
    w = -(u + v) / 3
    uv, ww = u * v, w * w
    second, third, fourth, fifth = uv - 6 * ww, (3 * uv - 8 * ww) * w, 3 * (uv - ww) * ww, uv * ww * w
    series = (1 - 3 * second / 14 + third / 6 + 9 * second * second / 88 - 3 * fourth / 22 - 9 * second * third / 52
              + 3 * fifth / 26)
    return 3 * total + factor * series / (mean * np.sqrt(mean))


_DUPLICATIONS = 12  # to a last term of 2**-24 of the first difference, of which the series leaves out the sixth power


def _incomplete_slope(phi, m, first):
    """Of the incomplete elliptic integrals by the parameter: one term within a half turn, and whole ones beside it."""
    turns = np.rint(value_of(phi) / np.pi)
    sine, cosine = np.sin(phi), np.cos(phi)
    sine = np.where(turns % 2 == 0, sine, -sine)
    rest = 1 - m * sine * sine
    square = cosine * cosine
    inside = sine**3 / 6 * (_carlson_d(square, 1.0, rest) if first else -_carlson_d(square, rest, 1.0))
    if not np.any(turns):
        return inside
    whole = (_FIRST if first else _SECOND)(np.where(turns == 0, 0.0, m))
    return inside + np.where(turns == 0, 0.0, 2 * turns * whole)


def _struve_slope(function, sign, v, x, w):
    """Near 0 a sum of orders that does not cancel there, as the usual one does: https://dlmf.nist.gov/11.4 (iii)."""
    near, high = np.abs(x) < 8.0, np.maximum(v, 0.0)
    t = np.where(near, x, 1.0)
    power = (t / 2) ** high / (np.sqrt(np.pi) * _special().gamma(high + 1.5))
    above = sign * function(v + 1, t) + power
    beside = (function(v - 1, t) + above) / 2
    far = np.where(near, 1.0, x)
    usual = function(v - 1, far) - v / far * np.where(near, 0.0, w)
    # Between 0 and 1 the function has a power of x below 1, and its slope is infinite at 0 as it stands.
    between = function(v - 1, t) - v / t * np.where(near, w, 0.0)
    return np.where(near, np.where(v >= 1, beside, np.where(v == 0, above, between)), usual)


def _log_ndtr_slope(x, w):
    """By the scaled function below 0, where the exponents cancel."""
    low = x < -1.0
    below = np.sqrt(2 / np.pi) / _special().erfcx(-np.where(low, x, 0.0) / np.sqrt(2))
    return np.where(low, below, np.exp(-x * x / 2 - np.where(low, 0.0, w)) / np.sqrt(2 * np.pi))


def _faded(x, slope):
    """x times what is infinite at 0, but less than 1 / x."""
    return np.where(x == 0, 0.0, x * slope)


def _reciprocal_gamma_slope(x, w):
    """Below a half by reflection, since the logarithmic derivative is infinite where this function is 0."""
    sp, low = _special(), x < 0.5
    t = np.where(low, x, 0.0)
    reflected = sp.gamma(1 - t) * (sp._ufuncs._cospi(t) - sp._ufuncs._sinpi(t) * sp.psi(1 - t) / np.pi)
    return np.where(low, reflected, -w * sp.psi(np.where(low, 1.0, x)))


def _rising_slope(x, n, w):
    """Of Pochhammer's symbol by its first argument, also where both gamma functions have poles."""
    sp = _special()
    low = (x < 0.1) & (n < 170)
    whole = low & (x + n < 0.5) & (n == np.floor(n)) & (n >= 0)
    t, k = np.where(low & ~whole, x, 0.5), np.where(low & ~whole, n, 1.0)
    by_pole = sp.gamma(t + k) * _reciprocal_gamma_slope(t, sp.rgamma(t)) + sp.poch(t, k) * sp.psi(t + k)
    count = np.where(whole, value_of(n), 1.0)
    turned = np.where(whole, 1 - x - count, 1.0)  # the same product backwards
    mirrored = sp.poch(turned, count) * far_out.psi_rise(turned, count) * (2 * (count % 2) - 1)
    above = np.where(low, 1.0, x)
    usual = np.where(low, 0.0, w) * far_out.psi_rise(above, np.where(low, 1.0, n))
    return np.where(whole, mirrored, np.where(low, by_pole, usual))


def _binomial_slope(n, k, w):
    """By the first argument."""
    sp = _special()
    low = (n - k + 1 < 0.1) & (k < 170)
    start, count = np.where(low, n - k + 1, 1.0), np.where(low, k, 1.0)
    near = _rising_slope(start, count, sp.poch(start, count)) * sp.rgamma(count + 1)
    above, less = np.where(low, 1.0, n), np.where(low, 0.0, k)
    return np.where(low, near, np.where(low, 0.0, w) * far_out.psi_rise(above - less + 1, less))


def _pseudo_huber_slope(d, r):
    """By the second argument, in the quotient of the smaller one and the larger one."""
    far = np.abs(r) > np.abs(d)
    small, large = np.where(far, d, r), np.where(far, r, d)
    root = np.sqrt(1 + (small / large) ** 2)
    return np.where(far, d * np.sign(value_of(r)), r) / root


def _exponential_quotient(x):
    """exp(x) / x, in two parts near 0, where it has a pole."""
    near = np.abs(x) < 0.5
    t = np.where(near, x, 0.5)
    return np.where(near, 1 / t + _special().exprel(t), np.exp(x) / np.where(near, 1.0, x))


def _tail(x, sign, start):
    """The sum of (2k - 1)!! (sign / (2 x**2))**k from k = 1 on, for x from `_FAR` on."""
    q, total = sign * start / (x * x), 0.0
    for k in range(20, 0, -1):
        total = (total + 1) * ((2 * k - 1) * q)
    return total


_FAR = 12.0  # from where on the series have all digits


def _dawson_slope(x, w):
    """1 - 2 x w, which cancels far out."""
    far = np.abs(x) > _FAR
    return np.where(far, -_tail(np.where(far, x, _FAR), 1.0, 0.5), 1 - 2 * np.where(far, 0.0, x) * w)


def _erfcx_slope(x, w):
    """2 x w - 2 / sqrt(pi), which cancels far out."""
    far = x > _FAR
    near = 2 * np.where(far, 0.0, x) * w - 2 / np.sqrt(np.pi)
    return np.where(far, 2 / np.sqrt(np.pi) * _tail(np.where(far, x, _FAR), -1.0, 0.5), near)


def _am_slope(u, m, w):
    """Of the amplitude of Jacobi's elliptic functions by the parameter."""
    second = _special().ellipeinc(w[3], m)
    return w[2] * (second - (1 - m) * u - m * w[0] * w[1] / w[2]) / (2 * m * (m - 1))


def _voigt_slope(which, x, s, g):
    """Of the real part of Faddeeva's function, whose slope is complex."""
    if any(map(is_active, (x, s, g))):
        raise UndifferentiableError("second derivatives of scipy.special.voigt_profile have no rule")
    width = s * np.sqrt(2.0)
    z = (x + 1j * g) / width
    value = _special().wofz(z)
    slope = -2 * z * value + 2j / np.sqrt(np.pi)
    factors = (1 / width, -z / s, 1j / width)
    found = slope * factors[which] - (value / s if which == 1 else 0)
    return found.real / (width * np.sqrt(np.pi))


_FIRST = _away_from_zero(_first_kind, 0.01, _KINDS)
_SECOND = _away_from_zero(_second_kind, 0.01, [x / (-1 - 2 * k) for k, x in enumerate(_KINDS)])


def _series(of_number, count):
    """The coefficients of a series."""
    return [of_number(k) for k in range(count)]


FUNCTIONS = {
    **incomplete.FUNCTIONS,
    **bessel.FUNCTIONS,
    **far_out.FUNCTIONS,
    "beta_density": _beta_density,
    "binomial_density": _binomial_density,
    "gamma_density": _gamma_density,
    "fisher_density": _fisher_density,
    "fisher_slope": _fisher_slope,
    "student_slope": _student_slope,
    "skew_density": _skew_density,
    "wald_density": _wald_density,
    "wald_slope": _wald_slope,
    "agm_slope": _agm_slope,
    "am_slope": _am_slope,
    "voigt_slope": _voigt_slope,
    "at": _at,
    "edge": _edge,
    "power_slope": _away_from_zero(
        lambda t: (np.exp(t) * (t - 1) + 1) / t**2, 0.5, _series(lambda k: (k + 1) / math.factorial(k + 2), 16)
    ),
    "root_slope": _away_from_zero(
        lambda t: (t / (1 + t) - np.log1p(t)) / t**2, 0.01, [-((-1) ** k) * (k + 1) / (k + 2) for k in range(9)]
    ),
    "first_kind_slope": _FIRST,
    "second_kind_slope": _SECOND,
    "sine_quotient": _away_from_zero(
        lambda t: np.sin(t) / t, 1.0,
        _series(lambda k: 0.0 if k % 2 else (-1) ** (k // 2) / math.factorial(k + 1), 21),
    ),
    "sinh_quotient": _away_from_zero(
        lambda t: np.sinh(t) / t, 1.0, _series(lambda k: 0.0 if k % 2 else 1 / math.factorial(k + 1), 21)
    ),
    "j0_quotient": _away_from_zero(
        lambda t: (1 - _special().j0(t)) / t, 1.0,
        _series(lambda k: -((-1) ** ((k + 1) // 2)) / (2.0 ** (k + 1) * math.factorial((k + 1) // 2) ** 2) if k % 2
                else 0.0, 20),
    ),
    "i0_quotient": _away_from_zero(
        lambda t: (_special().i0(t) - 1) / t, 1.0,
        _series(lambda k: 1 / (2.0 ** (k + 1) * math.factorial((k + 1) // 2) ** 2) if k % 2 else 0.0, 20),
    ),
    "struve_quotient": _away_from_zero(
        lambda t: _special().struve(0, t) / t, 1.0,
        _series(lambda k: 0.0 if k % 2 else 2 / np.pi * (-1) ** (k // 2) / math.prod(range(1, k + 2, 2)) ** 2, 21),
    ),
    "rising_slope": _rising_slope,
    "binomial_slope": _binomial_slope,
    "pseudo_huber_slope": _pseudo_huber_slope,
    "spence_slope": _away_from_zero(
        lambda t: np.log(t) / (1 - t), 0.05, _series(lambda k: -((-1) ** k) / (k + 1), 13), 1.0
    ),
    "carlson_d": _carlson_d,
    "exponential_quotient": _exponential_quotient,
    "faded": _faded,
    "log_ndtr_slope": _log_ndtr_slope,
    "incomplete_slope": _incomplete_slope,
    "struve_slope": _struve_slope,
    "reciprocal_gamma_slope": _reciprocal_gamma_slope,
    "dawson_slope": _dawson_slope,
    "erfcx_slope": _erfcx_slope,
    "LN2": np.log(2.0),
    "expm1_slope": lambda x, w: np.where(w > -0.5, w + 1, np.exp(x)),
}
