# SPDX-License-Identifier: Apache-2.0
"""Expressions with complex numbers.

`z` and `w` are vectors, `m` and `n` square matrices, `h` a Hermitian one, `x` and `a` a real vector and matrix, `e` one
with complex eigenvalues; `c` is a plain array.
"""

import inspect

import numpy as np

from tests.numpy.newer import runs


def _listed(text):
    return [part.strip() for part in text.split(";") if part.strip() and runs(part)]


ELEMENTWISE = _listed("""
    z + w ; z - w ; z * w ; z / w ; z ** w ; -z ; +z ; z + x ; x - z ; x * z ; z / x ; x / z ; x ** z ; z ** x ;
    z ** 2 ; z ** 3 ; z ** -1 ; z ** 0.5 ; z ** 2j ; 2 ** z ; 1j * x ; x * (1 + 2j) ; 2.5 / z ;
    x + 1j * x[::-1] ; c * x ; x / c ; c - z ; z * c ; z * np.arange(1, 4) ; np.exp(z) ; np.exp(1j * x) ;
    np.exp2(z) ; np.expm1(z) ; np.log(z) ; np.log2(z) ; np.log10(z) ; np.log1p(z) ; np.sqrt(z) ; np.square(z) ;
    np.reciprocal(z) ; np.sin(z) ; np.cos(z) ; np.tan(z) ; np.arcsin(z) ; np.arccos(z) ; np.arctan(z) ;
    np.sinh(z) ; np.cosh(z) ; np.tanh(z) ; np.arcsinh(z) ; np.arccosh(z) ; np.arctanh(z) ; np.abs(z) ; abs(z) ;
    np.conj(z) ; z.conj() ; z.conjugate() ; np.sign(z) ; np.angle(z) ; np.angle(z, deg=True) ; np.real(z) ;
    np.imag(z) ; z.real * z.imag ; np.float_power(z, w) ; np.maximum(z, w) ; np.minimum(z, w) ; np.fmax(z, w) ;
    np.fmin(z, w) ; np.multiply(z, w, where=[True, False, True], out=z * 1) ; m * z ; z[:, None] * w ;
    np.add.outer(z, w) ; np.rint(z) * z ; z * (z.real > 0.5) ; np.abs(z) ** 2 ; np.exp(-1j * np.outer(x, x)) ;
""")
MOVEMENTS = _listed("""
    z[::-1] ; z[1:] * z[:-1] ; z[[2, 0, 0]] ; z[z.real > 0.5] ; z[..., None] ; z[None] ; m[:, 1] ; m[1] ; m.T ;
    m[::2, ::-1] ; m.reshape(-1) ; m.ravel() ; m.flatten() ; m.reshape(1, 9) ; m.transpose(1, 0) ;
    m.swapaxes(0, 1) ; m.diagonal() ; np.diag(m) ; np.diag(z) ; np.concatenate([z, w]) ;
    np.concatenate([z, x]) ; np.concatenate([x, z]) ; np.stack([z, w], -1) ; np.hstack([x, z]) ;
    np.vstack([z, w]) ; np.roll(z, 1) ; np.flip(m, 0) ; np.tile(z, 2) ; np.repeat(z, 2) ;
    np.where(x > 0.5, z, w) ; np.where(x > 0.5, z, x) ; np.where(x > 0.5, z, 0) ; np.take(z, [1, 2]) ;
    np.moveaxis(m, 0, 1) ; np.fft.fftshift(z) ; np.tril(m) ; np.triu(m, 1) ; np.append(z, w) ; np.delete(z, 1) ;
    np.insert(z, 1, w[0]) ; np.broadcast_to(z, (2, 3)) ; np.expand_dims(z, 0) ; np.squeeze(z[None]) ;
    np.atleast_2d(z) ; np.array([z, w]) ; np.array([z[0], 1j, x[0]]) ; np.array([1j * x[0], 2]) ; np.array(z) ;
    np.asarray(z) ; np.array(x, dtype=complex) ; np.array([x[0], x[1]], dtype=complex) ; x.astype(complex) ;
    z.astype(complex) ; z.copy() ; np.copy(m) ; z.view(float) ; np.split(z, [1])[1] ; np.sort(z) ; np.max(z) ;
    np.min(m, 0) ; z.max() ; np.block([[m, m], [m, m]]) ; np.column_stack([z, w]) ;
    np.select([x > 0.5], [z], 1j) ; np.broadcast_arrays(z, m)[0] ; z[0] ; z[1].real ; m[1, 2] ;
    np.full_like(z, z[0]) ; z.take([0, 1]) ; np.meshgrid(z, x)[0] ; np.meshgrid(z, x)[1] ;
    np.linalg.diagonal(m) ; np.resize(z, 5) ; np.rot90(m) ; np.where(x > 0.5, x, c) ; np.where(x > 0.5, x, 1j) ;
    np.concatenate([x, c]) ; np.stack([c, x]) ; np.hstack([x[0], 1j]) ; np.append(x, c) ; np.insert(c, 1, x[:2]) ;
    np.pad(z, 2) ; np.pad(m, ((1, 0), (0, 2)), constant_values=1j) ; np.pad(z, 2, 'reflect') ; np.pad(m, 1, 'edge') ;
    np.apply_along_axis(np.flip, 0, m) ; np.apply_along_axis(np.sum, 1, m) ;
    np.apply_along_axis(lambda row: row.real, 0, m) ; np.select([x > 0.5], [x], c) ;
    np.choose([0, 1, 0], [x, c]) ; np.block([[x], [c]]) ; np.maximum(x, c) ;
""")
REDUCTIONS = _listed("""
    np.sum(z) ; z.sum() ; m.sum(0) ; m.sum(axis=1, keepdims=True) ; np.mean(m, 1) ; m.mean() ; np.prod(z) ;
    m.prod(0) ; np.cumsum(z) ; np.cumsum(m, 1) ; np.cumprod(z) ; np.trace(m) ; m.trace() ; np.var(z) ;
    np.std(m, 0) ; m.var(1, keepdims=True) ; np.diff(z) ; np.trapezoid(z, x) ; np.trapezoid(m, dx=0.5) ;
    np.add.reduce(m, 1) ; np.multiply.reduce(m, 0) ; np.add.accumulate(z) ; np.multiply.accumulate(z) ;
    np.linalg.norm(z) ; np.linalg.norm(m) ; np.linalg.norm(m, axis=1) ; np.linalg.norm(m, 'fro') ; sum(z) ;
    np.ptp(z) ; np.average(z, weights=[1, 2, 3]) ; np.vander(z) ; np.polyval(z, w) ; np.polyval(c, z) ;
""")
PRODUCTS = _listed("""
    z @ w ; m @ z ; z @ m ; m @ n ; m @ x ; a @ z ; a @ m ; c @ m ; x @ z ; np.matmul(m, n) ; np.dot(z, w) ;
    np.dot(m, n) ; z.dot(w) ; np.vdot(z, w) ; np.vdot(m, n) ; np.vdot(x, z) ; np.vdot(z, x) ; np.vdot(c, z) ;
    np.inner(z, w) ; np.outer(z, w) ; np.outer(z, x) ; np.tensordot(m, n, 1) ; np.tensordot(m, n, ([0], [1])) ;
    np.einsum('ij,jk->ik', m, n) ; np.einsum('ij,ij', m, n) ; np.einsum('ij,j->i', a, z) ;
    np.einsum('i,i,i->', z, w, x) ; np.einsum('ii', m) ; np.kron(z, w) ; np.convolve(z, w) ; np.convolve(x, z) ;
    np.correlate(z, w, 'full') ; np.cross(z, w) ; np.linalg.matmul(m, n) ; np.linalg.vecdot(z, w) ;
    x @ np.outer(c, c) ; np.outer(c, c) @ a ; np.dot(x, c) ; np.einsum('ij,j', a, c) ; np.tensordot(a, c, 1) ;
    np.kron(x, c) ; np.vdot(x, c) ; np.average(x, weights=c) ;
    np.vecdot(m, n) ; np.matvec(m, z) ; np.vecmat(z, m) ; np.stack([m, n]) @ z ; np.stack([m, n]) @ m ;
""")
TRANSFORMS = (
    [
        f"np.fft.{name}({argument})"
        for name in ("fft", "ifft", "hfft", "irfft")
        for argument in ("z", "z, 5", "z, 2", "z, norm='ortho'", "m, axis=0", "m, 4, 0, 'forward'", "x", "a, 4, 0")
    ]
    + [
        f"np.fft.{name}({argument})"
        for name in ("rfft", "ihfft")
        for argument in ("x", "x, 5", "x, 2", "x, norm='ortho'", "a, axis=0", "a, 4, 0, 'forward'")
    ]
    + [
        f"np.fft.{name}({argument})"
        for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn")
        for argument in (
            "m",
            "m, (4, 2), (0, 1)",
            "m, norm='ortho'",
            "m, axes=(1, 0)",
            "a",
            "np.stack([m, n]), axes=(0, 2), s=(2, 3)",
        )
    ]
    + [
        f"np.fft.{name}({argument})"
        for name in ("rfft2", "rfftn")
        for argument in ("a", "a, (4, 2), (0, 1)", "a, norm='forward'", "a, axes=(1, 0)")
    ]
)
LINEAR_ALGEBRA = _listed("""
    np.linalg.solve(m, z) ; np.linalg.solve(m, n) ; np.linalg.solve(m, x) ; np.linalg.solve(a, z) ;
    np.linalg.solve(m, a) ; np.linalg.inv(m) ; np.linalg.det(m) ; np.linalg.matrix_power(m, 3) ;
    np.linalg.matrix_power(m, -2) ; np.linalg.inv(np.stack([m, n])) ; np.linalg.trace(m) ;
    np.linalg.solve(np.diag(c), x) ; np.linalg.multi_dot([m, n, m]) ; np.linalg.multi_dot([z, m, n, w]) ;
    np.linalg.multi_dot([a, m, z]) ; np.linalg.slogdet(m)[0] ; np.linalg.slogdet(m)[1] ;
    np.linalg.slogdet(np.stack([m, n])).sign ; np.linalg.slogdet(m).sign * z ; np.linalg.cholesky(h) ;
    np.linalg.cholesky(h, upper=True) ; np.linalg.cholesky(np.stack([h, h @ h])) ; np.linalg.pinv(m) ;
    np.linalg.pinv(m[:2]) ; np.linalg.pinv(m[:, :2]) ; np.linalg.pinv(h, hermitian=True) ;
    np.linalg.pinv(np.stack([m, n])) ; np.linalg.lstsq(m[:, :2], z)[0] ; np.linalg.lstsq(m[:, :2], n)[0] ;
    np.linalg.lstsq(m[:, :2], z)[1] ; np.linalg.lstsq(m[:2], z[:2])[0] ; np.linalg.lstsq(m[:, :2], x)[0] ;
    np.linalg.lstsq(a[:, :2], z)[0] ; np.linalg.lstsq(m[:, :2], z)[3] ; np.linalg.norm(m, 2) ;
    np.linalg.norm(m, 'nuc') ; np.linalg.norm(m, 1) ; np.linalg.norm(m, np.inf) ; np.linalg.norm(z, 1) ;
    np.linalg.norm(z, 3) ; np.linalg.norm(z, np.inf) ; np.linalg.norm(m, -2) ; np.linalg.norm(m, axis=(0, 1)) ;
    np.linalg.norm(m, 2, axis=1, keepdims=True) ; np.linalg.norm(z, 0) ; np.linalg.matrix_norm(m, ord=2) ;
    np.linalg.vector_norm(m, ord=3, axis=1) ; np.linalg.norm(np.stack([m, n]), 'nuc', (1, 2)) ;
    np.linalg.cond(m) ; np.linalg.cond(m, -2) ;
""")
# Of vectors that are right with any phase, what depends on none.
DECOMPOSITIONS = _listed("""
    np.linalg.eigvals(m) ; np.linalg.eig(m)[0] ; np.abs(np.linalg.eig(m)[1]) ; np.linalg.eig(m).eigenvalues ;
    np.linalg.eigvals(np.stack([m, n])) ; turned(np.linalg.eig(m)[1]) ; np.linalg.eigvals(e) ;
    np.linalg.eig(e)[0] ; np.abs(np.linalg.eig(e)[1]) ; turned(np.linalg.eig(e)[1]) ; np.linalg.eigvals(e)[0].imag ;
    np.linalg.eigvals(np.stack([e, e @ e])) ; np.linalg.eigvals([[x[0], -1.0], [1.0, x[1]]]) ;
    np.linalg.eigh(m)[0] ; np.abs(np.linalg.eigh(m)[1]) ; turned(np.linalg.eigh(m)[1]) ;
    np.linalg.eigh(m, 'U').eigenvalues ; np.linalg.eigvalsh(m) ; np.linalg.eigvalsh(m, 'U') ;
    np.abs(np.linalg.eigh(np.stack([m, n]))[1]) ; np.linalg.eigvalsh(np.stack([m, n])) ;
    np.linalg.svd(m)[1] ; np.abs(np.linalg.svd(m)[0]) ; polar(m) ; polar(m[:2]) ; polar(m[:, :2]) ;
    np.linalg.svd(m[:2], full_matrices=False)[1] ; np.linalg.svd(m, compute_uv=False) ; np.linalg.svdvals(m) ;
    polar(h - 3.0 * np.eye(3), hermitian=True) ; np.linalg.svd(h, hermitian=True, compute_uv=False) ;
    np.linalg.svd(np.stack([m, n])).S ; np.linalg.qr(m)[0] ; np.linalg.qr(m)[1] ; np.linalg.qr(m[:2])[1] ;
    np.linalg.qr(m[:2])[0] ; np.linalg.qr(m[:, :2])[0] ; np.linalg.qr(m, 'r') ; np.linalg.qr(m).R ;
    np.linalg.qr(np.stack([m, n]))[0] ;
""")
# What NumPy has written in Python, and functions of functions.
COMPOSED = _listed("""
    np.roots(z) ; np.roots([1.0, x[0], 5.0]) ; np.roots(np.append(w, 0.0)) ; np.poly(z) ; np.poly(m) ;
    np.poly([z[0], z[0].conj()]) ; np.polyadd(z, w[:2]) ; np.polysub(x, z) ; np.polymul(z, w) ; np.polymul(x, z) ;
    np.polydiv(z, w[:2])[0] ; np.polydiv(np.append(z, w), z)[1] ; np.polydiv(z[:2], w)[1] ; np.polyder(z) ;
    np.polyder(np.append(z, w), 2) ; np.polyint(z) ; np.polyint(z, 2, [1j, 2]) ; np.polyint(z, 2, w[0]) ;
    np.polyfit(np.arange(3), z, 1) ; np.polyfit(np.arange(3), m, 1) ; np.pad(z, 2) ;
    np.pad(m, ((1, 0), (2, 1)), 'reflect') ; np.pad(z, 2, constant_values=w[0]) ; np.pad(z, 2, 'mean') ;
    np.pad(m, 1, 'maximum') ; np.pad(z, 3, 'linear_ramp', end_values=1j) ;
    np.pad(z, 1, 'symmetric', reflect_type='odd') ; np.gradient(z) ; np.gradient(m)[1] ;
    np.gradient(z, x.cumsum(), edge_order=2) ; np.linspace(z[0], w[0], 4) ;
    np.linspace(z, 1j, 3, endpoint=False, axis=1) ; np.linspace(z[0], 2, 3, retstep=True)[1] ;
    np.logspace(z[0], w[0], 3) ; np.geomspace(z[0], w[0], 3) ; np.interp([0.5, 1.2, 7], [0, 1, 2], z) ;
    np.interp(x + 0.5, [0, 1, 2], z) ; np.interp(0.7, [0.0, 1.0], z[:2]) ;
    np.interp([0.1, 0.4], x[:1] + [0, 1], z[:2]) ; np.cov(z, w) ; np.cov(m, rowvar=False) ; np.cov(z) ;
    np.cov(x, z, ddof=0) ; np.corrcoef(m) ; np.corrcoef(z, w) ; np.median(m, 0) ; np.median(z) ;
    np.median(m[:2], axis=(0, 1), keepdims=True) ; np.nansum(hole(m), 0) ; np.nanmean(hole(m), 1) ;
    np.nanprod(hole(m)) ; np.nancumsum(hole(z)) ; np.nancumprod(hole(z)) ; np.nanvar(hole(m), 0) ;
    np.nanstd(hole(z), ddof=1) ; np.nanvar(hole(m), keepdims=True) ; np.nanmax(hole(m), 0) ; np.nanmin(hole(z)) ;
    np.nan_to_num(hole(z), nan=0.5) ; np.clip(z, 0.5, 0.7 + 0.1j) ; np.clip(z, w, None) ; z.clip(max=0.6) ;
    np.partition(z, 1) ; np.unique(np.append(z, z[:1])) ; np.sinc(z) ; np.trim_zeros(np.append(z, 0)) ;
    np.sort_complex(x) ; np.sort_complex(a) ; np.sort_complex(m) ; z.round(1) * z ;
    np.histogram([0.1, 0.6, 0.7], 2, weights=z)[0] ; np.add.reduceat(z, [0, 2]) ; np.add.reduceat(m, [0, 1], axis=1) ;
    np.multiply.reduceat(z, [0, 2]) ; np.require(z, requirements='C') ; np.require(m.T, requirements=['F', 'O']) ;
    np.piecewise(z, [z.real > 0.5, z.real > 0.4], [lambda q: q * q, 2j, lambda q: -q]) ;
    np.vectorize(lambda q: q * q)(z) ; np.apply_along_axis(lambda r: r * r[0], 0, m) ;
    np.apply_along_axis(np.sum, 1, m) ; np.apply_over_axes(np.sum, m, [0, 1]) ; np.emath.sqrt(x - 1) ;
    np.emath.sqrt(z) ; np.emath.log(-x) ; np.emath.log2(-x) ; np.emath.log10(-x[0]) ; np.emath.logn(2, -x) ;
    np.emath.power(-x, 0.4) ; np.emath.arccos(x * 4) ; np.emath.arcsin(-x * 4) ; np.emath.arctanh(x * 4) ;
    filled(np.put_along_axis, m, np.array([[0], [2], [1]]), z[:, None], 1) ; filled(np.put, m, [0, 4, -1], w) ;
    filled(np.putmask, m, m.real > 0.5, z) ; filled(np.place, m, m.real > 0.5, z[:2]) ; filled(np.put, z, [0], x[0]) ;
    filled(np.add.at, z, [0, 2, 0], w) ; filled(np.subtract.at, m, ([0, 0], [1, 1]), z[:2]) ;
    filled(np.add.at, m, [2, 2], x) ; filled(np.multiply.at, z, [0, 0, 1], w) ; filled(np.negative.at, z, [0, 0, 1]) ;
    filled(np.exp.at, m, ([0, 0], [1, 1])) ; filled(np.divide.at, m, [1, 1], x) ; filled(np.power.at, z, [2, 2], 2) ;
    np.broadcast_to(z[0], 3) ; np.broadcast_to(z[0], (2, 3)) ; np.add(z, z[::-1], order='F') ;
    np.multiply(m.T, n, order='A', casting='same_kind') ; np.exp(m, order='F', where=m.real > 0.5, out=m * 0) ;
    np.polyfit(z, w, 1) ; np.polyfit(z, m, 1) ; np.polyfit(z, x, 1) ; np.polyfit(z, w, 1, w=[1.0, 2.0, 0.5]) ;
    np.clip(z, min=None) + z ; np.sort(m.T).ravel('K') ; np.partition(m.T, 1).ravel('K') ;
    np.nan_to_num(m.T).ravel('K') ;
    np.polydiv(np.array([0.0, 1.0]), z)[1] + z[0] ; np.polysub(m, n) ; np.max(z, axis=0) ;
    m.compress([1, 0, 1], axis=0) ;
    np.nanvar(hole(m), correction=1) ; np.cumsum(z[0]) ; np.subtract.accumulate(z, axis=None) ;
    np.polynomial.legendre.legdiv(z, w[:2])[0] ; np.polynomial.hermite.hermdiv(z, w[:2])[0] ;
    np.linspace(x[0], 1j, 3) ; np.linspace(2j, x[0], 3, endpoint=False) ; np.linspace(x[0], 1.0, 3, dtype=complex) ;
    np.logspace(x[0], 1j, 3) ; np.clip(c, x, x + 1) ; np.r_[x, c] ; np.c_[x, c] ; np.r_[z, x[0], 1j] ;
    filled(flatten, m, x) ; np.apply_along_axis(lambda r: r * 1j, 0, a) ;
    np.piecewise(x + 0j, [x > 0.7], [lambda q: q * 1j, 0]) ;
    np.roots(z * x) ; np.polymul(x, c) ; np.cov(x, c) ; np.interp(x, [0.0, 1.0, 2.0], c) ;
    np.vectorize(lambda q, r: q * r)(x, c) ;
    np.polyval([1.0, x[0], x[1]], 1j * x[2]) ; np.polyval(x, 1j * x[2]) ; np.poly1d(x)(1j * x[2]) ;
    np.polyval(x, z[0]) ;
""")
if np.isrealobj(np.linalg.cond(np.eye(2) + 0j, 1)):  # complex up to NumPy 2.2, and refused
    LINEAR_ALGEBRA += ["np.linalg.cond(m, 1)"]
if "descending" in inspect.signature(np.sort).parameters:  # from NumPy 2.5 on
    COMPOSED += _listed("np.sort(z, descending=True) ; np.sort(m, None, descending=True)")
# Real numbers and arrays before complex ones, and real ones of which a complex dtype is asked for.
MIXED = _listed("""
    np.where(True, x[0], z[0]) ; np.where(x > 0.5, x[0], z[0]) ; np.maximum(x[1] + 1, z[0]) ; np.minimum(x[0] - 1, z) ;
    np.stack([x[0], z[0]]) ; np.hstack([x[0], z[0], 1]) ; np.select([True, False], [x[0], z[0]]) ;
    np.choose([1, 0], [x[0], z[0]]) ; np.append(x[0], z) ; np.block([x[0], z]) ; np.broadcast_arrays(x[0], z)[0] ;
    np.atleast_1d(x[0], z[0])[0] ; np.fmin(x, z[1]) ; np.power(x, z[1]) ; np.subtract(x, z[1]) ;
    np.float_power(x, z[0]) ; np.polyval(x, z[0]) ; np.concatenate((x, [1, 2]), dtype=complex) ;
    np.stack([x, x[::-1]], dtype=complex) ; np.vstack([x, x * x], dtype=complex) ; np.full_like(x, x[0], complex) ;
    np.full(3, x[0], dtype=complex) ; np.arange(x[0], 4.0, dtype=complex) ; np.trace(a, dtype=complex) ;
    np.sum(a, 0, dtype=complex) ; np.cumprod(x, dtype=complex) ; np.pad(z, 2, 'empty')[2:-2] ;
    np.average(z, weights=[1, 2, 3], returned=True)[1] * z[0] ; np.average(z, weights=w, returned=True)[1] ;
    np.average(z, weights=w, returned=True)[0] ; np.einsum('i->', z, dtype=complex, casting='unsafe') ;
    np.multiply.outer(z, 2.0) ; np.multiply.outer(1j, z) ;
""")
ALL = {
    "elementwise": ELEMENTWISE, "movements": MOVEMENTS, "reductions": REDUCTIONS, "products": PRODUCTS,
    "transforms": TRANSFORMS, "linear algebra": LINEAR_ALGEBRA,
    "decompositions": DECOMPOSITIONS, "composed": COMPOSED, "mixed": MIXED,
}  # fmt: skip
EXPRESSIONS = [text for texts in ALL.values() for text in texts]
