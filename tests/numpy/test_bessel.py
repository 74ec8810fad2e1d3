# SPDX-License-Identifier: Apache-2.0
"""Bessel functions by their orders: against mpmath, beside every other derivative, and where there is none."""

import numpy as np
import pytest

import codipy
from codipy.errors import UndifferentiableError
from codipy.numpy import bessel

special = pytest.importorskip("scipy.special")
ORDERS = (0.0, 0.3, 1.0, 2.5, 7.0, 30.0, -0.4, -1.0, -3.7)
POINTS = (1e-3, 0.2, 1.0, 6.0, 25.0, 60.0)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv"])
def test_orders_against_mpmath(name):
    mp = pytest.importorskip("mpmath")
    exact = getattr(mp, {"j": "besselj", "y": "bessely", "i": "besseli", "k": "besselk"}[name[0]])
    with mp.workdps(30):
        for v in ORDERS:
            for x in POINTS:
                wanted, size = float(mp.diff(lambda t, x=x: exact(t, x), v)), abs(float(exact(v, x)))
                found = bessel.FUNCTIONS[f"{name}_v"](v, x)
                assert abs(found - wanted) <= 1e-11 * max(abs(wanted), size), (name, v, x)


@pytest.mark.parametrize("name", ["jv", "jve", "yv", "yve", "iv", "ive", "kv", "kve"])
def test_both_arguments_and_both_directions(name):
    f = getattr(special, name)
    point = np.array([0.3, 2.5, 1.2, 4.0])
    number = lambda p: np.sum(f(p[:2], p[2:]) ** 2)  # noqa: E731
    value, gradient = codipy.value_and_grad(number)(point)
    assert value == number(point)
    steps = 1e-5 * np.eye(4)
    np.testing.assert_allclose(gradient, [(number(point + h) - number(point - h)) / 2e-5 for h in steps], 1e-7, 1e-9)
    t = np.array([1.0, -0.4, 0.6, 0.2])
    assert codipy.jvp(number, (point,), (t,))[1] == pytest.approx(gradient @ t, rel=1e-11)

    def by_order(x):
        return codipy.grad(lambda v: f(v, x))(0.7)

    assert codipy.grad(by_order)(1.3) == pytest.approx((by_order(1.3 + 1e-5) - by_order(1.3 - 1e-5)) / 2e-5, rel=1e-7)


def test_large_arguments():
    mp = pytest.importorskip("mpmath")
    for v, x in ((2.5, 1000.0), (10.0, 5000.0)):
        wanted = mp.diff(lambda t, x=x: mp.besseli(t, x), v) * mp.exp(-x)
        assert bessel.FUNCTIONS["ive_v"](v, x) == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("v, x", [(1.0, -2.0), (0.5, 0.0), (1e5, 2e5), (90.0, 1000.0)])
def test_where_there_is_none(v, x):
    name = "ive" if v == 90.0 else "jv"
    with pytest.raises(UndifferentiableError, match="pass codipy.value"):
        codipy.grad(lambda v: getattr(special, name)(v, x))(v)


def test_second_derivatives_by_the_order_raise():
    with pytest.raises((TypeError, UndifferentiableError)):
        codipy.grad(codipy.grad(lambda v: special.jv(v, 2.0)))(0.3)
