# SPDX-License-Identifier: Apache-2.0
"""Rules of functions of scipy.special with complex arguments or results.

The partials of most are the texts of real arguments (`codipy.numpy.special`), which hold for complex ones: no text with
`abs` or `sign` does. Orders and shapes are real to SciPy, and have no derivative here.
"""

from __future__ import annotations

import numpy as np
import scipy.special

from codipy.active.array import plain
from codipy.complexes.elementwise import of_partials, times
from codipy.complexes.holomorphic import lift
from codipy.complexes.record import rule
from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import unbroadcast
from codipy.numpy.special import partials_of
from codipy.scipy import normalised, spherical
from codipy.scipy.calls import PRIMITIVES

__all__ = []

_AS_REAL = """
    erfi eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_jacobi
    eval_laguerre eval_legendre eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi eval_sh_legendre hyp0f1 hyp1f1
    hyp2f1 iv jv kv loggamma ndtr spence wrightomega xlog1py xlogy yv
"""
# Those of real numbers are other formulas on other parts of the line, or are none of complex ones.
_OWN = {
    "dawsn": ("1 - 2 * x * w",),
    "erf": ("2 / np.sqrt(np.pi) * np.exp(-x * x)",),
    "erfc": ("-2 / np.sqrt(np.pi) * np.exp(-x * x)",),
    "erfcx": ("2 * x * w - 2 / np.sqrt(np.pi)",),
    "exp1": ("-np.exp(-x) / x",),
    "expi": ("np.exp(x) / x",),
    "expm1": ("np.exp(x)",),
    "gamma": ("w * sp.psi(x)",),
    "hankel1": ("-", "(sp.hankel1(x - 1, y) - sp.hankel1(x + 1, y)) / 2"),
    "hankel2": ("-", "(sp.hankel2(x - 1, y) - sp.hankel2(x + 1, y)) / 2"),
    "hankel1e": ("-", "(sp.hankel1e(x - 1, y) - sp.hankel1e(x + 1, y)) / 2 - 1j * w"),
    "hankel2e": ("-", "(sp.hankel2e(x - 1, y) - sp.hankel2e(x + 1, y)) / 2 + 1j * w"),
    "kve": ("-", "w - (sp.kve(x - 1, y) + sp.kve(x + 1, y)) / 2"),
    "log1p": ("1 / (1 + x)",),
    "log_ndtr": ("np.exp(-x * x / 2 - w) / np.sqrt(2 * np.pi)",),
    "rgamma": ("-w * sp.psi(x)",),
    "wofz": ("2j / np.sqrt(np.pi) - 2 * x * w",),
}
_SEVERAL = ("airy", "fresnel", "shichi", "sici")


def _demanding(name, k):
    """Instead of a partial that is not known."""

    def refused(*args):
        refuse(f"scipy.special.{name}", f"there is no derivative in argument {k + 1}: pass `codipy.value` of it")

    return refused


def _enter(name):
    ufunc = getattr(scipy.special, name)
    (loop,) = [types.partition("->")[0] for types in ufunc.types if "D" in types]
    known = partials_of(name, scipy.special, _OWN)
    partials = [
        found if found is not None and kind == "D" else _demanding(name, k)
        for k, (found, kind) in enumerate(zip(known, loop))
    ]
    rule(of_partials(f"scipy.special.{name}", ufunc, partials), elementwise=True)


def _enter_several(name):
    """A function of one argument with several results."""
    ufunc, partials = getattr(scipy.special, name), partials_of(name, scipy.special)

    def slopes(x, out):
        with np.errstate(all="ignore"):
            return [partial(x, out) for partial in partials]

    def vjp(g, out, args, kwargs, argnums):
        shares = [times(part, np.conjugate(s)) for part, s in zip(g, slopes(args[0], out)) if part is not None]
        return [unbroadcast(sum(shares), np.shape(args[0]))]

    def jvp(tangents, out, args, kwargs):
        return tuple(times(tangents[0], s) for s in slopes(args[0], out))

    rule(Primitive(f"scipy.special.{name}", ufunc, vjp, jvp), "c" * ufunc.nout)


for _name in (*_AS_REAL.split(), *_OWN):
    if hasattr(scipy.special, _name):
        _enter(_name)
for _name in _SEVERAL:
    _enter_several(_name)


# ---- psi, whose derivative SciPy has of real numbers alone -----------------------------------------------------------
_TERMS = 16  # that are added one by one
_BERNOULLI = scipy.special.bernoulli(20)[2::2]


def _trigamma(z):
    """By Euler's and Maclaurin's formula; left of 1/2 by that of 1 - z, since the sum is pi^2 / sin(pi z)^2."""
    is_left = np.less(z.real, 0.5)
    right = np.where(is_left, 1.0 - z, z)
    total = sum(1.0 / (right + n) ** 2 for n in range(_TERMS))
    a = right + _TERMS
    inverse = 1.0 / a
    power = square = inverse * inverse
    total = total + inverse + square / 2
    for number in _BERNOULLI:
        power = power * inverse if power is square else power * square
        total = total + float(number) * power
    if not np.any(is_left):
        return total
    turn = 2j * np.pi * np.where(z.imag < 0, -1.0, 1.0) * (z - np.round(plain(z.real)))
    return np.where(is_left, -4.0 * np.pi**2 * np.exp(turn) / np.expm1(turn) ** 2 - total, total)


rule(of_partials("scipy.special.psi", scipy.special.psi, [lambda z, w: _trigamma(z)]), elementwise=True)


# ---- spherical Bessel functions, which are no ufuncs to the outside --------------------------------------------------
for _name, (_value, _by_z) in spherical.PARTIALS.items():
    rule(of_partials(_name, _value, [_demanding(_name.removeprefix("scipy.special."), 0), _by_z]), elementwise=True)


# ---- what has a complex derivative by the rule of real numbers -------------------------------------------------------
for _name in normalised.FUNCTIONS:
    lift(f"scipy.special.{_name}", PRIMITIVES[f"scipy.special.{_name}"])


# ---- Lambert's function, which is no ufunc to the outside ------------------------------------------------------------
def _slope(w):
    """Of the inverse of w exp(w), which is regular at 0."""
    return np.exp(-w) / (1.0 + w)


rule(Primitive(
    "scipy.special.lambertw", scipy.special.lambertw,
    lambda g, out, args, kwargs, argnums: [np.conjugate(_slope(out)) * g],
    lambda tangents, out, args, kwargs: _slope(out) * tangents[0], keep_args=False,
), elementwise=True)  # fmt: skip
