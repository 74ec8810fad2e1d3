# SPDX-License-Identifier: Apache-2.0
"""Derivatives of special functions far out and near 0, where recurrences for them cancel, against many digits."""

import numpy as np
import pytest

import codipy

mp = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")
pytestmark = pytest.mark.filterwarnings("ignore")

VERY_FAR = (1e3, 1e8, 1e20)      # at which mpmath is quick for K of whole orders, too
FAR = (3.0, 24.0, 26.0, *VERY_FAR)


def of_bessel(kind, v, x, n):
    """The derivative of order n of I or K, by those of the orders beside."""
    if n == 0:
        return mp.besselk(abs(v), x) if kind == "k" else mp.besseli(abs(v) if v == int(v) else v, x)
    beside = of_bessel(kind, v - 1, x, n - 1) + of_bessel(kind, v + 1, x, n - 1)
    return beside / (2 if kind == "i" else -2)


def of_scaled(kind, v, x, n):
    s = -1 if kind == "i" else 1
    parts = [mp.binomial(n, j) * s ** (n - j) * of_bessel(kind, v, x, j) for j in range(n + 1)]
    return mp.fsum(parts) * mp.exp(s * x)


def of_airy(which, x, n):
    """Of Ai, its slope, Bi and its slope, times exp(s zeta), of which zeta' is the root of x."""
    f = mp.airyai if which < 2 else mp.airybi
    s, k, r = (1 if which < 2 else -1), which % 2, mp.sqrt(x)
    y, dy = f(x), f(x, derivative=1)
    value, slope, second = [y, dy, x * y, y + x * dy][k:k + 3]      # y'' = x y
    found = slope + s * r * value if n == 1 else second + 2 * s * r * slope + (x + s / (2 * r)) * value
    return found * mp.exp(s * 2 * x * r / 3)


def of_scaled_integral(x, n):
    w = x * mp.exp(x) * mp.expint(1, x)
    return w * (1 + 1 / x) - 1 if n == 1 else w * (1 + 2 / x) - 1 - 1 / x


def of_logit(x, n):
    return 1 / (x * (1 - x)) if n == 1 else (2 * x - 1) / (x * (1 - x)) ** 2


def of_omega(x, n):
    w = mp.lambertw(mp.exp(x))
    return w / (1 + w) if n == 1 else w / (1 + w) ** 3


def cases():
    for v in (0, 1):
        for kind in "ik":
            f = getattr(special, f"{kind}{v}e")
            for x in (*FAR, -3.0, -1e8) if kind == "i" else VERY_FAR:
                sign = (-1 if x < 0 else 1) ** v
                yield f.__name__, f, x, lambda x, n, kind=kind, v=v, s=sign: (
                    s * mp.sign(x) ** n * of_scaled(kind, v, abs(x), n))  # fmt: skip
    for v in (0.3, 7.5):
        for kind, f in ("i", special.ive), ("k", special.kve):
            for x in FAR:
                yield f"{kind}ve", lambda x, f=f, v=v: f(v, x), x, lambda x, n, kind=kind, v=v: (
                    of_scaled(kind, mp.mpf(v), x, n))  # fmt: skip
    for which in range(4):
        for x in (0.5, 11.9, 12.1, 1e3, 1e8):
            yield f"airye {which}", lambda x, k=which: special.airye(x)[k], x, lambda x, n, k=which: of_airy(k, x, n)
    for x in (0.5, 49.0, 51.0, 1e8):
        yield "_scaled_exp1", special._ufuncs._scaled_exp1, x, of_scaled_integral
    for x in (1e-300, 1e-160, 1e-20, 0.3, 0.9):
        yield "logit", special.logit, x, of_logit
    for x in (-30.0, 0.5, 3.0, 1e8, 1e20):
        yield "wrightomega", special.wrightomega, x, of_omega
    for y in (1e-8, 0.3, 1.7):
        for x in (1e-8, 0.4, 3.0, 1e8, 1e15):
            yield "betaln", lambda x, y=y: special.betaln(x, y), x, lambda x, n, y=y: (
                mp.psi(n - 1, x) - mp.psi(n - 1, x + y))  # fmt: skip
            if y > 1e-8 or x >= 0.4:
                yield "poch", lambda x, y=y: special.poch(x, y), x, lambda x, n, y=y: mp.rf(x, y) * (
                    mp.psi(0, x + y) - mp.psi(0, x) if n == 1 else
                    (mp.psi(0, x + y) - mp.psi(0, x)) ** 2 + mp.psi(1, x + y) - mp.psi(1, x))  # fmt: skip


CASES = list(cases())


@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in CASES))
def test_first_and_second_derivatives(name):
    wrong = []
    with mp.workdps(120), np.errstate(all="ignore"):
        for _, f, x, expected in (case for case in CASES if case[0] == name):
            gradient = codipy.grad(f)
            ways = [(1, gradient(x)), (2, codipy.grad(gradient)(x)), (2, 2.0 * codipy.taylor(f, x, 1.0, 2)[2]),
                    (2, codipy.grad(lambda x, f=f: codipy.grad(lambda x: f(x).sum())(x).sum())(np.array([x]))[0]),
                    (1, codipy.jvp(f, (x,), (1.0,))[1]), (2, codipy.hvp(f, (x,), (1.0,))[0])]  # fmt: skip
            for n, found in ways:
                true = expected(mp.mpf(x), n)
                if abs(true) > mp.mpf(1.7e308):
                    right = found == (np.inf if true > 0 else -np.inf)
                else:
                    right = abs(found - true) <= 2e-9 * abs(true)
                if not right:
                    wrong.append((x, n, float(found), mp.nstr(true, 12)))
    assert not wrong


@pytest.mark.parametrize("f", [special.expi, special.exp1])
def test_at_the_pole_of_an_exponential_integral(f):
    sign = 1.0 if f is special.expi else -1.0
    assert codipy.grad(f)(0.0) == sign * np.inf
    assert codipy.grad(codipy.grad(f))(0.0) == -sign * np.inf
