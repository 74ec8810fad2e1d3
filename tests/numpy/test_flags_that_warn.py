# SPDX-License-Identifier: Apache-2.0
"""Of what `np.broadcast_arrays` gave NumPy warns who asks whether it may be written to: codipy does not ask."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize

import codipy

REPEATED = np.broadcast_arrays(np.arange(3.0), np.ones((3, 1)))[0]
MODEL = SimpleNamespace(u=np.broadcast_arrays(np.arange(3.0), np.ones((3, 1)))[0], calls=0)


def kept_by_an_object(x):
    def residual(z):
        MODEL.calls += 1
        return z**2 - x[0] - MODEL.u[0, 1]

    return optimize.fsolve(residual, 2.0)[0]


def given_to_a_solver(x):
    return codipy.implicit.root(lambda z, p, u: z**2 - p - u[0, 1], lambda p, u: np.sqrt(p + u[0, 1]))(x[0], REPEATED)


@codipy.primitive
def scaled(x, u):
    return x * u[0]


@scaled.vjp
def scaled_vjp(g, result, x, u):
    return g * u[0], None


def given_to_a_primitive(x):
    return np.sum(scaled(x, REPEATED))


@pytest.mark.parametrize("f", [kept_by_an_object, given_to_a_solver, given_to_a_primitive])
def test_nobody_is_warned(f):
    x, step = np.array([1.0, 2.0, 3.0]), 1e-6
    known = [(f(x + e) - f(x - e)) / (2.0 * step) for e in step * np.eye(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(codipy.grad(f)(x), known, 1e-6, 1e-8)
