# SPDX-License-Identifier: Apache-2.0
"""Densities of several variables in scipy.stats, of covariances with equal eigenvalues above all: SciPy's bits, slopes
against differences."""

import numpy as np
import pytest
import scipy
import scipy.stats as st

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import each_strategy

AT = np.array([0.3, -1.2, 0.7, 0.25])
DATA = np.sin(np.arange(21.0) ** 2).reshape(7, 3)
POINT = np.array([0.1, 0.2, 0.3])
FULL = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
SKEW = np.arange(9.0).reshape(3, 3) / 3
SHARE = np.array([0.2, 0.3, 0.5])
NORMAL, STUDENT = st.multivariate_normal(POINT, 2.0 * np.eye(3)), st.multivariate_t(POINT, FULL, 3.0)
FACTORED = st.Covariance.from_cholesky(np.linalg.cholesky(FULL))


def through(x):
    """A covariance whose eigenvalues are all equal at AT, and not beside it."""
    return 2.0 * np.eye(3) + (x[0] - 0.3) * (SKEW + SKEW.T) + (x[1] + 1.2) * np.outer(POINT, POINT)


def mixture(x):
    return sum(w * st.multivariate_normal.pdf(DATA, m, s * np.eye(3)) for w, m, s in
               zip(x[2:], (x[:3], x[1:]), (x[2], x[3])))  # fmt: skip


PROGRAMS = {
    "a number": lambda x: st.multivariate_normal.logpdf(DATA, x[:3], x[3]).sum(),
    "isotropic": lambda x: st.multivariate_normal.logpdf(POINT, x[:3], x[3] ** 2 * np.eye(3)),
    "diagonal": lambda x: st.multivariate_normal.logpdf(POINT, x[:3], x[:3] ** 2),
    "through equal ones": lambda x: st.multivariate_normal.logpdf(DATA, x[:3], through(x)).sum(),
    "the half that is read": lambda x: st.multivariate_normal.logpdf(POINT, x[:3], 2 * np.eye(3) + (x[0] - 0.3) * SKEW),
    "density": lambda x: st.multivariate_normal.pdf(POINT, x[:3], through(x)) * 1e3,
    "entropy": lambda x: st.multivariate_normal.entropy(None, through(x)),
    "mixture": lambda x: np.log(mixture(x)).sum(),
    "singular": lambda x: st.multivariate_normal.logpdf([x[0], x[1], 0.0], cov=np.diag([x[2], x[3], 0.0]),
                                                        allow_singular=True),
    "frozen in the function": lambda x: st.multivariate_normal(POINT, np.eye(3)).logpdf(x[:3]),
    "frozen before": lambda x: NORMAL.logpdf(x[:3]) + STUDENT.logpdf(x[:3]) * STUDENT.pdf(x[:3]) + NORMAL.cov[0, 0],
    "frozen of active ones": lambda x: st.multivariate_normal(x[:3], through(x)).logpdf(DATA).sum() + st.multivariate_t(
        x[:3], through(x), x[3] + 3).logpdf(POINT) + st.multivariate_normal(cov=through(x)).entropy(),
    "covariances of SciPy": lambda x: st.multivariate_normal.logpdf(DATA, x[:3], FACTORED).sum()
    + st.multivariate_normal(x[:3], FACTORED).logpdf(POINT) + st.multivariate_normal(POINT, cov=FACTORED).logpdf(x[:3]),
    "Student's": lambda x: st.multivariate_t.logpdf(DATA, x[:3], through(x), x[3] + 3).sum() + st.multivariate_t.pdf(
        POINT, x[:3], through(x), 4.0),
    "Student's of infinite degrees": lambda x: st.multivariate_t.logpdf(POINT, x[:3], through(x), np.inf)[0],
    "of matrices": lambda x: st.matrix_normal.logpdf(SKEW, SKEW * x[0], rowcov=through(x), colcov=x[3] * np.eye(3)),
    "of frozen matrices": lambda x: 1e4 * st.matrix_normal(SKEW * x[0], through(x), FULL).pdf(SKEW),
    "Dirichlet's": lambda x: st.dirichlet.logpdf(SHARE, x[:3] ** 2) + st.dirichlet(x[:3] ** 2).pdf(SHARE)
    + st.dirichlet.entropy(x[:3] ** 2),
    "Wishart's": lambda x: st.wishart.logpdf(FULL, 4 + x[0], through(x)) + st.wishart(5, FULL).pdf(through(x)),
}  # fmt: skip
if np.lib.NumpyVersion(scipy.__version__) < "1.16.0":
    del PROGRAMS["Student's of infinite degrees"]  # which raises TypeError in SciPy


def differences(f, x, h=1e-6):
    return np.array([(f(x + step) - f(x - step)) / (2 * h) for step in h * np.eye(x.size)])


@pytest.mark.parametrize("name", PROGRAMS)
def test_densities(name):
    f = PROGRAMS[name]
    value, gradient = codipy.value_and_grad(f)(AT)
    assert value == f(AT)
    np.testing.assert_allclose(gradient, differences(f, AT), rtol=1e-5, atol=1e-6)


@each_strategy
def test_strategies_and_directions(strategy):
    f, direction = PROGRAMS["through equal ones"], np.cos(np.arange(4.0))
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(AT)
    assert value == f(AT)
    np.testing.assert_allclose(gradient, differences(f, AT), rtol=1e-6)
    assert codipy.jvp(f, (AT,), (direction,), strategy=strategy)[1] == pytest.approx(gradient @ direction, rel=1e-11)


def test_second_order_where_eigenvalues_are_equal():
    f = PROGRAMS["frozen of active ones"]
    np.testing.assert_allclose(codipy.hessian(f)(AT), differences(codipy.grad(f), AT, 1e-5), rtol=1e-6, atol=1e-7)


def test_a_recording_runs_again():
    def f(x):
        return st.multivariate_normal.logpdf(POINT, x[:3], through(x) * x[3])

    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(AT)
        y = tape.register_output(codipy.rebind(f)(x))
    other = AT + 0.125
    tape.set_primal(x, other)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(other)
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, differences(f, other), rtol=1e-6)


def test_a_recording_ends_where_the_matrix_becomes_singular():
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(AT)
        tape.register_output(codipy.rebind(lambda x: st.multivariate_normal.logpdf(
            POINT[:2], cov=np.diag(x[2:]), allow_singular=True))(x))  # fmt: skip
    tape.set_primal(x, np.array([0.0, 0.0, 1.0, 1e-12]))
    with pytest.raises(TapeError, match="singular"):
        tape.evaluate_primal()


def test_errors_of_scipy_are_caught_as_in_the_plain_run():
    def f(x):
        try:
            return st.multivariate_normal.logpdf(POINT, x[:3], -np.eye(3) * x[3])
        except ValueError:
            return 2.0 * x[0]

    np.testing.assert_array_equal(codipy.grad(f)(AT), [2.0, 0.0, 0.0, 0.0])


def test_what_is_passive_is_scipys():
    def f(x):
        frozen = st.multivariate_normal(POINT, FULL, seed=3)
        assert isinstance(frozen, type(NORMAL)) and frozen.dim == 3
        return x[:3] @ frozen.rvs() + x[3] * NORMAL.cdf(POINT)

    drawn = st.multivariate_normal(POINT, FULL, seed=3).rvs()
    np.testing.assert_allclose(codipy.grad(f)(AT), [*drawn, NORMAL.cdf(POINT)], rtol=1e-4)


@pytest.mark.parametrize("f", [
    lambda x: st.multivariate_normal.cdf(x[:3], POINT, FULL), lambda x: st.invwishart.logpdf(FULL, 4, through(x)),
    lambda x: st.multivariate_normal(x[:3], FULL).rvs() @ x[:3], lambda x: NORMAL.logcdf(x[:3]),
])  # fmt: skip
def test_what_has_no_derivative_is_refused(f):
    with pytest.raises(ActiveError):
        codipy.grad(f)(AT)


@pytest.mark.parametrize("f", [
    lambda x: st.multivariate_normal.cdf(x[:3], POINT, FULL), lambda x: st.multivariate_normal(POINT, FULL).cdf(x[:3]),
    lambda x: st.multivariate_normal(x[:3], FULL).cdf(POINT), lambda x: st.multivariate_normal.logcdf(POINT, x[:3]),
])  # fmt: skip
def test_methods_without_a_derivative_say_which_have_one(f):
    with pytest.raises(ActiveError, match=r"cdf: of active values there are pdf, logpdf, entropy: say codipy.value"):
        codipy.grad(f)(AT)
