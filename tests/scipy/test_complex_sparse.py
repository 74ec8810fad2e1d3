# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices of complex numbers, active or not: SciPy's bits, both modes, second order, strategies, replays."""

import numpy as np
import pytest
import scipy.sparse as ss

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

I = np.array([0, 0, 1, 1, 2, 2, 3, 3, 0])  # noqa: E741
J = np.array([0, 1, 1, 2, 2, 3, 3, 0, 1])
RNG = np.random.default_rng(3)
POINT = np.concatenate([RNG.normal(size=9) + 4.0 * (np.arange(9) % 2 == 0) * (np.arange(9) < 8), RNG.normal(size=9)])
TANGENT = np.cos(np.arange(18.0))
DIRECTIONS = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 18))
X = RNG.normal(size=4)
W = X + 1j * RNG.normal(size=4)
C = RNG.normal(size=(4, 2)) + 1j * RNG.normal(size=(4, 2))
R = ss.csr_array(np.triu(RNG.normal(size=(4, 4))))
P = ss.csr_array(np.tril(RNG.normal(size=(4, 4))) * (1 + 2j))
NAMES = {"I": I, "J": J, "x": X, "w": W, "c": C, "r": R, "p": P, "eye": ss.eye_array(4)}

# Texts on a CSR matrix m with the values z (two at one place), n in CSC, o in triplets, and a real matrix a.
CASES = [part.strip() for part in """
    m.toarray() ; o.toarray() ; m.tolil().toarray() ; m.tobsr((2, 2)).toarray() ; m.todia().toarray() ; m @ x ;
    m.todok().toarray() ; m.todok().T @ w ; m.tolil()[0, 1] ; m.tolil() @ w ; filled(m.tolil(), z) ;
    filled(m.todok(), z) ; m @ w ;
    n @ w ; o @ w ; m.tobsr((2, 2)) @ w ; ss.diags_array([z[:4], z[4:7]], offsets=[0, 1]) @ w ; m @ c ; n @ c ; o @ c ;
    m.tobsr((2, 2)) @ c ; w @ m ; c.T @ n ; m.T @ w ; m.conj().T @ w ; (m + m.T).toarray() ; (m - p).toarray() ;
    (m + r).toarray() ; (m * (2 + 1j)).toarray() ; (m * z[0]).toarray() ; (m / z[1]).toarray() ; (m @ m).toarray() ;
    (m @ r).toarray() ; (p @ n).toarray() ; (m @ a).toarray() ; m.multiply(p).toarray() ; m.multiply(a).toarray() ;
    m.multiply(c[:, :1]).toarray() ; m.real.toarray() ; m.imag.toarray() ; abs(m).toarray() ; a @ w ; a @ z[:4] ;
    (1j * a).toarray() ; m.diagonal() ; m.trace() ; m.sum() ; m.sum(axis=0) ; m[1:3].toarray() ;
    n[:, [0, 2]].toarray() ;
    m[0, 1] ; ss.kron(m, r).toarray() ; ss.hstack([m, p]).toarray() ; ss.vstack([m, r]).toarray() ;
    ss.block_diag([m, n]).toarray() ; (eye * z[0] + m).toarray() ; m.power(2).toarray() ; r @ z[:4] ; p @ z[:4] ;
    p.conj().T @ z[:4] ; z[:4] @ p ; p @ z[:4].real ; np.asarray(ss.csr_matrix(m).todense()) ;
    np.asarray(ss.csr_matrix(m).sum(axis=0)) ; ss.csr_array((z[:4], np.arange(4), np.arange(5))) @ w ;
    sl.spsolve(m, w) ; sl.spsolve(n, w) ; sl.spsolve(n, x) ; sl.spsolve(m, z[:4]) ; sl.spsolve(n, c) ;
    sl.spsolve(a, w) ; sl.spsolve(a.tocsc(), z[:4]) ; sl.spsolve((p + 5 * eye).tocsc(), z[:4]) ;
    sl.spsolve((r + 5 * eye).tocsr(), z[:4]) ; sl.spsolve((p + 5 * eye).tocsc(), z[:4].real) ; sl.splu(n).solve(w) ;
    sl.splu(n).solve(w, 'T') ; sl.splu(n).solve(w, 'H') ; sl.splu(n).solve(z[:4]) ; sl.splu(n).solve(c, 'H') ;
    sl.splu((p + 5 * eye).tocsc()).solve(z[:4]) ; sl.splu((p + 5 * eye).tocsc()).solve(z[:4], 'H') ;
    sl.splu((p + 5 * eye).tocsc()).solve(z[:4], 'T') ; sl.factorized(n)(w) ; sl.norm(m) ;
    sl.expm_multiply(m * 0.2, w) ; sl.aslinearoperator(m) @ w ; sl.gmres(m, w, rtol=1e-13)[0] ;
    sl.bicgstab(n, z[:4], rtol=1e-13)[0] ; sl.cg(m @ m.conj().T, w, rtol=1e-14)[0] ;
    sl.gmres(p + 5 * eye, z[:4], rtol=1e-13)[0] ; sl.gmres(p + 5 * eye, z[:4].real, rtol=1e-13)[0]
""".replace("\n", " ").split(";")]


def program(text):
    """A sum of the result and of its squares with fixed weights, as a user writes it in a module."""
    source = f"""
import numpy as np, scipy.sparse as ss, scipy.sparse.linalg as sl
def filled(a, z):
    a[0, 3] = z[1] * z[2]
    a[[1, 2], [3, 0]] = z[3:5]
    return a.tocsr().toarray()
def f(q):
    z = q[:9] + 1j * q[9:]
    o = ss.coo_array((z, (I, J)), shape=(4, 4))
    m, n, a = o.tocsr(), o.tocsc(), ss.csr_array((z.real, (I, J)), shape=(4, 4))
    out = {text}
    weights = np.exp(1j * np.arange(1.0, 1.0 + np.size(out))).reshape(np.shape(out))
    return np.sum((out * weights).real) + np.sum((out * out * weights).imag)
"""
    names = dict(NAMES)
    exec(source, names)
    return names["f"]


@pytest.mark.parametrize("text", CASES)
def test_value_gradient_and_second_order(text):
    f = program(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    step, scale = 1e-4, np.abs(gradient).max()
    for direction in DIRECTIONS:
        e = step * direction
        slope = (8 * (f(POINT + e) - f(POINT - e)) - (f(POINT + 2 * e) - f(POINT - 2 * e))) / (12 * step)
        assert gradient @ direction == pytest.approx(slope, rel=1e-6, abs=1e-7 * max(1.0, scale))
    assert codipy.jvp(f, (POINT,), (TANGENT,))[1] == pytest.approx(gradient @ TANGENT, rel=1e-7, abs=1e-8 * scale)
    product = codipy.hvp(f, (POINT,), (TANGENT,))[0]
    ahead, behind = (codipy.grad(f)(POINT + move * TANGENT) for move in (1e-5, -1e-5))
    np.testing.assert_allclose(product, (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-5 * max(1.0, scale))


@each_strategy
def test_every_strategy(strategy):
    for text in CASES[::6]:
        expected = codipy.grad(program(text))(POINT)
        found = codipy.grad(program(text), strategy=strategy)(POINT)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max(), err_msg=text)


@pytest.mark.parametrize("text", [
    "m @ w", "(m @ m).toarray()", "(m + p).toarray()", "sl.spsolve(m, z[:4])", "sl.splu(n).solve(w, 'H')", "p @ z[:4]",
])  # fmt: skip
def test_a_replay_has_the_values_of_other_inputs(text):
    f = program(text)
    tape = codipy.Tape("primal")
    with tape:
        q = tape.register_input(POINT.copy())
        y = tape.register_output(codipy.rebind(f)(q))
    tape.set_primal(q, POINT * 1.1)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(POINT * 1.1)
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(q.gradient, codipy.grad(f)(POINT * 1.1), rtol=1e-12, atol=1e-13)


def test_of_single_precision():
    def f(z):
        return np.sum(np.abs(ss.coo_array((z, (I, J)), shape=(4, 4)).tocsr() @ W.astype(np.complex64)) ** 2)

    z = (POINT[:9] + 1j * POINT[9:]).astype(np.complex64)
    value, gradient = codipy.value_and_grad(f)(z)
    assert value == f(z) and gradient.dtype == np.complex64
    np.testing.assert_allclose(gradient, codipy.grad(f)(z.astype(complex)), rtol=1e-4)


@pytest.mark.parametrize(("text", "match"), [
    ("sl.eigsh(m + m.conj().T, k=2)[0]", r"np\.linalg\.eigh\(A\.toarray\(\)\)"),
    ("sl.svds(m, k=2)[1]", r"np\.linalg\.svd\(A\.toarray\(\)"),
    ("sl.lsqr(m, w)[0]", r"np\.linalg\.lstsq\(A\.toarray\(\), b\)"),
    ("sl.lsqr(p, z[:4].real)[0]", r"np\.linalg\.lstsq\(A\.toarray\(\), b\)"),
    ("sl.spsolve_triangular(ss.tril(m).tocsr(), w)", r"spsolve\(A, b\)"),
    ("(lambda k: k.__setitem__((0, 1), z[0]) or k)(a.tolil()).toarray()", "Complex"),
    ("(m - 0 * m + (m - m)).toarray()", "leaves out an entry that is exactly 0"),
])  # fmt: skip
def test_what_is_refused(text, match):
    with pytest.raises(ActiveError, match=match):
        codipy.grad(program(text))(POINT)


def test_an_active_zero_is_not_left_out():
    def of_keys(q):
        d = ss.dok_array((2, 2), dtype=complex)
        d[0, 0] = (q[0] - POINT[0]) * 1j
        return abs(d.tocsr().sum() + q[0])

    def of_dense(q):
        return abs(ss.csr_array(np.array([[1j * (q[0] - POINT[0]), 1.0]])).sum())

    for f in (of_keys, of_dense):
        with pytest.raises(ActiveError, match="exactly 0|plain numbers only"):
            codipy.grad(f)(POINT)
