# SPDX-License-Identifier: Apache-2.0
"""Minima at kinks and roots at jumps are no solutions of equations: they raise; what does not move is a constant."""

import numpy as np
import pytest
from scipy import optimize

import codipy

LINE = np.linspace(0.0, 1.0, 9)
NOISE = np.sin(37.0 * LINE)
CLOSE = {"xatol": 1e-12, "fatol": 1e-14, "maxiter": 4000}


def bounded(f, end=2.0):
    return optimize.minimize_scalar(f, bounds=(0.0, end), method="bounded", options={"xatol": 1e-12}).x


def simplex(f, *start):
    return optimize.minimize(f, start, method="Nelder-Mead", options=CLOSE).x[0]


def least_deviations(x):
    y = x + 2.0 * LINE + NOISE
    return simplex(lambda p: np.abs(y - p[0] - p[1] * LINE).sum(), 0.5, 2.0)


def quantile(x):
    y = np.array([0.1, 0.5, x, 1.4, 2.0])
    return simplex(lambda q: np.sum(np.maximum(0.6 * (y - q), -0.4 * (y - q))), 0.5)


def sparse_fit(x, weight=1e-3):
    """Of least squares with a small weight on sizes: the second number is held at zero, a short step from a minimum."""
    def loss(u):
        return 50.0 * np.sum((u - np.array([x, 1e-6 * x])) ** 2) + weight * np.sum(np.abs(u))

    return optimize.minimize(loss, [0.5, 0.1], method="Nelder-Mead", options=CLOSE).x[1]


class Walled:
    def __init__(self, wall):
        self.wall = wall

    def side(self, u):
        return 1.0 if u > self.wall else -1.0

    def distance(self, u):
        return u - self.wall if u > self.wall else self.wall - u


class Hidden:
    __slots__ = ("__wall",)

    def __init__(self, wall):
        self.__wall = wall

    def side(self, u):
        return 1.0 if u > self.__wall else -1.0


KINKS = {
    "a distance": lambda x: bounded(lambda u: abs(u - x)),
    "fminbound": lambda x: optimize.fminbound(lambda u: np.maximum(u - x, 2.0 * (x - u)), 0.0, 2.0, xtol=1e-12),
    "a median": lambda x: bounded(lambda m: np.abs(np.array([0.3, x, 1.9]) - m).sum()),
    "a quantile": quantile,
    "least deviations": least_deviations,
    "a hinge": lambda x: simplex(lambda w: 0.5 * w[0] ** 2 + 5.0 * max(0.0, 1.0 - x * w[0]), 0.0),
    "a barrier": lambda x: simplex(lambda u: (u[0] - 2.0) ** 2 if u[0] < x else 1e10, 0.1),
    "an object": lambda x: bounded(Walled(x).distance),
    "a kink beside a small slope": sparse_fit,
    "a grid": lambda x: optimize.brute(lambda u: (u[0] - 2.0) ** 2, ((0.0, x),), Ns=5, finish=None),
}
JUMPS = {
    "brentq": lambda x: optimize.brentq(lambda u: 1.0 if u > x else -1.0, 0.0, 2.0),
    "bisect of an object": lambda x: optimize.bisect(Walled(x).side, 0.0, 2.0),
    "root_scalar": lambda x: optimize.root_scalar(
        lambda u: np.exp(u) - (1.2 if u < x else 9.0), bracket=(0.5, 2.0)).root,
    "a steep function": lambda x: optimize.brentq(
        lambda u: 1e7 * (u - 0.7) + np.sign(u - x - 1e-9), 0.0, 2.0, xtol=1e-15),
    "a private slot": lambda x: optimize.brentq(Hidden(x).side, 0.0, 2.0),
    "args": lambda x: optimize.toms748(lambda u, x: 1.0 if u > x else -1.0, 0.0, 2.0, args=(x,)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINKS)
def test_minima_at_kinks_raise(name):
    f, h = KINKS[name], 1e-3
    if name != "a kink beside a small slope":      # which is held
        assert abs(f(0.7 + h) - f(0.7 - h)) > 0.1 * h
    with pytest.raises(ArithmeticError, match="a minimum at a kink or a jump of the function"):
        codipy.grad(f)(0.7)


@pytest.mark.parametrize("name", JUMPS)
def test_roots_at_jumps_raise(name):
    f, h = JUMPS[name], 1e-3
    if name != "a steep function":
        assert f(0.7 + h) - f(0.7 - h) == pytest.approx(2.0 * h, rel=1e-3)
    with pytest.raises(ArithmeticError, match="the place of the jump is no root"):
        codipy.grad(f)(0.7)


STILL = {
    "before a jump": lambda x: optimize.brentq(lambda u: np.exp(u) - (1.2 if u < x else 3.0), 0.0, 2.0, xtol=1e-13),
    "a sum": lambda x: optimize.minimize(lambda u: np.sum((u - 0.3) ** 2 * (1.0 + u**2)) + x, [0.1, 0.2], tol=1e-9).fun,
    "beside a barrier": lambda x: simplex(lambda u: (u[0] - 0.3) ** 2 if u[0] < x else 1e10, 0.1),
    "far from a kink": lambda x: simplex(lambda u: (u[0] - x**2) ** 2 + 0.1 * abs(u[0] - x), 0.1),
    "a kink that nothing moves": lambda x: x * bounded(lambda u: abs(u - 0.4)),
    "a grid that is polished": lambda x: optimize.brute(lambda u: (u[0] - x) ** 2, ((0.0, 1.0),), Ns=5)[0],
    "a grid of one number": lambda x: optimize.brute(lambda u: (u - x) ** 2, ((0.0, 1.0),), Ns=5)[0],
}


@pytest.mark.parametrize("name", STILL)
def test_other_minima_and_roots_have_derivatives(name):
    f, h = STILL[name], 1e-2
    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + h) - f(0.7 - h)) / (2.0 * h), rel=1e-2, abs=1e-3)


def test_implicit_roots_that_jump():
    place = codipy.implicit.root(lambda u, x: np.where(u > x, 1.0, -1.0), lambda x: x + 1e-9)
    with pytest.raises(ArithmeticError, match="singular"):
        codipy.grad(place)(0.7)

    def closed_over(x):
        return codipy.implicit.root(lambda u: 1.0 if u > x else -1.0, lambda: codipy.value(x) + 1e-9)()

    with pytest.raises(ArithmeticError, match="singular"):
        codipy.grad(closed_over)(0.7)
    tape = codipy.Tape(strategy="primal")
    with tape, pytest.raises(ArithmeticError, match="singular"):
        codipy.rebind(closed_over)(tape.register_input(0.7))
