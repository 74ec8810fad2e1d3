# SPDX-License-Identifier: Apache-2.0
"""Rules of eigenvalues and eigenvectors, symmetric and general; general ones also where they come out complex."""

import threading

import numpy as np

from codipy.numpy.rules.matrices import (
    CANCELLED,
    conj,
    cT,
    diagonal_matrix,
    folded,
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

__all__ = ["PRIMITIVES", "comes_out_complex", "eigh_cotangent", "eigh_tangent"]

EQUAL = "two eigenvalues are equal, any basis of their space are eigenvectors, which have no derivative"
_ALONE = "eigenvalues alone (eigvalsh) have first derivatives there, and no second ones"


# ---- symmetric or Hermitian: a = v diag(w) v^H; NumPy reads the triangle UPLO ----------------------------------------
def eigh_tangent(t, w, v):
    """The tangents of eigenvalues and eigenvectors, for a symmetric tangent of the matrix."""
    inner = cT(v) @ t @ v
    turn, none = off_diagonal(inner), _equal(w)
    refuse(none & (relative(turn, _largest_of(inner)) > CANCELLED), f"eigh: {EQUAL}; {_ALONE}")
    return real(np.linalg.diagonal(inner)), v @ quotient(turn, _gaps(w), none)


def eigh_cotangent(g_w, g_v, w, v):
    """The cotangent of the matrix as if all its elements were read.

    Of equal eigenvalues it raises if their vectors matter. That the numerator cancels is not enough: it does for a
    projector, whose quotient tends to zero, and for a matrix function v f(w) v^T, whose quotient tends to f', and
    nothing tells one from the other. Where no vector matters at all the loss is taken to be one of eigenvalues.
    """
    inner = cT(v) @ g_v
    _demand_no_phase("eigh", g_w, g_v, w, v, inner)
    none = _equal(w)
    refuse(none & _matters(inner, g_w, w, np.any(g_v, axis=(-2, -1), keepdims=True)), f"eigh: {EQUAL}; {_ALONE}")
    core = quotient((inner - cT(inner)) / 2, _gaps(w), none)
    return v @ (diagonal_matrix(g_w) + core) @ cT(v)


def _demand_no_phase(name, g_w, g_v, w, v, inner):
    demand_no_phase(np.linalg.diagonal(inner), np.sum(np.abs(v * g_v), axis=-2) + np.abs(g_w * w), name)


def _gaps(w):
    """Element (i, j) is w_j - w_i."""
    return w[..., None, :] - w[..., :, None]


def _equal(w):
    """Where two eigenvalues are equal but for rounding, an eigenvalue and itself included."""
    return np.abs(_gaps(w)) <= tolerance(w, np.shape(w)[-1])


def _largest_of(a):
    return np.max(np.abs(a), axis=(-2, -1), keepdims=True, initial=0.0)


def _matters(inner, g_w, w, used):
    """For which pairs of eigenvalues a loss depends on their vectors, or, if it uses any vectors, on the values."""
    values = np.abs(g_w)[..., None]
    largest = _largest_of(values)
    turns = relative(off_diagonal(inner), _largest_of(inner) + largest * _largest_of(w[..., None]))
    pairs = relative(off_diagonal(values + cT(values)), largest)
    return (turns + cT(turns) > CANCELLED) | (used & (pairs > CANCELLED))


def _lower(UPLO):
    return UPLO.upper() == "L"


def _eigh(t, out, a, UPLO="L"):
    return eigh_tangent(mirrored(t, _lower(UPLO)), *out)


def _eigh_reverse(g, out, a, UPLO="L"):
    return folded(eigh_cotangent(*g, *out), _lower(UPLO))


def _eigvalsh(t, out, a, UPLO="L"):
    v = vectors("eigh", a, UPLO=UPLO)[1]
    return real(np.sum(conj(v) * (mirrored(t, _lower(UPLO)) @ v), axis=-2))


def _eigvalsh_reverse(g, out, a, UPLO="L"):
    v = vectors("eigh", a, UPLO=UPLO)[1]
    return folded((v * g[..., None, :]) @ cT(v), _lower(UPLO))


# ---- general: a v = v diag(w); LAPACK scales each v to length 1 and its largest component to a real number -----------
def _inverse(v):
    if np.any(np.linalg.cond(v) * np.finfo(float).eps * np.shape(v)[-1] > 1):
        raise np.linalg.LinAlgError("eig: the eigenvectors are linearly dependent: no derivative exists")
    return np.linalg.inv(v)


def _largest(v):
    """The mask and the value of the component of each vector that LAPACK made real."""
    mask = np.arange(np.shape(v)[-2])[:, None] == np.argmax(np.abs(v), axis=-2)[..., None, :]
    return mask, np.real(np.sum(v * mask, axis=-2))[..., None, :]


def _eig(t, out, a):
    w, v = out
    inner = _inverse(v) @ t @ v
    turn, none = off_diagonal(inner), _equal(w)
    refuse(none & (relative(turn, _largest_of(inner)) > CANCELLED), f"eig: {EQUAL}; see eigvals")
    moved = v @ quotient(turn, _gaps(w), none)
    slope = moved - v * np.real(np.sum(np.conj(v) * moved, axis=-2))[..., None, :]
    if np.iscomplexobj(v):
        mask, value = _largest(v)
        slope = slope - 1j * v * np.imag(np.sum(moved * mask, axis=-2))[..., None, :] / value
    return np.linalg.diagonal(inner), slope


def _eig_reverse(g, out, a):
    (g_w, g_v), (w, v) = g, out
    if not (np.any(g_w) or np.any(g_v)):
        return None
    along = real(np.sum(conj(g_v) * v, axis=-2))[..., None, :]
    inner, of_vectors = cT(v) @ (g_v - along * v), cT(v) @ g_v
    turning = of_vectors
    if np.iscomplexobj(v) and not np.iscomplexobj(a):  # where they are real they stay so: NumPy 2.5
        turning = np.where(np.any(v.imag, axis=-2)[..., None, :], of_vectors, 0.0)
    _demand_no_phase("eig", g_w, g_v, w, v, turning)
    none = _equal(w)
    # Stricter than eigh: in a matrix function v f(w) inv(v) with equal eigenvalues all trace of the vectors cancels.
    refuse(none & _matters(of_vectors, g_w, w, np.array(True)), f"eig: {EQUAL}; see eigvals")
    return _similar(quotient(off_diagonal(inner), np.conj(_gaps(w)), none) + diagonal_matrix(g_w), v, a)


def _similar(core, v, a):
    """The cotangent of the matrix from that of its representation in the basis v."""
    bar = cT(_inverse(v)) @ core @ cT(v)
    return bar if np.iscomplexobj(a) else np.real(bar)


def _matched(values, w):
    """For each of `values` the position in `w` of the same eigenvalue: eigvals and eig may order them differently."""
    n = np.shape(w)[-1]
    order = []
    for row, known in zip(np.reshape(values, (-1, n)), np.reshape(w, (-1, n))):
        distance = np.abs(row[:, None] - known)
        for i in range(n):
            order.append(int(np.argmin(distance[i])))
            distance[i:, order[-1]] = np.inf
    return np.reshape(np.array(order, dtype=int), np.shape(w))


def _basis(out, a):
    """Eigenvectors in the order of the eigenvalues `out`."""
    w, v = vectors("eig", a, np.iscomplexobj(out))
    return np.take_along_axis(v, _matched(out, w)[..., None, :], axis=-1)


def _eigvals(t, out, a):
    v = _basis(out, a)
    return np.linalg.diagonal(_inverse(v) @ t @ v)


def _eigvals_reverse(g, out, a):
    return _similar(diagonal_matrix(g), _basis(out, a), a) if np.any(g) else None


# ---- of a real matrix the result is complex or not; it is computed before anybody knows which rule records it --------
class _Known(threading.local):
    """The last results that nobody has taken yet, with their matrices, by the name of the function."""

    def __init__(self):
        self.results = {}


_known = _Known()


def comes_out_complex(name, a):
    """Whether the eigenvalues of a real matrix or stack are complex to NumPy; whoever computes them next finds them."""
    found = getattr(np.linalg, name)(a)
    _known.results[name] = np.array(a), found
    return np.iscomplexobj(found if name == "eigvals" else found[0])


def _found_or(function):
    def forward(a):
        known = _known.results.pop(function.__name__, None)
        if known is not None and known[0].dtype == a.dtype and known[0].shape == a.shape and (
                known[0].tobytes() == a.tobytes()):
            return known[1]
        return function(a)

    return forward


_LA = np.linalg
_ALL = [
    single("linalg.eig", _found_or(_LA.eig), _eig_reverse, _eig, matrices, located=True),
    single("linalg.eigvals", _found_or(_LA.eigvals), _eigvals_reverse, _eigvals, matrices, located=True),
    single("linalg.eigh", _LA.eigh, _eigh_reverse, _eigh, matrices, keep_args=False, located=True),
    single("linalg.eigvalsh", _LA.eigvalsh, _eigvalsh_reverse, _eigvalsh, matrices, keep_out=False, located=True),
]
PRIMITIVES = {primitive.name: primitive for primitive in _ALL}
