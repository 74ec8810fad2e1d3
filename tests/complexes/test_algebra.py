# SPDX-License-Identifier: Apache-2.0
"""scipy.linalg of complex matrices in rebound code: SciPy's bits, derivatives of both modes, second order."""

import inspect
import re
import warnings

import numpy as np
import pytest
import scipy.linalg

import codipy
from codipy.errors import ActiveError
from codipy.scipy import algebra
from tests.complexes.programs import POINT, TURN, turned
from tests.scipy.recorded import demand_same_gradient, demand_same_when_loaded
from tests.strategies import each_strategy

HOLLOW = 1.0 - np.eye(3)      # of which a block of two is chosen
TANGENT = np.cos(np.arange(POINT.size))
DIRECTIONS = np.random.default_rng(5).uniform(-1.0, 1.0, (2, POINT.size))


def _listed(text):
    return [part.strip() for part in text.split(";") if part.strip()]


# Texts on complex matrices m and n, Hermitian ones h and g, vectors z and w;
# a vector x and matrices a, s, e that are real: s is symmetric, e has complex eigenvalues.
CASES = _listed("""
    eigvals(m) ; eig(m)[0] ; abs(eig(m)[1]) ; eigvals(e) ; eig(e)[0] ; turned(eig(e)[1]) ; eig(s)[0] ; abs(eig(s)[1]) ;
    eig(e, right=False) ; eigvals(s) ; eigh(h)[0] ; abs(eigh(h)[1]) ; turned(eigh(h)[1]) ; eigvalsh(h) ;
    eigh(h, lower=False, eigvals_only=True) ; eigh(h, g)[0] ; turned(eigh(h, g)[1]) ; eigvalsh(h, g) ; svd(m)[1] ;
    abs(svd(m)[0]) ; (lambda u, s, v: u @ v)(*svd(m)) ; svdvals(m) ; svd(m, compute_uv=False) ; qr(m)[0] ; qr(m)[1] ;
    qr(m, mode='r')[0] ; qr(m[:, :2], mode='economic')[0] ; qr(m, pivoting=True)[1] ; qr(m[:2])[1] ; cholesky(h) ;
    cholesky(h, lower=True) ; det(m) ; det(np.stack([m, n])) ; inv(m) ; inv(h, assume_a='her') ;
    inv(h, assume_a='pos') ; pinv(m) ; pinv(m[:2]) ; norm(m) ; norm(m, 1) ; norm(m, 2) ; norm(z) ; norm(m, axis=1) ;
    norm(m, 'nuc') ; norm(z, 1) ; lstsq(m[:, :2], z)[0] ; lstsq(m[:, :2], n)[0] ; lstsq(m[:, :2], z)[1] ;
    lstsq(m[:2], z[:2])[0] ; lstsq(m[:, :2], x)[0] ; lstsq(m[:, :2], z)[3] ; solve(m, z) ; solve(m, n) ; solve(m, x) ;
    solve(a, z) ; solve(h, z, assume_a='her') ; solve(h, z, assume_a='pos') ; solve(h, n, assume_a='her', lower=True) ;
    solve(m, z, assume_a='diagonal') ; solve(m, z, assume_a='tridiagonal') ; solve(m, z, assume_a='upper triangular') ;
    solve(m, z, assume_a='lower triangular') ; solve(m, z, assume_a='gen') ; solve_triangular(m, z) ;
    solve_triangular(m, n, lower=True) ; solve_triangular(m, z, trans=1) ; solve_triangular(a, z) ;
    solve_triangular(m, z, trans='T', unit_diagonal=True) ; expm(m) ; expm(np.stack([m, n * 0.1])) ; expm(1j * a) ;
    expm_frechet(m, n)[1] ; sqrtm(h) ; (lambda r: r + sqrtm(r))(sqrtm(h)) ; solve_sylvester(m, n, h) ;
    solve_banded((1, 1), m, z) ; lu_factor(m)[0] ;
    lu_solve(lu_factor(m), z) ; lu_solve(lu_factor(m), z, trans=1) ; lu_solve(lu_factor(a), z) ; lu(m)[2] ;
    lu(m, permute_l=True)[0] ; solve_toeplitz(z + 3.0, w) ; solve_toeplitz((z + 3.0, w), w) ; toeplitz(z) ;
    solve_triangular(m, z, trans='C') ; solve_triangular(m, n, lower=True, trans=2, unit_diagonal=True) ;
    solve_triangular(a, z, trans=2) ; solve_triangular(m, x, trans=2) ; lu_solve(lu_factor(m), z, trans=2) ;
    lu_solve(lu_factor(m), n, trans=2) ; lu_solve(lu_factor(a), z, trans=2) ; lu_solve(lu_factor(m), x, trans=2) ;
    solve(m, z, assume_a='sym') ; solve(m, n, assume_a='symmetric', lower=True) ; inv(m, assume_a='sym') ;
    cho_factor(h)[0] ; cho_factor(h, lower=True)[0] ; cho_solve(cho_factor(h), z) ; cho_solve(cho_factor(h), x) ;
    cho_solve(cho_factor(h, lower=True), n) ; cho_solve(cho_factor(a @ a.T), z) ; cho_solve((m, True), z) ;
    cho_solve((m, False), n) ; solveh_banded(np.stack([z, x + 3.0]), w) ;
    solveh_banded(m + 4.0 * np.eye(3)[:1].T, n, lower=True) ; solveh_banded(m + 4.0 * np.eye(3)[2:].T, z) ;
    solveh_banded(np.stack([x + 3.0, z]), w, lower=True) ; ldl(h)[0] ; ldl(h - 2.0 * np.eye(3))[1] ;
    ldl(h, lower=False)[0] ; ldl(m, hermitian=False)[0] ; ldl(m + HOLLOW, hermitian=False, lower=False)[1] ;
    ldl(h * HOLLOW)[0] ; ldl(h * HOLLOW, lower=False)[1] ; abs(schur(m)[0]) ; abs(schur(m)[1]) ;
    np.diag(schur(e, output='complex')[0]) ; turned(schur(m)[1]) ; solve_continuous_lyapunov(m, n) ;
    solve_continuous_lyapunov(a, n) ; solve_continuous_lyapunov(m, a) ; solve_discrete_lyapunov(m * 0.3, n) ;
    solve_discrete_lyapunov(m * 0.3, n, method='bilinear') ; solve_continuous_are(m, n, h, g) ;
    solve_continuous_are(m, a, h, np.eye(3)) ; solve_discrete_are(m, n, h, g) ; logm(m) ; logm(s - 4.0 * np.eye(3)) ;
    sqrtm(m) ; sqrtm(s - 4.0 * np.eye(3)) ; fractional_matrix_power(m, 0.3) ;
    fractional_matrix_power(s - 4.0 * np.eye(3), 1.7) ; sinm(m) ; cosm(m) ; tanm(m * 0.3) ; sinhm(m) ; coshm(m) ;
    tanhm(m * 0.3) ; toeplitz(z, w) ; toeplitz(x, z) ; hankel(z, w) ; circulant(z) ; block_diag(m, n) ;
    khatri_rao(m, n) ; companion(z) ;
""")

REFUSED = {
    "eig(m, n)[0]": "leave b out",
    "eig(m, left=True)[0]": "leave left out",
    "eigvals(m, homogeneous_eigvals=True)": "leave homogeneous_eigvals out",
    "eig(np.stack([m, n]))[0]": "loop over the stack",
    "schur(np.stack([m, n]))[0]": "loop over the stack",
    "schur(m, sort='lhp')[0]": "leave sort out",
    "schur(e)[0]": "take output='complex'",
    "ldl(np.stack([h, g]))[0]": "loop over the stack",
}
if "assume_a" not in inspect.signature(scipy.linalg.inv).parameters:  # before SciPy 1.17
    CASES = [text for text in CASES if not re.match(r"inv\([hm], assume_a", text)]


pytestmark = pytest.mark.filterwarnings("ignore:scipy.linalg.ldl")


def program(text):
    """``f(p)``: a sum of the result and of its squares with fixed weights, as a user writes it in a module."""
    source = f"""
import numpy as np
from scipy.linalg import *
def f(p):
    m = p[:9].reshape(3, 3) + 1j * p[9:18].reshape(3, 3) + np.eye(3)
    n = m.T @ m * 0.5 + 1.0
    h, g = m @ m.conj().T + np.eye(3), n @ n.conj().T + np.eye(3)
    z, w = p[18:21] + 1j * p[21:24], p[24:27] + 1j * p[27:30]
    x, a = abs(p[:3]) + 0.1, p[:9].reshape(3, 3) + np.eye(3)
    s, e = a + a.T, p[:9].reshape(3, 3) + TURN
    out = {text}
    weights = np.reshape(np.exp(1j * (1.0 + np.arange(np.size(out)))), np.shape(out))
    return np.sum((out * weights).real) + np.sum((out * out * weights).imag)
"""
    names = {"turned": turned, "TURN": TURN, "HOLLOW": HOLLOW}
    exec(source, names)
    return names["f"]


@pytest.mark.parametrize("text", CASES)
def test_value_and_gradient(text):
    f = program(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    near = 3e-6 * max(1.0, np.abs(gradient).max())
    for direction in DIRECTIONS:
        slope = (f(POINT + 1e-6 * direction) - f(POINT - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=2e-6, abs=near)
    pushed = codipy.jvp(f, (POINT,), (TANGENT,))[1]
    assert pushed == pytest.approx(gradient @ TANGENT, rel=1e-9, abs=1e-9 * np.abs(gradient).max())


@pytest.mark.parametrize("text", CASES)
def test_second_order(text):
    f = program(text)
    found = codipy.grad(lambda p: codipy.grad(f)(p) @ TANGENT)(POINT)
    ahead, behind = (codipy.grad(f)(POINT + step * TANGENT) for step in (1e-5, -1e-5))
    expected = (ahead - behind) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(expected).max()))


@each_strategy
def test_every_strategy(strategy):
    for text in CASES[::7]:
        demand_same_gradient(program(text), POINT, strategy, 1e-11, text)


@pytest.mark.parametrize("text", CASES[::3])
def test_a_tape_is_saved_and_loaded(text, tmp_path):
    demand_same_when_loaded(program(text), POINT, tmp_path / "a.tape")


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises(ActiveError, match=REFUSED[text]):
        codipy.grad(program(text))(POINT)


@pytest.mark.parametrize("text", ["eig(m)[1]", "eig(e)[1]", "eigh(h)[1]", "svd(m)[0]", "eigh(h, g)[1]",
                                  "schur(m)[1]", "schur(m)[0]"])  # fmt: skip
def test_a_loss_that_depends_on_a_phase_raises(text):
    with pytest.raises(np.linalg.LinAlgError, match="right with any phase"):
        codipy.grad(program(text))(POINT)


@pytest.mark.parametrize("text", ["logm(?)", "sqrtm(?)", "fractional_matrix_power(?, 0.5)"])
@pytest.mark.parametrize("matrix", ["np.outer(z, z) + np.outer(w, w)", "np.outer(x, x)"])
def test_of_a_singular_matrix_there_is_none(text, matrix):
    f = program(text.replace("?", matrix))
    for driver in (codipy.grad(f), lambda p: codipy.jvp(f, (p,), (TANGENT,))):
        with warnings.catch_warnings(), pytest.raises(np.linalg.LinAlgError, match="singular"):
            warnings.simplefilter("ignore")
            driver(POINT)


def test_on_the_branch_cut_there_is_none():
    """But for rounding, which puts one of two equal eigenvalues on the other side."""
    def f(p):
        return np.sum(np.abs(codipy.scipy.linalg.logm(p[0] * (TURN - TURN.T) @ (TURN - TURN.T) - 1e-3j * p[1] * TURN)))

    with pytest.raises((ActiveError, np.linalg.LinAlgError)):
        codipy.grad(f)(np.array([1.0, 0.0]))


def test_a_replay_with_a_complex_result_raises():
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(np.diag([1.0, 2.0, 3.0]))
        y = tape.register_output(np.sum(codipy.scipy.linalg.sqrtm(x)))
    tape.set_primal(x, np.diag([1.0, 2.0, 4.0]))
    tape.evaluate_primal()
    assert tape.get_primal(y) == np.sum(scipy.linalg.sqrtm(np.diag([1.0, 2.0, 4.0])))
    tape.set_primal(x, np.diag([1.0, -2.0, 4.0]))
    with pytest.raises(ActiveError, match="complex now: record again"):
        tape.evaluate_primal()


def test_eigenvectors_of_a_real_matrix_are_of_scipys_kind():
    for a in (TURN, TURN + TURN.T):
        with codipy.Tape() as tape:
            w, v = codipy.scipy.linalg.eig(tape.register_input(a.copy()))
        expected = scipy.linalg.eig(a)
        assert np.array_equal(codipy.value(w), expected[0]) and np.array_equal(codipy.value(v), expected[1])
        assert type(w) is codipy.ComplexArray and codipy.value(v).dtype == expected[1].dtype


def test_the_page_names_what_takes_complex_matrices():
    called = {name for text in CASES for name in algebra.FUNCTIONS if re.search(rf"\b{name}\(", text)}
    assert called == algebra.COMPLEX


def test_what_is_passive_is_scipys_own():
    with codipy.Tape():
        a = codipy.ComplexArray(TURN + 1j)
        assert np.array_equal(codipy.scipy.linalg.expm(a), scipy.linalg.expm(TURN + 1j))
        assert np.array_equal(codipy.scipy.linalg.svd(a, overwrite_a=True)[1], scipy.linalg.svd(TURN + 1j)[1])
        assert np.array_equal(codipy.value(a), TURN + 1j)
