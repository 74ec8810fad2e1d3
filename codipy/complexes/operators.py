# SPDX-License-Identifier: Apache-2.0
"""Operators of complex scalars: the value is Python's or NumPy's own; the parts are Reals where the bits agree."""

from __future__ import annotations

import math
import operator

import numpy as np

from codipy.active.array import Real
from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted
from codipy.complexes.elementwise import of_scalars
from codipy.complexes.movement import holds, plain
from codipy.complexes.record import RULES, record, rule
from codipy.complexes.scalar import Complex
from codipy.numpy.primitive import Primitive

__all__ = ["NAMES", "apply_operator"]

_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "absolute": operator.abs,
}  # fmt: skip
NAMES = {np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide", np.power: "power"}
_KINDS = {"complex": complex, "complex128": np.complex128, "complex64": np.complex64}


def _add(a, b, c, d):
    return a + c, b + d


def _subtract(a, b, c, d):
    return a - c, b - d


def _multiply(a, b, c, d):
    return a * c - b * d, a * d + b * c


_PARTS = {"add": _add, "subtract": _subtract, "multiply": _multiply}


def _same(x, y):
    x, y = float(plain(x)), float(y)
    return x == y and math.copysign(1.0, x) == math.copysign(1.0, y) or x != x and y != y


def apply_operator(name, args):
    """An operator of numbers, of which one is a Real or a Complex."""
    value = _OPERATORS[name](*map(plain, args))
    if status.in_passive() or not holds(args):
        return value
    if name in _PARTS and all(type(x) is not Complex or x.kind is not np.complex64 for x in args):
        with np.errstate(all="ignore"):
            parts = _PARTS[name](*(part for x in args for part in (x.real, x.imag)))
        if _same(parts[0], value.real) and _same(parts[1], value.imag):
            return Complex.of(*(x if type(x) is Real else Real(x) for x in parts), type(value))
    kinds = tuple(type(plain(x)).__name__ if type(x) is Complex else "" for x in args)
    with np.errstate(all="ignore"):
        found = record(f"operator {name}", args, {"kinds": kinds})
    return found.stands_for(type(value)) if type(found) is Complex else converted(found, type(value))


def _scalar_rule(name):
    """The operator on numbers of the kinds that the plain run has."""
    function, of_arrays = _OPERATORS[name], RULES[name].primitive

    def forward(*args, kinds):
        return function(*(_KINDS[kind](x) if kind else x for x, kind in zip(args, kinds)))

    def vjp(g, out, args, kwargs, argnums):
        return of_arrays.vjp(g, out, of_scalars(args), {}, argnums)

    def jvp(tangents, out, args, kwargs):
        return of_arrays.jvp(tangents, out, of_scalars(args), {})

    rule(Primitive(f"operator {name}", forward, vjp, jvp), RULES[name].results)


for _name in _OPERATORS:
    _scalar_rule(_name)
