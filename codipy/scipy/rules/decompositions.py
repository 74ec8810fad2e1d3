# SPDX-License-Identifier: Apache-2.0
"""What scipy.linalg shares with numpy.linalg: SciPy computes the values, the rules are those of NumPy's functions.

Beside them the generalised symmetric eigenproblem a v = w b v, where v^H b v = 1 adds the change of b to that of a:
dw = v^H (da - w db) v (K. Petersen and M. Pedersen, *The Matrix Cookbook*, 2012, section 2.3).
"""

from dataclasses import replace

import numpy as np
import scipy.linalg

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.registry import PRIMITIVES
from codipy.numpy.rules.matrices import (
    cT,
    diagonal_matrix,
    folded,
    mirrored,
    off_diagonal,
    quotient,
    real,
    tolerance,
)
from codipy.numpy.rules.matrices import (
    refuse as refuse_choice,
)
from codipy.numpy.rules.phases import demand_no_phase
from codipy.scipy.calls import LOOP, kept, of_active, recorded, run

__all__ = ["COMPLEX_SQUARES", "FUNCTIONS"]


def _numpys(name, forward, options, gives=None, takes=None):
    """SciPy's function with the rule of NumPy's.

    Parameters
    ----------
    options : callable
        From SciPy's options to NumPy's.
    gives, takes : callable, optional
        ``gives(g, out, kwargs)`` makes of SciPy's cotangents or results those of NumPy's, ``takes(t, out, kwargs)`` of
        NumPy's tangents SciPy's.
    """
    rule = PRIMITIVES[f"linalg.{name}"]
    gives = gives or (lambda g, out, kwargs: g)
    takes = takes or (lambda t, out, kwargs: t)

    def vjp(g, out, args, kwargs, argnums):
        return rule.vjp(gives(g, out, kwargs), gives(out, out, kwargs), args, options(kwargs), argnums)

    def jvp(tangents, out, args, kwargs):
        return takes(rule.jvp(tangents, gives(out, out, kwargs), args, options(kwargs)), out, kwargs)

    return kept(Primitive(f"scipy.linalg.{name}", forward, vjp, jvp, located=True))


def _none(kwargs):
    return {}


_LA = scipy.linalg
det = recorded(_LA.det, _numpys("det", _LA.det, _none), stacks=True)
norm = recorded(_LA.norm, _numpys("norm", _LA.norm, lambda kwargs: {
    key: value for key, value in kwargs.items()
    if key != "check_finite" and value is not None and value is not False}), stacks=True)
pinv = recorded(_LA.pinv, _numpys("pinv", _LA.pinv, _none), without=("return_rank",))
svdvals = recorded(_LA.svdvals, _numpys("svdvals", _LA.svdvals, _none))
svd = recorded(_LA.svd, _numpys("svd", _LA.svd, lambda kwargs: {
    key: value for key, value in kwargs.items() if key in ("full_matrices", "compute_uv")}))


# ---- least squares: SciPy has a number where NumPy has an array of one -----------------------------------------------
def _lstsq(a, b, **options):
    x, squares, rank, s = scipy.linalg.lstsq(a, b, **options)
    if np.size(squares) == 0 and not COMPLEX_SQUARES:
        squares = squares.real  # of which SciPy has complex ones where there are none
    return x, squares, rank, s


def _squares(g, out, kwargs):
    x, squares, rank, s = g
    return x, real(np.reshape(squares, (-1,))), rank, s


def _lstsq_tangent(t, out, kwargs):
    squares = np.reshape(t[1], np.shape(out[1]))
    return t[0], squares + 0j if np.iscomplexobj(out[1]) else squares, None, t[3]


# Of complex equations the sums of squares are complex numbers from SciPy 1.18 on, with imaginary parts of rounding.
COMPLEX_SQUARES = np.iscomplexobj(scipy.linalg.lstsq(np.ones((2, 1), complex), np.ones(2))[1])


_LSTSQ = _numpys("lstsq", _lstsq, _none, _squares, _lstsq_tangent)


@of_active(scipy.linalg.lstsq)
def lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    """Of active data."""
    if lapack_driver == "gelsy":
        refuse("scipy.linalg.lstsq", "lapack_driver='gelsy' gives no singular values, which the derivative needs: "
                                     "leave it out")
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        refuse("scipy.linalg.lstsq", LOOP)
    options = {"cond": cond, "check_finite": check_finite, "lapack_driver": lapack_driver}
    x, squares, rank, s = run(_LSTSQ, (as_numbers(a), as_numbers(b)), options)
    return x, squares if np.size(squares) else np.zeros(np.shape(squares), x.dtype), rank, s


# ---- qr --------------------------------------------------------------------------------------------------------------
def _qr(a, *, mode, pivoting, check_finite):
    out = scipy.linalg.qr(a, mode=mode, pivoting=pivoting, check_finite=check_finite)
    q, r = (np.zeros((0, 0)), out[0]) if mode == "r" else out[:2]
    return q, r, out[-1] if pivoting else np.arange(np.shape(a)[1])


def _of_numpy(mode):
    return {"mode": {"full": "complete", "economic": "reduced", "r": "r"}[mode]}


def _numpys_qr(q, r, mode, a):
    """SciPy's Q and R, or cotangents of them, as NumPy's function has them."""
    return r[:min(np.shape(a))] if mode == "r" else (q, r)


def _refuse_any_columns(needed):
    if needed:
        raise np.linalg.LinAlgError("qr of a tall matrix: the last columns of Q are any basis and have no derivative; "
                                    "take mode='economic', or mode='r' for R alone")


def _qr_vjp(g, out, args, kwargs, argnums):
    mode, a, order = kwargs["mode"], args[0], out[2]
    _refuse_any_columns(mode == "full" and np.any(g[0][:, np.shape(a)[1]:]))
    [bar] = PRIMITIVES["linalg.qr"].vjp(_numpys_qr(g[0], g[1], mode, a), _numpys_qr(out[0], out[1], mode, a),
                                        (a[:, order],), _of_numpy(mode), argnums)
    return [None if bar is None else bar[:, np.argsort(order)]]


def _qr_jvp(tangents, out, args, kwargs):
    mode, a, order = kwargs["mode"], args[0], out[2]
    _refuse_any_columns(mode == "full" and np.shape(a)[0] > np.shape(a)[1])
    found = PRIMITIVES["linalg.qr"].jvp({0: tangents[0][:, order]}, _numpys_qr(out[0], out[1], mode, a), (a[:, order],),
                                        _of_numpy(mode))
    t_q, t_r = (np.zeros((0, 0)), found) if mode == "r" else found
    missing = np.shape(out[1])[0] - np.shape(t_r)[0]
    return t_q, np.concatenate([t_r, np.zeros((missing, np.shape(t_r)[1]))]) if missing else t_r, None


_QR = kept(Primitive("scipy.linalg.qr", _qr, _qr_vjp, _qr_jvp, located=True))


@of_active(scipy.linalg.qr)
def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """Of an active matrix."""
    if mode not in ("full", "economic", "r"):
        refuse("scipy.linalg.qr", f"mode={mode!r} has no derivative: take mode='economic'")
    if np.ndim(a) != 2:
        refuse("scipy.linalg.qr", LOOP)
    q, r, order = run(_QR, (as_numbers(a),), {"mode": mode, "pivoting": bool(pivoting), "check_finite": check_finite})
    return (*([q] if mode != "r" else []), r, *([order] if pivoting else []))


# ---- symmetric eigenproblems -----------------------------------------------------------------------------------------
def _triangle(kwargs):
    return {"UPLO": "L" if kwargs.get("lower", True) else "U"}


_EIGH = _numpys("eigh", lambda a, **options: scipy.linalg.eigh(a, **options), _triangle)
_EIGVALSH = _numpys("eigvalsh", lambda a, **options: scipy.linalg.eigvalsh(a, **options), _triangle)
_SPREAD = "eigh(a, b): two eigenvalues are equal, any basis of their space are eigenvectors, which have no derivative"


def _general_vjp(g, out, args, kwargs, argnums):
    (g_w, g_v), (w, v), lower = g, out, kwargs.get("lower", True)
    inner = cT(v) @ g_v
    demand_no_phase(np.linalg.diagonal(inner), np.sum(np.abs(v * g_v), axis=-2) + np.abs(g_w * w), "eigh")
    gaps = w[None, :] - w[:, None]
    equal = np.abs(gaps) <= tolerance(w, np.shape(w)[-1])
    refuse_choice(np.any(off_diagonal(inner) * equal != 0), _SPREAD)
    turned = quotient(off_diagonal(inner), gaps, equal)
    bars = {
        0: v @ (turned + diagonal_matrix(g_w)) @ cT(v),
        1: -v @ (turned * w[None, :] + diagonal_matrix(g_w * w + real(np.linalg.diagonal(inner)) / 2)) @ cT(v),
    }
    return [folded((bars[k] + cT(bars[k])) / 2, lower) for k in argnums]


def _general_jvp(tangents, out, args, kwargs):
    (w, v), lower = out, kwargs.get("lower", True)
    zero = np.zeros((np.shape(w)[0],) * 2)
    by_a = cT(v) @ mirrored(tangents[0], lower) @ v if 0 in tangents else zero
    by_b = cT(v) @ mirrored(tangents[1], lower) @ v if 1 in tangents else zero
    inner = by_a - by_b * w[None, :]
    gaps = w[None, :] - w[:, None]
    equal = np.abs(gaps) <= tolerance(w, np.shape(w)[-1])
    refuse_choice(np.any(off_diagonal(inner) * equal != 0), _SPREAD)
    turned = quotient(off_diagonal(inner), gaps, equal)
    return real(np.linalg.diagonal(inner)), v @ (turned - diagonal_matrix(real(np.linalg.diagonal(by_b)) / 2))


def _general_values(a, b, **options):
    """The eigenvalues as SciPy computes them without vectors, and the vectors."""
    return scipy.linalg.eigvalsh(a, b, **options), scipy.linalg.eigh(a, b, **options)[1]


_GENERAL = kept(Primitive("scipy.linalg.eigh of two", scipy.linalg.eigh, _general_vjp, _general_jvp, located=True))
_GENERAL_VALUES = kept(replace(_GENERAL, name="scipy.linalg.eigvalsh of two", forward=_general_values))


@of_active(scipy.linalg.eigh)
def eigh(a, b=None, *, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, type=1, check_finite=True,
         subset_by_index=None, subset_by_value=None, driver=None):
    """Of active matrices."""
    if type != 1 or subset_by_index is not None or subset_by_value is not None:
        refuse("scipy.linalg.eigh", "of active values there are all eigenvalues of type=1 only: leave subset_by_index, "
                                    "subset_by_value and type out, and take those that are wanted")
    for matrix in (a, b):
        if np.ndim(matrix) not in (0, 2):
            refuse("scipy.linalg.eigh", LOOP)
    options = {"lower": bool(lower), "check_finite": check_finite, "driver": driver}
    if b is None and eigvals_only:
        return run(_EIGVALSH, (as_numbers(a),), options)
    if b is None:
        return run(_EIGH, (as_numbers(a),), options)
    operands = as_numbers(a), as_numbers(b)
    return run(_GENERAL_VALUES, operands, options)[0] if eigvals_only else tuple(run(_GENERAL, operands, options))


@of_active(scipy.linalg.eigvalsh)
def eigvalsh(a, b=None, **options):
    """Of active matrices."""
    return eigh(a, b, eigvals_only=True, **options)


FUNCTIONS = {function.__name__: function for function in (det, norm, pinv, svdvals, svd, lstsq, qr, eigh, eigvalsh)}
