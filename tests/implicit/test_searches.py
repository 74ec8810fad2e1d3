# SPDX-License-Identifier: Apache-2.0
"""What a residual that fills arrays costs: nobody asks Python's collector, whose answer takes as long as the heap."""

import gc

import numpy as np
import pytest
from scipy import optimize

import codipy
from codipy.errors import ActiveError

X = np.linspace(0.0, 1.0, 5)
WORK, LOG = np.zeros(5), {}
P, STEP = np.array([0.3]), 1e-6


def fill(r, u, k):
    r[0] = u[0] - 1.0
    r[1:] = 3.0 * u[1:] - u[:-1] - k * X[1:] * u[1:] ** 2


class Model:
    def __init__(self):
        self.work = np.zeros(5)

    def fill(self, r, u, k):      # it writes into its second parameter, and has the name of the function above
        fill(r, u, k)

    def by_attribute(self, u, k):
        fill(self.work, u, k)
        return self.work.copy()

    def by_method(self, u, k):
        r = np.empty_like(u)
        self.fill(r, u, k)
        return r


MODEL = Model()


def by_function(u, k):
    r = np.empty_like(u)
    fill(r, u, k)
    return r


def by_module(u, k):
    fill(WORK, u, k)
    return WORK.copy()


def into_unknown(u, k):
    v = u.copy()
    u[:] = 3.0 * u - k * X * u**2
    u[1:] -= v[:-1]
    return u - 1.0


def keeps_and_fills(u, k):
    LOG["seen"] = u
    into_unknown(u, k)
    return LOG["seen"] - 1.0


def loss_of(residual):
    def loss(p):
        return np.sum(optimize.root(residual, np.ones(5), args=(p[0],), tol=1e-12).x ** 2)

    return loss


def of_copies(residual):      # of what is not overwritten: SciPy would go on with that
    return lambda u, k: residual(u.copy(), k)


@pytest.mark.parametrize("residual", [
    by_function, by_module, MODEL.by_attribute, MODEL.by_method, of_copies(into_unknown), of_copies(keeps_and_fills),
])  # fmt: skip
def test_derivatives_of_what_fills(residual):
    loss = loss_of(residual)
    (found,) = codipy.grad(loss)(P)
    assert found == pytest.approx((loss(P + STEP) - loss(P - STEP)) / (2.0 * STEP), rel=1e-6)


@pytest.mark.parametrize("residual", [into_unknown, keeps_and_fills])
def test_what_overwrites_the_unknown_raises(residual):
    with pytest.raises(ActiveError):
        codipy.grad(loss_of(residual))(P)


@pytest.mark.parametrize("residual", [by_function, by_module, MODEL.by_attribute, MODEL.by_method])
def test_nobody_asks_the_collector(residual, monkeypatch):
    gradient = codipy.grad(loss_of(residual))
    gradient(P)
    asked = []
    for name in ("get_referrers", "collect"):
        monkeypatch.setattr(gc, name, lambda *of: asked.append(of) or [])
    gradient(P)
    assert not asked
