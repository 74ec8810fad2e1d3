# SPDX-License-Identifier: Apache-2.0
"""Primitives whose rules are written with complex numbers, recorded on pairs of reals.

A rule is a `Primitive` on complex arrays. The cotangent of z is dL/dRe(z) + i dL/dIm(z), so that the change of L is
Re(sum(conj(g) dz)); that of a real argument is the real part. What the tape holds is the same rule on pairs, one
primitive for each choice of arguments that are complex: a view on the way in and on the way out. Inside of another
recording the rule sees ComplexArrays, and is recorded itself.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from codipy.active.array import Array, Real, call
from codipy.complexes.array import ComplexArray
from codipy.complexes.pairs import complex_of_pairs, pairs_of_complex
from codipy.complexes.scalar import Complex, pair_of
from codipy.numpy.arguments import fillable, holds_active, refuse
from codipy.numpy.links import Shared
from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import in_memory

__all__ = ["RULES", "Rule", "lifted", "named", "recorded", "recorded_once", "record", "results_of", "rule",
           "special_name"]  # fmt: skip

RULES: dict = {}  # by name


@dataclass(frozen=True)
class Rule:
    """A primitive on complex arrays, and which of its results are complex.

    Parameters
    ----------
    primitive : Primitive
        Its rules see and give complex arrays.
    results : str or callable
        One letter for each result: "c" complex, "a" complex and an array also without dimensions, "r" real. Or a
        function of the options that gives them.
    elementwise : bool
        Whether each element of the result depends on those of the arguments at its place alone.
    operands : int, optional
        How many of the first arguments may be active, by default all.
    """

    primitive: Primitive
    results: str | Callable = "c"
    elementwise: bool = False
    operands: int | None = None

    def letters(self, options):
        """The letters of the results of a call with these options."""
        return self.results if isinstance(self.results, str) else self.results(options)


def rule(primitive, results="c", elementwise=False, operands=None):
    """Enter a rule under its name."""
    RULES[primitive.name] = made = Rule(primitive, results, elementwise, operands)
    return made


def lifted(x):
    """The complex array of a real one, or the Complex of a Real: the imaginary part is 0."""
    if type(x) is Real:
        return Complex(x, 0.0)
    order = () if x.flags.c_contiguous else in_memory(x)
    if list(order) == sorted(order):
        return ComplexArray.of_pairs(np.stack([x, np.zeros(x.shape, x.dtype)], axis=-1))
    rows = np.transpose(x, order)  # complex copies lie in memory as what they are copies of
    pairs = np.stack([rows, np.zeros(rows.shape, x.dtype)], axis=-1)
    return ComplexArray.of_pairs(np.transpose(pairs, (*np.argsort(order), x.ndim)).copy("K"))


def joined(pairs):
    """Pairs as complex numbers: a view of an ndarray, a ComplexArray of an Array."""
    return ComplexArray.of_pairs(pairs) if type(pairs) is Array else complex_of_pairs(pairs)


def paired(z):
    """Complex numbers, active or plain, as pairs."""
    if type(z) is ComplexArray:
        return z.pairs
    if type(z) is Complex:
        return pair_of(z)
    if type(z) is Array or type(z) is Real:
        return paired(lifted(z))
    return pairs_of_complex(z)


def _fitting(bar, letter):
    """A cotangent as its argument is: pairs, or real numbers."""
    if bar is None or letter == "-" and not (type(bar) in (ComplexArray, Complex) or np.iscomplexobj(bar)):
        return bar
    return paired(bar) if letter == "c" else bar.real


def _all(function, values, letters):
    return [function(x) if letter in "ca" and x is not None else x for x, letter in zip(values, letters)]


def _packed(function, out, results):
    """`function` of the complex ones of one result or several."""
    if not isinstance(out, tuple):
        return function(out) if results in "ca" else out
    parts = _all(function, out, results)
    return type(out)(*parts) if hasattr(out, "_fields") else tuple(parts)


def _with_axes(x):
    """A number of Python's with the attributes that rules ask for; values are computed with the number itself."""
    return np.asarray(x) if type(x) in (complex, float) else x


def named(name):
    """The primitive on pairs of a name that a tape file gives, or None."""
    own, _, kinds = name.rpartition(" of ")
    found = own.removeprefix("complex ")
    _learn(found)
    return _on_pairs(found, kinds) if own != found and found in RULES and set(kinds) <= set("c-") else None


@cache
def _on_pairs(name, kinds):
    """That of the rule of a name."""
    return _paired_primitive(name, RULES[name], kinds)


def _paired_primitive(name, rule, kinds):
    """The primitive on pairs where `kinds` has a "c", else on real and passive arguments."""
    primitive, letters = rule.primitive, rule.letters

    def forward(*args, **kwargs):
        return _packed(paired, primitive.forward(*_all(joined, args, kinds), **kwargs), letters(kwargs))

    def vjp(g, out, args, kwargs, argnums):
        results = letters(kwargs)
        g, out = _packed(joined, g, results), _packed(joined, out, results)
        bars = primitive.vjp(g, out, _all(joined, map(_with_axes, args), kinds), kwargs, argnums)
        return [_fitting(bar, kinds[k]) for bar, k in zip(bars, argnums)]

    def jvp(tangents, out, args, kwargs):
        results = letters(kwargs)
        tangents = {k: joined(t) if kinds[k] == "c" else t for k, t in tangents.items()}
        args = _all(joined, map(_with_axes, args), kinds)
        found = primitive.jvp(tangents, _packed(joined, out, results), args, kwargs)
        if not isinstance(found, tuple):
            return _fitting(found, "-" if results == "r" else "c")
        return tuple(_fitting(t, "-" if letter == "r" else "c") for t, letter in zip(found, results))

    def into(g, out, args, kwargs, argnum, bar):
        if kinds[argnum] != "c" or bar.strides[-1] != bar.itemsize:
            return False  # a view of the bar is needed
        results = letters(kwargs)
        g, out = _packed(joined, g, results), _packed(joined, out, results)
        return primitive.into(g, out, _all(joined, args, kinds), kwargs, argnum, joined(bar))

    pattern = _same_place(kinds) if rule.elementwise and rule.results == "c" else None
    return Primitive(
        f"complex {name} of {kinds}", forward, vjp, primitive.jvp and jvp, keep_args=primitive.keep_args,
        keep_out=primitive.keep_out, located=primitive.located, pattern=pattern, into=primitive.into and into,
    )  # fmt: skip


def _same_place(kinds):
    """The pattern of an elementwise rule whose arguments are not broadcast."""

    def pattern(args, kwargs, argnums, shapes):
        return [
            Shared((axis, axis) for axis in range(len(shapes[0]) - 1))
            if kinds[k] == "c" and np.shape(args[k]) == shapes[0] else None
            for k in argnums
        ]  # fmt: skip

    return pattern


def results_of(found, results):
    """What a primitive on pairs gave, as Arrays and ComplexArrays, elements as Reals and Complex."""
    if isinstance(found, tuple):
        parts = [results_of(part, letter) for part, letter in zip(found, results)]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    if results == "r":
        return fillable(found)
    if type(found) is Array:
        return Complex.of_element(found) if found.ndim == 1 and results == "c" else ComplexArray.of_pairs(found)
    if isinstance(found, np.ndarray):
        if found.ndim == 1 and results == "c":
            return complex_of_pairs(found)[()]
        made = fillable(found)
        return ComplexArray.of_pairs(made) if type(made) is Array else complex_of_pairs(found)
    return found


def _sorted_out(args):
    """Which arguments are complex, and all of them as the primitive on pairs takes them."""
    kinds, operands = "", []
    for x in args:
        is_complex = type(x) is ComplexArray or type(x) is Complex
        kinds += "c" if is_complex else "-"
        operands.append(paired(x) if is_complex else x)
    return kinds, operands


def record(name, args, kwargs=None):
    """Run the rule of a name on complex and real arguments, and record it if one is active."""
    kinds, operands = _sorted_out(args)
    first = RULES[name].operands
    if first is not None and ("c" in kinds[first:] or holds_active(args[first:]) or holds_active(kwargs)):
        refuse(name, "of complex arrays only the array itself may be active: take codipy.value(...) of its options")
    return results_of(call(_on_pairs(name, kinds), operands, kwargs), RULES[name].letters(kwargs or {}))


def recorded_once(primitive, args, kwargs=None):
    """As `record`, by a primitive on complex arrays that is made for this call, with one complex result."""
    kinds, operands = _sorted_out(args)
    made = _paired_primitive(primitive.name, Rule(primitive), kinds)
    return results_of(call(made, operands, kwargs), "c")


# Rules on functions of SciPy, which are entered when one is asked for.
_OF_SCIPY = {"scipy.fft": "codipy.complexes.transforms", "scipy.linalg": "codipy.complexes.algebra",
             "scipy.special": "codipy.complexes.special",
             "scipy.signal": "codipy.complexes.convolutions"}  # fmt: skip


def _learn(name):
    place = _OF_SCIPY.get(name.rpartition(".")[0])
    if place is not None:
        importlib.import_module(place)


def special_name(ufunc):
    """The name of the rule of a ufunc of `scipy.special`; None if it has none for complex numbers."""
    special, name = sys.modules.get("scipy.special"), f"scipy.special.{ufunc.__name__}"
    if special is None or getattr(special, ufunc.__name__, None) is not ufunc:
        return None
    _learn(name)
    return name if name in RULES else None


def recorded(name, args, kwargs):
    """As `record`, also by the name of a function of SciPy."""
    _learn(name)
    if name not in RULES:
        refuse(name, "of complex matrices codipy has no derivative for it: take a function of numpy.linalg, or compute "
                     "with real and imaginary parts")
    return record(name, args, kwargs)
