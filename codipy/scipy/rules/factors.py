# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg's factorisations by Cholesky and by elimination, and of solving with their factors.

For A = L L^H: dL = L half(inv(L) dA inv(L)^H), where half keeps the lower triangle and half the diagonal. For
P A = L U: dL = L lower(F), dU = upper(F) U with F = inv(L) P dA inv(U). (S. Walter and
L. Lehmann, "Algorithmic differentiation of linear algebra functions", 2010.) Rules of Cholesky's factors are for
complex matrices too.
"""

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dtrmm, dtrmv, dtrsm

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import refuse, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import conj, cT, folded, halved, mirrored, mT
from codipy.scipy.calls import LOOP, kept, of_active, recorded, run
from codipy.scipy.rules.solving import outer, solve_triangular

__all__ = ["FUNCTIONS"]

_BLOCK = 64      # columns of a factor of Cholesky's that the sweep goes back through at once
_LOWER = np.tri(_BLOCK, dtype=bool)      # np.tril makes it anew each time, which takes longer than the rest of it
_BELOW = np.tri(_BLOCK, k=-1, dtype=bool)


# ---- Cholesky: one triangle is read; cho_factor may leave in the other what stands there-----------------------------
def _factor(out, lower):
    """L, from a triangle that may have anything beside it."""
    return np.tril(out) if lower else cT(np.triu(out))


def _bar_of_block(factor, g):
    """The cotangent of a symmetric matrix, of plain numbers: `factor` is in Fortran's order, `g` a lower triangle."""
    product, size = dtrmm(1.0, factor, g, lower=1, trans_a=1), len(g)
    middle = np.asfortranarray(np.where(_BELOW[:size, :size], product, product.T))
    left = dtrsm(1.0, factor, middle, lower=1, trans_a=1, overwrite_b=1)
    return dtrsm(0.5, factor, left, side=1, lower=1, overwrite_b=1)


def _bar_of_numbers(factor, bar):
    """Overwrite the lower triangle of `bar`, the cotangent of that of `factor`, by that of the triangle that is read.

    It goes back through the columns block by block (I. Murray, "Differentiation of the Cholesky decomposition", 2016,
    section 5), which takes 2/3 n^3 multiplications and additions; solving with the whole factor takes 3 n^3. What
    stands above the diagonal is neither read nor written in either.
    """
    size = len(factor)
    for stop in range(size, 0, -_BLOCK):
        start = max(stop - _BLOCK, 0)
        here, below, before = slice(start, stop), slice(stop, size), slice(0, start)
        is_lower, at = _LOWER[:stop - start, :stop - start], bar[here, here]
        corner, g = np.asfortranarray(factor[here, here]), np.where(is_lower, at, 0.0)
        if stop < size:
            column = dtrsm(1.0, corner, bar[below, here], side=1, lower=1)
            bar[below, here] = column
            bar[below, before] -= column @ factor[here, before]
            g -= np.where(is_lower, column.T @ factor[below, here], 0.0)
        block = _bar_of_block(corner, g)
        np.copyto(at, 2.0 * block, where=_BELOW[:stop - start, :stop - start])
        np.einsum("ii->i", at)[...] = block.diagonal()
        if start:
            bar[here, before] -= 2.0 * block @ factor[here, before]
            if stop < size:
                bar[here, before] -= column.T @ factor[below, before]


def _cholesky_bar(g, out, kwargs):
    """The cotangent of a matrix: of the triangle that is read, and beside it what `g` has there."""
    lower = kwargs.get("lower", False)
    if type(g) is type(out) is np.ndarray and g.dtype == out.dtype == np.float64 and g.ndim == 2 and g.size:
        bar = np.array(g)
        _bar_of_numbers(*((out, bar) if lower else (out.T, bar.T)))
        return bar
    factor = _factor(out, lower)
    middle = halved(cT(factor) @ np.tril(g if lower else cT(g)))
    left = solve_triangular(factor, middle + cT(middle), lower=True, trans=2)
    bar = cT(solve_triangular(factor, cT(left), lower=True, trans=2)) / 2
    return folded(bar, lower) + _beside(g, lower)


def _cholesky_vjp(g, out, args, kwargs, argnums):
    bar = _cholesky_bar(g, out, kwargs)
    return [np.tril(bar) if kwargs.get("lower", False) else np.triu(bar)]


def _cholesky_jvp(tangents, out, args, kwargs):
    lower = kwargs.get("lower", False)
    factor = _factor(out, lower)
    left = solve_triangular(factor, mirrored(tangents[0], lower), lower=True)
    slope = factor @ halved(solve_triangular(factor, cT(left), lower=True))
    return slope if lower else cT(slope)


def _beside(a, lower):
    """The triangle that is not read."""
    return np.triu(a, 1) if lower else np.tril(a, -1)


def _cho_factor(a, **options):
    return scipy.linalg.cho_factor(a, **options)[0]


def _cho_factor_vjp(g, out, args, kwargs, argnums):
    return [_cholesky_bar(g, out, kwargs)]


def _cho_factor_jvp(tangents, out, args, kwargs):
    return _cholesky_jvp(tangents, out, args, kwargs) + _beside(tangents[0], kwargs.get("lower", False))


_CHOLESKY = kept(Primitive("scipy.linalg.cholesky", scipy.linalg.cholesky, _cholesky_vjp, _cholesky_jvp,
                           keep_args=False))
# What is beside the triangle that is read stays there up to SciPy 1.17, and is cleared from 1.18 on.
_KEEPS = scipy.linalg.cho_factor(np.array([[1.0, 0.0], [1.0, 1.0]]))[0][1, 0] == 1.0
_RULES = (_cho_factor_vjp, _cho_factor_jvp) if _KEEPS else (_cholesky_vjp, _cholesky_jvp)
_CHO_FACTOR = kept(Primitive("scipy.linalg.cho_factor", _cho_factor, *_RULES, keep_args=False))
cholesky = recorded(scipy.linalg.cholesky, _CHOLESKY)


@of_active(scipy.linalg.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """Of an active matrix."""
    _demand_matrix("cho_factor", a)
    return run(_CHO_FACTOR, (as_numbers(a),), {"lower": bool(lower), "check_finite": check_finite}), bool(lower)


def _demand_matrix(name, a):
    if np.ndim(a) != 2:
        refuse(f"scipy.linalg.{name}", LOOP)


def _cho_solve(c, b, *, lower, check_finite=True):
    return scipy.linalg.cho_solve((c, lower), b, check_finite=check_finite)


def _cho_solve_vjp(g, out, args, kwargs, argnums):
    c, lower = args[0], kwargs["lower"]
    g_b, bars = cho_solve((c, lower), g), {}
    if 0 in argnums:
        bar = _bar_of_factor(c if lower else cT(c), out, -g_b)
        bars[0] = bar if lower else cT(bar)
    return [g_b if k else bars[0] for k in argnums]


def _bar_of_factor(factor, x, y):
    """The lower triangle of y (L^H x)^H + x (L^H y)^H, of columns or a vector each; beside L stands anything."""
    if type(factor) is type(x) is type(y) is np.ndarray and x.ndim == 1 and x.size and (
            factor.dtype == x.dtype == y.dtype == np.float64):
        a, lower, turned = (factor, 1, 1) if factor.flags.f_contiguous else (factor.T, 0, 0)
        right = [dtrmv(a, vector, lower=lower, trans=turned) for vector in (x, y)]
        return np.tril(np.stack((y, x), -1) @ np.stack(right))
    factor = np.tril(factor)
    return np.tril(outer(y, conj(cT(factor) @ x)) + outer(x, conj(cT(factor) @ y)))


def _cho_solve_jvp(tangents, out, args, kwargs):
    c, lower = args[0], kwargs["lower"]
    right = tangents.get(1, 0.0)
    if 0 in tangents:
        half = _factor(tangents[0], lower) @ cT(_factor(c, lower))
        right = right - (half + cT(half)) @ out
    return cho_solve((c, lower), right)


_CHO_SOLVE = kept(Primitive("scipy.linalg.cho_solve", _cho_solve, _cho_solve_vjp, _cho_solve_jvp, linear=(1,)))


@of_active(scipy.linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """With an active factor or right-hand side."""
    c, lower = c_and_lower
    _demand_matrix("cho_solve", c)
    return run(_CHO_SOLVE, (as_numbers(c), as_numbers(b)), {"lower": bool(lower), "check_finite": check_finite})


# ---- elimination -----------------------------------------------------------------------------------------------------
def _order(pivots):
    """The rows of the matrix in the order of the factors, from LAPACK's exchanges."""
    order = np.arange(len(pivots))
    for k, other in enumerate(pivots):
        order[k], order[other] = order[other], order[k]
    return order


def _parts(lu):
    return np.tril(lu, -1) + np.eye(np.shape(lu)[0]), np.triu(lu)


def _eliminated_bar(g_l, g_u, lower, upper):
    """The cotangent of L U: inv(L)^T (lower(L^T g_L) + upper(g_U U^T)) inv(U)^T."""
    middle = np.tril(mT(lower) @ g_l, -1) + np.triu(g_u @ mT(upper))
    left = solve_triangular(lower, middle, lower=True, trans=1, unit_diagonal=True)
    return mT(solve_triangular(upper, mT(left)))


def _eliminated(t, lower, upper):
    """The tangents of L and U for that of L U."""
    left = solve_triangular(lower, t, lower=True, unit_diagonal=True)
    middle = mT(solve_triangular(upper, mT(left), trans=1))
    return lower @ np.tril(middle, -1), np.triu(middle) @ upper


def _demand_square(name, a):
    if np.shape(a)[0] != np.shape(a)[1]:
        refuse(f"scipy.linalg.{name}", "of a matrix that is not square codipy has no derivative: take np.linalg.qr, or "
                                       "codipy.value(x) where none is wanted")


def _lu_factor_vjp(g, out, args, kwargs, argnums):
    bar = _eliminated_bar(np.tril(g[0], -1), np.triu(g[0]), *_parts(out[0]))
    return [bar[np.argsort(_order(out[1]))]]


def _lu_factor_jvp(tangents, out, args, kwargs):
    t_l, t_u = _eliminated(tangents[0][_order(out[1])], *_parts(out[0]))
    return t_l + t_u, None


_LU_FACTOR = kept(Primitive("scipy.linalg.lu_factor", scipy.linalg.lu_factor, _lu_factor_vjp, _lu_factor_jvp,
                            keep_args=False, located=True))


@of_active(scipy.linalg.lu_factor)
def lu_factor(a, overwrite_a=False, check_finite=True):
    """Of an active matrix."""
    _demand_matrix("lu_factor", a)
    _demand_square("lu_factor", a)
    return run(_LU_FACTOR, (as_numbers(a),), {"check_finite": check_finite})


def _within(lu, pivots):
    """The pivots, if rows have these numbers: LAPACK believes them, and those of a tape file may be anything."""
    pivots = np.asarray(pivots)
    rows = np.shape(lu)[0]
    if pivots.dtype.kind not in "iu" or pivots.shape != (rows,) or np.any((pivots < 0) | (pivots >= rows)):
        raise ValueError(f"lu_solve: the pivots are no numbers of the {rows} rows")
    return pivots


def _lu_solve(lu, b, *, pivots, trans=0, check_finite=True):
    return scipy.linalg.lu_solve((lu, _within(lu, pivots)), b, trans, check_finite=check_finite)


def _lu_solve_vjp(g, out, args, kwargs, argnums):
    lu, pivots, trans = args[0], _within(args[0], kwargs["pivots"]), kwargs["trans"]
    g_b, bars = lu_solve((lu, pivots), g, trans=0 if trans else 1), {}
    if 0 in argnums:
        bar = -(outer(out, g_b) if trans else outer(g_b, out))[_order(pivots)]
        lower, upper = _parts(lu)
        bars[0] = np.tril(bar @ mT(upper), -1) + np.triu(mT(lower) @ bar)
    return [g_b if k else bars[0] for k in argnums]


def _lu_solve_jvp(tangents, out, args, kwargs):
    lu, pivots, trans = args[0], _within(args[0], kwargs["pivots"]), kwargs["trans"]
    right = tangents.get(1, 0.0)
    if 0 in tangents:
        lower, upper = _parts(lu)
        moved = (np.tril(tangents[0], -1) @ upper + lower @ np.triu(tangents[0]))[np.argsort(_order(pivots))]
        right = right - (cT(moved) if trans == 2 else mT(moved) if trans else moved) @ out
    return lu_solve((lu, pivots), right, trans=trans)


_LU_SOLVE = kept(Primitive("scipy.linalg.lu_solve", _lu_solve, _lu_solve_vjp, _lu_solve_jvp, linear=(1,), located=True))


@of_active(scipy.linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """With active factors or an active right-hand side."""
    lu, pivots = lu_and_piv
    _demand_matrix("lu_solve", lu)
    options = {"pivots": np.asarray(value_tree(pivots)), "trans": int(trans), "check_finite": check_finite}
    return run(_LU_SOLVE, (as_numbers(lu), as_numbers(b)), options)


def _lu(a, *, check_finite=True):
    order, lower, upper = scipy.linalg.lu(a, p_indices=True, check_finite=check_finite)
    return order, lower, upper


def _lu_vjp(g, out, args, kwargs, argnums):
    order, lower, upper = out
    return [_eliminated_bar(np.tril(g[1], -1), np.triu(g[2]), lower, upper)[order]]


def _lu_jvp(tangents, out, args, kwargs):
    order, lower, upper = out
    return None, *_eliminated(tangents[0][np.argsort(order)], lower, upper)


_LU = kept(Primitive("scipy.linalg.lu", _lu, _lu_vjp, _lu_jvp, keep_args=False, located=True))


@of_active(scipy.linalg.lu)
def lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """Of an active matrix."""
    _demand_matrix("lu", a)
    _demand_square("lu", a)
    order, lower, upper = run(_LU, (as_numbers(a),), {"check_finite": check_finite})
    order = np.asarray(value_tree(order))      # a = lower[order] @ upper
    if permute_l:
        return lower[order], upper
    if p_indices:
        return order, lower, upper
    return np.eye(len(order))[order], lower, upper


FUNCTIONS = {function.__name__: function
             for function in (cholesky, cho_factor, cho_solve, lu_factor, lu_solve, lu)}  # fmt: skip
