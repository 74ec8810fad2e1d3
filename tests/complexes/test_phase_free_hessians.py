# SPDX-License-Identifier: Apache-2.0
"""Hessians of losses of complex eigenvectors that do not depend on their phases, under each strategy."""

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

POINT = np.array([0.3, 0.7, 0.4])


def hamiltonian(p):
    return np.array([[p[0], p[1] - 1j * p[2]], [p[1] + 1j * p[2], -p[0]]])


def population(p):
    return np.abs(np.linalg.eigh(hamiltonian(p))[1][0, 0]) ** 2


def evolved(p):
    w, v = np.linalg.eigh(hamiltonian(p))
    return np.abs(((v * np.exp(1j * w)) @ v.conj().T)[0, 1]) ** 2


def unitary(p):
    u, _, vh = np.linalg.svd(hamiltonian(p) + np.diag([2j, 1.0]))
    return np.abs((u @ vh)[0, 1]) ** 2


def of_a_phase(p):
    return np.linalg.eigh(hamiltonian(p))[1][0, 0].real ** 2 + np.linalg.eigh(hamiltonian(p))[1][1, 0].real


@pytest.mark.parametrize("f", [population, evolved, unitary])
@each_strategy
def test_hessians(f, strategy):
    gradient = codipy.grad(f)
    expected = [(gradient(POINT + e) - gradient(POINT - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    assert codipy.hessian(f, strategy=strategy)(POINT) == pytest.approx(np.array(expected), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("f", [population, evolved, unitary])
def test_products_with_vectors(f):
    tangent = np.array([0.3, -1.2, 0.7])
    gradient, product = codipy.gradient_and_hvp(f, (POINT,), (tangent,))
    assert gradient[0] == pytest.approx(codipy.grad(f)(POINT))
    assert product[0] == pytest.approx(codipy.hessian(f)(POINT) @ tangent)
    gradient, product = codipy.gradient_and_hvp(lambda p, k: f(p) * k, (POINT, 2.0), (tangent,), argnums=0)
    assert product[0] == pytest.approx(2.0 * codipy.hessian(f)(POINT) @ tangent)


def test_of_one_that_depends_on_the_phase_there_is_none():
    with pytest.raises(np.linalg.LinAlgError, match="no derivative exists"):
        codipy.hessian(of_a_phase)(POINT)
    with pytest.raises(np.linalg.LinAlgError, match="no derivative exists"):
        codipy.hvp(of_a_phase, (POINT,), (POINT,))


def test_an_argument_is_not_filled_twice():
    def f(p, w):
        w += np.sum(p * p)
        return population(p) * np.sum(w)

    work = np.zeros(2)
    with pytest.raises(np.linalg.LinAlgError):
        codipy.hessian(f)(POINT, work)
    assert work == pytest.approx(np.full(2, POINT @ POINT))
