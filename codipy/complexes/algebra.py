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
from codipy.numpy.primitive import Primitive
from codipy.numpy.registry import PRIMITIVES as OF_NUMPY
from codipy.scipy import algebra
from codipy.scipy.calls import PRIMITIVES
from codipy.scipy.rules.decompositions import COMPLEX_SQUARES
from codipy.scipy.rules.functions import ANALYTIC, CUT, analytic, finite
from codipy.scipy.rules.indefinite import SYMMETRIC
from codipy.scipy.rules.solving import is_conjugated
from codipy.scipy.rules.spectra import REAL_VECTORS, found_or_eig

__all__ = []


# ---- the rule of real matrices ---------------------------------------------------------------------------------------
def _of_qr(options):
    return "rcr" if options.get("mode") == "r" else "ccr"


def _of_svd(options):
    return "crc" if options.get("compute_uv", True) else "r"


_RESULTS = {
    "cho_factor": "c", "cho_solve": "c", "eigh of two": "rc", "eigh": "rc", "eigvalsh of two": "rc", "eigvalsh":
    "r", "ldl": "ccr", "lstsq": "ccrr" if COMPLEX_SQUARES else "crrr", "norm": "r", "pinv": "c", "qr": _of_qr,
    "schur": "cc", "solve_continuous_are": "c", "solve_continuous_lyapunov": "c", "solve_discrete_are": "c",
    "solve_discrete_lyapunov": "c", "solveh_banded": "c", "svd": _of_svd, "svdvals": "r",
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
def _of_conjugate(options):
    """Which arguments a solution is of the conjugate of: the matrix, where its conjugate transpose is solved with."""
    return (0,) if is_conjugated(options) else ()


lift(SYMMETRIC, PRIMITIVES[SYMMETRIC], results="ccr")
for _name in ("lu_solve", "solve_triangular"):
    lift(f"scipy.linalg.{_name}", PRIMITIVES[f"scipy.linalg.{_name}"], _of_conjugate)
for _name, _results in {"det": "c", "expm_frechet": "cc", "inv": "c", "lu": "rcc", "lu_factor": "cr", "solve": "c",
                        "solve_banded": "c", "solve_sylvester": "c", "solve_toeplitz": "c"}.items():
    lift(f"scipy.linalg.{_name}", PRIMITIVES[f"scipy.linalg.{_name}"], results=_results)


def _complex_and_finite(name):
    original = getattr(scipy.linalg, name)

    def forward(a, **options):
        out = finite(name, original(a, **options))
        return out if np.iscomplexobj(out) else out + 0j

    return forward


def _by_frechet(a, e):
    return scipy.linalg.expm_frechet(a, e, compute_expm=False)


for _name in ("expm", *ANALYTIC):
    _vjp, _jvp = analytic(_name, algebra.FUNCTIONS[_name], _by_frechet if _name == "expm" else None)
    lift(f"scipy.linalg.{_name}", Primitive(f"scipy.linalg.{_name}", _complex_and_finite(_name), _vjp, _jvp,
                                            keep_out=_name in CUT, located=True))  # fmt: skip
lift("scipy.linalg.sqrtm", replace(PRIMITIVES["scipy.linalg.sqrtm"], forward=_complex_and_finite("sqrtm")))
