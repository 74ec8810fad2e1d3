# SPDX-License-Identifier: Apache-2.0
"""Rules of Schur's form A = Z T Z^H, where T is upper triangular.

With W = Z^H dZ, which is skew, Z^H dA Z = W T - T W + dT. Its elements below the diagonal are those of X T - T X for
the strictly lower triangle X of W, so that X comes column by column, by one triangular system each. Vectors of complex
matrices are right with any phase, as those of `eig`; blocks of two in the real form of a matrix with complex
eigenvalues have no rule.
"""

import numpy as np
import scipy.linalg

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import cT, tolerance
from codipy.numpy.rules.matrices import refuse as refuse_choice
from codipy.numpy.rules.phases import demand_no_phase
from codipy.scipy.calls import LOOP, kept, of_active, run
from codipy.scipy.rules.solving import solve_triangular

__all__ = ["FUNCTIONS"]


def _schur(a, *, output, check_finite=True):
    t, z = scipy.linalg.schur(a, output=output, check_finite=check_finite)
    if not np.iscomplexobj(t) and np.any(np.diagonal(t, -1)):
        refuse("scipy.linalg.schur", "a real matrix with complex eigenvalues has blocks of two in its real form, of "
                                     "which codipy has no derivative: take output='complex'")
    return t, z


def _demand_gaps(t):
    d = np.linalg.diagonal(t)
    gaps = np.abs(d[:, None] - d) + 2.0 * np.max(np.abs(d)) * np.eye(np.shape(t)[0])
    refuse_choice(np.any(gaps <= tolerance(d, np.shape(t)[0])), "schur: two eigenvalues are equal, any basis of their "
                  "space will do, which has no derivative")  # fmt: skip


def _column(found, size):
    return np.concatenate([np.zeros(size - np.shape(found)[0]), found])


def _lower_of(r, t):
    """The strictly lower X with X T - T X = r below the diagonal."""
    n, columns = np.shape(t)[0], []
    for j in range(n - 1):
        right = r[j + 1:, j]
        for k, column in enumerate(columns):
            right = right - column[j + 1:] * t[k, j]
        own = t[j, j] * np.eye(n - j - 1) - t[j + 1:, j + 1:]
        columns.append(_column(solve_triangular(own, right), n))
    return np.stack([*columns, np.zeros(n)], axis=1)


def _adjoint_lower_of(r, t):
    """The strictly lower Y with Y T^H - T^H Y = r below the diagonal."""
    n, columns, turned = np.shape(t)[0], [np.zeros(np.shape(t)[0])], cT(t)
    for j in range(n - 2, -1, -1):
        right = r[j + 1:, j]
        for k, column in enumerate(columns):        # from the next on
            right = right - column[j + 1:] * turned[j + 1 + k, j]
        own = turned[j, j] * np.eye(n - j - 1) - turned[j + 1:, j + 1:]
        columns.insert(0, _column(solve_triangular(own, right, lower=True), n))
    return np.stack(columns, axis=1)


def _schur_vjp(g, out, args, kwargs, argnums):
    t, z = out
    _demand_gaps(t)
    upper, turn = np.triu(g[0]), cT(t)
    inner = cT(z) @ g[1] + turn @ upper - upper @ turn      # the cotangent of W
    sizes = np.sum(np.abs(z * g[1]), axis=0) + np.sum(np.abs(upper) * np.abs(t))
    demand_no_phase(np.linalg.diagonal(inner), sizes, "schur")
    below = np.tril(inner - cT(inner), -1)
    return [z @ (upper + np.tril(_adjoint_lower_of(below, t), -1)) @ cT(z)]


def _schur_jvp(tangents, out, args, kwargs):
    t, z = out
    _demand_gaps(t)
    moved = cT(z) @ tangents[0] @ z
    x = _lower_of(np.tril(moved, -1), t)
    w = x - cT(x)
    return np.triu(moved - w @ t + t @ w), z @ w


_SCHUR = kept(Primitive("scipy.linalg.schur", _schur, _schur_vjp, _schur_jvp, located=True))


@of_active(scipy.linalg.schur)
def schur(a, output="real", lwork=None, overwrite_a=False, sort=None, check_finite=True):
    """Of an active matrix."""
    if sort is not None:
        refuse("scipy.linalg.schur", "of active values it has no derivative with sort=: leave sort out")
    if np.ndim(a) != 2:
        refuse("scipy.linalg.schur", LOOP)
    a = as_numbers(a)
    if output in ("complex", "c") and not np.iscomplexobj(a):
        a = a + 0j
    return tuple(run(_SCHUR, (a,), {"output": output, "check_finite": check_finite}))


FUNCTIONS = {"schur": schur}
