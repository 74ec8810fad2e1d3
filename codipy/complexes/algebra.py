# SPDX-License-Identifier: Apache-2.0
"""Rules of scipy.linalg on complex matrices, and on real ones whose eigenvalues are complex.

Most are those of real matrices, which are written with conjugate transposes, or that of a function with a complex
derivative.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.linalg

from codipy.complexes.holomorphic import lift
from codipy.complexes.record import rule
from codipy.numpy.arguments import refuse
from codipy.numpy.primitive import Primitive
from codipy.numpy.registry import PRIMITIVES as OF_NUMPY
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import mT
from codipy.scipy import algebra
from codipy.scipy.calls import PRIMITIVES
from codipy.scipy.rules.spectra import REAL_VECTORS, found_or_eig

__all__ = []


# ---- the rule of real matrices ---------------------------------------------------------------------------------------
def _of_qr(options):
    return "rcr" if options.get("mode") == "r" else "ccr"


def _of_svd(options):
    return "crc" if options.get("compute_uv", True) else "r"


_RESULTS = {
    "eigh": "rc", "eigh of two": "rc", "eigvalsh": "r", "eigvalsh of two": "rc", "lstsq": "crrr", "norm": "r",
    "pinv": "c", "qr": _of_qr, "svd": _of_svd, "svdvals": "r",
}  # fmt: skip
for _name, _results in _RESULTS.items():
    rule(PRIMITIVES[f"scipy.linalg.{_name}"], _results)


# ---- the rules of numpy.linalg ---------------------------------------------------------------------------------------
def _of_numpys(name, forward, numpys, options=lambda given: {}):
    own = OF_NUMPY[f"linalg.{numpys}"]

    def vjp(g, out, args, kwargs, argnums):
        return own.vjp(g, out, args, options(kwargs), argnums)

    def jvp(tangents, out, args, kwargs):
        return own.jvp(tangents, out, args, options(kwargs))

    return Primitive(f"scipy.linalg.{name}", forward, vjp, jvp, located=True)


def _upper(given):
    return {"upper": not given.get("lower", False)}


rule(_of_numpys("cholesky", scipy.linalg.cholesky, "cholesky", _upper))
rule(_of_numpys("eigvals", scipy.linalg.eigvals, "eigvals"))
rule(_of_numpys("eig", found_or_eig, "eig"), "cc")
rule(replace(_of_numpys("eig", found_or_eig, "eig"), name=REAL_VECTORS), "cr")


# ---- functions with a complex derivative -----------------------------------------------------------------------------
def _refusing(name, refused):
    """SciPy's function, but for options with which it has no complex derivative."""
    own = getattr(scipy.linalg, name)

    def forward(*args, **options):
        for key, (values, instead) in refused.items():
            if options.get(key) in values:
                refuse(f"scipy.linalg.{name}", f"of complex matrices it has no derivative with {key}={options[key]!r}: "
                                               f"{instead}")
        return own(*args, **options)

    return forward


_SYMMETRIC = {"assume_a": (("sym", "symmetric"), "leave assume_a out")}
_CONJUGATED = {"trans": ((2, "C"), "take `a.conj().T` and the other triangle")}
for _name, _refused in {"solve": _SYMMETRIC, "inv": _SYMMETRIC, "solve_triangular": _CONJUGATED, "sqrtm": {}}.items():
    lift(f"scipy.linalg.{_name}", replace(PRIMITIVES[f"scipy.linalg.{_name}"], forward=_refusing(_name, _refused)))
for _name, _results in {"det": "c", "expm_frechet": "cc", "lu": "rcc", "lu_factor": "cr", "solve_banded": "c",
                        "solve_sylvester": "c", "solve_toeplitz": "c"}.items():  # fmt: skip
    lift(f"scipy.linalg.{_name}", PRIMITIVES[f"scipy.linalg.{_name}"], results=_results)


def _lu_solve(*args, **options):
    if options["trans"] == 2:
        refuse("scipy.linalg.lu_solve", "of complex matrices it has no derivative with trans=2: take that of the "
                                        "conjugates with trans=1, and conjugate the result")
    return PRIMITIVES["scipy.linalg.lu_solve"].forward(*args, **options)


lift("scipy.linalg.lu_solve", replace(PRIMITIVES["scipy.linalg.lu_solve"], forward=_lu_solve))


def _expm_along(a, e):
    """The derivative of the exponential along `e`: a corner of that of a larger matrix (N. Higham, 2008, ch. 3)."""
    if np.ndim(a) == 2 and is_plain(a, e):
        return scipy.linalg.expm_frechet(a, e, compute_expm=False)
    n, below = np.shape(a)[-1], np.concatenate([np.zeros(np.shape(a)), a], axis=-1)
    doubled = np.concatenate([np.concatenate([a, e], axis=-1), below], axis=-2)
    return algebra.FUNCTIONS["expm"](doubled)[..., :n, n:]


def _expm_vjp(g, out, args, kwargs, argnums):
    return [_expm_along(mT(args[0]), g)]


def _expm_jvp(tangents, out, args, kwargs):
    return _expm_along(args[0], tangents[0])


lift("scipy.linalg.expm", Primitive("scipy.linalg.expm", scipy.linalg.expm, _expm_vjp, _expm_jvp, keep_out=False))
