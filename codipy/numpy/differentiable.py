# SPDX-License-Identifier: Apache-2.0
"""Functions with derivative rules: NumPy's arguments as those of a primitive, active ones by position."""

from __future__ import annotations

import inspect
from functools import partial

import numpy as np

from codipy.active.array import Array, Real, call, from_nested
from codipy.active.doors import door

from . import registry
from .arguments import (
    PLAIN,
    assign,
    bind,
    holds_active,
    is_of_objects,
    kept_by,
    parameters,
    refuse,
    value_tree,
)  # fmt: skip
from .names import of_name
from .rules.eigen import comes_out_complex

__all__ = [
    "FUNCTIONS", "PRIMITIVE", "ROUNDED", "apply", "in_order", "is_function", "of_complex", "operand",
    "refuse_precision",
]  # fmt: skip


def operand(x):
    """An Array of what holds active elements; plain lists and numbers of lists as arrays."""
    if isinstance(x, np.ndarray) and x.dtype == object and not is_of_objects(x):
        x = x.tolist()
    if isinstance(x, (list, tuple)) and holds_active(x):
        return from_nested(x)
    return x


def apply(name, args, kwargs, out=None):
    """Call the primitive `name` with active arguments by position and passive ones in any way."""
    primitive = name
    if holds_active(kwargs.get("mean")) and f"{name}.about" in registry.PRIMITIVES:
        named = dict(zip(parameters(of_name(name)).positional, args))  # those behind an active one too
        a, mean = named.pop("a"), kwargs["mean"]
        args, kwargs = (a, mean), {key: value for key, value in (named | kwargs).items() if key not in ("mean", "out")}
        primitive = f"{name}.about"
    if holds_active(kwargs):
        active = ", ".join(key for key, value in kwargs.items() if holds_active(value))
        refuse(name, f"there is no derivative for the argument {active}: pass `codipy.value` of it")
    dtype = kwargs.get("dtype")
    if dtype is not None and np.dtype(dtype) not in (np.float64, np.float32):
        refuse(name, f"dtype={np.dtype(dtype)} would lose the derivative: leave it away")
    if dtype is None and out is not None:
        refuse_precision(name, args, out)
    if dtype is not None and out is not None and name in _ROUNDED and np.dtype(dtype).itemsize > out.dtype.itemsize:
        refuse(name, ROUNDED)
    if name in _COUNTING and (where := kwargs.get("where", True)) is not True:
        where = np.asarray(value_tree(where))
        counted = where.dtype.kind == "f" or where.dtype.kind != "b" and name in _VARIANCES
        if counted and not np.all((where == 0) | (where == 1)):
            refuse(name, "NumPy adds the numbers in where= up for a count: make them truths, np.asarray(where, bool)")
    args = [operand(x) if holds_active(x) else value_tree(x) for x in args]
    found = _real(name, call(registry.PRIMITIVES[primitive], tuple(args), value_tree(kwargs)))
    return assign(found, out, kept_by(name))


# Functions that write what they have in between into ``out=``, or choose by its dtype how to compute.
_ROUNDED = {"mean", "prod", "sum", "nanmean", "nanprod", "nansum", "var", "std", "nanvar", "nanstd", "ptp", "trace"}
_COMPLEX_PRODUCTS = {"cumprod", "nancumprod", "prod", "nanprod"}
_VARIANCES = {"var", "std", "nanvar", "nanstd"}
_COUNTING = _VARIANCES | {"mean", "nanmean"}  # they divide by the sum of ``where``
_ROUNDED |= {"percentile", "quantile", "nanpercentile", "nanquantile"}
_ROUNDED |= {f"fft.{kind}fft{axes}" for kind in ("", "i", "r") for axes in ("2", "n")}
ROUNDED = "NumPy rounds sums that are wider than out= on the way: leave out= away, and assign to `out[...]`"


_SINGLE = (np.dtype(np.float32), np.dtype(np.complex64))


def _is_single(x):
    if isinstance(x, (list, tuple)):
        return any(map(_is_single, x))
    return getattr(x, "dtype", None) in _SINGLE


def refuse_precision(name, args, out):
    """Refuse an ``out=`` of another precision, where NumPy's values depend on it in more than their last rounding."""
    into_single = _is_single(out)
    if not into_single and out.dtype.kind in "fc" and any(map(_is_single, args)):
        refuse(name, f"float32 into out= of {out.dtype} is computed in float64: make the argument float64, or leave "
                     "out= away")  # fmt: skip
    if name in _ROUNDED and into_single and not all(map(_is_single, args[:1])):
        refuse(name, ROUNDED)
    if name in _COMPLEX_PRODUCTS and out.dtype.kind == "c" and not np.iscomplexobj(value_tree(args[0])):
        refuse(name, "NumPy multiplies complex numbers where out= is complex: leave out= away, assign to `out[...]`")
    is_real = name in _VARIANCES or name in ("mean", "nanmean") and not np.iscomplexobj(value_tree(args[0]))
    if is_real and out.dtype.kind == "c":
        refuse(name, "NumPy divides complex numbers where out= is complex: leave out= away, and assign to `out[...]`")


def _real(name, found):
    """The result, if nothing in it is complex: nothing would follow that."""
    if type(found) in _OURS:
        return found
    for part in found if isinstance(found, tuple) else (found,):
        if type(part) not in _OURS and np.iscomplexobj(part):
            refuse(name, "the result is complex, and has no derivative here: say codipy.value(x) where none is wanted")
    return found


_OURS = frozenset({Array, Real})
_POSITIONAL = _OURS | PLAIN
_MEANING = frozenset({"out", "dtype"})  # these are looked into
_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _default(parameter):
    """What a parameter has that was not given; `keepdims` must be a truth value for the rules."""
    return False if parameter.name == "keepdims" else parameter.default


def _is_settled(args, kwargs):
    """Whether a call is a primitive's already: Arrays and plain things by position, plain things by name."""
    if kwargs and not (PLAIN.issuperset(map(type, kwargs.values())) and _MEANING.isdisjoint(kwargs)):
        return False
    return _POSITIONAL.issuperset(map(type, args))


def _call(func, args, kwargs, name):
    if _is_settled(args, kwargs):
        return _real(name, call(registry.PRIMITIVES[name], args, kwargs))
    positional, rest, out = in_order(func, args, kwargs, holds_active)
    return apply(name, positional, rest, out)


def in_order(func, args, kwargs, holds):
    """The arguments of a call as a primitive takes them: operands by position, the others by name, and ``out=``.

    Parameters
    ----------
    func : callable
        NumPy's function.
    args, kwargs : tuple, dict
        As it was called.
    holds : callable
        Whether something active is in an argument.
    """
    given, known = bind(func, args, kwargs), parameters(func).all
    out = given.pop("out", None)
    last, positional, rest = 0, [], {}
    for k, parameter in enumerate(known):  # operands by position: those that must be given, and active ones
        needed = parameter.default is parameter.empty or holds(given.get(parameter.name))
        if needed and parameter.kind in _NAMED:
            last = k
    for k, parameter in enumerate(known):
        value = given.get(parameter.name, _default(parameter))
        if parameter.kind == parameter.VAR_POSITIONAL:
            positional += value if parameter.name in given else ()
        elif parameter.kind == parameter.VAR_KEYWORD:
            rest |= value if parameter.name in given else {}
        elif k <= last and parameter.kind in _NAMED or parameter.kind == parameter.POSITIONAL_ONLY:
            positional.append(value)
        elif parameter.name in given and value is not np._NoValue:
            rest[parameter.name] = value
    return positional, rest, out


def is_function(name):
    """Whether NumPy has a function of this name; primitives of ufuncs and of their methods have others."""
    return isinstance(of_name(name), type(np.sum))


def of_complex(func, args, kwargs):
    """A function of real arrays whose result is complex."""
    return door("complexes")().array_function(func, (), args, kwargs)


def _eigenvalues(func, args, kwargs, name):
    """Of a real matrix, whose eigenvalues NumPy gives as complex numbers if one of them is."""
    (a,) = bind(func, args, kwargs).values()
    a = operand(a)
    if comes_out_complex(name.removeprefix("linalg."), value_tree(a)):
        return of_complex(func, (a,), {})
    return apply(name, (a,), {})


def _roots(func, args, kwargs):
    """Of a real polynomial, whose roots NumPy gives as complex numbers if one of them is."""
    (p,) = bind(func, args, kwargs).values()
    if np.iscomplexobj(np.roots(value_tree(p))):
        return of_complex(func, (p,), {})
    return apply("roots", (p,), {})


FUNCTIONS: dict = {name: partial(_call, name=name) for name in registry.PRIMITIVES if is_function(name)}
_COMPLEX = ("fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "ihfft", "rfft", "rfft2", "rfftn")
FUNCTIONS |= {f"fft.{name}": of_complex for name in _COMPLEX}
FUNCTIONS["roots"] = _roots
FUNCTIONS |= {name: partial(_eigenvalues, name=name) for name in ("linalg.eig", "linalg.eigvals")}
PRIMITIVE = {name for name, handler in FUNCTIONS.items() if getattr(handler, "func", None) is _call}
