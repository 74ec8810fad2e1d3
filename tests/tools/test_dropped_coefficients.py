# SPDX-License-Identifier: Apache-2.0
"""Polynomials of which NumPy leaves out coefficients that are 0.0: refused where they have a derivative, else right."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Legendre, Polynomial
from numpy.polynomial import chebyshev as C
from numpy.polynomial import polynomial as P
from scipy.interpolate import lagrange

import codipy
from codipy.errors import ActiveError
from tests.strategies import VARIANTS, new_tape

T = 0.7
NODES = np.array([0.0, 1.0, 2.0])
FALLING = {  # of coefficients, the highest power first
    "poly1d": lambda c: np.poly1d(c)(T),
    "poly1d of a list": lambda c: np.poly1d([c[0], c[1], c[2]])(T),
    "poly1d of the first": lambda c: np.poly1d(c[:1])(T) + c[1],
    "product with poly1d": lambda c: (np.poly1d(c) * np.poly1d([1.0, 2.0]))(T),
    "sum with poly1d": lambda c: (np.poly1d(c) + np.poly1d([1.0, 2.0]))(T),
    "polymul": lambda c: np.polyval(np.polymul(c, [1.0, 2.0]), T),
    "polymul, turned": lambda c: np.polyval(np.polymul([1.0, 2.0], c), T),
    "remainder of a short one": lambda c: np.polyval(np.polydiv(c, [1.0, 2.0, 0.5, 0.1])[1], T),
}
RISING = {
    "Polynomial *": lambda c: (Polynomial(c) * Polynomial([1.0, 2.0]))(T),
    "Polynomial +": lambda c: (Polynomial(c) + Polynomial([1.0, 2.0]))(T),
    "Polynomial //": lambda c: (Polynomial(c) // Polynomial([1.0, 2.0]))(T),
    "Polynomial **": lambda c: (Polynomial(c) ** 2)(T),
    "Chebyshev *": lambda c: (Chebyshev(c) * Chebyshev([1.0, 2.0]))(T),
    "convert": lambda c: Chebyshev(c).convert(kind=Polynomial)(T),
    "polyadd": lambda c: P.polyval(T, P.polyadd(c, [1.0, 2.0])),
    "polymul": lambda c: P.polyval(T, P.polymul([1.0, 2.0], c)),
    "polymulx": lambda c: P.polyval(T, P.polymulx(c)),
    "polymulx of the last": lambda c: P.polyval(T, P.polymulx(c[-1:])) + c[0],
    "polyint of the last": lambda c: P.polyval(T, P.polyint(c[-1:])) + c[0],
    "polyline": lambda c: P.polyval(T, P.polyline(c[0], c[-1])),
    "poly2cheb": lambda c: C.chebval(T, C.poly2cheb(c)),
    "chebmul": lambda c: C.chebval(T, C.chebmul(c, [1.0, 2.0])),
}
SAME = {  # drop nothing
    "polyval": lambda c: np.polyval(c, T),
    "polyadd": lambda c: np.polyval(np.polyadd(c, [1.0, 2.0]), T),
    "polydiv": lambda c: np.polyval(np.polydiv(c, [1.0, 2.0])[0], T),
    "Polynomial": lambda c: Polynomial(c)(T) + Polynomial(c).deriv()(T) + Polynomial(c).integ()(T),
    "polyval of a package": lambda c: P.polyval(T, c),
    "padded": lambda c: np.poly1d([0.0, 0.0, 1.0 + c[0], c[1]])(T) + c[2],
    "padded array": lambda c: np.poly1d(np.concatenate(([0.0, 0.0], 1.0 + c)))(T),
    "padded product": lambda c: np.polyval(np.polymul(np.concatenate(([0.0], 1.0 + c)), [0.0, 2.0]), T),
    "padded Polynomial": lambda c: (Polynomial([1.0 + c[0], 2.0, 0.0]) * Polynomial([1.0, 2.0]))(T),
    "times zero": lambda c: (np.poly1d(0.0 * c) + np.poly1d(1.0 + c))(T),
    "times a plain zero": lambda c: (Legendre(1.0 + c) * Legendre([0.0, 1.0]))(T),
    "zero in the middle": lambda c: np.poly1d([1.0, c[0], c[2], 1.0])(T),
    "equal to zero": lambda c: c[1] if c[0] == 0 else c[2],
}


def agrees(f, c):
    value, gradient = codipy.value_and_grad(f)(c)
    assert value == f(c)
    np.testing.assert_allclose(gradient, [(f(c + h) - f(c - h)) / 2e-6 for h in 1e-6 * np.eye(c.size)], atol=1e-8)


@pytest.mark.parametrize("case", [*FALLING, *RISING, *SAME])
def test_slopes_where_nothing_is_dropped(case):
    agrees((FALLING | RISING | SAME)[case], np.array([0.4, -1.0, 0.3]))


@pytest.mark.parametrize("case", SAME)
@pytest.mark.parametrize("c", [np.zeros(3), np.array([0.0, 2.0, 0.0])])
def test_what_drops_nothing_takes_zeros(case, c):
    f = SAME[case]
    if case == "equal to zero":  # a branch of the user's
        assert codipy.grad(f)(c).tolist() == [0.0, 1.0, 0.0]
        return
    agrees(f, c)


@pytest.mark.parametrize("case", [*FALLING, *(f"rising {name}" for name in RISING)])
@pytest.mark.parametrize("c", [np.zeros(3), np.array([0.0, 2.0, 0.0])])
def test_a_dropped_coefficient_with_a_derivative_is_refused(case, c):
    f = RISING[case.removeprefix("rising ")] if case.startswith("rising ") else FALLING[case]
    with pytest.raises(ActiveError, match=r"lose its derivative \(test_dropped_co|its derivative would be lost"):
        codipy.grad(f)(c)
    with pytest.raises(ActiveError, match="its derivative"):
        codipy.jvp(f, (c,), (np.ones(3),))


def test_remainder_of_a_division():
    divisor = np.array([1.0, 2.0, 0.1])

    def rest(c):
        return np.polyval(np.polydiv(c, divisor)[1], T)

    agrees(rest, np.array([1.0, 2.5, 3.0]))
    for run in (codipy.grad(rest), lambda c: codipy.jvp(rest, (c,), (np.ones(3),))):
        with pytest.raises(ActiveError, match="remainder is zero"):
            run(np.array([1.0, 2.0, 3.0]))
    agrees(lambda c: np.polyval(np.polydiv(c, divisor)[0], T), np.array([1.0, 2.0, 3.0]))  # the quotient alone


@pytest.mark.parametrize("rebind", [True, False])
def test_interpolation_of_points_on_a_line(rebind):
    def by_values(w):
        return lagrange(NODES, w)(T)

    def by_nodes(x):
        return lagrange(x, NODES + 1.0)(T)

    for f, x in ((by_values, NODES + 1.0), (by_values, np.zeros(3)), (by_nodes, NODES)):
        with pytest.raises(ActiveError, match="lose its derivative"):
            codipy.grad(f, rebind=rebind)(x)
    assert codipy.grad(by_values, rebind=rebind)(NODES**2 + 1.0) == pytest.approx([0.195, 0.91, -0.105])


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_sweep_that_asks_leaves_the_recording_as_it_was(variant):
    def f(c):
        y = 1.0 + np.sin(c)
        return P.polyval(T, P.polyadd(y * np.array([1.0, 1.0, 0.0]), P.polysub(y, y * y / y)[:1])) * c[0]

    c = np.array([0.4, -1.0, 0.3])
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(codipy.Array(c))
        y = tape.register_output(codipy.rebind(f)(x))
        with pytest.raises(ActiveError):
            codipy.rebind(P.polymulx)(x * x - x.value**2)
    y.gradient = 1.0
    tape.evaluate()
    tape._check()
    assert y.value == f(c)
    np.testing.assert_allclose(x.gradient, [(f(c + h) - f(c - h)) / 2e-6 for h in 1e-6 * np.eye(3)], atol=1e-8)
