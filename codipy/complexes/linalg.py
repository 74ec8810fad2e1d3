# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of complex matrices beside what has a complex derivative: the rules of real ones are for both.

They are written with conjugate transposes, and give the cotangents of this folder's convention. Vectors of
decompositions are right with any phase: a sweep raises where a loss depends on it. A tangent leaves the phase as it is,
that of `eig` keeps the component real which LAPACK makes real.
"""

from __future__ import annotations

from dataclasses import replace

from codipy.complexes.record import rule
from codipy.numpy.registry import PRIMITIVES
from codipy.numpy.rules.phases import ANY, of_any_phase

__all__ = ["FUNCTIONS"]

# By name which of the results are complex, see `Rule`.
_RESULTS = {
    "cholesky": "c",
    "cond": "r",
    "eig": "cc",
    "eigh": "rc",
    "eigvals": "c",
    "eigvalsh": "r",
    "lstsq": "crrr",
    "matrix_norm": "r",
    "norm": "r",
    "pinv": "c",
    "qr": lambda options: "c" if options.get("mode") == "r" else "cc",
    "slogdet": "cr",
    "svd": lambda options: "crc" if options.get("compute_uv", True) else "r",
    "svdvals": "r",
    "vector_norm": "r",
}
FUNCTIONS = frozenset(f"linalg.{name}" for name in _RESULTS) | {"polyfit"}

rule(PRIMITIVES["polyfit"], "c")

for _name in ("eig", "eigh", "svd"):
    _primitive = PRIMITIVES[f"linalg.{_name}"]
    rule(replace(_primitive, name=_primitive.name + ANY, vjp=of_any_phase(_primitive.vjp)), _RESULTS[_name])

for _name, _results in _RESULTS.items():
    _primitive = PRIMITIVES[f"linalg.{_name}"]
    # Of a complex determinant the sign is the phase, which the rule reads.
    rule(replace(_primitive, keep_out=True) if _name == "slogdet" else _primitive, _results)
