# SPDX-License-Identifier: Apache-2.0
"""`Array.__array_function__`: the set of every overridable function of NumPy, and what it does with an Array."""

from __future__ import annotations

from functools import cache

import numpy as np

from codipy.active.array import Array
from codipy.active.recordings import status

from . import composite, creation, differentiable, movement, order, passive, refused, registry, views, writers
from .arguments import (
    apart,
    assign,
    bind,
    call_with,
    holds_active,
    holds_complex,
    holds_objects,
    holds_variables,
    kept_by,
    parameters,
    refuse,
    sees_objects,
    value_tree,
)
from .names import of_name
from .outputs import door_with_out
from .outside import as_objects
from .rules.scans import UFUNC_PARTIALS
from .views import Shown

__all__ = ["CALLING", "OBJECTS", "SETS", "SHORT", "array_function", "name_of"]

OBJECTS = ("an operand holds objects that are no numbers, and only numbers can be combined with an Array: write a loop "
           "over them, or keep numbers in an array of their own (arrays in a list, which np.stack joins)")
_WRITE = "leave it away, or say codipy.value(x) where the derivative is not wanted"


@cache
def name_of(func):
    """NumPy's name of a function below `np.`."""
    name = f"{func.__module__}.{func.__name__}".removeprefix("numpy.")
    return name.replace("lib._scimath_impl.", "lib.scimath.")  # up to NumPy 2.1 they name the file that they stand in


def _direct(function):
    """A handler from a function that has NumPy's own arguments."""

    def handler(func, args, kwargs):
        return function(*args, **kwargs)

    return handler


def _all_direct(functions):
    return {name: _direct(function) for name, function in functions.items()}


_MOVEMENT = (
    movement.FUNCTIONS
    | creation.MOVEMENT
    | _all_direct(order.FUNCTIONS | writers.FUNCTIONS | creation.FUNCTIONS | movement.SPECIAL)
)

# Four sets: each name is in exactly one. What can be moved is: no value need be kept.
SETS = {
    "differentiable": {
        name: handler
        for name, handler in (differentiable.FUNCTIONS | _all_direct(composite.FUNCTIONS)).items()
        if name not in _MOVEMENT and name not in refused.FUNCTIONS
    },
    "movement": _MOVEMENT,
    "passive": passive.FUNCTIONS | creation.PASSIVE,
    "refused": refused.FUNCTIONS,
}

# Run also where nothing is active: they write, give views, or make Arrays to fill.
_ALWAYS = {*movement.FUNCTIONS, *writers.FUNCTIONS, *creation.FUNCTIONS, *creation.MOVEMENT, *creation.PASSIVE}
_ALWAYS |= {"may_share_memory", "nan_to_num", "shares_memory"}
_HANDLERS = SETS["differentiable"] | SETS["movement"] | SETS["passive"]


def _moving(name):
    """The places and the names of the arguments that move; None where they are any number."""
    names = movement.DATA[name].split()
    known = parameters(of_name(name))
    if known.variable or not set(names) <= set(known.positional):
        return None
    return tuple(known.positional.index(one) for one in names), set(names)


# Where complex numbers, or a complex dtype that is asked for, make the result complex.
_OF_NUMBERS = {*movement.DATA, *views.DATA, *differentiable.FUNCTIONS, *composite.FUNCTIONS, "clip", "piecewise"}
_OF_NUMBERS -= {"imag", "nan_to_num"}


# What needs nobody to look into its arguments: `active/arrays/protocol.pyx` goes a shorter way with most calls of them.
SHORT = {
    of_name(name): registry.PRIMITIVES[name]
    for name, handler in SETS["differentiable"].items()
    if handler is differentiable.FUNCTIONS.get(name) and name in differentiable.PRIMITIVE
}
SHORT |= {
    of_name(name): _moving(name)
    for name, handler in _MOVEMENT.items()
    if name in movement.DATA and handler is movement.FUNCTIONS.get(name) and _moving(name)
}


# Functions that give views of their first argument wherever they can.
SHORT |= {
    of_name(name): "seen"
    for name, seen in views.DATA.items()
    if name != "tile" and (parameters(of_name(name)).positional[:1] == [seen] or name.startswith("atleast"))
}
SHORT |= {of_name(name): "values" for name, handler in passive.FUNCTIONS.items() if handler is passive.on_values}
SHORT |= {
    of_name(name): "fresh"
    for name in SETS["differentiable"] | SETS["movement"]
    if name not in _ALWAYS and of_name(name) not in SHORT
}
SHORT[np.matmul] = registry.PRIMITIVES["matmul"]
SHORT |= {(ufunc, "reduce"): registry.PRIMITIVES[f"{ufunc.__name__}.reduce"] for ufunc in UFUNC_PARTIALS}


_PRODUCTS = {"dot", "einsum", "inner", "linalg.matmul", "linalg.multi_dot", "linalg.tensordot", "tensordot", "vdot"}


# Of arrays of objects they are made of the operators of the elements; others look at dtypes or call methods.
_OF_OPERATORS = {"clip", "convolve", "correlate", "dot", "einsum", "inner", "kron", "outer", "tensordot", "vdot"}
# Their operands are whatever the user's function takes.
CALLING = {"apply_along_axis", "apply_over_axes", "piecewise"}


_SAVING = {"save", "savetxt", "savez", "savez_compressed"}  # plain values, where nothing records


def _reason(name):
    return refused.FUNCTIONS.get(name) or refused.NEWER.get(name) or refused.MODULES.get(name.split(".")[0])


@door_with_out
def array_function(func, types, args, kwargs):
    """Run a function of NumPy that was called with an Array.

    Raises
    ------
    ActiveError
        For a function that would lose the derivative; the message says what to write instead.
    """
    name = name_of(func)
    handler = _HANDLERS.get(name)
    if name == "dot":
        _demand_own_out(bind(func, args, kwargs))
    is_active = holds_active(args) or holds_active(kwargs)
    if name not in _ALWAYS and not (is_active or holds_variables(args) or holds_variables(kwargs)):
        bound = bind(func, args, kwargs)
        out = bound.get("out")
        if isinstance(out, Array):
            bound["out"] = np.array(out.value)  # its dtype may be that of the computation
        elif out is not None:
            del bound["out"]
        bound.pop("overwrite_input", None)  # which says that it may, and not that it must
        if name in SETS["passive"]:
            return assign(call_with(func, bound, value_tree), out, kept_by(name))
        shown = Shown(writable=False)
        bound = apart(bound) if name in _PRODUCTS else bound
        found = assign(shown.results(call_with(func, bound, shown.tree)), out, kept_by(name))
        return _without_axes(found) if name == "dot" else found
    if name in _OF_NUMBERS and (
        any(map(holds_complex, args))
        or any(map(holds_complex, kwargs.values()))
        or kwargs.get("dtype") is not None and np.dtype(kwargs["dtype"]).kind == "c"
    ):
        return differentiable.of_complex(func, args, kwargs)
    if name in _OF_OPERATORS and (any(map(sees_objects, args)) or any(map(sees_objects, kwargs.values()))):
        return _on_objects(func, name, args, kwargs)
    if name in SETS["differentiable"] and name not in CALLING and (holds_objects(args) or holds_objects(kwargs)):
        refuse(name, OBJECTS)
    if handler is None:
        if name in _SAVING and status.recording() is None:
            return func(*value_tree(args), **value_tree(kwargs))
        refuse(name, _reason(name) or f"codipy has no derivative for it: {_WRITE}")
    return handler(func, args, kwargs) if name != "dot" else _without_axes(handler(func, args, kwargs))


def _on_objects(func, name, args, kwargs):
    """NumPy's own function, which computes with each element of an array of objects as it is, and of an Array."""
    if kwargs.get("out") is not None:
        refuse(name, "out= of numbers cannot hold the objects that an operand holds: leave it away")
    return func(*map(as_objects, args), **{key: as_objects(value) for key, value in kwargs.items()})


def _demand_own_out(bound):
    """Refuse what NumPy refuses as ``out=`` of `np.dot`, alone of all functions: what is not as its result would be."""
    out = bound.get("out")
    if out is None:
        return
    wanted = np.result_type(*(np.asarray(value_tree(bound[name])) for name in ("a", "b")))
    if out.dtype != wanted or not out.flags.c_contiguous:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a "
                         "C-Array)")  # fmt: skip


def _without_axes(found):
    """What `np.dot` gives, alone of all functions: of an ``out=`` without axes the number that it holds."""
    return found[()] if isinstance(found, (Array, np.ndarray)) and not found.ndim else found
