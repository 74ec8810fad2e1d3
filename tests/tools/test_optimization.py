# SPDX-License-Identifier: Apache-2.0
"""`codipy.problem`: what solvers of SciPy take, of one run of the function at each point."""

import pickle
import threading

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.optimize import rosen, rosen_der, rosen_hess, rosen_hess_prod

import codipy
from tests.strategies import each_strategy

X0 = np.array([-1.2, 1.0, 0.7, 1.9])
RUNS = []


def valley(x, scale=1.0):
    RUNS.append(0)
    return scale * np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def residuals(x):
    RUNS.append(0)
    return [10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]


def chain(x):
    return x[1:] ** 2 - np.sin(x[:-1])


def decay(t, a, b):
    return a * np.exp(-b * t)


@pytest.fixture(autouse=True)
def no_runs():
    RUNS.clear()


def differences(f, x, step=1e-6):
    """Central ones of the plain function."""
    columns = [(np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * step) for e in step * np.eye(x.size)]
    return np.stack(columns, -1)


@each_strategy
def test_numbers_against_closed_forms(strategy):
    p = codipy.problem(valley, X0, strategy=strategy)
    v = np.arange(4.0)
    for x in (X0, X0 + 0.1, X0 + 0.1, -X0):
        assert p.fun(x) == valley(x)
        np.testing.assert_allclose(p.jac(x), rosen_der(x), rtol=1e-13)
        np.testing.assert_allclose(p.hess(x), rosen_hess(x), rtol=1e-12)
        np.testing.assert_allclose(p.hessp(x, v), rosen_hess_prod(x, v), rtol=1e-12)


@pytest.mark.parametrize("order", [["fun", "jac"], ["jac", "fun"], ["fun", "jac", "hess", "hessp", "hessp"]])
def test_one_run_at_each_point(order):
    p, rest = codipy.problem(valley, X0), {"hessp": (np.ones(4),)}
    for name in ["fun", "hess"] if "hess" in order else ["fun"]:
        getattr(p, name)(X0)
    for k in range(1, 4):
        RUNS.clear()
        for name in order:
            getattr(p, name)(X0 * k + 1.0, *rest.get(name, ()))
        assert len(RUNS) == 1
    RUNS.clear()
    getattr(p, order[0])(X0 * 3 + 1.0)      # what is asked for twice is run twice: the function may have changed
    assert len(RUNS) == 1


def test_a_function_that_became_another_one():
    weights = [1.0]
    p = codipy.problem(lambda x: weights[0] * (x * x).sum(), X0)
    assert p.fun(X0) == (X0 * X0).sum() and p.jac(X0) == pytest.approx(2.0 * X0)
    weights[0] = 3.0
    assert p.fun(X0) == 3.0 * (X0 * X0).sum() and p.jac(X0) == pytest.approx(6.0 * X0)
    weights[0] = 5.0
    assert p.jac(X0) == pytest.approx(10.0 * X0)


def test_a_point_that_is_written_into():
    p, x = codipy.problem(valley, X0), X0.copy()
    p.fun(x)
    x[0] = 5.0
    np.testing.assert_allclose(p.jac(x), rosen_der(x), rtol=1e-13)


def test_arguments_of_the_solver():
    p = codipy.problem(valley, X0)
    assert p.hess(X0, 2.0) == pytest.approx(2.0 * rosen_hess(X0)) and p.fun(X0, 2.0) == 2.0 * valley(X0)
    assert p.jac(X0, 3.0) == pytest.approx(3.0 * rosen_der(X0))
    assert p.hessp(X0, X0, 3.0) == pytest.approx(3.0 * rosen_hess_prod(X0, X0))


@pytest.mark.parametrize(
    "method", ["BFGS", "L-BFGS-B", "Newton-CG", "SLSQP", "trust-exact", "trust-ncg", "trust-krylov", "trust-constr"]
)
def test_minimize(method):
    p = codipy.problem(valley, np.full(5, 1.3))
    second = {"Newton-CG": {"hessp": p.hessp}, "trust-ncg": {"hessp": p.hessp}, "trust-krylov": {"hessp": p.hessp},
              "trust-exact": {"hess": p.hess}, "trust-constr": {"hess": p.hess}}.get(method, {})
    found = optimize.minimize(p.fun, p.x0, jac=p.jac, method=method, **second)
    assert found.success and found.x == pytest.approx(1.0, abs=5e-3)
    assert len(RUNS) <= found.nfev + 1      # one more where the first second derivative was asked for


def test_least_squares_and_roots():
    p = codipy.problem(residuals, [-1.2, 1.0])
    assert optimize.least_squares(p.fun, p.x0, jac=p.jac).x == pytest.approx([1.0, 1.0])
    assert optimize.root(p.fun, p.x0, jac=p.jac).x == pytest.approx([1.0, 1.0])
    np.testing.assert_allclose(p.jac(p.x0), differences(residuals, p.x0), atol=1e-8)


@each_strategy
def test_sparse_jacobians(strategy):
    x = np.linspace(0.3, 1.7, 30)
    p = codipy.problem(chain, x, sparsity=True, strategy=strategy)
    assert np.array_equal(p.fun(x), chain(x)) and sparse.issparse(p.jac(x)) and p.jac(x).nnz == 58
    np.testing.assert_allclose(p.jac(x).toarray(), differences(chain, x), atol=1e-8)
    assert np.array_equal(p.jac_sparsity.toarray(), p.jac(x).toarray() != 0)


def test_sparse_least_squares():
    p = codipy.problem(chain, np.full(30, 0.4), sparsity=True)
    found = optimize.least_squares(p.fun, p.x0, jac=p.jac, tr_solver="lsmr")
    assert found.success and abs(found.fun).max() < 1e-6


@pytest.mark.parametrize("sparsity", [None, True])
def test_constraints(sparsity):
    held = codipy.problem(residuals, [-1.2, 1.0], sparsity=sparsity)
    p = codipy.problem(valley, [-1.2, 1.0], sparsity=sparsity)
    constraint = optimize.NonlinearConstraint(held.fun, [-1.0, 0.5], [1.0, 1.0], jac=held.jac, hess=held.hess)
    found = optimize.minimize(p.fun, p.x0, jac=p.jac, hess=p.hess, constraints=[constraint], method="trust-constr")
    assert found.success and found.x == pytest.approx([0.5, 0.25], abs=1e-3)


@pytest.mark.parametrize("f", [residuals, lambda x: np.array(residuals(x)), lambda x: tuple(residuals(x))])
def test_hessians_of_vectors(f):
    x, v = np.array([0.3, -0.8]), np.array([2.0, 7.0])
    expected = [[-40.0, 0.0], [0.0, 0.0]]
    assert np.asarray(codipy.problem(f, x).hess(x, v)) == pytest.approx(np.array(expected))
    assert codipy.problem(f, x, sparsity=True).hess(x, v).toarray() == pytest.approx(np.array(expected))


def test_curves():
    t = np.linspace(0.0, 3.0, 20)
    p = codipy.problem(decay, [1.0, 1.0], curve=True)
    found, _ = optimize.curve_fit(p.fun, t, decay(t, 2.0, 1.3), p.x0, jac=p.jac)
    assert found == pytest.approx([2.0, 1.3])
    exact = np.stack([np.exp(-1.3 * t), -2.0 * t * np.exp(-1.3 * t)], -1)
    np.testing.assert_allclose(p.jac(t, 2.0, 1.3), exact, rtol=1e-13)


def test_threads_have_points_of_their_own():
    p, found = codipy.problem(valley, X0), {}

    def work(k):
        x = X0 + 0.01 * k
        for _ in range(20):
            found[k] = p.fun(x) == rosen(x), np.allclose(p.jac(x), rosen_der(x), rtol=1e-12)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found.values()) == {(True, True)} and len(found) == 4


def test_pickled():
    p = pickle.loads(pickle.dumps(codipy.problem(valley, X0)))
    assert np.array_equal(p.x0, X0) and p.fun(X0) == rosen(X0) and p.jac(X0) == pytest.approx(rosen_der(X0))


def test_inside_of_a_function_that_is_differentiated():
    p = codipy.problem(lambda x: (x**3).sum(), X0)
    assert codipy.grad(lambda x: p.fun(x) + p.jac(x).sum())(X0) == pytest.approx(3.0 * X0**2 + 6.0 * X0)
    assert codipy.jacobian(p.jac)(X0) == pytest.approx(np.diag(6.0 * X0))


def test_errors_come_through_and_the_next_call_is_right():
    def fails(x):
        if x[0] > 2.0:
            raise ArithmeticError("too far")
        return (x * x).sum()

    p = codipy.problem(fails, X0)
    with pytest.raises(ArithmeticError, match="too far"):
        p.fun(X0 + 9.0)
    assert p.fun(X0) == (X0 * X0).sum() and p.jac(X0) == pytest.approx(2.0 * X0)
    with pytest.raises(ArithmeticError, match="too far"):
        p.jac(X0 + 9.0)
    assert p.jac(X0) == pytest.approx(2.0 * X0)


def test_misuse():
    with pytest.raises(ValueError, match=r"x0.ravel\(\), and x.reshape\(2, 2\)"):
        codipy.problem(valley, X0.reshape(2, 2))
    with pytest.raises(TypeError, match="callable|function"):
        codipy.problem(None, X0)
    with pytest.raises(ValueError, match="strategy"):
        codipy.problem(valley, X0, strategy="fast")
    with pytest.raises(TypeError, match=r"residuals.* returns several numbers.*hess\(x, v\)"):
        codipy.problem(residuals, X0).hess(X0)
    with pytest.raises(TypeError, match=r"hessp is for functions that return one number"):
        codipy.problem(residuals, X0).hessp(X0, X0)
    with pytest.raises(TypeError, match="hess is for functions of a vector"):
        codipy.problem(decay, [1.0, 1.0], curve=True).hess(X0)


def test_complex_points_are_refused():
    z = np.array([1.0 + 1.0j, 2.0])
    with pytest.raises(TypeError, match=r"x0 is complex.*np.concatenate\(\[z.real, z.imag\]\)"):
        codipy.problem(lambda z: np.sum(np.abs(z - 1j) ** 2), z)
    p = codipy.problem(lambda x: np.sum(np.abs(x[:2] + 1j * x[2:] - 1j) ** 2), np.concatenate([z.real, z.imag]))
    with pytest.raises(TypeError, match="x is complex"):
        p.fun(z)
    with pytest.raises(TypeError, match="p is complex"):
        p.hessp(p.x0, p.x0 * 1j)
    np.testing.assert_allclose(optimize.minimize(p.fun, p.x0, jac=p.jac).x, [0.0, 0.0, 1.0, 1.0], atol=1e-7)
