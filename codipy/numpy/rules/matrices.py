# SPDX-License-Identifier: Apache-2.0
"""What the rules of linear algebra share: stacks of matrices, triangles, gaps that may be zero.

Rules are for complex matrices too where they are written with `cT`, `conj` and `real`. The cotangent of z is
dL/dRe(z) + i dL/dIm(z), and LAPACK takes no notice of the imaginary parts on the diagonal of a Hermitian matrix.
"""

import numpy as np

from codipy.numpy.primitive import Primitive

__all__ = [
    "CANCELLED",
    "cT",
    "conj",
    "diagonal_matrix",
    "folded",
    "halved",
    "mT",
    "mirrored",
    "off_diagonal",
    "quotient",
    "real",
    "refuse",
    "relative",
    "single",
    "tolerance",
]

mT = np.matrix_transpose


def _is_complex(a):
    return a.dtype.kind == "c"


def conj(a):
    """The conjugate: of real numbers themselves, not a copy."""
    return np.conjugate(a) if _is_complex(a) else a


def real(a):
    """The real parts: of real numbers themselves."""
    return a.real if _is_complex(a) else a


def cT(a):
    """The conjugate transpose, of real matrices the transpose."""
    return conj(mT(a))


CANCELLED = 1e-8  # of the largest: what is smaller is taken to be zero but for rounding


def single(name, forward, reverse, tangent, pattern=None, **kept):
    """Return the Primitive of a function of one array: rules take the call's own options by their own names.

    Parameters
    ----------
    reverse, tangent : callable
        ``reverse(g, out, a, *options)`` gives the cotangent of `a`, ``tangent(t, out, a, *options)`` that of `out`.
    """

    def vjp(g, out, args, kwargs, argnums):
        return [reverse(g, out, *args, **kwargs) if np.size(args[0]) else None]  # LAPACK's rules of empty arrays vary

    def jvp(tangents, out, args, kwargs):
        if np.size(args[0]):
            return tangent(tangents[0], out, *args, **kwargs)
        return tuple(np.zeros(np.shape(o)) for o in out) if isinstance(out, tuple) else np.zeros(np.shape(out))

    return Primitive(name, forward, vjp, jvp, pattern=pattern, **kept)


def diagonal_matrix(d):
    """The matrices that have the rows of `d` as diagonals."""
    return d[..., None, :] * np.eye(np.shape(d)[-1])


def _of_real_diagonal(a):
    return a - 1j * diagonal_matrix(np.linalg.diagonal(a).imag) if _is_complex(a) else a


def mirrored(a, lower):
    """The symmetric or Hermitian matrices that LAPACK sees when it reads one triangle of `a`."""
    return _of_real_diagonal(np.tril(a) + cT(np.tril(a, -1)) if lower else np.triu(a) + cT(np.triu(a, 1)))


def folded(g, lower):
    """The transpose of `mirrored`: what `g` says of the triangle that is read; the other has no influence."""
    return _of_real_diagonal(np.tril(g) + np.tril(cT(g), -1) if lower else np.triu(g) + np.triu(cT(g), 1))


def halved(a):
    """The lower triangle with half the diagonal: the part of a symmetric matrix that L^T dL is made of."""
    return np.tril(a) - diagonal_matrix(np.linalg.diagonal(a)) / 2


def tolerance(values, size):
    """Below which differences of computed eigenvalues or singular values are rounding, for each matrix."""
    return 8 * size * np.finfo(float).eps * np.max(np.abs(values), axis=-1, initial=0.0)[..., None, None]


def relative(a, size):
    """How large elements are beside a size per matrix; rounding is below `CANCELLED`."""
    return np.abs(a) / np.where(size == 0, 1.0, size)


def off_diagonal(a):
    return a - diagonal_matrix(np.linalg.diagonal(a))


def quotient(numerator, gap, none):
    """Divide by gaps; zero where there is none: the caller has made sure that nothing is lost."""
    return np.where(none, 0.0, numerator / np.where(none, 1.0, gap))


def refuse(where, what):
    """Raise if a rule would have to divide by a gap that is zero anywhere."""
    if np.any(where):
        raise np.linalg.LinAlgError(what)
