# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg's functions of matrices: the derivative is a corner of the same function of a larger matrix.

For an analytic function f of [[A, E], [0, A]] the upper right block is the derivative of f at A along E, and its
transpose is that at A^T (N. Higham, *Functions of Matrices*, 2008, ch. 3).
"""

from dataclasses import replace

import numpy as np
import scipy.linalg

from codipy.active.array import call
from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import mT
from codipy.scipy.calls import FoundFirst, is_complex, kept, numbers, of_active, recorded, run
from codipy.scipy.rules.equations import solve_sylvester

__all__ = ["ANALYTIC", "CUT", "FUNCTIONS", "analytic", "finite"]

CUT = ("fractional_matrix_power", "logm", "sqrtm")  # complex where a real matrix has a negative eigenvalue
ANALYTIC = ("coshm", "cosm", "fractional_matrix_power", "logm", "sinhm", "sinm", "tanhm", "tanm")


def _doubled(a, e):
    """[[a, e], [0, a]]."""
    below = np.concatenate([np.zeros(np.shape(a)), a], axis=-1)
    return np.concatenate([np.concatenate([a, e], axis=-1), below], axis=-2)


def _corner(f, a, e, **kwargs):
    n = np.shape(a)[-1]
    return f(_doubled(a, e), **kwargs)[..., :n, n:]


def finite(name, out):
    """What a function of a matrix gave, if it has a derivative there."""
    if not np.all(np.isfinite(out)):
        refuse(f"scipy.linalg.{name}", "of this matrix it is not finite, so that it has no derivative here")
    return out


def _demand_regular(name, a):
    """Raise where an eigenvalue is 0, at which the function has an infinite slope, or none."""
    sizes = np.linalg.svd(numbers(a), compute_uv=False)
    if sizes.size and sizes[-1] <= sizes.size * np.finfo(sizes.dtype).eps * sizes[0]:
        raise np.linalg.LinAlgError(f"{name}: the matrix is singular, where the derivative is infinite or does not "
                                    "exist")


def _real(name, original, inside=False):
    """The function for real results.

    `inside` of a rule the larger matrix is defective, and SciPy's way to a real result may lead through complex numbers
    that leave rounding.
    """

    def forward(a, *args, **kwargs):
        out = finite(name, original(a, *args, **kwargs))
        if inside and np.iscomplexobj(out) and np.max(np.abs(out.imag)) <= 1e-8 * np.max(np.abs(out.real)):
            out = np.ascontiguousarray(out.real)
        if np.iscomplexobj(out):
            refuse(f"scipy.linalg.{name}", "it was real when it was recorded, and is complex now: record again")
        return out

    return forward


def analytic(name, inside, slope=None):
    """The rules of a function: `inside` is the function itself, `slope` a shorter way for plain matrices."""

    def along(a, e, out, kwargs):
        if slope is not None and np.ndim(a) == 2 and is_plain(a, e):
            return slope(a, e)
        if name not in CUT:
            return _corner(inside, a, e, **kwargs)
        if float(kwargs.get("t", 0.5)) % 1.0 != 0.0:
            _demand_regular(name, a)
        if is_complex(e) and not is_complex(a):      # eigenvalues of real blocks are real, and on one side of the cut
            return along(a, e.real, out, kwargs) + 1j * along(a, e.imag, out, kwargs)
        n, found = np.shape(a)[-1], inside(_doubled(a, e), **kwargs)
        for block in (found[:n, :n], found[n:, n:]):
            if np.max(np.abs(numbers(block) - numbers(out))) > 1e-6 * np.max(np.abs(numbers(out))):
                refuse(f"scipy.linalg.{name}", "an eigenvalue is on the branch cut but for rounding, which decides the "
                                               "side: it has no derivative there")
        return found[:n, n:]

    def vjp(g, out, args, kwargs, argnums):
        return [mT(along(args[0], mT(g), out, kwargs))]      # so that the larger matrix has no double eigenvalue twice

    def jvp(tangents, out, args, kwargs):
        return along(args[0], tangents[0], out, kwargs)

    return vjp, jvp


def _by_kind(first):
    """Record a function by the kind that its result has."""

    def runs(primitive, operands, options):
        (a,) = operands
        if not is_complex(a) and np.iscomplexobj(first.first(a, options)):
            return door("complexes")().recorded(primitive.name, operands, options)
        return run(primitive, operands, options)

    return runs


def _analytic(name, slope=None, stacks=False):
    """The function that SciPy has, with the derivative above."""
    original = getattr(scipy.linalg, name)
    first = FoundFirst(original)

    def inside(a, **kwargs):
        return call(larger, (as_numbers(a),), kwargs) if holds_active(a) else larger.forward(a, **kwargs)

    vjp, jvp = analytic(name, inside, slope)
    larger = Primitive(f"scipy.linalg.{name}", _real(name, original, inside=True), vjp, jvp, keep_out=name in CUT,
                       located=True)
    own = kept(replace(larger, forward=_real(name, first)))
    return recorded(original, own, stacks=stacks, without=("disp",), runs=_by_kind(first) if name in CUT else run)


def _by_frechet(a, e):
    return scipy.linalg.expm_frechet(a, e, compute_expm=False)


expm = _analytic("expm", _by_frechet, stacks=True)


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
    pair = run(_EXPM_FRECHET, (as_numbers(A), as_numbers(E)), {"method": method, "check_finite": check_finite})
    return pair if compute_expm else pair[1]


# ---- sqrtm: x x = a, so dx solves Sylvester's equation x dx + dx x = da ----------------------------------------------
def _sqrtm_vjp(g, out, args, kwargs, argnums):
    _demand_regular("sqrtm", numbers(out) @ numbers(out))
    return [solve_sylvester(mT(out), mT(out), g)]


def _sqrtm_jvp(tangents, out, args, kwargs):
    _demand_regular("sqrtm", numbers(out) @ numbers(out))
    return solve_sylvester(out, out, tangents[0])


_first_sqrtm = FoundFirst(scipy.linalg.sqrtm)
_SQRTM = kept(Primitive("scipy.linalg.sqrtm", _real("sqrtm", _first_sqrtm), _sqrtm_vjp, _sqrtm_jvp, keep_args=False,
                        located=True))  # fmt: skip
sqrtm = recorded(scipy.linalg.sqrtm, _SQRTM, without=("disp", "blocksize"), runs=_by_kind(_first_sqrtm))


FUNCTIONS = {"expm": expm, "expm_frechet": expm_frechet, "sqrtm": sqrtm}
FUNCTIONS |= {name: _analytic(name) for name in ANALYTIC}
