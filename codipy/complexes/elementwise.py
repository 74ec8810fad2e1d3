# SPDX-License-Identifier: Apache-2.0
"""Rules of the ufuncs that take complex numbers.

Of a function with a complex derivative f' the cotangent is g conj(f'(z)). `absolute` has z / abs(z), and 0 at 0, as the
real one; branch cuts are NumPy's, and the derivative is that of the branch.
"""

from __future__ import annotations

from cmath import isfinite

import numpy as np

from codipy.complexes.movement import plain
from codipy.complexes.record import rule
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import is_plain, unbroadcast, widened

__all__ = ["NAMES", "PARTIALS", "of_partials", "of_scalars", "times"]

LN2, LN10 = np.log(2.0), np.log(10.0)


def _is_finite(numbers):
    """Whether the sum is finite, asked without what `np.sum` does around it."""
    return isfinite(np.add.reduce(numbers, axis=None))


def times(g, factor):
    """``g * factor``, but 0 where `g` is 0 and the factor is infinite or undefined."""
    with np.errstate(all="ignore"):
        if not is_plain(g) or hasattr(factor, "is_active"):
            share = g * factor
            return np.where(np.equal(g, 0) & np.isnan(share), 0.0, share)
        share = np.multiply(g, factor)
        if not _is_finite(share):
            share = np.where(np.equal(g, 0), 0.0, share)
        return share


def _power_x(x, y, w):
    return np.where(np.equal(y, 0), 0.0, y * np.power(x, np.subtract(y, 1.0)))


def _power_y(x, y, w):
    zero = np.equal(x, 0)
    base = np.where(zero, 1.0, x)
    return np.where(zero, 0.0, w * np.log(base if np.iscomplexobj(base) else base + 0j))


# On a branch cut the sign of a zero says the side, and ``x + 1.0`` and ``x * x`` may turn -0.0 into 0.0. ``x - 1.0``,
# ``x - -1.0`` and ``-x`` keep it.
def _below(x):
    return np.negative(np.subtract(x, 1.0))


def _above(x):
    return np.subtract(x, -1.0)


def _arcsin(x, w):
    return 1.0 / (np.sqrt(_below(x)) * np.sqrt(_above(x)))


def _arccosh(x, w):
    return 1.0 / (np.sqrt(np.subtract(x, 1.0)) * np.sqrt(_above(x)))


def _arcsinh(x, w):
    """An even function, of which the two factors have the phase of their product on the right."""
    right = np.where(np.signbit(np.real(plain(x))), -x, x)
    return 1.0 / (np.sqrt(right - 1j) * np.sqrt(right + 1j))


# By the name of the ufunc: for each argument the derivative, of the arguments and the result.
PARTIALS = {
    "multiply": (lambda x, y, w: y, lambda x, y, w: x),
    "divide": (lambda x, y, w: np.reciprocal(y if np.iscomplexobj(y) else y + 0j), lambda x, y, w: -w / y),
    "power": (_power_x, _power_y),
    "float_power": (_power_x, _power_y),
    "exp": (lambda x, w: w,),
    "exp2": (lambda x, w: w * LN2,),
    "expm1": (lambda x, w: np.exp(x),),
    "log": (lambda x, w: 1.0 / x,),
    "log2": (lambda x, w: 1.0 / (x * LN2),),
    "log10": (lambda x, w: 1.0 / (x * LN10),),
    "log1p": (lambda x, w: 1.0 / (1.0 + x),),
    "sqrt": (lambda x, w: 0.5 / w,),
    "square": (lambda x, w: 2.0 * x,),
    "reciprocal": (lambda x, w: -w * w,),
    "sin": (lambda x, w: np.cos(x),),
    "cos": (lambda x, w: -np.sin(x),),
    "tan": (lambda x, w: 1.0 + w * w,),
    "arcsin": (_arcsin,),
    "arccos": (lambda x, w: -_arcsin(x, w),),
    "arctan": (lambda x, w: 1.0 / (1.0 + x * x),),
    "sinh": (lambda x, w: np.cosh(x),),
    "cosh": (lambda x, w: np.sinh(x),),
    "tanh": (lambda x, w: 1.0 - w * w,),
    "arcsinh": (_arcsinh,),
    "arccosh": (_arccosh,),
    "arctanh": (lambda x, w: 1.0 / (1.0 - x * x),),
}
_BY_RESULT = {"exp", "exp2", "sqrt", "reciprocal", "tan", "tanh"}  # whose partials read the result alone
_BY_ARGS = {
    "multiply", "expm1", "log", "log2", "log10", "log1p", "square", "sin", "cos", "arcsin", "arccos", "arctan", "sinh",
    "cosh", "arcsinh", "arccosh", "arctanh",
}  # fmt: skip


def _quietly(partial, *args):
    with np.errstate(all="ignore"):
        return partial(*map(widened, args))


def _conjugate(a):
    return np.conjugate(a) if np.iscomplexobj(a) else a


def _is_theirs(partial, args, out):
    """Whether an array that a partial gave is an operand: then nobody may write into it."""
    return not isinstance(partial, np.ndarray) or any(partial is x for x in (*args, out))


def conjugate_share(g, partial, args, out, bar=None):
    """``g * conj(partial)``, written to `bar` if that is given; in as few passes as NumPy has."""
    if not is_plain(g, partial) or partial.shape != g.shape or partial.dtype.kind != "c" or not g.ndim:
        return times(g, _conjugate(partial))
    into = bar if _is_theirs(partial, args, out) else partial
    with np.errstate(all="ignore"):
        share = np.conjugate(partial) if into is None else np.conjugate(partial, out=into)
        share = np.multiply(g, share, out=share if bar is None else bar)
        if not _is_finite(share):
            np.copyto(share, 0.0, where=np.equal(g, 0))
    return share


def _fits(bar, g, arg):
    """Whether a cotangent of an argument can be written where it is to stand: complex, and not broadcast."""
    return np.iscomplexobj(arg) and np.shape(arg) == g.shape == bar.shape and is_plain(g)


def of_partials(name, ufunc, partials):
    """The primitive of a ufunc with complex derivatives, of which some may be missing.

    Parameters
    ----------
    name : str
        What it is recorded as.
    ufunc : numpy.ufunc
        Gives the value.
    partials : sequence
        For each argument ``partial(*args, out)``, or None.
    """

    def vjp(g, out, args, kwargs, argnums):
        return [
            unbroadcast(conjugate_share(g, _quietly(partials[k], *args, out), args, out), np.shape(args[k]))
            for k in argnums
        ]

    def into(g, out, args, kwargs, k, bar):
        if not _fits(bar, g, args[k]):
            return False
        partial = _quietly(partials[k], *args, out)
        if is_plain(partial) and partial.shape == g.shape and partial.dtype.kind == "c":
            conjugate_share(g, partial, args, out, bar)
            return True
        if np.ndim(partial) > g.ndim:
            return False
        with np.errstate(all="ignore"):
            np.multiply(g, _conjugate(partial), out=bar)
        if not _is_finite(bar):
            np.copyto(bar, 0.0, where=np.equal(g, 0))
        return True

    def jvp(tangents, out, args, kwargs):
        return sum(times(t, _quietly(partials[k], *args, out)) for k, t in tangents.items()) + np.zeros(np.shape(out))

    return Primitive(name, ufunc, vjp, jvp, keep_args=name not in _BY_RESULT, keep_out=name not in _BY_ARGS, into=into)


for _name, _partials in PARTIALS.items():
    rule(of_partials(_name, getattr(np, _name), _partials), elementwise=True)


# ---- sums: nothing is kept -------------------------------------------------------------------------------------------
def _sum_of(name, ufunc, signs):
    def vjp(g, out, args, kwargs, argnums):
        return [unbroadcast(g if signs[k] > 0 else -g, np.shape(args[k])) for k in argnums]

    def jvp(tangents, out, args, kwargs):
        return sum(t if signs[k] > 0 else -t for k, t in tangents.items()) + np.zeros(np.shape(out))

    def into(g, out, args, kwargs, k, bar):
        if np.shape(args[k]) != g.shape:
            return False
        np.copyto(bar, g) if signs[k] > 0 else np.negative(g, out=bar)
        return True

    return Primitive(name, ufunc, vjp, jvp, keep_args=False, keep_out=False, into=into)


for _name, _signs in {"add": (1, 1), "subtract": (1, -1), "negative": (-1,), "positive": (1,)}.items():
    rule(_sum_of(_name, getattr(np, _name), _signs), elementwise=True)


# ---- no complex derivative -------------------------------------------------------------------------------------------
def _direction(z, size):
    """z / abs(z), and 0 at 0; also where the size overflows."""
    with np.errstate(all="ignore"):
        return np.where(np.equal(size, 0), 0.0, z / np.where(np.equal(size, 0), 1.0, size))


def _absolute_vjp(g, out, args, kwargs, argnums):
    if is_plain(g, out, args[0]) and g.ndim and np.all(out):
        with np.errstate(all="ignore"):
            bar = args[0] * (g / out)
        if _is_finite(bar):
            return [bar]
    return [times(g, _direction(args[0], out))]


def _absolute_into(g, out, args, kwargs, k, bar):
    if not (is_plain(g, out, args[0]) and np.all(out)):
        return False
    with np.errstate(all="ignore"):
        np.multiply(args[0], g / out, out=bar)
    if not _is_finite(bar):
        bar[...] = 0.0
        return False
    return True


def _absolute_jvp(tangents, out, args, kwargs):
    return times(tangents[0], np.conjugate(_direction(args[0], out))).real


def _conjugate_vjp(g, out, args, kwargs, argnums):
    return [np.conjugate(g)]


def _conjugate_jvp(tangents, out, args, kwargs):
    return np.conjugate(tangents[0])


def _turned(t, z, direction):
    """What of `t` turns z, over abs(z)."""
    with np.errstate(all="ignore"):
        size = np.abs(z)
        across = t - direction * (np.conjugate(direction) * t).real
        return np.where(np.equal(size, 0), 0.0, across / np.where(np.equal(size, 0), 1.0, size))


def _sign_vjp(g, out, args, kwargs, argnums):
    return [_turned(g, args[0], out)]


def _sign_jvp(tangents, out, args, kwargs):
    return _turned(tangents[0], args[0], out)


def _angle_slope(z):
    """d angle = Re(conj(slope) dz) with slope = i z / abs(z)**2, and 0 at 0."""
    with np.errstate(all="ignore"):
        size = np.abs(z)
        safe = np.where(np.equal(size, 0), 1.0, size)
        return np.where(np.equal(size, 0), 0.0, 1j * (z / safe) / safe)


def _angle_vjp(g, out, args, kwargs, argnums):
    scale = 180 / np.pi if kwargs.get("deg") else 1.0
    return [times(g * scale, _angle_slope(args[0]))]


def _angle_jvp(tangents, out, args, kwargs):
    scale = 180 / np.pi if kwargs.get("deg") else 1.0
    return times(tangents[0] * scale, np.conjugate(_angle_slope(args[0]))).real


rule(Primitive("absolute", np.absolute, _absolute_vjp, _absolute_jvp, into=_absolute_into), "r")
rule(Primitive("conjugate", np.conjugate, _conjugate_vjp, _conjugate_jvp, keep_args=False, keep_out=False), "c", True)
rule(Primitive("sign", np.sign, _sign_vjp, _sign_jvp), "c", True)
rule(Primitive("angle", np.angle, _angle_vjp, _angle_jvp, keep_out=False), "r")

NAMES = frozenset({*PARTIALS, "add", "subtract", "negative", "positive", "absolute", "conjugate", "sign"})


def of_scalars(args):
    """Numbers of Python as NumPy's, which have the attributes that rules ask for."""
    return [np.asarray(x) if isinstance(x, (int, float, complex)) else x for x in args]
