# SPDX-License-Identifier: Apache-2.0
"""lambertw and zeta of scipy.special: SciPy's bits, derivatives by the argument and by the exponent."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

sp = pytest.importorskip("scipy.special")

POINT = np.array([0.7, 1.3, 1.9, 0.55, 1.1, 0.8])
CASES = {
    "lambertw": lambda p: sp.lambertw(p).real,
    "of the other real branch": lambda p: sp.lambertw(-p / 8, -1).real,
    "of a complex result": lambda p: sp.lambertw(-p).real * sp.lambertw(-p, 2).imag,
    "of a number": lambda p: sp.lambertw(p[0]).real * p[1],
    "at 0": lambda p: sp.lambertw(p - POINT).real,
    "of complex numbers": lambda p: np.abs(sp.lambertw(p[:3] + 1j * p[3:])),
    "of a list": lambda p: sp.lambertw([p[0], 0.3]).real,
    "Riemann's zeta": lambda p: sp.zeta(p + 0.6),
    "below 1": lambda p: sp.zeta(0.3 - p),
    "Hurwitz's zeta": lambda p: sp.zeta(p[:3] + 0.7, p[3:]),
    "by the second": lambda p: sp.zeta(2.5, p),
    "of one exponent": lambda p: sp.zeta(p[0] + 1.2, p[:, None]),
    "of large exponents": lambda p: sp.zeta(p[:3] * 9, p[3:] * 3),
}


def number(case):
    return lambda p: np.sum(case(p) * np.cos(np.arange(np.size(case(p)))).reshape(np.shape(case(p))) * (1.0 + case(p)))


def slope(f, direction, h=1e-3):
    """By four differences."""
    near, far = (f(POINT + s * h * direction) - f(POINT - s * h * direction) for s in (1.0, 2.0))
    return (8.0 * near - far) / (12.0 * h)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f = number(CASES[name])
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    bound = 1e-7 * max(1.0, np.max(np.abs(gradient)))
    np.testing.assert_allclose(gradient, [slope(f, unit) for unit in np.eye(6)], rtol=1e-7, atol=bound)
    direction = np.sin(np.arange(6) + 1.0)
    assert codipy.jvp(f, (POINT,), (direction,))[1] == pytest.approx(gradient @ direction, rel=1e-10)
    (product,) = codipy.hvp(f, (POINT,), (direction,))
    np.testing.assert_allclose(product, slope(codipy.grad(f), direction), rtol=1e-6,
                               atol=1e-6 * np.max(np.abs(product)) + 1e-8)  # fmt: skip


@pytest.mark.parametrize("s, q", [(1.01, 0.3), (2.0, 1.0), (0.3, 1.0), (-1.5, 1.0), (30.0, 5.0), (80.0, 40.0)])
def test_the_exponent_against_mpmath(s, q):
    mp = pytest.importorskip("mpmath")
    wanted = float(mp.diff(lambda t: mp.zeta(t, q), s))
    found = codipy.grad(lambda s: sp.zeta(s, q) if q != 1.0 else sp.zeta(s))(s)
    assert found == pytest.approx(wanted, rel=1e-11)


def test_replays_and_tapes_of_every_strategy():
    codipy.check_derivatives(number(CASES["Hurwitz's zeta"]), POINT)
    codipy.check_derivatives(number(CASES["lambertw"]), POINT)


@pytest.mark.parametrize("f", [
    lambda x: sp.zeta(-9.0 * x), lambda x: sp.lambertw(x, [0, 1]).real[0], lambda x: sp.polygamma(x, 2.0),
    lambda x: sp.multigammaln(3.0, x), lambda x: sp.comb(x, 2, exact=True),
])  # fmt: skip
def test_what_has_no_derivative_is_refused(f):
    with pytest.raises(ActiveError, match=r"scipy\.special"):
        codipy.grad(f)(1.0)


def test_passive_values_are_scipys():
    x, y = np.array([0.3, 2.0]), 1.7
    f = lambda p: p * sp.lambertw(x).real[0] * sp.zeta(y) * sp.lambertw(0.3 + 1j).imag  # noqa: E731
    assert codipy.value_and_grad(f)(2.0) == (f(2.0), pytest.approx(f(1.0), rel=1e-15))
