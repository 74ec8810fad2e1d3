# SPDX-License-Identifier: Apache-2.0
"""Products of vectors, matrices and tensors: every rule is again a product of the same family.

The rules multiply whole arrays: an infinite element of one operand meets every cotangent of its row.
"""

import ctypes
from dataclasses import replace

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.names import of_name
from codipy.numpy.rules import patterns
from codipy.numpy.rules.building import axes_of, dense, is_plain, primitive, unbroadcast

__all__ = ["PRIMITIVES"]


def _swapped(a):
    return np.swapaxes(a, -1, -2)


def _bilinear(name, forward, pattern, left, right):
    """A product of two arguments: tangents by the product itself, cotangents by the two rules given."""
    tangents = {
        0: lambda t, out, a, b, *args, **kwargs: forward(t, b, *args, **kwargs),
        1: lambda t, out, a, b, *args, **kwargs: forward(a, t, *args, **kwargs),
    }
    return primitive(name, forward, {0: left, 1: right}, tangents, keep_out=False, pattern=pattern, linear=(0, 1))


def _no_axes(name, kwargs):
    if kwargs.get("axes") is not None:
        raise ActiveError(f"{name}: no derivative is known with axes=; move the axes first")


def _as_matrices(g, a, b):
    """Vectors as matrices of one row or column, and the cotangent of their product to match."""
    if a.ndim == 1:
        g = g[..., None] if b.ndim == 1 else np.expand_dims(g, -2)
        a = a[None, :]
    if b.ndim == 1:
        g = g[..., None]
        b = b[:, None]
    return g, a, b


def _laid_out(x, y, like):
    """``x @ y``, laid out as the matrices are to which it is added: rows that meet columns take seven times longer."""
    if is_plain(x, y, like) and like.ndim > 1 and abs(like.strides[-1]) > abs(like.strides[-2]):
        return _swapped(np.matmul(_swapped(y), _swapped(x)))
    return np.matmul(x, y)


def _matmul_left(g, out, a, b, **kwargs):
    _no_axes("matmul", kwargs)
    g, _, right = _as_matrices(g, a, b)
    return _summed(_laid_out(g, _swapped(right), a), a.shape)


def _matmul_right(g, out, a, b, **kwargs):
    _no_axes("matmul", kwargs)
    g, left, _ = _as_matrices(g, a, b)
    if b.ndim == 1:
        return np.reshape(unbroadcast(np.matmul(_swapped(left), g), b.shape + (1,)), b.shape)
    return unbroadcast(_laid_out(_swapped(left), g, b), b.shape)


def _of_matrices(product):
    """The primitive with a short way for matrices and vectors."""

    def vjp(g, out, args, kwargs, argnums):
        a, b = map(dense, args[:2])
        if kwargs or len(args) > 2:
            return product.vjp(g, out, args, kwargs, argnums)
        match np.ndim(a), np.ndim(b):
            case 2, 2:
                return [_laid_out(a.T, g, b) if k else _laid_out(g, b.T, a) for k in argnums]
            case 2, 1:
                return [np.matmul(a.T, g) if k else np.multiply.outer(g, b) for k in argnums]
            case 1, 2:
                return [np.multiply.outer(a, g) if k else np.matmul(b, g) for k in argnums]
            case 1, 1:
                return [a * g if k else b * g for k in argnums]
        return product.vjp(g, out, args, kwargs, argnums)

    batches = {"vjp_batch": _matrices_vjp_batch, "jvp_batch": _matrices_jvp_batch}
    return replace(product, vjp=vjp, product=True, gemm=_gemm, into=_product_into, **batches)


def _matrices_vjp_batch(g, out, args, kwargs, argnums):
    """The same for directions, the first axis of `g`; None for stacks of matrices."""
    a, b = map(dense, args[:2])
    if kwargs or len(args) > 2 or not 1 <= np.ndim(a) <= 2 or not 1 <= np.ndim(b) <= 2:
        return None
    match np.ndim(a), np.ndim(b):
        case 2, 2:
            return [a.T @ g if k else g @ b.T for k in argnums]
        case 2, 1:
            return [g @ a if k else g[:, :, None] * b for k in argnums]
        case 1, 2:
            return [a[:, None] * g[:, None, :] if k else g @ b.T for k in argnums]
    return [g[:, None] * (a if k else b) for k in argnums]


def _matrices_jvp_batch(tangents, out, args, kwargs):
    a, b = map(dense, args[:2])
    if kwargs or len(args) > 2 or not 1 <= np.ndim(a) <= 2 or not 1 <= np.ndim(b) <= 2:
        return None
    total = 0.0
    for k, t in tangents.items():
        of_b = np.ndim(b) == 2      # then a tangent of b has three axes
        total = total + (t @ b if k == 0 else a @ t if of_b else t @ a.T)
    return total


def _gemm():
    """Where NumPy's own library multiplies matrices; 0 where it is not that of its wheels."""
    try:
        from numpy.linalg import _umath_linalg

        library = ctypes.CDLL(_umath_linalg.__file__)
        return ctypes.cast(library.scipy_cblas_dgemm64_, ctypes.c_void_p).value or 0
    except (ImportError, OSError, AttributeError):
        return 0


def _product_into(g, out, args, kwargs, argnum, bar):
    """One cotangent of matrices, or of as many matrices on each side, where it is to stand."""
    a, b = map(dense, args[:2])
    if kwargs or len(args) > 2 or a.ndim != b.ndim or a.ndim < 2 or a.shape[:-2] != b.shape[:-2]:
        return False
    x, y = (_swapped(a), g) if argnum else (g, _swapped(b))
    if abs(bar.strides[-1]) > abs(bar.strides[-2]):
        x, y, bar = _swapped(y), _swapped(x), _swapped(bar)
    np.matmul(x, y, out=bar)
    return True


def _summed(g, shape):
    return np.reshape(unbroadcast(g, (1,) * (len(shape) == 1) + tuple(shape)), shape)


def _matvec_left(g, out, a, b, **kwargs):
    _no_axes("matvec", kwargs)
    return unbroadcast(g[..., :, None] * b[..., None, :], a.shape)


def _matvec_right(g, out, a, b, **kwargs):
    _no_axes("matvec", kwargs)
    return unbroadcast((g[..., None, :] @ a)[..., 0, :], b.shape)


def _vecmat_left(g, out, a, b, **kwargs):
    _no_axes("vecmat", kwargs)
    return unbroadcast((b @ g[..., None])[..., 0], a.shape)


def _vecmat_right(g, out, a, b, **kwargs):
    _no_axes("vecmat", kwargs)
    return unbroadcast(a[..., :, None] * g[..., None, :], b.shape)


def _vecdot_term(g, other, shape, axis, keepdims, axes=None):
    _no_axes("vecdot", {"axes": axes})
    last = np.moveaxis(other, axis, -1)
    g = np.moveaxis(g, axis, -1) if keepdims else g[..., None]
    turned = tuple(np.delete(shape, axis)) + (shape[axis],)
    return np.moveaxis(unbroadcast(g * last, turned), -1, axis)


def _vecdot_left(g, out, a, b, axis=-1, keepdims=False, **kwargs):
    return _vecdot_term(g, b, a.shape, axis, keepdims, **kwargs)


def _vecdot_right(g, out, a, b, axis=-1, keepdims=False, **kwargs):
    return _vecdot_term(g, a, b.shape, axis, keepdims, **kwargs)


def _contraction(a, b, axes):
    """The contracted axes of both arguments of tensordot."""
    if np.ndim(axes) == 0:
        return tuple(range(a.ndim - int(axes), a.ndim)), tuple(range(int(axes)))
    left, right = axes
    return axes_of(a.ndim, left), axes_of(b.ndim, right)


def _kept(ndim, gone):
    return tuple(k for k in range(ndim) if k not in gone)


def _tensordot_left(g, out, a, b, axes=2):
    left, right = _contraction(a, b, axes)
    free, kept = _kept(b.ndim, right), _kept(a.ndim, left)
    moved = np.tensordot(g, b, (tuple(range(len(kept), g.ndim)), free))
    # The axes of b that are left stand in ascending order; each belongs to the axis of a it was contracted with.
    partners = tuple(left[k] for k in np.argsort(right)) if right else ()
    return np.transpose(moved, tuple(np.argsort(kept + partners)) if a.ndim else ())


def _tensordot_right(g, out, a, b, axes=2):
    left, right = _contraction(a, b, axes)
    kept, free = _kept(a.ndim, left), _kept(b.ndim, right)
    moved = np.tensordot(a, g, (kept, tuple(range(len(kept)))))
    partners = tuple(right[k] for k in np.argsort(left)) if left else ()
    return np.transpose(moved, tuple(np.argsort(partners + free)) if b.ndim else ())


def _as_tensordot(axes):
    """The rules of dot or inner: a scalar argument multiplies, all others are contractions over `axes(a, b)`."""

    def left(g, out, a, b):
        if a.ndim == 0 or b.ndim == 0:
            return np.sum(g * b) if a.ndim == 0 else g * b
        return _tensordot_left(g, out, a, b, axes(a, b))

    def right(g, out, a, b):
        if a.ndim == 0 or b.ndim == 0:
            return np.sum(g * a) if b.ndim == 0 else g * a
        return _tensordot_right(g, out, a, b, axes(a, b))

    return left, right


def _outer_left(g, out, a, b):
    if np.ndim(a) == np.ndim(b) == 1:
        return np.matmul(g, b)
    return np.reshape(np.matmul(g, np.reshape(b, -1)), a.shape)


def _outer_right(g, out, a, b):
    if np.ndim(a) == np.ndim(b) == 1:
        return np.matmul(a, g)
    return np.reshape(np.matmul(np.reshape(a, -1), g), b.shape)


def _vdot_left(g, out, a, b):
    return np.reshape(g * np.reshape(b, -1), a.shape)


def _vdot_right(g, out, a, b):
    return np.reshape(g * np.reshape(a, -1), b.shape)


def _kron_blocks(g, a, b):
    """The cotangent of kron with axes ``a0, b0, a1, b1, ...``, and both shapes at their common number of axes."""
    n = max(a.ndim, b.ndim)
    shapes = [(1,) * (n - v.ndim) + v.shape for v in (a, b)]
    return n, np.reshape(g, tuple(k for pair in zip(*shapes) for k in pair)), shapes


def _kron_left(g, out, a, b):
    n, blocks, (_, shape) = _kron_blocks(g, a, b)
    odd = tuple(range(1, 2 * n, 2))
    return np.reshape(np.tensordot(blocks, np.reshape(b, shape), (odd, tuple(range(n)))), a.shape)


def _kron_right(g, out, a, b):
    n, blocks, (shape, _) = _kron_blocks(g, a, b)
    even = tuple(range(0, 2 * n, 2))
    return np.reshape(np.tensordot(blocks, np.reshape(a, shape), (even, tuple(range(n)))), b.shape)


def _three(v):
    """Vectors of two components as vectors of three along the last axis."""
    return v if v.shape[-1] == 3 else np.concatenate((v, np.zeros(v.shape[:-1] + (1,))), -1)


def _cross_parts(g, a, b, axisa, axisb, axisc, axis):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if a.shape[-1] == b.shape[-1] == 2:
        g = np.concatenate((np.zeros(g.shape + (2,)), g[..., None]), -1)
    else:
        g = np.moveaxis(g, axisc, -1)
    return g, a, b, axisa, axisb


def _cross_left(g, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    g, a, b, axisa, _ = _cross_parts(g, a, b, axisa, axisb, axisc, axis)
    return np.moveaxis(unbroadcast(np.cross(_three(b), g)[..., : a.shape[-1]], a.shape), -1, axisa)


def _cross_right(g, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    g, a, b, _, axisb = _cross_parts(g, a, b, axisa, axisb, axisc, axis)
    return np.moveaxis(unbroadcast(np.cross(g, _three(a))[..., : b.shape[-1]], b.shape), -1, axisb)


PRIMITIVES = {
    p.name: p
    for p in (
        _of_matrices(_bilinear("matmul", np.matmul, patterns.of_matmul, _matmul_left, _matmul_right)),
        _bilinear("matvec", of_name("matvec"), None, _matvec_left, _matvec_right),
        _bilinear("vecmat", of_name("vecmat"), None, _vecmat_left, _vecmat_right),
        _bilinear("vecdot", np.vecdot, patterns.of_vecdot, _vecdot_left, _vecdot_right),
        _of_matrices(
            _bilinear("dot", np.dot, patterns.of_dot, *_as_tensordot(lambda a, b: ((-1,), (-2 if b.ndim > 1 else -1,))))
        ),
        _bilinear("inner", np.inner, patterns.of_inner, *_as_tensordot(lambda a, b: ((-1,), (-1,)))),
        _bilinear("outer", np.outer, patterns.of_outer, _outer_left, _outer_right),
        _bilinear("vdot", np.vdot, None, _vdot_left, _vdot_right),
        _bilinear("tensordot", np.tensordot, None, _tensordot_left, _tensordot_right),
        _bilinear("kron", np.kron, None, _kron_left, _kron_right),
        _bilinear("cross", np.cross, None, _cross_left, _cross_right),
    )
    if p.forward is not None
}
