# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg's solvers for matrices that are full, triangular, in bands, or the same along diagonals.

For a solution x of A x = b: dx = inv(A) (db - dA x), and so b_bar = inv(A)^T x_bar, A_bar = -b_bar x^T (M. Giles,
"Collected matrix derivative results for forward and reverse mode algorithmic differentiation", 2008), of which the
elements count that SciPy reads.
"""

import numpy as np
import scipy.linalg

from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.factors import solve_columns
from codipy.numpy.rules.matrices import conj, cT, folded, mirrored, mT, real
from codipy.scipy.calls import LOOP, kept, recorded
from codipy.scipy.rules.structured import toeplitz

__all__ = ["FUNCTIONS", "in_bands", "is_conjugated", "outer", "solve_banded", "solve_triangular", "times_bands",
           "turned"]


def _columns(x):
    return x[:, None] if np.ndim(x) == 1 else x


def outer(x, y):
    """The sum of the products of the columns of `x` with those of `y`, in all of a stack; a vector is a column."""
    product = _columns(x) @ mT(_columns(y))
    return product if np.ndim(product) == 2 else np.sum(product, axis=tuple(range(np.ndim(product) - 2)))


def _solver(name, forward, solve, reads, fold):
    """The Primitive of x = inv(A) b.

    Parameters
    ----------
    solve : callable
        ``solve(a, right, options, transposed)``: with A or its transpose.
    reads : callable
        ``reads(t, options)``: the matrix that a tangent of what stands for A adds to A, as SciPy reads it.
    fold : callable
        ``fold(bar, options)``: its transpose.
    """

    def vjp(g, out, args, kwargs, argnums):
        a = args[0]
        g_b = solve(a, g, kwargs, True)
        is_transposed = _is_transposed(kwargs)
        bars = {1: g_b}
        if 0 in argnums:
            bars[0] = fold(-outer(out, g_b) if is_transposed else -outer(g_b, out), kwargs)
        return [bars[k] for k in argnums]

    def jvp(tangents, out, args, kwargs):
        right = tangents.get(1, 0.0)
        if 0 in tangents:
            moved = reads(tangents[0], kwargs)
            turn = cT if is_conjugated(kwargs) else mT
            right = right - (turn(moved) if _is_transposed(kwargs) else moved) @ out
        return solve(args[0], right, kwargs, False)

    return kept(Primitive(f"scipy.linalg.{name}", forward, vjp, jvp, linear=(1,), located=True))


def _is_transposed(options):
    return bool(options.get("transposed", False)) or options.get("trans", 0) not in (0, "N")


def is_conjugated(options):
    """Whether it is the conjugate transpose that is solved with."""
    return options.get("trans", 0) in (2, "C")


# ---- solve: which elements are read follows from what is assumed of the matrix ---------------------------------------
_EXCHANGED = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}
_SYMMETRIC = ("sym", "symmetric")
_HERMITIAN = ("her", "hermitian", "pos", "positive definite")


def _solve_again(a, right, options, transposed):
    transposed = transposed != _is_transposed(options)
    assumed = options.get("assume_a")
    if assumed in (None, "gen", "general"):
        columns = _columns(right)
        x = solve_columns(a, columns, transposed)
        return x[:, 0] if np.ndim(right) == 1 else x
    lower = options.get("lower", False)
    if transposed and np.iscomplexobj(a):  # which SciPy does not solve
        if assumed in _HERMITIAN:
            return solve(np.conjugate(a), right, assume_a=assumed, lower=lower)
        if assumed in _SYMMETRIC:
            return solve(a, right, assume_a=assumed, lower=lower)
        assumed = _EXCHANGED.get(assumed, assumed)
        return solve(mT(a), right, assume_a=assumed)
    return solve(a, right, assume_a=assumed, lower=lower, transposed=transposed)


def _band(t, below, above):
    return np.triu(np.tril(t, above), -below)


def _read(t, options):
    assumed, lower = options.get("assume_a"), options.get("lower", False)
    if assumed in _SYMMETRIC:
        return np.tril(t) + mT(np.tril(t, -1)) if lower else np.triu(t) + mT(np.triu(t, 1))
    return mirrored(t, lower) if assumed in _HERMITIAN else _counted(t, assumed)


def _fold(bar, options):
    assumed, lower = options.get("assume_a"), options.get("lower", False)
    if assumed in _SYMMETRIC:
        return np.tril(bar) + np.tril(mT(bar), -1) if lower else np.triu(bar) + np.triu(mT(bar), 1)
    return folded(bar, lower) if assumed in _HERMITIAN else _counted(bar, assumed)


def _counted(t, assumed):
    """The elements that are read; a matrix that is 'banded' is looked through for its bands, so all are."""
    if assumed == "diagonal":
        return _band(t, 0, 0)
    if assumed == "tridiagonal":
        return _band(t, 1, 1)
    if assumed in ("upper triangular", "lower triangular"):
        return np.triu(t) if assumed[0] == "u" else np.tril(t)
    return t


solve = recorded(scipy.linalg.solve, _solver("solve", scipy.linalg.solve, _solve_again, _read, _fold), 2)


# ---- inv -------------------------------------------------------------------------------------------------------------
def _inv(a, **options):
    if options.get("assume_a") == "diagonal" and np.any(a[~np.eye(np.shape(a)[-1], dtype=bool)]):
        refuse("scipy.linalg.inv", "of a matrix that is not diagonal SciPy leaves what stands beside the diagonal as "
                                   "it is: take `np.diag(1.0 / np.diag(a))`")
    return scipy.linalg.inv(a, **options)


def _inv_vjp(g, out, args, kwargs, argnums):
    return [_fold(-mT(out) @ g @ mT(out), kwargs)]


def _inv_jvp(tangents, out, args, kwargs):
    return -out @ _read(tangents[0], kwargs) @ out


_INV = kept(Primitive("scipy.linalg.inv", _inv, _inv_vjp, _inv_jvp, keep_args=False, located=True))
inv = recorded(scipy.linalg.inv, _INV)


# ---- triangular ------------------------------------------------------------------------------------------------------
def _triangular_again(a, right, options, transposed):
    trans = int(transposed != _is_transposed(options)) if transposed or not is_conjugated(options) else 2
    kept = {key: options[key] for key in ("lower", "unit_diagonal") if key in options}
    return solve_triangular(a, right, trans=trans, **kept)


def _triangle(t, options):
    inside = 1 if options.get("unit_diagonal", False) else 0
    return np.tril(t, -inside) if options.get("lower", False) else np.triu(t, inside)


solve_triangular = recorded(
    scipy.linalg.solve_triangular,
    _solver("solve_triangular", scipy.linalg.solve_triangular, _triangular_again, _triangle, _triangle), 2,
)


# ---- in bands: row `above + i - j` of `ab` holds element (i, j) at j -------------------------------------------------
def turned(ab, below, above):
    """The bands of the transpose, whose numbers of bands are exchanged."""
    n = np.shape(ab)[1]
    rows = []
    for row in range(above + below, -1, -1):
        shift = row - above      # the row minus the column of its elements
        kept = ab[row, max(-shift, 0):n - max(shift, 0)]
        rows.append(np.concatenate([np.zeros(max(shift, 0)), kept, np.zeros(max(-shift, 0))]))
    return np.stack(rows)


def in_bands(u, v, below, above):
    """The bands of the sum of the products of columns of `u` and rows of `v`."""
    u, v = _columns(u), _columns(v)
    n, rows = np.shape(u)[0], []
    for row in range(above + below + 1):
        shift = row - above
        low, high = max(-shift, 0), n - max(shift, 0)
        kept = np.sum(u[low + shift:high + shift] * v[low:high], axis=1)
        rows.append(np.concatenate([np.zeros(low), kept, np.zeros(n - high)]))
    return np.stack(rows)


def times_bands(ab, x, below, above):
    """The product of a matrix in bands with vectors."""
    n, total = np.shape(x)[0], 0.0
    columns = _columns(x)
    for row in range(above + below + 1):
        shift = row - above
        low, high = max(-shift, 0), n - max(shift, 0)
        part = ab[row, low:high, None] * columns[low:high]
        lead, rest = (np.zeros((k, np.shape(columns)[1])) for k in (low + shift, n - high - shift))
        total = total + np.concatenate([lead, part, rest])
    return np.reshape(total, np.shape(x))


def _banded(ab, b, *, bands, check_finite=True):
    return scipy.linalg.solve_banded(bands, ab, b, check_finite=check_finite)


def _banded_vjp(g, out, args, kwargs, argnums):
    below, above = kwargs["bands"]
    g_b = solve_banded((above, below), turned(args[0], below, above), g)
    return [-in_bands(g_b, out, below, above) if k == 0 else g_b for k in argnums]


def _banded_jvp(tangents, out, args, kwargs):
    below, above = kwargs["bands"]
    right = tangents.get(1, 0.0)
    if 0 in tangents:
        right = right - times_bands(tangents[0], out, below, above)
    return solve_banded((below, above), args[0], right)


_BANDED = kept(Primitive("scipy.linalg.solve_banded", _banded, _banded_vjp, _banded_jvp, linear=(1,), located=True))
_banded_call = recorded(_banded, _BANDED, 2)


def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    """As SciPy's."""
    return _banded_call(ab, b, bands=tuple(map(int, l_and_u)), check_finite=check_finite)


# ---- Hermitian and in bands: one half is stored, of whose diagonal the real parts count ------------------------------
def _whole(ab, lower):
    """All bands of the matrix."""
    count = np.shape(ab)[0] - 1
    if lower:
        return np.concatenate([conj(turned(ab, count, 0)[:count]), real(ab[:1]), ab[1:]])
    return np.concatenate([ab[:count], real(ab[count:]), conj(turned(ab, 0, count)[1:])])


def _half(bands, lower):
    """The transpose of `_whole`."""
    count = np.shape(bands)[0] // 2
    none = np.zeros((1, np.shape(bands)[1]))
    if lower:
        both = bands[count + 1:] + conj(turned(np.concatenate([bands[:count], none]), 0, count)[1:])
        return np.concatenate([real(bands[count:count + 1]), both])
    both = bands[:count] + conj(turned(np.concatenate([none, bands[count + 1:]]), count, 0)[:count])
    return np.concatenate([both, real(bands[count:count + 1])])


def _symmetric_vjp(g, out, args, kwargs, argnums):
    ab, lower = args[0], kwargs.get("lower", False)
    count = np.shape(ab)[0] - 1
    g_b = solveh_banded(ab, g, lower=lower)
    return [-_half(in_bands(g_b, conj(out), count, count), lower) if k == 0 else g_b for k in argnums]


def _symmetric_jvp(tangents, out, args, kwargs):
    ab, lower = args[0], kwargs.get("lower", False)
    count, right = np.shape(ab)[0] - 1, tangents.get(1, 0.0)
    if 0 in tangents:
        right = right - times_bands(_whole(tangents[0], lower), out, count, count)
    return solveh_banded(ab, right, lower=lower)


solveh_banded = recorded(
    scipy.linalg.solveh_banded,
    kept(Primitive("scipy.linalg.solveh_banded", scipy.linalg.solveh_banded, _symmetric_vjp, _symmetric_jvp,
                   linear=(1,), located=True)), 2,
)


# ---- the same along diagonals: element (i, j) is c[i - j], or r[j - i] above the diagonal ----------------------------
def _toeplitz(c, r, b, *, check_finite=True):
    return scipy.linalg.solve_toeplitz((c, r), b, check_finite=check_finite)


def _diagonals(u, v):
    """Sums along the diagonals of the sum of products of columns of `u` and rows of `v`, the lowest last."""
    u, v = _columns(u), _columns(v)
    total = 0.0
    for k in range(np.shape(u)[1]):
        total = total + np.convolve(u[:, k], v[::-1, k])
    return total


def _toeplitz_vjp(g, out, args, kwargs, argnums):
    c, r = args[:2]
    n = np.shape(c)[0]
    g_b = solve_toeplitz((np.concatenate([c[:1], r[1:]]), c), g)
    sums = -_diagonals(g_b, out)
    above = np.concatenate([np.zeros(1), sums[:n - 1][::-1]])      # SciPy reads c[0] and not r[0]
    return [(sums[n - 1:], above, g_b)[k] for k in argnums]


def _toeplitz_jvp(tangents, out, args, kwargs):
    zero, right = np.zeros(np.shape(args[0])), tangents.get(2, 0.0)
    if 0 in tangents or 1 in tangents:
        right = right - toeplitz(tangents.get(0, zero), tangents.get(1, zero)) @ out
    return solve_toeplitz((args[0], args[1]), right)


_TOEPLITZ = kept(Primitive("scipy.linalg.solve_toeplitz", _toeplitz, _toeplitz_vjp, _toeplitz_jvp, linear=(2,),
                           located=True))
_toeplitz_call = recorded(_toeplitz, _TOEPLITZ, 3)


def solve_toeplitz(c_or_cr, b, check_finite=True):
    """As SciPy's."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    r = r if r is not None else np.conjugate(c) if np.iscomplexobj(c) else c
    for part in (c, r):
        if np.ndim(part) != 1:
            refuse("scipy.linalg.solve_toeplitz", "c and r must be vectors")
    if np.ndim(b) > 2:
        refuse("scipy.linalg.solve_toeplitz", LOOP)
    return _toeplitz_call(c, r, b, check_finite=check_finite)


FUNCTIONS = {function.__name__: function for function in (solve, inv, solve_triangular, solveh_banded)}
FUNCTIONS |= {"solve_banded": solve_banded, "solve_toeplitz": solve_toeplitz}
