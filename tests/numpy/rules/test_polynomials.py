# SPDX-License-Identifier: Apache-2.0
"""Polynomial coefficients, roots and fits: rules against differences."""

import numpy as np
import pytest

from codipy.errors import ActiveError
from codipy.numpy.rules.polynomials import PRIMITIVES
from tests.numpy.rules.checking import check

RNG = np.random.default_rng(19)
P, Q = RNG.standard_normal(5), RNG.standard_normal(3)


def test_polyval():
    for x in (0.7, np.array(0.7), np.array([0.0, 1.0, -2.0]), RNG.standard_normal((2, 3))):
        for p in (P, P[:1], P[:2], P[:0]):
            check(PRIMITIVES["polyval"], [p, x])


@pytest.mark.parametrize("m", [0, 1, 2, 3])
def test_polyder_and_polyint(m):
    for p in (P, P[:2], P[:1]):
        check(PRIMITIVES["polyder"], [p, m])
        check(PRIMITIVES["polyint"], [p, m])
        if m:
            check(PRIMITIVES["polyint"], [p, m, 2.5])
            check(PRIMITIVES["polyint"], [p, m, RNG.standard_normal(m)])
            check(PRIMITIVES["polyint"], [p, m, RNG.standard_normal(m + 2)])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_poly(n):
    check(PRIMITIVES["poly"], [RNG.standard_normal(n)])
    a = RNG.standard_normal((n, n))
    check(PRIMITIVES["poly"], [a + a.T])
    check(PRIMITIVES["poly"], [np.array([1.0, 1.0, 0.0])])


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul"])
def test_arithmetic(name):
    for args in ([P, Q], [Q, P], [P, P], [P[:1], Q], [2.5, Q]):
        check(PRIMITIVES[name], args)


def test_polymul_strips_leading_zeros():
    p = PRIMITIVES["polymul"]
    a, b = np.array([0.0, 0.0, 2.0, 3.0]), np.array([0.0, 5.0, 7.0])
    out = p.forward(a, b)
    assert out.size == 3
    left, right = p.vjp(np.array([1.0, 10.0, 100.0]), out, (a, b), {}, (0, 1))
    assert left.tolist() == [0.0, 0.0, 75.0, 750.0] and right.tolist() == [0.0, 32.0, 320.0]
    assert p.jvp({0: np.array([9.0, 9.0, 1.0, 0.0])}, out, (a, b), {}).tolist() == [5.0, 7.0, 0.0]


@pytest.mark.parametrize("u, v", [(P, Q), (Q, P), (P, Q[:2]), (P[:3], Q), (P, P[1:] + 1.0)])
def test_polydiv(u, v):
    check(PRIMITIVES["polydiv"], [u, v], step=1e-4)


@pytest.mark.parametrize("n", [1, 5])
def test_division_by_a_number(n):
    u, v = P[:n], Q[:1]
    p = PRIMITIVES["polydiv"]
    out = p.forward(u, v)
    g = np.ones(n), np.ones(1)
    left, right = p.vjp(g, out, (u, v), {}, (0, 1))
    np.testing.assert_allclose(left, np.ones(n) / v)
    np.testing.assert_allclose(right, [-np.sum(u) / v[0] ** 2])
    quotient, remainder = p.jvp({0: u, 1: v}, out, (u, v), {})
    np.testing.assert_allclose(quotient, np.zeros(n), atol=1e-14)
    assert remainder.tolist() == [0.0]


@pytest.mark.parametrize("roots", [[1.5], [1.0, -2.0], [0.5, 1.0, 2.0, -3.0]])
def test_roots(roots):
    check(PRIMITIVES["roots"], [2.0 * np.poly(roots)])


def test_roots_at_zero_and_stripped_coefficients():
    p = np.array([0.0, 1.0, -3.0, 2.0, 0.0])
    out = PRIMITIVES["roots"].forward(p)
    got = PRIMITIVES["roots"].jvp({0: np.eye(5)[4]}, out, (p,), {})
    np.testing.assert_allclose(got, -1.0 / np.polyval(np.polyder(p), out))
    assert PRIMITIVES["roots"].vjp(np.zeros(0), np.zeros(0), (np.ones(1),), {}, (0,))[0].tolist() == [0.0]


def test_complex_results_are_refused():
    with pytest.raises(ActiveError, match="complex"):
        PRIMITIVES["roots"].forward([1.0, 0.0, 1.0])


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("n", [None, 0, 1, 4])
def test_vander(n, increasing):
    check(PRIMITIVES["vander"], [P, n, increasing])
    check(PRIMITIVES["vander"], [np.array([0.0, 1.0])], {"N": n, "increasing": increasing})


@pytest.mark.parametrize("deg", [0, 1, 3])
@pytest.mark.parametrize("columns", [None, 2])
def test_polyfit(deg, columns):
    x = np.linspace(-1.0, 2.0, 7)
    y = RNG.standard_normal(7 if columns is None else (7, columns))
    check(PRIMITIVES["polyfit"], [x, y, deg], rtol=1e-6)
    check(PRIMITIVES["polyfit"], [x, y, deg, None, False, RNG.uniform(0.5, 1.5, 7)], argnums=(0, 1, 5), rtol=1e-6)
    check(PRIMITIVES["polyfit"], [x, y, deg], {"w": RNG.uniform(0.5, 1.5, 7)}, rtol=1e-6)


def test_statistics_of_a_fit_are_refused():
    for kwargs in ({"full": True}, {"cov": True}):
        with pytest.raises(ActiveError, match="polyfit"):
            PRIMITIVES["polyfit"].forward(P, P, 1, **kwargs)
