# SPDX-License-Identifier: Apache-2.0
"""Rules of numpy.linalg for solving, inverses, determinants, powers, least squares, cross products and traces."""

import math

import numpy as np

from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import dense, is_plain, unbroadcast
from codipy.numpy.rules.factors import solve, solve_columns
from codipy.numpy.rules.matrices import CANCELLED, conj, cT, folded, mirrored, mT, real, single
from codipy.numpy.rules.patterns import matrices, solved
from codipy.numpy.rules.phases import vectors
from codipy.numpy.rules.products import PRIMITIVES as PRODUCTS

__all__ = ["PRIMITIVES"]

CROSS = PRODUCTS["cross"]


# ---- solve: a @ x = b ------------------------------------------------------------------------------------------------
def _columns(b, like):
    """A right-hand side or solution as matrices; NumPy takes `like`, the right-hand side, as a vector if 1-D."""
    return b[..., None] if np.ndim(like) == 1 else b


def _solve_vjp(g, out, args, kwargs, argnums):
    a, b = args
    g_b = solve_columns(a, _columns(g, b), transposed=True)
    bars = []
    for i in argnums:
        if i == 0:
            row = mT(_columns(out, b))
            # One column each: a product of broadcast arrays is five times as fast as BLAS's of matrices.
            bars.append(unbroadcast(-g_b * row if np.shape(row)[-2] == 1 else -g_b @ row, np.shape(a)))
        else:
            bars.append(unbroadcast(g_b[..., 0] if np.ndim(b) == 1 else g_b, np.shape(b)))
    return bars


def _solve_jvp(tangents, out, args, kwargs):
    a, b = args
    right = 0.0
    if 0 in tangents:
        right = right - tangents[0] @ _columns(out, b)
    if 1 in tangents:
        right = right + _columns(tangents[1], b)
    lead = np.shape(out)[:-1] if np.ndim(b) == 1 else np.shape(out)[:-2]
    x = solve_columns(a, right if right.ndim == len(lead) + 2 else np.broadcast_to(right, lead + right.shape[-2:]))
    return x[..., 0] if np.ndim(b) == 1 else x


def _solve_vjp_batch(g, out, args, kwargs, argnums):
    """All directions are columns of one right-hand side; None for stacks of matrices."""
    a, b = args
    if np.ndim(a) != 2 or not 1 <= np.ndim(b) <= 2:
        return None
    g_b = _solve_directions(a, g, transposed=True)
    return [g_b if k else -g_b[:, :, None] * out if np.ndim(b) == 1 else -g_b @ out.T for k in argnums]


def _solve_jvp_batch(tangents, out, args, kwargs):
    a, b = args
    if np.ndim(a) != 2 or not 1 <= np.ndim(b) <= 2:
        return None
    right = 0.0
    if 0 in tangents:
        right = right - tangents[0] @ out
    if 1 in tangents:
        right = right + tangents[1]
    return _solve_directions(a, right)


def _solve_directions(a, b, transposed=False):
    """Solve for directions, the first axis of `b`, of vectors or of matrices."""
    columns = np.moveaxis(b, 0, -1)
    x = solve_columns(a, np.reshape(columns, (np.shape(columns)[0], -1)), transposed)
    return np.moveaxis(np.reshape(x, columns.shape), -1, 0)


# ---- tensorsolve, tensorinv: solve and inv of a reshaped array -------------------------------------------------------
def _moved(a, b, axes):
    """`a` with `axes` last, as tensorsolve orders it, and the order itself."""
    order = list(range(np.ndim(a)))
    for k in axes or ():
        order.remove(k)
        order.append(k)
    return np.transpose(a, order), order


def _square(a, b, axes):
    moved, order = _moved(a, b, axes)
    return np.reshape(moved, (np.size(b), np.size(b))), np.shape(moved), order


def _tensorsolve_vjp(g, out, args, kwargs, argnums):
    a, b, axes = _tensorsolve_call(*args, **kwargs)
    square, shape, order = _square(a, b, axes)
    g_b = solve_columns(square, np.reshape(g, (-1, 1)), transposed=True)
    bars = []
    for i in argnums:
        if i == 0:
            moved = np.reshape(-g_b * np.reshape(out, (1, -1)), shape)
            bars.append(np.transpose(moved, np.argsort(order)))
        else:
            bars.append(np.reshape(g_b, np.shape(b)))
    return bars


def _tensorsolve_jvp(tangents, out, args, kwargs):
    a, b, axes = _tensorsolve_call(*args, **kwargs)
    square, _, order = _square(a, b, axes)
    right = np.reshape(tangents[1], (-1, 1)) if 1 in tangents else 0.0
    if 0 in tangents:
        right = right - np.reshape(np.transpose(tangents[0], order), np.shape(square)) @ np.reshape(out, (-1, 1))
    return np.reshape(solve_columns(square, right), np.shape(out))


def _tensorsolve_call(a, b, axes=None):
    return a, b, axes


def _as_matrix(array, ind):
    """An array as the matrix from its axes after `ind` to those before."""
    return np.reshape(array, (math.prod(np.shape(array)[:ind]), -1))


def _tensorinv(t, out, a, ind=2):
    # out is indexed (last axes of a, first axes of a)
    y = _as_matrix(out, np.ndim(a) - ind)
    return np.reshape(-y @ _as_matrix(t, ind) @ y, np.shape(out))


def _tensorinv_reverse(g, out, a, ind=2):
    y = mT(_as_matrix(out, np.ndim(a) - ind))
    return np.reshape(-y @ _as_matrix(g, np.ndim(a) - ind) @ y, np.shape(a))


# ---- inv, det, slogdet, powers ---------------------------------------------------------------------------------------
def _inv(t, out, a):
    return -out @ t @ out


def _inv_reverse(g, out, a):
    return -mT(out) @ g @ mT(out)


def _cofactors(a, d):
    """The gradient of the determinant: exact for singular matrices too, where det times the inverse says nothing."""
    singular = d == 0
    safe = np.where(singular[..., None, None], np.eye(np.shape(a)[-1]), a)
    regular = d[..., None, None] * mT(np.linalg.inv(safe))
    if not np.any(singular):
        return regular
    u, s, vt = np.linalg.svd(a)
    others = np.where(np.eye(np.shape(a)[-1], dtype=bool), 1.0, s[..., None, :])  # row i: all singular values but s_i
    weights = np.prod(others, axis=-1) * (np.linalg.det(u) * np.linalg.det(vt))[..., None]
    return np.where(singular[..., None, None], (u * weights[..., None, :]) @ vt, regular)


def _det(t, out, a):
    return np.sum(_cofactors(a, np.reshape(out, np.shape(a)[:-2])) * t, axis=(-2, -1))


def _det_reverse(g, out, a):
    if np.ndim(a) == 2 and is_plain(g, a) and out:
        return (float(g) * float(out)) * np.linalg.inv(a).T
    return g[..., None, None] * _cofactors(a, np.reshape(out, np.shape(a)[:-2]))


def _slogdet(t, out, a):
    slope = np.sum(mT(np.linalg.inv(a)) * t, axis=(-2, -1))
    return 1j * out[0] * slope.imag if np.iscomplexobj(a) else np.zeros_like(out[0]), real(slope)


def _slogdet_reverse(g, out, a):
    """Of log |det|, and of the sign where it is complex. Matrices without cotangent may be singular."""
    g_sign, g = g
    if np.iscomplexobj(a):
        g = g + 1j * (g_sign * np.conjugate(out[0])).imag
    g = g[..., None, None]
    return g * cT(np.linalg.inv(np.where(g == 0, np.eye(np.shape(a)[-1]), a)))


def _power_slope(a, t, n):
    """The sum of a^k t a^(n-1-k), n > 0: the corner of the n-th power of [[a, t], [0, a]]."""
    m = np.shape(a)[-1]
    top = np.concatenate([a, t], axis=-1)
    return np.linalg.matrix_power(np.concatenate([top, np.concatenate([a * 0, a], axis=-1)], axis=-2), n)[..., :m, m:]


def _matrix_power(t, out, a, n):
    if n == 0:
        return np.zeros(np.shape(out))
    if n > 0:
        return _power_slope(a, t, n)
    y = np.linalg.inv(a)
    return _power_slope(y, _inv(t, y, a), -n)


def _matrix_power_reverse(g, out, a, n):
    if n == 0:
        return None
    if n > 0:
        return _power_slope(mT(a), g, n)
    y = np.linalg.inv(a)
    return _inv_reverse(_power_slope(mT(y), g, -n), y, a)


# ---- pinv, lstsq: they jump where the rank changes, which of a matrix without full rank most changes do --------------
_JUMPS = (
    "of a matrix without full rank jumps at every change of it that adds to the rank: no derivative by it; if your "
    "parameters keep the rank, differentiate forwards (codipy.jvp), where that is checked"
)


def _full_rank(rank, shape, name):
    if np.any(np.asarray(rank) < min(shape[-2:])):
        raise np.linalg.LinAlgError(f"{name} {_JUMPS}")


def _constant_rank(t, left, right, name):
    """Raise if the tangent `t` of a matrix leads out of what it spans on both sides, beyond rounding."""
    missing = [np.rint(real(np.trace(outside, axis1=-2, axis2=-1))) for outside in (left, right)]
    rounding = [np.max(np.abs(outside @ outside - outside), initial=0.0) for outside in (left, right)]  # float32's too
    size = np.max(np.abs(t), axis=(-2, -1), keepdims=True, initial=0.0)
    leads_out = np.any(np.abs(left @ t @ right) > (CANCELLED + 8.0 * sum(rounding)) * size, axis=(-2, -1))
    if np.any(leads_out & (np.minimum(*missing) > 0)):
        raise np.linalg.LinAlgError(f"{name} {_JUMPS}, and your tangent changes it")


def _pinv_projections(p, a):
    """What `a` leaves out on its left and its right: I - A P, I - P A."""
    m, n = np.shape(a)[-2:]
    return np.eye(m) - a @ p, np.eye(n) - p @ a


def _pinv(t, out, a, rcond=None, hermitian=False, *, rtol=None):
    left, right = _pinv_projections(out, mirrored(a, True) if hermitian else a)
    t = mirrored(t, True) if hermitian else t
    _constant_rank(t, left, right, "pinv")
    return -out @ t @ out + out @ cT(out) @ cT(t) @ left + right @ cT(t) @ cT(out) @ out


def _pinv_reverse(g, out, a, rcond=None, hermitian=False, *, rtol=None):
    left, right = _pinv_projections(out, mirrored(a, True) if hermitian else a)
    _full_rank(np.shape(left)[-1] - np.rint(real(np.trace(left, axis1=-2, axis2=-1))), np.shape(a), "pinv")
    pt = cT(out)
    bar = -pt @ g @ pt + left @ cT(g) @ out @ pt + pt @ out @ cT(g) @ right
    return folded(bar, True) if hermitian else bar


def _lstsq_parts(out, args):
    """The problem with matrices on both sides: solution, residual, the factors of `a` and its pseudo-inverse."""
    a, b = map(dense, args[:2])
    x, b = _columns(out[0], b), _columns(b, b)
    rank = int(out[2])
    if not is_plain(a) and rank == min(np.shape(a)):     # single vectors may have no derivative, the inverse has
        return a, x, b - a @ x, None, None, np.linalg.pinv(a)
    u, s, vt = vectors("svd", a, full_matrices=False)
    return a, x, b - a @ x, u, vt, (cT(vt[:rank]) / s[:rank]) @ cT(u[:, :rank])


def _lstsq_vjp(g, out, args, kwargs, argnums):
    a, x, r, u, vt, p = _lstsq_parts(out, args)
    g_x, g_s = _columns(g[0], args[1]), g[3]
    g_r = 2 * r * g[1] if np.size(g[1]) else 0.0 * r  # of the sums of squares, which NumPy leaves out if there is none
    g_b = cT(p) @ g_x
    bars = []
    for i in argnums:
        if i == 0:
            _full_rank(out[2], np.shape(a), "lstsq")
            normal = p @ g_b
            missed = g_x - p @ (a @ g_x)
            bar = r @ cT(normal) - g_b @ cT(x) + cT(p) @ x @ cT(missed) - g_r @ cT(x)
            if not is_plain(g_s) or np.any(g_s):
                u, _, vt = vectors("svd", a, full_matrices=False) if u is None else (u, None, vt)
                bar = bar + (u * g_s) @ vt
            bars.append(bar)
        else:
            bars.append(np.reshape(g_b + g_r, np.shape(args[1])))
    return bars


def _lstsq_jvp(tangents, out, args, kwargs):
    a, x, r, u, vt, p = _lstsq_parts(out, args)
    t_a = tangents.get(0, np.zeros(np.shape(a)))
    _constant_rank(t_a, *_pinv_projections(p, a), "lstsq")
    moved = _columns(tangents[1], args[1]) - t_a @ x if 1 in tangents else -t_a @ x
    slope = cT(t_a) @ (cT(p) @ x)
    t_x = p @ (moved + cT(p) @ (cT(t_a) @ r)) + slope - p @ (a @ slope)
    if u is None:
        u, _, vt = vectors("svd", a, full_matrices=False)
    t_squares = 2 * real(np.sum(conj(r) * moved, axis=0)) if np.size(out[1]) else np.zeros(0)
    return np.reshape(t_x, np.shape(out[0])), t_squares, None, real(np.sum(conj(u) * (t_a @ cT(vt)), axis=0))


# ---- cross, trace ----------------------------------------------------------------------------------------------------
def _cross_vjp(g, out, args, kwargs, argnums):
    return CROSS.vjp(g, out, args, {"axis": kwargs.get("axis", -1)}, argnums)


def _cross_jvp(tangents, out, args, kwargs):
    return CROSS.jvp(tangents, out, args, {"axis": kwargs.get("axis", -1)})


def _trace(t, out, a, /, *, offset=0, dtype=None):
    return np.linalg.trace(t, offset=offset)


def _trace_reverse(g, out, a, /, *, offset=0, dtype=None):
    m, n = np.shape(a)[-2:]
    return g[..., None, None] * np.eye(m, n, offset)


_LA = np.linalg
PRIMITIVES = {
    "linalg.cross": Primitive("linalg.cross", _LA.cross, _cross_vjp, _cross_jvp, keep_out=False, linear=(0, 1)),
    "linalg.det": single("linalg.det", _LA.det, _det_reverse, _det, matrices),
    "linalg.inv": single("linalg.inv", _LA.inv, _inv_reverse, _inv, matrices, keep_args=False),
    "linalg.lstsq": Primitive("linalg.lstsq", _LA.lstsq, _lstsq_vjp, _lstsq_jvp, located=True),
    "linalg.matrix_power": single(
        "linalg.matrix_power", _LA.matrix_power, _matrix_power_reverse, _matrix_power, matrices, keep_out=False
    ),
    "linalg.pinv": single("linalg.pinv", _LA.pinv, _pinv_reverse, _pinv, matrices, located=True),
    "linalg.slogdet": single("linalg.slogdet", _LA.slogdet, _slogdet_reverse, _slogdet, matrices, keep_out=False),
    "linalg.solve": Primitive("linalg.solve", solve, _solve_vjp, _solve_jvp, vjp_batch=_solve_vjp_batch,
                              jvp_batch=_solve_jvp_batch, pattern=solved, linear=(1,)),
    "linalg.tensorinv": single("linalg.tensorinv", _LA.tensorinv, _tensorinv_reverse, _tensorinv, keep_args=False),
    "linalg.tensorsolve": Primitive("linalg.tensorsolve", _LA.tensorsolve, _tensorsolve_vjp, _tensorsolve_jvp),
    "linalg.trace": single(
        "linalg.trace", _LA.trace, _trace_reverse, _trace, matrices, keep_args=False, keep_out=False
    ),
}
