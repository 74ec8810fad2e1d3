# SPDX-License-Identifier: Apache-2.0
"""Every function of Python's ``cmath``, on complex numbers, Reals and active Complex alike.

Values and exceptions are those of ``cmath``, bit for bit. A result is active where it depends on an active argument;
plain numbers give plain numbers. Derivatives are those of NumPy's functions: of the branch at a cut, 0 for the phase of
0.

Examples
--------
>>> import codipy
>>> from codipy import cmath
>>> codipy.grad(lambda x: cmath.exp(1j * x).imag)(0.0)
1.0
>>> cmath.polar(2j)
(2.0, 1.5707963267948966)
"""

from __future__ import annotations

import cmath as _cmath
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from codipy.active import Real
from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted
from codipy.complexes.doors import apply_operator, number
from codipy.complexes.elementary import of_function, phase_of, turned
from codipy.complexes.movement import holds, plain
from codipy.complexes.record import RULES, record, rule
from codipy.complexes.scalar import Complex
from codipy.numpy.primitive import Primitive

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


# By the name in cmath, the ufunc that has the same derivative.
_UFUNCS = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "cos": "cos", "cosh": "cosh", "exp": "exp", "log10": "log10", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "tan": "tan", "tanh": "tanh",
}  # fmt: skip


def _is_plain(*arguments):
    return status.in_passive() or not holds(arguments)


def _enter(name, ufunc, results="c", function=None):
    """Let the rule of a ufunc be that of a function of cmath, whose values have other bits."""
    function, of_arrays = function or getattr(_cmath, name), RULES[ufunc].primitive
    made = Primitive(f"cmath.{name}", lambda z: function(complex(z)), of_arrays.vjp, of_arrays.jvp,
                     keep_args=of_arrays.keep_args, keep_out=of_arrays.keep_out)  # fmt: skip
    rule(made, results)


def _as_python(found):
    """A result as one of Python's numbers, which cmath gives."""
    return converted(found, float) if type(found) is Real else found.stands_for(complex)


def _number(z):
    return z.stands_for(complex) if type(z) is Complex else number(complex, z)


def _function(name, ufunc):
    original = getattr(_cmath, name)

    @functools.wraps(original)
    def function(z, /):
        if type(z) is Complex or type(z) is Real:
            found = of_function(ufunc, original, z, complex)
            if found is not None and found is not NotImplemented:
                return found
        if _is_plain(z):
            return original(plain(z))
        return _as_python(record(f"cmath.{name}", (_number(z),)))

    return function


for _name, _ufunc in _UFUNCS.items():
    _enter(_name, _ufunc)
    globals()[_name] = _function(_name, _ufunc)
_enter("log", "log")


def _angle(z):
    """The phase, which `cmath.phase` does not give where it underflows."""
    return _cmath.polar(z)[1]


_enter("phase", "angle", "r", _angle)
_log = _function("log", "log")


def _phase(z):
    z = _number(z)
    found = phase_of(z, _angle)
    return _as_python(record("cmath.phase", (z,))) if found is None else found


@functools.wraps(_cmath.phase)
def phase(z, /):
    value = _cmath.phase(plain(z))  # which raises where it has no value
    return value if _is_plain(z) else _phase(z)


@functools.wraps(_cmath.log)
def log(z, /, *base):
    if not base:
        return _log(z)
    value = _cmath.log(plain(z), *map(plain, base))  # which raises where it has no value
    if _is_plain(z, *base):
        return value
    base = base[0]
    return apply_operator("divide", (_log(z), _log(base)))


@functools.wraps(_cmath.polar)
def polar(z, /):
    return (_cmath.polar(plain(z))) if _is_plain(z) else (abs(_number(z)), _phase(z))


def _rect_slopes(r, phi):
    turned = np.exp(1j * phi)
    return turned, 1j * r * turned


def _rect_vjp(g, out, args, kwargs, argnums):
    slopes = _rect_slopes(*args)
    return [(g * np.conjugate(slopes[k])).real for k in argnums]


def _rect_jvp(tangents, out, args, kwargs):
    slopes = _rect_slopes(*args)
    return sum(t * slopes[k] for k, t in tangents.items())


rule(Primitive("cmath.rect", lambda r, phi: _cmath.rect(float(r), float(phi)), _rect_vjp, _rect_jvp, keep_out=False))


@functools.wraps(_cmath.rect)
def rect(r, phi, /):
    value = _cmath.rect(plain(r), plain(phi))  # which raises where it has no value
    if _is_plain(r, phi):
        return value
    found = turned(r, phi, value)
    return _as_python(record("cmath.rect", (r, phi))) if found is None else found


def _on_values(name):
    original = getattr(_cmath, name)

    @functools.wraps(original)
    def passive(*arguments, **options):
        return original(*map(plain, arguments), **{key: plain(value) for key, value in options.items()})

    return passive


for _name in ("isclose", "isfinite", "isinf", "isnan"):
    globals()[_name] = _on_values(_name)
globals().update({name: getattr(_cmath, name) for name in dir(_cmath) if name[0] != "_" and name not in globals()})

__all__ = sorted(name for name in dir(_cmath) if name[0] != "_")
FUNCTIONS = {name: globals()[name] for name in __all__ if callable(getattr(_cmath, name))}
