# SPDX-License-Identifier: Apache-2.0
"""scipy.linalg in rebound code: SciPy's bits, derivatives against differences of the same source, second order."""

import inspect

import numpy as np
import pytest
import scipy.linalg
from scipy.linalg import cho_factor, cho_solve, solve_triangular

import codipy
from codipy.errors import ActiveError
from codipy.scipy import algebra
from tests.covering import in_turn
from tests.strategies import BUT_AUTO, each_strategy

RNG = np.random.default_rng(0)
A, W = RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4))
B, TALL = RNG.standard_normal((4, 2)), RNG.standard_normal((5, 3))
b = RNG.standard_normal(4)
S, G = A @ A.T + 4 * np.eye(4), A + 4 * np.eye(4)
BANDS = RNG.standard_normal((4, 6)) + np.array([0, 0, 5, 0])[:, None]
HALF = RNG.uniform(0, 1, (3, 6))
LOW, HIGH = HALF + np.array([5, 0, 0])[:, None], HALF + np.array([0, 0, 5])[:, None]
LONG, TWO = RNG.standard_normal(6), RNG.standard_normal((6, 2))
PAIR = np.stack([A, W])
HOLLOW = W + W.T - 2.0 * np.diag(np.diag(W))      # of which `ldl` takes blocks of two


def signed(vectors):
    """Eigenvectors with a sign of our own: LAPACK's may change between two points."""
    return vectors * np.sign(vectors[0])


# Texts, so that each is compiled into a function of its own and rebuilt as a user's is.
CASES = {
    "solve(a, b)": (G, b),
    "solve(a, b, transposed=True)": (G, B),
    "solve(a, b, assume_a='pos')": (S, B),
    "solve(a, b, assume_a='pos', lower=True)": (S, b),
    "solve(a, b, assume_a='sym')": (S, B),
    "solve(a, b, assume_a='diagonal')": (G, B),
    "solve(a, b, assume_a='tridiagonal')": (G, B),
    "solve(a, b, assume_a='upper triangular')": (G, B),
    "solve(a, b, assume_a='lower triangular', transposed=True)": (G, B),
    "inv(a)": (G,),
    "inv(a) @ b": (G, b),
    "solve_triangular(a, b)": (G, b),
    "solve_triangular(a, b, lower=True)": (G, B),
    "solve_triangular(a, b, trans='T', unit_diagonal=True)": (G, B),
    "cholesky(a)": (S,),
    "cholesky(a, lower=True)": (S,),
    "cho_factor(a)[0]": (S,),
    "cho_factor(a, lower=True)[0]": (S,),
    "cho_solve(cho_factor(a), b)": (S, b),
    "cho_solve(cho_factor(a, True), b)": (S, B),
    "lu_factor(a)[0]": (A,),
    "np.concatenate(lu(a, permute_l=True))": (A,),
    "np.concatenate(lu(a)[1:])": (A,),
    "lu_solve(lu_factor(a), b)": (A, b),
    "lu_solve(lu_factor(a), b, trans=1)": (A, B),
    "det(a)": (G,),
    "det(a) * b": (PAIR, b[:2]),
    "norm(a)": (G,),
    "norm(a, 1)": (G,),
    "norm(a, 2)": (G,),
    "norm(a, axis=1)": (G,),
    "norm(a, axis=0)": (G,),
    "norm(a, 2, axis=0, keepdims=True)": (G,),
    "norm(a, 0)": (b,),
    "pinv(a)": (TALL,),
    "eigvalsh(a, b, driver='gvd')": (G, S),
    "svdvals(a)": (G,),
    "signed(svd(a, full_matrices=False)[0])": (TALL,),
    "svd(a, compute_uv=False)": (TALL,),
    "lstsq(a, b)[0]": (TALL, LONG[:5]),
    "lstsq(a, b)[1]": (TALL, LONG[:5]),
    "lstsq(a, b, lapack_driver='gelss')[0]": (TALL, TWO[:5]),
    "np.concatenate(qr(a, mode='economic'))": (TALL,),
    "qr(a)[1]": (TALL.T,),
    "qr(a, mode='r')[0]": (TALL,),
    "qr(a, mode='economic', pivoting=True)[1]": (TALL,),
    "signed(eigh(a)[1])": (S,),
    "eigh(a, lower=False)[0]": (S,),
    "eigh(a, eigvals_only=True)": (S,),
    "signed(eigh(a, b)[1])": (W + W.T, S),
    "eigh(a, b)[0]": (W + W.T, S),
    "eigvalsh(a, b, lower=False)": (W + W.T, S),
    "eigvalsh(a)": (S,),
    "eigvals(a).imag": (W,),
    "np.abs(eig(a)[1])": (W,),
    "eig(a)[0].real * np.abs(eig(a)[1][0])": (S,),
    "solve_banded((1, 2), a, b)": (BANDS, LONG),
    "solve_banded((2, 0), a, b)": (LOW, TWO),
    "solve_banded((0, 0), a, b)": (LOW[:1], TWO),
    "solveh_banded(a, b)": (HIGH, LONG),
    "solveh_banded(a, b, lower=True)": (LOW, TWO),
    "solve_toeplitz((a, b), c)": (np.array([5.0, 1, 0.5]), np.array([7.0, 0.3, 0.2]), LONG[:3]),
    "solve_toeplitz(a, b)": (np.array([5.0, 1, 0.5]), TALL.T[:, :2]),
    "solve_sylvester(a, b, c)": (G, S, W),
    "solve_continuous_lyapunov(a, b)": (G, W),
    "solve_lyapunov(a, b)": (G, W),
    "solve_discrete_lyapunov(a, b)": (A * 0.2, W),
    "solve_discrete_lyapunov(a, b, method='bilinear')": (A * 0.2, W),
    "solve_continuous_are(a, b, c @ c.T + np.eye(4), np.eye(2) * 2 + d @ d.T)": (A, B, W, W[:2, :2]),
    "solve_discrete_are(a, b, c @ c.T + np.eye(4), np.eye(2) * 2 + d @ d.T)": (A, B, W, W[:2, :2]),
    "expm(a)": (A,),
    "expm(a) @ b": (PAIR, B),
    "np.concatenate(expm_frechet(a, b))": (A * 0.5, W),
    "expm_frechet(a, b, compute_expm=False)": (A * 0.5, W),
    "logm(a)": (S,),
    "sqrtm(a)": (S,),
    "fractional_matrix_power(a, 0.3)": (S,),
    "ldl(a)[0]": (A + A.T,),
    "ldl(a)[1]": (A + A.T,),
    "ldl(a, lower=False)[0]": (HOLLOW,),
    "ldl(a, hermitian=False)[1]": (HOLLOW,),
    "np.concatenate(schur(a))": (np.triu(W) + S,),
    "sqrtm(a).imag": (np.diag(b) + 0.01 * W,),
    "logm(a).real": (np.diag(b) + 0.01 * W,),
    "fractional_matrix_power(a, -0.7).imag": (np.diag(b) + 0.01 * W,),
    "sinm(a)": (A,),
    "cosm(a)": (A,),
    "tanm(a)": (A * 0.3,),
    "sinhm(a)": (A,),
    "coshm(a)": (A,),
    "tanhm(a)": (A * 0.3,),
    "toeplitz(a, b)": (b, b[:3]),
    "toeplitz(a)": (b,),
    "hankel(a, b)": (b, b[:3]),
    "hankel(a)": (b,),
    "circulant(a)": (b,),
    "block_diag(a, b, 3.0, [1.0, 2.0])": (A, B),
    "khatri_rao(a, b)": (A, W),
    "companion(a)": (b,),
}
try:
    scipy.linalg.solve(G, PAIR)
except ValueError:
    pass  # before SciPy 1.16
else:
    CASES |= {"solve(a, np.stack([a * b, a]))": (G, b), "cho_solve(cho_factor(a), np.stack([a * b, a]))": (S, b)}
INV_ASSUMES = "assume_a" in inspect.signature(scipy.linalg.inv).parameters  # from SciPy 1.17 on
NAMES = "abcd"


def program(text):
    """``f(a, b, ...)``: a sum of the result with fixed weights, as a user writes it in a module."""
    given = ", ".join(NAMES[:len(CASES[text])])
    source = f"""
import numpy as np
from scipy.linalg import *
def f({given}):
    out = {text}
    return np.sum(out * weights)
"""
    names = {"signed": signed}
    exec(source, names)
    given = [x.copy() for x in CASES[text]]
    out = eval(text, {**names, "np": np}, dict(zip(NAMES, given)))
    names["weights"] = np.random.default_rng(3).standard_normal(np.shape(out))
    return names["f"]


def differences(f, args, k, step=1e-5):
    """Of fourth order, by each element of one argument."""
    found = np.zeros_like(args[k])
    for place in np.ndindex(found.shape):
        values = []
        for move in (1, -1, 2, -2):
            moved = [x.copy() for x in args]
            moved[k][place] += move * step
            values.append(f(*moved))
        found[place] = (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * step)
    return found


@pytest.mark.parametrize("text", CASES)
def test_value_and_gradient(text):
    f, args = program(text), CASES[text]
    every = tuple(range(len(args)))
    value, gradient = codipy.value_and_grad(f, argnums=every)(*args)
    assert value == f(*args)
    for k in every:
        expected = differences(f, args, k)
        np.testing.assert_allclose(gradient[k], expected, rtol=1e-6, atol=1e-7 * (1.0 + np.max(np.abs(expected))))


@pytest.mark.parametrize(("strategy", "text"), in_turn(BUT_AUTO, CASES))
def test_forward_and_every_strategy(strategy, text):
    codipy.check_derivatives(program(text), *CASES[text], strategies=["auto", strategy, "forward"])


@pytest.mark.parametrize("text", CASES)
def test_second_order(text):
    """The derivative of a derivative in one direction against differences of gradients."""
    f, args = program(text), CASES[text]
    every = tuple(range(len(args)))
    along = [np.random.default_rng(5).standard_normal(x.shape) for x in args]
    gradient = codipy.grad(f, argnums=every)

    def slope(*x):
        return sum(np.sum(bar * t) for bar, t in zip(codipy.grad(f, argnums=every)(*x), along))

    found = codipy.grad(slope, argnums=every)(*args)
    step, moved = 1e-4, []
    for move in (1, -1, 2, -2):
        moved.append(gradient(*(x + move * step * t for x, t in zip(args, along))))
    for k in every:
        one, other, two, far = (bars[k] for bars in moved)
        expected = (8 * (one - other) - (two - far)) / (12 * step)
        np.testing.assert_allclose(found[k], expected, rtol=1e-5, atol=1e-6 * (1.0 + np.max(np.abs(expected))))


def test_every_function_is_in_one_set():
    """Nobody meets a function of SciPy's that neither works nor says what to write instead."""
    functions = {name for name in scipy.linalg.__all__ if inspect.isfunction(getattr(scipy.linalg, name))}
    known = {name for name in algebra.FUNCTIONS if hasattr(scipy.linalg, name)}
    assert functions <= known | algebra.PASSIVE and not known & algebra.PASSIVE
    differentiable = known - set(algebra.REFUSED)
    called = {name for text in CASES for name in known if f"{name}(" in text}
    assert differentiable == called, "a case for each that is differentiable"


def test_arguments_by_position_are_those_of_this_scipy():
    """SciPy 1.18 has put an argument of `eigvals` between others."""
    given = {"overwrite_b": True, "check_finite": True}
    last = [given.get(name, False) for name in list(inspect.signature(scipy.linalg.eigvals).parameters)[2:]]

    def f(a, *last):
        return np.sum(np.abs(scipy.linalg.eigvals(a, None, *last)) ** 3)

    np.testing.assert_array_equal(codipy.grad(f)(A, *last), codipy.grad(f)(A))
    with pytest.raises(ActiveError, match="homogeneous_eigvals="):
        codipy.grad(f)(A, *last[:-1], True)
    written = {name: inspect.getclosurevars(algebra.FUNCTIONS[name]).nonlocals.get("function")
               for name in algebra.FUNCTIONS.keys() & vars(scipy.linalg).keys() - algebra.REFUSED.keys()}
    assert {"eig", "eigh", "eigvals", "solve", "qr"} <= {name for name, own in written.items() if own}
    for name, own in written.items():
        parameters = inspect.signature(own).parameters.values() if own else ()
        named = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
        assert named == list(inspect.signature(getattr(scipy.linalg, name)).parameters)[:len(named)], name


@pytest.mark.parametrize("name", sorted(set(algebra.REFUSED) & set(vars(scipy.linalg))))
def test_what_is_refused_says_so(name):
    function = algebra.FUNCTIONS[name]
    with pytest.raises(ActiveError, match=rf"scipy\.linalg\.{name}: codipy has no derivative for it: "):
        codipy.grad(lambda a: function(a))(S)


def gaussian_process(parameters):
    """Minus the logarithm of the likelihood of some data."""
    scale, length, noise = np.exp(parameters)
    x = np.linspace(0.0, 1.0, 12)
    kernel = scale * np.exp(-0.5 * (x[:, None] - x) ** 2 / length**2) + noise * np.eye(12)
    factor = cho_factor(kernel, lower=True)
    y = np.sin(5.0 * x)
    return 0.5 * y @ cho_solve(factor, y) + np.sum(np.log(np.diag(factor[0])))


@each_strategy
def test_a_gaussian_process(strategy):
    point = np.array([0.1, -1.0, -2.0])
    expected = differences(gaussian_process, [point], 0)
    found = codipy.grad(gaussian_process, strategy=strategy)(point)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_passive_calls_are_scipys_own():
    def f(x):
        weights = solve_triangular(np.tril(S), b, lower=True)
        assert type(scipy.linalg.solve(S, b)) is type(np.linalg.solve(S, b))
        return np.sum(weights * x)

    np.testing.assert_array_equal(codipy.grad(f)(np.ones(4)), scipy.linalg.solve_triangular(np.tril(S), b, lower=True))


@each_strategy
@pytest.mark.parametrize("text", [
    "scipy.linalg.solve(S, b, False, True, True)",
    "scipy.linalg.inv(S.T, overwrite_a=True)",
    "scipy.linalg.cho_solve(scipy.linalg.cho_factor(S.T, overwrite_a=True), b, overwrite_b=True)",
    "scipy.linalg.solve_triangular(S, b, overwrite_b=True)",
    "scipy.linalg.qr(S.T, overwrite_a=True)",
    "scipy.linalg.schur(S.T, overwrite_a=True)",
])  # fmt: skip
def test_what_a_tape_keeps_is_not_overwritten(text, strategy):
    def f(x):
        matrix, right = np.zeros((4, 4)), np.zeros(4)
        matrix[:], right[:] = S, b
        y = matrix @ x
        z = right * x * x
        eval(text, {"scipy": codipy.scipy, "S": matrix, "b": right})
        return np.sum(y * y) + np.sum(z)

    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(b), 2.0 * S.T @ (S @ b) + 2.0 * b * b, rtol=1e-12)


@pytest.mark.parametrize(("text", "match"), [
    ("scipy.linalg.solve(np.stack([a, a]), np.stack([a, a]))", "loop over the stack"),
    ("scipy.linalg.lstsq(S, np.stack([a, a]))[0]", "loop over the stack"),
    ("scipy.linalg.solve_toeplitz(b, np.stack([a, a]))", "loop over the stack"),
    *([("scipy.linalg.inv(a, assume_a='diagonal')", "beside the diagonal")] if INV_ASSUMES else []),
    ("scipy.linalg.eigh(a, subset_by_index=[0, 1])[0]", "take those that are wanted"),
    ("scipy.linalg.lu_factor(a[:2])[0]", "not square"),
    ("scipy.linalg.pinv(a, return_rank=True)[0]", "leave return_rank out"),
    ("scipy.linalg.qr(a, mode='raw')[1]", "mode='economic'"),
    ("scipy.linalg.lstsq(a, b, lapack_driver='gelsy')[0]", "gelsy"),
    ("scipy.linalg.fractional_matrix_power(S, a[0, 0])", "not its options"),
])  # fmt: skip
def test_what_has_no_derivative_is_refused(text, match):
    def f(a):
        return np.sum(eval(text, {"scipy": codipy.scipy, "np": codipy.numpy, "a": a, "b": b, "S": S}))

    with pytest.raises(ActiveError, match=match):
        codipy.grad(f)(S)


def test_the_last_columns_of_a_full_basis_have_no_derivative():
    with pytest.raises(np.linalg.LinAlgError, match="mode='economic'"):
        codipy.grad(lambda a: np.sum(scipy.linalg.qr(a)[0] * np.arange(25.0).reshape(5, 5)))(TALL)


@pytest.mark.parametrize("size", [63, 64, 65, 150])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("name", ["cholesky", "cho_factor"])
def test_factors_of_cholesky_of_several_blocks_go_back_as_they_go_forward(name, lower, size):
    rng = np.random.default_rng(size)
    a = rng.standard_normal((size, size))
    a = a @ a.T / size + np.eye(size)
    t, g = rng.standard_normal((2, size, size))

    def factor(a):
        return (scipy.linalg.cholesky if name == "cholesky" else cho_factor)(a, lower=lower)

    f = factor if name == "cholesky" else lambda a: factor(a)[0]
    value, tangent = codipy.jvp(f, (a,), (t,))
    np.testing.assert_array_equal(value, f(a))
    _, pull = codipy.vjp(f, a)
    cotangent = pull(g)
    cotangent = cotangent[0] if isinstance(cotangent, tuple) else cotangent
    assert abs(np.sum(g * tangent) - np.sum(cotangent * t)) <= 1e-11 * np.linalg.norm(g) * np.linalg.norm(tangent)
    unread = np.tril(a, -1) if not lower else np.triu(a, 1)
    is_kept = np.array_equal(value[unread != 0.0], a[unread != 0.0])  # by cho_factor up to SciPy 1.17
    expected = g if is_kept else np.zeros_like(g)
    assert is_kept or name == "cholesky" or not np.any(value[unread != 0.0])
    np.testing.assert_array_equal(cotangent[unread != 0.0], expected[unread != 0.0])
