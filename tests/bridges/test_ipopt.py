# SPDX-License-Identifier: Apache-2.0
"""Nonlinear programs: structures and numbers against complex steps and differences; cyipopt itself is not needed."""

import numpy as np
import pytest

import codipy
import codipy.bridges

X0 = np.linspace(0.5, 1.5, 6)
WEIGHTS = np.array([2.0, -1.0, 3.0, 0.5, 1.0])


def objective(x):
    work = np.zeros(x.size, x.dtype)
    work[:] = x**2
    work[0] = x[1] * x[2]
    return np.sum(work) + np.exp(x[-1])


def constraints(x):
    return x[1:] * np.sin(x[:-1])


def as_list(x):
    return [x[k + 1] * np.sin(x[k]) for k in range(x.size - 1)]


def complex_steps(f, x, step=1e-30):
    """The derivatives of a plain function, one column for each number."""
    return np.stack([np.imag(f(x + 1j * step * e)) / step for e in np.eye(x.size)], -1)


def dense(structure, data, shape):
    matrix = np.zeros(shape)
    matrix[structure] = data
    return matrix


@pytest.mark.parametrize("held", [constraints, as_list])
@pytest.mark.parametrize("x", [X0, X0 - 0.3, -X0])
def test_derivatives(held, x):
    p = codipy.bridges.nlp(objective, held, x0=X0)
    assert (p.n, p.m) == (6, 5)
    assert p.objective(x) == objective(x) and np.array_equal(p.constraints(x), constraints(x))
    np.testing.assert_allclose(p.gradient(x), complex_steps(objective, x), rtol=1e-13)
    found = dense(p.jacobianstructure(), p.jacobian(x), (5, 6))
    np.testing.assert_allclose(found, complex_steps(constraints, x), rtol=1e-13)

    def gradient(x):
        return 0.7 * codipy.grad(objective)(x) + WEIGHTS @ complex_steps(constraints, x)

    lower = dense(p.hessianstructure(), p.hessian(x, WEIGHTS, 0.7), (6, 6))
    expected = np.stack([(gradient(x + e) - gradient(x - e)) / 2e-6 for e in 1e-6 * np.eye(6)])
    np.testing.assert_allclose(lower, np.tril(expected), atol=1e-8)


def test_structures_leave_out_what_is_zero():
    p = codipy.bridges.nlp(objective, constraints, x0=X0)
    rows, columns = p.jacobianstructure()
    assert np.array_equal(rows, np.repeat(np.arange(5), 2)) and len(p.jacobian(X0)) == 10
    rows, columns = p.hessianstructure()
    assert (rows >= columns).all() and len(rows) == 11      # tridiagonal


def test_no_constraints():
    p = codipy.bridges.nlp(objective, x0=X0)
    assert p.m == 0 and p.constraints(X0).size == p.jacobian(X0).size == 0
    found = dense(p.hessianstructure(), p.hessian(X0, [], 2.0), (6, 6))
    assert found[5, 5] == pytest.approx(4.0 + 2.0 * np.exp(X0[-1]))


def test_an_element_that_another_branch_has_is_an_error():
    def bent(x):
        return [x[0] * x[1] if x[0] > 0.0 else x[0] * x[2]]

    p = codipy.bridges.nlp(objective, bent, x0=X0)
    p.jacobian(X0)
    with pytest.raises(ValueError, match="pattern"):
        p.jacobian(-X0)


def test_an_objective_of_several_numbers():
    with pytest.raises(TypeError, match="returns several numbers, and an objective is one"):
        codipy.bridges.nlp(constraints, x0=X0)
