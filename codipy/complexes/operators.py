# SPDX-License-Identifier: Apache-2.0
"""Operators of complex scalars: the value is Python's or NumPy's own; the parts are Reals where the bits agree."""

from __future__ import annotations

import operator

import numpy as np

from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted
from codipy.complexes.arithmetic import combine
from codipy.complexes.elementwise import of_scalars
from codipy.complexes.movement import holds, plain
from codipy.complexes.record import RULES, record, rule
from codipy.complexes.scalar import NAMES, Complex
from codipy.numpy.primitive import Primitive

__all__ = ["NAMES", "applied_operator", "apply_operator", "recorded_operator"]

_OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "absolute": operator.abs,
}  # fmt: skip
_KINDS = {"complex": complex, "complex128": np.complex128, "complex64": np.complex64}


def apply_operator(name, args):
    """An operator of numbers, of which one is a Real or a Complex."""
    if name == "absolute":
        return abs(*args)
    return combine(name, *args)


def applied_operator(name, args):
    """The same where no number in C takes part, or nothing is recorded."""
    value = _OPERATORS[name](*map(plain, args))
    if status.in_passive() or not holds(args):
        return value
    return recorded_operator(name, args, value)


def recorded_operator(name, args, value):
    """An operator as a primitive, whose value is known."""
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
