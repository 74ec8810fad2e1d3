# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg's functions of matrices: the derivative is a corner of the same function of a larger matrix.

For an analytic function f of [[A, E], [0, A]] the upper right block is the derivative of f at A along E, and its
transpose is that at A^T (N. Higham, *Functions of Matrices*, 2008, ch. 3).
"""

from dataclasses import replace

import numpy as np
import scipy.linalg

from codipy.active.array import call
from codipy.numpy.allocation import asarray
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import mT
from codipy.scipy.calls import kept, of_active, recorded, run
from codipy.scipy.rules.equations import solve_sylvester

__all__ = ["FUNCTIONS"]


def _doubled(a, e):
    """[[a, e], [0, a]]."""
    below = np.concatenate([np.zeros(np.shape(a)), a], axis=-1)
    return np.concatenate([np.concatenate([a, e], axis=-1), below], axis=-2)


def _corner(f, a, e, **kwargs):
    n = np.shape(a)[-1]
    return f(_doubled(a, e), **kwargs)[..., :n, n:]


def _real(original, inside=False):
    """The function for real results; others have no real derivative.

    `inside` of a rule the larger matrix is defective, and SciPy's way to a real result may lead through complex numbers
    that leave rounding.
    """

    def forward(a, *args, **kwargs):
        out = original(a, *args, **kwargs)
        if inside and np.iscomplexobj(out) and np.max(np.abs(out.imag)) <= 1e-8 * np.max(np.abs(out.real)):
            out = np.ascontiguousarray(out.real)
        if np.iscomplexobj(out) or not np.all(np.isfinite(out)):
            name = f"scipy.linalg.{original.__name__}"
            refuse(name, "of this matrix it is not real or not finite, so that it has no derivative here")
        return out

    return forward


def _analytic(original, slope=None, stacks=False):
    """The function that SciPy has, with the derivative above; `slope` is a shorter way for plain matrices."""

    def along(a, e, kwargs):
        if slope is not None and np.ndim(a) == 2 and is_plain(a, e):
            return slope(a, e)
        return _corner(inside, a, e, **kwargs)

    def vjp(g, out, args, kwargs, argnums):
        return [along(mT(args[0]), g, kwargs)]

    def jvp(tangents, out, args, kwargs):
        return along(args[0], tangents[0], kwargs)

    def inside(a, **kwargs):
        return call(larger, (asarray(a),), kwargs) if holds_active(a) else larger.forward(a, **kwargs)

    name = f"scipy.linalg.{original.__name__}"
    larger = Primitive(name, _real(original, inside=True), vjp, jvp, keep_out=False, located=True)
    return recorded(original, kept(replace(larger, forward=_real(original))), stacks=stacks, without=("disp",))


def _by_frechet(a, e):
    return scipy.linalg.expm_frechet(a, e, compute_expm=False)


expm = _analytic(scipy.linalg.expm, _by_frechet, stacks=True)


# ---- expm_frechet: a derivative already, whose own is a corner of a corner -------------------------------------------
def _expm_frechet_vjp(g, out, args, kwargs, argnums):
    a, e = args
    n = np.shape(a)[0]
    bar = _corner(expm, mT(_doubled(a, e)), np.concatenate([np.concatenate(list(g), axis=1), np.zeros((n, 2 * n))]))
    return [bar[:n, :n] + bar[n:, n:] if k == 0 else bar[:n, n:] for k in argnums]


def _expm_frechet_jvp(tangents, out, args, kwargs):
    a, e = args
    zero = np.zeros(np.shape(a))
    slope = _corner(expm, _doubled(a, e), _doubled(tangents.get(0, zero), tangents.get(1, zero)))
    n = np.shape(a)[0]
    return slope[:n, :n], slope[:n, n:]


_EXPM_FRECHET = kept(Primitive("scipy.linalg.expm_frechet", scipy.linalg.expm_frechet, _expm_frechet_vjp,
                               _expm_frechet_jvp, keep_out=False))  # fmt: skip


@of_active(scipy.linalg.expm_frechet)
def expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):
    """Of active matrices."""
    pair = run(_EXPM_FRECHET, (asarray(A), asarray(E)), {"method": method, "check_finite": check_finite})
    return pair if compute_expm else pair[1]


# ---- sqrtm: x x = a, so dx solves Sylvester's equation x dx + dx x = da ----------------------------------------------
def _sqrtm_vjp(g, out, args, kwargs, argnums):
    return [solve_sylvester(mT(out), mT(out), g)]


def _sqrtm_jvp(tangents, out, args, kwargs):
    return solve_sylvester(out, out, tangents[0])


_SQRTM = kept(Primitive("scipy.linalg.sqrtm", _real(scipy.linalg.sqrtm), _sqrtm_vjp, _sqrtm_jvp, keep_args=False,
                        located=True))  # fmt: skip
sqrtm = recorded(scipy.linalg.sqrtm, _SQRTM, without=("disp", "blocksize"))


FUNCTIONS = {"expm": expm, "expm_frechet": expm_frechet, "sqrtm": sqrtm}
FUNCTIONS |= {name: _analytic(getattr(scipy.linalg, name)) for name in (
    "coshm", "cosm", "fractional_matrix_power", "logm", "sinhm", "sinm", "tanhm", "tanm")}
