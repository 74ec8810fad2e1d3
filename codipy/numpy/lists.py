# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions for calls with lists of Reals or Arrays, into which NumPy itself does not look for a protocol."""

from __future__ import annotations

import functools
import sys
from types import BuiltinFunctionType, FunctionType

import numpy as np

from codipy.active.array import is_complex_variable
from codipy.active.array_type import Array
from codipy.active.arrays.listed import Asked, Listed, Standing, Summing
from codipy.active.arrays.reductions import learn_sums
from codipy.active.recordings.status import recording
from codipy.active.scalar.given import method_of
from codipy.active.scalar.real import Real
from codipy.numpy import allocation
from codipy.numpy.allocation import as_numbers, given, holds_movable
from codipy.numpy.arguments import copied, fillable, holds_variables, parameters, value_tree
from codipy.numpy.composite import of_rows, rows_along
from codipy.numpy.functions import SETS, array_function
from codipy.numpy.modules import module_for
from codipy.numpy.movement import piecewise
from codipy.numpy.ufuncs import is_of_python
from codipy.numpy.views import as_strided

__all__ = [
    "FFT", "FUNCTIONS", "LINALG", "POLYNOMIAL", "SCIMATH", "STRIDED", "UFUNCS", "fft", "lib", "linalg", "listed",
    "scimath", "standing", "stands_for_ufunc", "stride_tricks",
]  # fmt: skip

_LISTS = frozenset({list, tuple})
_SEQUENCES = ["column_stack", "concatenate", "dstack", "hstack", "stack", "vstack"]  # their first argument is arrays
# Lists mean something else than an array here, and NumPy looks into them.
_TREES = [
    "block", "can_cast", "choose", "histogramdd", "piecewise", "ravel_multi_index", "select", "trim_zeros",
    "unravel_index",
]  # fmt: skip


# Parameters that NumPy's protocol does not ask. Where one of them alone is active, this module asks instead.
_WITH_INITIAL = ["amax", "amin", "max", "min", "nanmax", "nanmin", "nanprod", "nansum", "prod", "sum"]
_UNASKED = dict.fromkeys(_WITH_INITIAL, "initial") | {
    "interp": "left right",
    "nan_to_num": "nan posinf neginf",
    "nanstd": "mean",
    "nanvar": "mean",
    "pad": "constant_values end_values",
    "piecewise": "funclist",
    "select": "default",
}


# Of these NumPy sees that they are Arrays or Reals, and in others there are none.
_SEEN = frozenset({Array, Real, np.ndarray, float, int, bool, str, type(None), np.float64, np.float32, np.int64, slice})


_OWN = frozenset({"__array_function__", "__array_ufunc__"})


def _has_own(kind, name):
    """Whether a class has one of NumPy's protocols, or a method of its own of this name."""
    return any(name in vars(base) or not _OWN.isdisjoint(vars(base)) for base in kind.__mro__)


def _converted(x, name=""):
    if type(x) in _LISTS:
        return as_numbers(x) if holds_movable(x) else x
    if type(x) in _SEEN or method_of(x, "__array__") is None or _has_own(type(x), name):
        return x
    return given(x)


def _operand(x):
    """The same of an operand of a ufunc: beside a Real NumPy would make an array of objects of any list."""
    found = _converted(x)
    if type(found) in _LISTS or type(found) is range:
        made = np.asarray(found)
        return made if made.dtype.kind in "fiub" else found
    return found


def listed(ufunc):
    """A ufunc that sees lists as arrays, those of Reals and Arrays as Arrays; its methods leave other lists alone."""
    return Listed(ufunc, _operand, _converted)


def _unasked(function):
    """The names of parameters that NumPy's protocol does not ask, their places, and the first of these places."""
    unasked = frozenset(_UNASKED.get(function.__name__, "").split())
    if not unasked:
        return unasked, [], sys.maxsize
    known = parameters(function).positional
    places = sorted(known.index(name) for name in unasked if name in known)
    return unasked, places, places[0] if places else len(known)


def _asking(function):
    """A function of NumPy that also sees active values in parameters which NumPy asks nothing."""
    unasked, places, first = _unasked(function)
    if not unasked:
        return function

    @functools.wraps(function, updated=())
    def asking(*args, **kwargs):
        if len(args) > first or kwargs and not unasked.isdisjoint(kwargs):
            given = [args[k] for k in places if k < len(args)], [kwargs[name] for name in unasked & kwargs.keys()]
            if holds_variables(given):
                return array_function(function, (), args, kwargs)
        return function(*args, **kwargs)

    return asking


def _of_arguments(function):
    asked = _asking(function)
    unasked, _, first = _unasked(function)

    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        args = [_converted(x, function.__name__) for x in args]
        kwargs = {name: _converted(x, function.__name__) for name, x in kwargs.items()}
        return asked(*args, **kwargs)

    return Asked(function, call, _SEEN, first, unasked)


def _of_sequence(function):
    @functools.wraps(function, updated=())
    def call(first, *args, **kwargs):
        return function(_each_converted(first), *args, **kwargs)

    return call


def _of_choices(function):
    """A function whose second argument is a list of arrays, each of which may be a list; an array is one of arrays."""
    asked, name = _asking(function), parameters(function).positional[1]

    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        args = [_each_converted(x) if k == 1 else _converted(x) for k, x in enumerate(args)]
        kwargs = {key: _each_converted(x) if key == name else _converted(x) for key, x in kwargs.items()}
        return asked(*args, **kwargs)

    return call


def _each_converted(x):
    return [_converted(item) for item in x] if type(x) in _LISTS and not _SEEN.issuperset(map(type, x)) else x


def _of_list(function):
    """A function of which a list of active values is a list, not an array."""

    @functools.wraps(function, updated=())
    def call(first, *args, **kwargs):
        if type(first) in _LISTS and holds_variables(first):
            return array_function(function, (), (first, *args), kwargs)
        return function(first, *args, **kwargs)

    return call


def _of_rows(function):
    """``apply_along_axis``, also of passive arrays by a function that uses active values."""
    ordinary = _of_arguments(function)

    @functools.wraps(function, updated=())
    def call(func1d, axis, arr, *args, **kwargs):
        if recording() is None or not (type(arr) in (np.ndarray, Array) or is_complex_variable(arr)):
            return ordinary(func1d, axis, arr, *args, **kwargs)
        place, rows, lead = rows_along(axis, arr)
        results = [copied(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(lead)]
        if holds_variables(results):
            return of_rows(results, lead, place, arr.dtype)
        found = iter(results)
        return fillable(ordinary(lambda row: next(found), axis, arr))

    return call


def _of_pieces(function):
    """``piecewise``, also of passive numbers by functions that use active values."""
    ordinary = _asking(function)

    @functools.wraps(function, updated=())
    def call(x, condlist, funclist, *args, **kw):
        if type(x) is float or type(x) is np.float64:
            x = np.asarray(x)
        x = _converted(x)
        is_of_floats = type(x) in (np.ndarray, Array) and x.dtype.kind == "f"
        if is_of_floats and recording() is not None and any(map(callable, funclist)):
            return fillable(piecewise(x, condlist, funclist, *args, **kw))
        return ordinary(x, condlist, funclist, *args, **kw)

    return call


def _of_counts(function):
    """`bincount`, of which a list is one of integers, whatever it holds."""
    ordinary = _of_arguments(function)

    @functools.wraps(function, updated=())
    def call(x, *args, **kwargs):
        return ordinary(value_tree(x) if type(x) in _LISTS else x, *args, **kwargs)

    return call


def _of_range(function):
    """A histogram, whose range is two numbers and no array: Python's floats are as precise as the samples."""
    place = parameters(function).positional.index("range")

    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        args = [x if k == place else _converted(x) for k, x in enumerate(args)]
        kwargs = {name: x if name == "range" else _converted(x) for name, x in kwargs.items()}
        if holds_variables([args, list(kwargs.values())]):
            return array_function(function, (), args, kwargs)
        return function(*args, **kwargs)

    return call


def standing(module, functions):
    """The functions by name, each equal to that of the module for which it stands; classes and ufuncs as they are.

    Parameters
    ----------
    module : module
        It has the originals.
    functions : dict
        By name, what stands for them, or themselves.
    """
    found = {}
    for name, function in functions.items():
        if type(function) in (FunctionType, BuiltinFunctionType, Asked, Summing):
            original = getattr(module, name)
            if original is not function and not isinstance(original, type):
                found[name] = Standing(original, function)
    return functions | found


@functools.wraps(np.frompyfunc)
def frompyfunc(func, /, nin, nout, **kwargs):
    return listed(np.frompyfunc(func, nin, nout, **kwargs))


def stands_for_ufunc(ufunc):
    """What stands for a ufunc that `np.frompyfunc` has made elsewhere; None for all others."""
    return listed(ufunc) if is_of_python(ufunc) else None


# One for each ufunc: some have several names.
_LISTED = {ufunc: listed(ufunc) for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}
UFUNCS = {name: _LISTED[ufunc] for name, ufunc in vars(np).items() if isinstance(ufunc, np.ufunc)}

_KNOWN = {name for kind in ("differentiable", "movement", "passive") for name in SETS[kind]}
_NAMES = {name for name in _KNOWN if hasattr(np, name)}
FUNCTIONS = {name: _of_arguments(getattr(np, name)) for name in _NAMES.difference(allocation.__all__, _TREES)}
FUNCTIONS |= {name: _of_sequence(getattr(np, name)) for name in _SEQUENCES}
FUNCTIONS |= {name: _asking(getattr(np, name)) for name in _TREES if name in _UNASKED}
FUNCTIONS |= {name: _of_choices(getattr(np, name)) for name in ("choose", "select")}
FUNCTIONS["apply_along_axis"] = _of_rows(np.apply_along_axis)
FUNCTIONS["piecewise"] = _of_pieces(np.piecewise)
FUNCTIONS["trim_zeros"] = _of_list(np.trim_zeros)
FUNCTIONS["bincount"] = _of_counts(np.bincount)
FUNCTIONS["frompyfunc"] = frompyfunc
FUNCTIONS |= {name: _of_range(getattr(np, name)) for name in ("histogram", "histogram_bin_edges")}
FUNCTIONS |= {"sum": Summing(np.sum, FUNCTIONS["sum"], False), "mean": Summing(np.mean, FUNCTIONS["mean"], True)}
FUNCTIONS = standing(np, FUNCTIONS)


def _sum_variable():
    x = Array()
    FUNCTIONS["sum"](x)


learn_sums(1, lambda: FUNCTIONS["sum"](Array()), _sum_variable)

def _of_module(module, prefix, without=()):
    names = {name.removeprefix(prefix) for name in _KNOWN if name.startswith(prefix)}.difference(without)
    return standing(module, {name: _of_arguments(getattr(module, name)) for name in names})


# The functions of numpy.linalg; `multi_dot` takes a list of arrays, and NumPy looks into it.
LINALG = _of_module(np.linalg, "linalg.", ("multi_dot",))
FFT = _of_module(np.fft, "fft.")
SCIMATH = _of_module(np.lib.scimath, "lib.scimath.")
# Of numpy.polynomial what asks NumPy's protocol, as two do from NumPy 2.3 on; all else is rebuilt.
POLYNOMIAL = _of_module(np.polynomial.polynomial, "polynomial.polynomial.")
POLYNOMIAL = {name: new for name, new in POLYNOMIAL.items()
              if type(getattr(np.polynomial.polynomial, name)) is type(np.max)}  # fmt: skip
linalg, fft, scimath = module_for(np.linalg, LINALG), module_for(np.fft, FFT), module_for(np.lib.scimath, SCIMATH)
STRIDED = _of_module(np.lib.stride_tricks, "lib.stride_tricks.")
STRIDED |= standing(np.lib.stride_tricks, {"as_strided": _of_arguments(as_strided)})
stride_tricks = module_for(np.lib.stride_tricks, STRIDED)
lib = module_for(np.lib, {"stride_tricks": stride_tricks, "scimath": scimath})
