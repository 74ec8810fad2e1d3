# SPDX-License-Identifier: Apache-2.0
"""Rules of cholesky, qr and svd; the other singular value functions, pinv and norms, have their own."""

from functools import cache

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.rules import eigen
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import (
    CANCELLED,
    conj,
    cT,
    diagonal_matrix,
    folded,
    halved,
    mirrored,
    off_diagonal,
    quotient,
    real,
    refuse,
    relative,
    single,
    tolerance,
)
from codipy.numpy.rules.patterns import matrices
from codipy.numpy.rules.phases import demand_no_phase, vectors

__all__ = ["PRIMITIVES"]

FEW = 16  # rows: below, an inverse and two products take less than two solves


# ---- cholesky: the derivative of what NumPy computes, which reads one triangle only ----------------------------------
def _cholesky(t, out, a, /, *, upper=False):
    factor = cT(out) if upper else out
    middle = np.linalg.solve(factor, cT(np.linalg.solve(factor, mirrored(t, not upper))))
    slope = factor @ halved(middle)
    return cT(slope) if upper else slope


@cache
def _halving(n):
    """What `halved` of n rows multiplies by."""
    weights = np.tril(np.ones((n, n))) - np.eye(n) / 2
    weights.flags.writeable = False
    return weights


def _cholesky_reverse(g, out, a, /, *, upper=False):
    if not upper and np.ndim(out) == 2 and len(out) <= FEW and is_plain(g, out) and out.dtype.kind == "f":
        inverse, weights = np.linalg.inv(out), _halving(len(out))
        middle = (out.T @ g) * weights
        return (inverse.T @ (middle + middle.T) @ inverse) * weights
    factor, g = (cT(out), cT(g)) if upper else (out, g)
    middle = halved(cT(factor) @ g)
    middle = middle + cT(middle)
    left = np.linalg.solve(cT(factor), middle)
    return folded(cT(np.linalg.solve(cT(factor), cT(left))) / 2, not upper)


# ---- qr: a = [x, y], x as wide as q; x = q u, y = q v; LAPACK makes the diagonal of u real ---------------------------
ANY_COLUMNS = "qr(mode='complete') of a tall matrix: the last columns of Q are any basis; use mode='reduced'"


def _qr_parts(out, a, mode):
    """Q, R and whether Q has columns that the matrix does not determine."""
    if mode not in ("reduced", "complete", "r"):
        raise ActiveError(f"qr(mode={mode!r}) has no derivative rule; use mode='reduced'")
    q, r = np.linalg.qr(a) if mode == "r" else out
    k = min(np.shape(a)[-2:])
    pivots = np.abs(np.linalg.diagonal(r[..., :k, :k]))
    if np.any(np.min(pivots, axis=-1, initial=np.inf)[..., None, None] <= tolerance(pivots, max(np.shape(a)[-2:]))):
        raise np.linalg.LinAlgError("qr: the first columns are linearly dependent: no derivative exists")
    return q[..., :k], r[..., :k, :], k


def _qr(t, out, a, mode="reduced"):
    q, r, k = _qr_parts(out, a, mode)
    extra = np.shape(a)[-2] - k
    if mode == "complete" and extra:
        raise np.linalg.LinAlgError(ANY_COLUMNS)
    moved = cT(np.linalg.solve(cT(r[..., :k]), cT(t[..., :k])))  # dX inv(U)
    turned = cT(q) @ moved
    spin = np.tril(turned, -1) - cT(np.tril(turned, -1))
    if np.iscomplexobj(turned):
        spin = spin + 1j * diagonal_matrix(np.linalg.diagonal(turned).imag)
    t_q = moved - q @ (turned - spin)
    t_r = np.triu(turned - spin) @ r[..., :k]
    if np.shape(a)[-1] > k:
        t_v = cT(t_q) @ (q @ r[..., k:]) + cT(q) @ t[..., k:]
        t_r = np.concatenate([t_r, t_v], axis=-1)
    return t_r if mode == "r" else (t_q, t_r)


def _qr_reverse(g, out, a, mode="reduced"):
    g_q, g_r = (0.0 * out[..., :0, :1], g) if mode == "r" else g
    if not (np.any(g_q) or np.any(g_r)):
        return None
    q, r, k = _qr_parts(out, a, mode)
    if np.any(g_q[..., k:]):
        raise np.linalg.LinAlgError(ANY_COLUMNS)
    g_q = np.zeros(np.shape(q)) if mode == "r" else g_q[..., :k]
    g_r = g_r[..., :k, :]
    g_u, g_v = np.triu(g_r[..., :k]), g_r[..., k:]
    if np.shape(a)[-1] > k:
        g_q = g_q + (q @ r[..., k:]) @ cT(g_v)
    middle = r[..., :k] @ cT(g_u) - cT(g_q) @ q
    bar = cT(np.linalg.solve(r[..., :k], cT(g_q + q @ mirrored(middle, True))))
    return np.concatenate([bar, q @ g_v], axis=-1) if np.shape(a)[-1] > k else bar


# ---- svd: a = u diag(s) v^H ------------------------------------------------------------------------------------------
_ALONE = "singular values alone (svdvals, norm, cond) have first derivatives there, and no second ones"
EQUAL = f"svd: two singular values are equal, their vectors are any basis and have no derivative; {_ALONE}"
ZERO = f"svd: a singular value is zero, its vectors are any of the null space and have no derivative; {_ALONE}"
REST = "svd(full_matrices=True) of a matrix that is not square: the last vectors are any of the null space"


def _values(s):
    """Sums and differences of singular values, where they are none, and where a value is zero."""
    tol = tolerance(s, np.shape(s)[-1])
    rows, columns = s[..., :, None], s[..., None, :]
    return columns - rows, np.abs(columns - rows) <= tol, columns + rows, columns + rows <= tol, columns <= tol


def _size(*arrays):
    """The size of the largest element of each of the matrices."""
    return sum(np.max(np.abs(a), axis=(-2, -1), keepdims=True, initial=0.0) for a in arrays)


def _outside(q, a):
    """The part of the columns of `a` that the columns of `q` do not span."""
    return a - q @ (cT(q) @ a)


def _svd(t, out, a, full_matrices=True, compute_uv=True, hermitian=False):
    if not compute_uv:
        return _svdvals(t, out, a, hermitian)
    u, s, vt = out
    v = cT(vt)
    if hermitian:
        sign = real(np.sum(conj(u) * v, axis=-2))
        t_w, t_u = eigen.eigh_tangent(mirrored(t, True), s * sign, u)
        return t_u, t_w * sign, cT(t_u * sign[..., None, :])
    m, n = np.shape(a)[-2:]
    k = min(m, n)
    if full_matrices and (abs(m - n) > 1 or m != n and u.dtype.kind == "c"):
        raise np.linalg.LinAlgError(f"{REST}; use full_matrices=False, or for singular values alone svdvals")
    all_u, all_v, u, v = u, v, u[..., :k], v[..., :k]
    gaps, equal, sums, both_zero, zero = _values(s)
    out_u, out_v = _outside(u, t @ v), _outside(v, cT(t) @ u)
    inner = cT(u) @ t @ v
    size = _size(inner, out_u, out_v)
    even, odd = off_diagonal(inner + cT(inner)) / 2, (inner - cT(inner)) / 2
    refuse(equal & (relative(even, size) > CANCELLED), EQUAL)
    refuse(both_zero & (relative(odd, size) > CANCELLED), ZERO)
    refuse(zero & (relative(off_diagonal(inner) - inner, size) > CANCELLED), ZERO)
    by_gap, by_sum = quotient(even, gaps, equal), quotient(odd, sums, both_zero)
    t_u, t_v = u @ (by_gap + by_sum), v @ (by_gap - by_sum)
    if m > n:
        refuse(zero & (relative(out_u, size) > CANCELLED), ZERO)
        t_u = t_u + quotient(out_u, s[..., None, :], zero)
    if n > m:
        refuse(zero & (relative(out_v, size) > CANCELLED), ZERO)
        t_v = t_v + quotient(out_v, s[..., None, :], zero)
    t_u, t_v = _with_last(t_u, u, all_u), _with_last(t_v, v, all_v)
    return t_u, real(np.linalg.diagonal(inner)), cT(t_v)


def _with_last(t, q, whole):
    """The tangents of all columns: one that is orthogonal to all others turns as they do, and is no choice."""
    if np.shape(whole) == np.shape(q):
        return t
    last = whole[..., np.shape(q)[-1]:]
    return np.concatenate([t, -(q @ (cT(t) @ last))], axis=-1)


def _svd_reverse(g, out, a, full_matrices=True, compute_uv=True, hermitian=False):
    if not compute_uv:
        return _svdvals_reverse(g, out, a, hermitian)
    (g_u, g_s, g_vt), (u, s, vt) = g, out
    g_v, v = cT(g_vt), cT(vt)
    if hermitian:
        sign = real(np.sum(conj(u) * v, axis=-2))
        return folded(eigen.eigh_cotangent(g_s * sign, g_u + g_v * sign[..., None, :], s * sign, u), True)
    k = min(np.shape(a)[-2:])
    size = _size(g_u, g_v)
    rest_u = _outside_bar(g_u, u, k, size)
    rest_v = _outside_bar(g_v, v, k, size)
    u, v = u[..., :k], v[..., :k]
    in_u, in_v = cT(u) @ g_u[..., :k], cT(v) @ g_v[..., :k]
    gaps, equal, sums, both_zero, zero = _values(s)
    sizes = np.sum(np.abs(u * g_u[..., :k]), axis=-2) + np.sum(np.abs(v * g_v[..., :k]), axis=-2) + np.abs(g_s * s)
    turns = np.linalg.diagonal(in_u)
    demand_no_phase(turns + np.linalg.diagonal(in_v), sizes, "svd")
    if np.iscomplexobj(turns):
        refuse(zero[..., 0, :] & (np.abs(turns.imag) > CANCELLED * np.max(sizes, axis=-1, keepdims=True)), ZERO)
    _refuse_choices(in_u, in_v, g_s, size, equal, both_zero, zero)
    in_u, in_v = in_u - cT(in_u), in_v - cT(in_v)
    by_gap, by_sum = quotient((in_u + in_v) / 2, gaps, equal), quotient((in_u - in_v) / 2, sums, both_zero)
    bar = u @ (diagonal_matrix(g_s * ~zero[..., 0, :]) + by_gap + by_sum) @ cT(v)
    for q, rest, long in ((u, rest_u, np.shape(a)[-2] > k), (v, rest_v, np.shape(a)[-1] > k)):
        if long:
            refuse(zero & (relative(rest, size) > CANCELLED), ZERO)
            moved = quotient(rest, s[..., None, :], zero)
            bar = bar + (moved @ cT(v) if q is u else u @ cT(moved))
    return bar


def _refuse_choices(in_u, in_v, g_s, size, equal, both_zero, zero):
    """Raise if a loss depends on vectors that are a choice; as for eigh, that numerators cancel is not enough."""
    values = np.abs(g_s)[..., None, :]
    values = relative(values, np.max(values, axis=-1, keepdims=True, initial=0.0)) * (size > 0)
    both = relative(off_diagonal(in_u + in_v), size)
    each = relative(off_diagonal(in_u), size) + relative(off_diagonal(in_v), size)
    refuse(equal & (off_diagonal(both + cT(both) + values + cT(values)) > CANCELLED), EQUAL)
    refuse(both_zero & (each + cT(each) > CANCELLED), ZERO)
    refuse(zero & (values > CANCELLED), ZERO)


def _outside_bar(g, q, k, size):
    """What turns the first k vectors out of their span: their cotangent, less what the last vectors lose by it.

    The last vectors are any basis; a function of the space that they span has a derivative, others raise.
    """
    own = cT(q[..., k:]) @ g[..., k:]
    what = f"{REST}, and the result depends on the choice: no derivative exists"
    refuse(relative(own - cT(own), size) > CANCELLED, what)
    first = q[..., :k]
    return _outside(first, g[..., :k]) - q[..., k:] @ (cT(g[..., k:]) @ first)


# ---- singular values alone: at zero they have a kink, with the slope zero --------------------------------------------
def _vectors(a, hermitian):
    """The vectors, the left ones zero where the singular value is."""
    u, s, vt = vectors("svd", a, full_matrices=False, hermitian=hermitian)
    return u * (s[..., None, :] > tolerance(s, np.shape(s)[-1])), cT(vt)


def _svdvals(t, out, a, hermitian=False):
    u, v = _vectors(a, hermitian)
    return real(np.sum(conj(u) * ((mirrored(t, True) if hermitian else t) @ v), axis=-2))


def _svdvals_reverse(g, out, a, hermitian=False):
    u, v = _vectors(a, hermitian)
    bar = (u * g[..., None, :]) @ cT(v)
    return folded(bar, True) if hermitian else bar


_LA = np.linalg
_ALL = [
    single("linalg.cholesky", _LA.cholesky, _cholesky_reverse, _cholesky, matrices, keep_args=False),
    single("linalg.qr", _LA.qr, _qr_reverse, _qr, matrices, located=True),
    single("linalg.svd", _LA.svd, _svd_reverse, _svd, matrices, located=True),
    single("linalg.svdvals", _LA.svdvals, _svdvals_reverse, _svdvals, matrices, keep_out=False, located=True),
]
PRIMITIVES = {primitive.name: primitive for primitive in _ALL} | eigen.PRIMITIVES
