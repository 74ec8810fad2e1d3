# SPDX-License-Identifier: Apache-2.0
"""Functions of polynomial coefficients, highest power first, and least-squares fits.

Leading coefficients that NumPy strips have no place in the result: `polymul` sees none with a derivative, and the
derivative of a remainder without them is refused. So are the statistics of a fit. Complex roots are eigenvalues
(`codipy.complexes.composed`).
"""

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.rules.building import dense, guarded, primitive, unbroadcast
from codipy.numpy.rules.patterns import same

__all__ = ["PRIMITIVES"]


def _real_roots(p):
    found = np.roots(p)
    if np.iscomplexobj(found):
        raise ActiveError("roots: the roots that were recorded are real, and some are complex now: record again")
    return found


def _fit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if full or cov:
        raise ActiveError("polyfit: no derivative is known of what full=True or cov=True return")
    return np.polyfit(x, y, deg, rcond, w=w)


def _powers(x, n):
    """Powers of the elements of `x`, highest first: one row for each element."""
    return np.vander(np.reshape(x, -1), n)


def _slope(p, x):
    return np.polyval(np.polyder(p), x) if p.size > 1 else np.zeros(np.shape(x))


def _polyval_vjp_p(g, out, p, x):
    return np.matmul(np.reshape(g, -1), _powers(x, p.size))


def _polyval_vjp_x(g, out, p, x):
    return guarded(g, _slope(p, x))


def _polyval_jvp_p(t, out, p, x):
    return np.polyval(t, x) if p.size else np.zeros(np.shape(out))


def _falling(n, m):
    """The factors that `m` derivatives bring to the coefficients of `n` powers, highest first."""
    power = np.arange(n - 1, -1, -1.0)
    factor = np.ones(n)
    for k in range(m):
        factor = factor * (power - k)
    return factor


def _polyder_vjp(g, out, p, m=1):
    kept = max(p.size - m, 0)
    return np.concatenate((g * _falling(p.size, m)[:kept], np.zeros(p.size - kept)))


def _polyint_vjp_p(g, out, p, m=1, k=None):
    return g[: p.size] / _falling(p.size + m, m)[: p.size]


def _polyint_jvp_p(t, out, p, m=1, k=None):
    return np.polyint(t, m)


def _constants(m):
    """The factor each constant of integration has in the end: the first one is integrated `m - 1` times."""
    return np.array([1.0 / np.prod(np.arange(1.0, m - k)) for k in range(m)])


def _polyint_vjp_k(g, out, p, m=1, k=None):
    found = g[p.size :] * _constants(m)
    if k.size == 1:
        return np.reshape(np.sum(found), k.shape)
    return np.concatenate((found, np.zeros(k.size - m)))


def _polyint_jvp_k(t, out, p, m=1, k=None):
    return np.concatenate((np.zeros(p.size), np.broadcast_to(np.reshape(t, -1)[:m], m) * _constants(m)))


def _adjugates(a, out):
    """The matrices B[k] with ``dc[k+1] = -trace(B[k] dA)`` for the characteristic polynomial c (Faddeev, LeVerrier)."""
    n = a.shape[0]
    matrix = np.eye(n)
    for k in range(n):
        yield k + 1, matrix
        matrix = np.matmul(a, matrix) + out[k + 1] * np.eye(n)


def _from_roots(roots):
    """The coefficients, by operations that also run on active roots, for which NumPy does not ask our door."""
    found = np.ones(1)
    for k in range(roots.size):
        found = np.concatenate((found, np.zeros(1))) - roots[k : k + 1] * np.concatenate((np.zeros(1), found))
    return found


def _poly_vjp(g, out, seq):
    if seq.ndim == 2:
        return -sum(g[k] * matrix.T for k, matrix in _adjugates(seq, out))
    if seq.size == 0:
        return np.zeros(seq.shape)
    return np.concatenate([-np.sum(g[1:] * _from_roots(np.delete(seq, i)), keepdims=True) for i in range(seq.size)])


def _poly_jvp(t, out, seq):
    if seq.ndim == 2:
        slopes = [-np.reshape(np.sum(matrix.T * t, keepdims=True), -1) for _, matrix in _adjugates(seq, out)]
        return np.concatenate([np.zeros(1), *slopes])
    slopes = (-t[i] * _from_roots(np.delete(seq, i)) for i in range(seq.size))
    return sum((np.concatenate((np.zeros(1), slope)) for slope in slopes), np.zeros(np.shape(out)))


def _real_poly(seq):
    found = np.poly(seq)
    if np.iscomplexobj(found):
        raise ActiveError("poly: no derivative is known of complex coefficients")
    return found


def _sum_rules(sign):
    """Of `a + sign * b`: the shorter one has zeros before it, and rows of several polynomials are broadcast."""

    def reverse(g, a, length):
        own = a.shape[0] if a.ndim else 1
        found = unbroadcast(g, a.shape if a.ndim > 1 else (length,))
        return np.reshape(found[length - own:], a.shape)

    def forward(t, out, length):
        if np.ndim(t) < 2:
            t = np.concatenate((np.zeros(length - np.size(t)), np.reshape(t, -1)))
        return t if np.shape(t) == np.shape(out) else np.broadcast_to(t, np.shape(out))

    def length(a, b):
        return max(x.shape[0] if x.ndim else 1 for x in (a, b))

    return {
        0: lambda g, out, a, b: reverse(g, a, length(a, b)),
        1: lambda g, out, a, b: reverse(sign * g, b, length(a, b)),
    }, {
        0: lambda t, out, a, b: forward(t, out, length(a, b)),
        1: lambda t, out, a, b: sign * forward(t, out, length(a, b)),
    }


def _leading(a):
    """How many leading zeros `numpy.poly1d` strips of the coefficients; it leaves one coefficient."""
    nonzero = np.flatnonzero(np.reshape(a, -1))
    return int(nonzero[0]) if nonzero.size else max(a.size - 1, 0)


def _product_vjp(g, a, b):
    """The cotangent of `a` in the product ``a b`` of stripped polynomials."""
    first, other = _leading(a), np.reshape(b, -1)[_leading(b) :]
    return np.reshape(np.concatenate((np.zeros(first), np.correlate(g, other, "valid"))), a.shape)


def _product_jvp(t, a, b):
    return np.convolve(np.reshape(t, -1)[_leading(a) :], np.reshape(b, -1)[_leading(b) :])


def _division(u, v, quotient):
    """The matrices of the quotient's share in the dividend: the head is solved for, the tail leaves the remainder."""
    n = quotient.size
    matrix = np.stack([np.concatenate((np.zeros(k), v, np.zeros(u.size - v.size - k))) for k in range(n)], axis=1)
    return matrix[:n], matrix[n:]


def _short(u, v):
    return u.size < v.size


def _tail(g, size):
    """The last `size` elements, with zeros before them where there are fewer: NumPy strips remainders."""
    return g[g.size - size :] if g.size >= size else np.concatenate((np.zeros(size - g.size), g))


def _refuse_stripped(lost, remainder, u, v):
    """Refuse the derivative of a remainder where NumPy has stripped more of it than division makes zero."""
    size = u.size if _short(u, v) else max(v.size - 1, 1)
    if remainder.size < size and np.any(lost):
        raise ActiveError(
            "polydiv: a coefficient of the remainder is zero, NumPy leaves it out, and its derivative would be lost"
        )


def _polydiv_dividend(g, out, u, v):
    quotient, remainder = out
    g_quotient, g_remainder = g
    _refuse_stripped(g_remainder, remainder, u, v)
    if _short(u, v):
        return np.reshape(_tail(g_remainder, u.size), u.shape)
    head, tail = _division(u, v, quotient)
    behind = _tail(g_remainder, u.size - quotient.size)
    return np.concatenate((np.linalg.solve(head.T, g_quotient - np.matmul(tail.T, behind)), behind))


def _polydiv_divisor(g, out, u, v):
    if _short(u, v):
        return np.zeros(v.shape)
    return -np.reshape(np.correlate(_polydiv_dividend(g, out, u, v), out[0], "valid"), v.shape)


def _polydiv_along(t, out, u, v):
    """Divide a change of the dividend."""
    quotient, remainder = out
    if _short(u, v):
        _refuse_stripped(t[: t.size - remainder.size], remainder, u, v)
        return np.zeros(quotient.shape), _tail(t, remainder.size)
    head, tail = _division(u, v, quotient)
    change = np.linalg.solve(head, t[: quotient.size])
    rest = t[quotient.size :] - np.matmul(tail, change)
    _refuse_stripped(rest[: rest.size - remainder.size], remainder, u, v)
    return change, _tail(rest, remainder.size)


def _polydiv_jvp_divisor(t, out, u, v):
    if _short(u, v):
        return np.zeros(out[0].shape), np.zeros(out[1].shape)
    return _polydiv_along(-np.convolve(out[0], np.reshape(t, -1)), out, u, v)


def _root_slopes(out, p):
    """The change of each root with each coefficient: one row for each root."""
    slope = np.polyval(np.polyder(p), out)
    return -_powers(out, p.size) / slope[:, None]


def _roots_vjp(g, out, p):
    return np.sum(guarded(g[:, None], _root_slopes(out, p)), axis=0) if out.size else np.zeros(p.shape)


def _roots_jvp(t, out, p):
    return np.matmul(_root_slopes(out, p), t) if out.size else np.zeros(out.shape)


def _vander_slope(x, out, increasing):
    """Derivatives of the columns of the Vandermonde matrix."""
    n = out.shape[1]
    if n == 0:
        return np.zeros(out.shape)
    columns = np.vander(x, max(n - 1, 0), increasing=True) * np.arange(1.0, n)
    slope = np.concatenate((np.zeros((x.size, 1)), columns), axis=1)
    return slope if increasing else np.flip(slope, 1)


def _vander_vjp(g, out, x, N=None, increasing=False):
    return np.sum(guarded(g, _vander_slope(x, out, increasing)), axis=1)


def _vander_jvp(t, out, x, N=None, increasing=False):
    return guarded(t[:, None], _vander_slope(x, out, increasing))


class _Fit:
    """The weighted least-squares problem behind polyfit: ``min |w (V c - y)|``, solved again by an orthogonal basis.

    With conjugate transposes, as of complex abscissas the fit has no complex derivative.
    """

    def __init__(self, out, x, y, deg, w, rcond, is_of_values=False):
        x, y, w = dense(x), dense(y), dense(w)
        self.c = out if out.ndim == 2 else out[:, None]
        self.y = y if y.ndim == 2 else y[:, None]
        self.w = np.ones(x.shape) if w is None else w
        self.powers = np.vander(x, int(deg) + 1)
        self.slopes = _vander_slope(x, self.powers, False)
        a = self.powers * self.w[:, None]
        self.scale = np.sqrt(np.sum((a * np.conjugate(a)).real, axis=0))
        self.matrix = a
        self.inverse = self._deficient_inverse(x, rcond)
        if self.inverse is not None:
            if not (is_of_values and type(self.inverse) is np.ndarray):
                raise ActiveError("polyfit: these points do not determine a polynomial of this degree, so that it has "
                                  "no derivative by x and w: take a lower deg, or codipy.value(x)")  # fmt: skip
            return
        self.triangle = np.linalg.qr(a / self.scale, "r")
        self.rest = (self.y - np.matmul(self.powers, self.c)) * self.w[:, None]

    def _deficient_inverse(self, x, rcond):
        """What the values are multiplied by where the points do not determine the polynomial; None where they do."""
        columns, rows = self.matrix.shape[1], len(self.matrix)
        matrix, scale, x = (getattr(a, "value", a) for a in (self.matrix, self.scale, x))
        scaled = matrix / np.where(scale == 0, 1, scale)
        rcond = rows * np.finfo((np.asarray(x) + 0.0).dtype).eps if rcond is None else rcond  # as NumPy's
        sizes = np.linalg.svd(scaled, compute_uv=False)
        if rows >= columns and np.all(sizes > rcond * sizes[0]):
            return None
        is_active = type(self.matrix) is not np.ndarray
        return self.matrix if is_active else np.linalg.pinv(scaled, rcond) / self.scale[:, None]

    def solve(self, b):
        """Multiply by the inverse of the normal matrix."""
        inner = np.linalg.solve(np.conjugate(self.triangle).T, b / self.scale[:, None])
        return np.linalg.solve(self.triangle, inner) / self.scale[:, None]

    def reverse(self, g):
        """The cotangents of the weighted matrix and of the weighted values."""
        u = self.solve(g if g.ndim == 2 else g[:, None])
        b = np.matmul(self.matrix, u)
        return np.matmul(self.rest, np.conjugate(u).T) - np.matmul(b, np.conjugate(self.c).T), b

    def forward(self, matrix, values, shape):
        """The change of the fit with the weighted matrix and the weighted values."""
        change = np.matmul(np.conjugate(self.matrix).T, values - np.matmul(matrix, self.c))
        change = change + np.matmul(np.conjugate(matrix).T, self.rest)
        return np.reshape(self.solve(change), shape)


def _polyfit_vjp_x(g, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond)
    return np.sum(fit.reverse(g)[0] * np.conjugate(fit.slopes), axis=1) * fit.w


def _polyfit_vjp_y(g, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond, True)
    if fit.inverse is not None:
        bars = np.matmul(np.conjugate(fit.inverse).T, g if g.ndim == 2 else g[:, None])
    else:
        bars = fit.reverse(g)[1]
    return np.reshape(bars * fit.w[:, None], y.shape)


def _polyfit_vjp_w(g, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond)
    matrix, values = fit.reverse(g)
    return np.sum(matrix * np.conjugate(fit.powers), axis=1) + np.sum(values * np.conjugate(fit.y), axis=1)


def _polyfit_jvp_x(t, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond)
    return fit.forward(fit.slopes * (t * fit.w)[:, None], np.zeros(fit.y.shape), out.shape)


def _polyfit_jvp_y(t, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond, True)
    values = np.reshape(t, fit.y.shape) * fit.w[:, None]
    if fit.inverse is not None:
        return np.reshape(np.matmul(fit.inverse, values), out.shape)
    return fit.forward(np.zeros(fit.matrix.shape), values, out.shape)


def _polyfit_jvp_w(t, out, x, y, deg, rcond=None, full=False, w=None, cov=False):
    fit = _Fit(out, x, y, deg, w, rcond)
    return fit.forward(fit.powers * t[:, None], fit.y * t[:, None], out.shape)


PRIMITIVES = {
    p.name: p
    for p in (
        primitive("polyval", np.polyval, {0: _polyval_vjp_p, 1: _polyval_vjp_x},
                  {0: _polyval_jvp_p, 1: _polyval_vjp_x}, keep_out=False, pattern=same(1), linear=(0,)),
        primitive("polyder", np.polyder, {0: _polyder_vjp}, {0: lambda t, out, p, m=1: np.polyder(t, m)},
                  keep_args=False, keep_out=False),
        primitive("polyint", np.polyint, {0: _polyint_vjp_p, 2: _polyint_vjp_k},
                  {0: _polyint_jvp_p, 2: _polyint_jvp_k}, keep_args=False, keep_out=False),
        primitive("poly", _real_poly, {0: _poly_vjp}, {0: _poly_jvp}),
        primitive("polyadd", np.polyadd, *_sum_rules(1.0), keep_args=False, keep_out=False),
        primitive("polysub", np.polysub, *_sum_rules(-1.0), keep_args=False, keep_out=False),
        primitive("polymul", np.polymul,
                  {0: lambda g, out, a, b: _product_vjp(g, a, b), 1: lambda g, out, a, b: _product_vjp(g, b, a)},
                  {0: lambda t, out, a, b: _product_jvp(t, a, b), 1: lambda t, out, a, b: _product_jvp(t, b, a)},
                  keep_out=False),
        primitive("polydiv", np.polydiv, {0: _polydiv_dividend, 1: _polydiv_divisor},
                  {0: _polydiv_along, 1: _polydiv_jvp_divisor}),
        primitive("roots", _real_roots, {0: _roots_vjp}, {0: _roots_jvp}),
        primitive("vander", np.vander, {0: _vander_vjp}, {0: _vander_jvp}),
        primitive("polyfit", _fit, {0: _polyfit_vjp_x, 1: _polyfit_vjp_y, 5: _polyfit_vjp_w},
                  {0: _polyfit_jvp_x, 1: _polyfit_jvp_y, 5: _polyfit_jvp_w}),
    )
}  # fmt: skip
