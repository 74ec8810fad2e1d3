# SPDX-License-Identifier: Apache-2.0
"""Rules of `ldl`: P A P^T = L D L^H, where D has blocks of one and two, and L the identity in their places.

inv(L) dA inv(L)^H = X D + dD + D X^H with X = inv(L) dL, which is below the blocks. So dD are its blocks, and X what is
below them, times inv(D). Which blocks and rows are chosen is LAPACK's decision, by values.
"""

import numpy as np
import scipy.linalg

from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import refuse, value_tree
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.matrices import cT, folded, mirrored, mT
from codipy.scipy.calls import LOOP, is_complex, kept, numbers, of_active, run
from codipy.scipy.rules.solving import solve_triangular

__all__ = ["FUNCTIONS", "SYMMETRIC"]

SYMMETRIC = "scipy.linalg.ldl of a symmetric matrix"  # of complex numbers, without conjugates


def _ldl(a, *, lower, hermitian, check_finite=True):
    return scipy.linalg.ldl(a, lower=lower, hermitian=hermitian, check_finite=check_finite)


def _blocks(d):
    """Where D may have elements, and what is below (or above) these."""
    inside = (numbers(d) != 0) | np.eye(np.shape(d)[0], dtype=bool)
    return inside | inside.T


def _shape(kwargs):
    """The triangle of the factor, and the transpose: of complex symmetric matrices without conjugates."""
    return (np.tril if kwargs["lower"] else np.triu), (cT if kwargs["hermitian"] else mT)


def _inverse_times(factor, x, kwargs, trans=0):
    return solve_triangular(factor, x, lower=kwargs["lower"], trans=trans)


def _read(t, kwargs):
    """The matrix that a tangent adds to the one that is read, from one triangle."""
    keep, turn = _shape(kwargs)
    if turn is cT:
        return mirrored(t, kwargs["lower"])
    return keep(t) + turn(keep(t) - np.diag(np.diag(t)))


def _fold(bar, kwargs):
    keep, turn = _shape(kwargs)
    if turn is cT:
        return folded(bar, kwargs["lower"])
    return keep(bar) + keep(turn(bar)) - np.diag(np.diag(bar))


def _ldl_vjp(g, out, args, kwargs, argnums):
    outer, d, order = out
    keep, turn = _shape(kwargs)
    factor, inside, trans = outer[order], _blocks(d), 2 if turn is cT else 1
    beside = keep(np.ones(np.shape(inside))) * ~inside
    inner = (turn(factor) @ g[0][order]) * beside
    bar = g[1] * inside + (inner @ turn(np.linalg.inv(d))) * beside
    left = _inverse_times(factor, bar, kwargs, trans)
    bar = turn(_inverse_times(factor, turn(left), kwargs, trans))
    back = np.argsort(order)
    return [_fold(bar[back][:, back], kwargs)]


def _ldl_jvp(tangents, out, args, kwargs):
    outer, d, order = out
    keep, turn = _shape(kwargs)
    factor, inside = outer[order], _blocks(d)
    left = _inverse_times(factor, _read(tangents[0], kwargs)[order][:, order], kwargs)
    moved = turn(_inverse_times(factor, turn(left), kwargs))
    below = moved * keep(np.ones(np.shape(inside))) * ~inside
    return (factor @ (below @ np.linalg.inv(d)))[np.argsort(order)], moved * inside, None


_LDL = kept(Primitive("scipy.linalg.ldl", _ldl, _ldl_vjp, _ldl_jvp, keep_args=False, located=True))
_SYMMETRIC_LDL = kept(Primitive(SYMMETRIC, _ldl, _ldl_vjp, _ldl_jvp, keep_args=False, located=True))


@of_active(scipy.linalg.ldl)
def ldl(A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    """Of an active matrix."""
    if np.ndim(A) != 2:
        refuse("scipy.linalg.ldl", LOOP)
    A = as_numbers(A)
    options = {"lower": bool(lower), "hermitian": bool(hermitian), "check_finite": check_finite}
    factor, d, order = run(_LDL if hermitian or not is_complex(A) else _SYMMETRIC_LDL, (A,), options)
    return factor, d, np.asarray(value_tree(order))


FUNCTIONS = {"ldl": ldl}
