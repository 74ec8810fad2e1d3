# SPDX-License-Identifier: Apache-2.0
"""Ufuncs and operators with complex operands."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real
from codipy.active.recordings import status
from codipy.active.scalar.kinds import called_by_operator
from codipy.complexes import elementwise, holomorphic, operators
from codipy.complexes.arithmetic import size_of
from codipy.complexes.array import ComplexArray
from codipy.complexes.composed import at
from codipy.complexes.creation import as_complex
from codipy.complexes.elementary import of_function
from codipy.complexes.movement import assign, holds, plain, value_tree
from codipy.complexes.record import RULES, record, recorded_once, special_name
from codipy.complexes.scalar import Complex
from codipy.numpy.arguments import refuse
from codipy.numpy.differentiable import ROUNDED
from codipy.numpy.laid_out import Layout, loop_into
from codipy.numpy.primitive import Primitive
from codipy.numpy.special import REFUSED
from codipy.numpy.ufuncs import GENERALISED, demand_unread, kept, ordered

__all__ = ["array_ufunc", "fresh", "in_place", "operate"]

_OURS = (ComplexArray, Complex, Array, Real)
_NUMBERS = (float, int, complex, np.number, np.bool_)
PASSIVE = {
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isinf, np.isnan,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.rint,
}  # fmt: skip
_SELECTING = {np.maximum, np.minimum, np.fmax, np.fmin}


def fresh(found):
    """What NumPy made while a tape records: complex and real arrays that can be filled."""
    if isinstance(found, (tuple, list)):
        made = map(fresh, found)
        return type(found)(*made) if hasattr(found, "_fields") else type(found)(made)
    if status.recording() is None or not isinstance(found, np.ndarray) or found.dtype.kind not in "fc":
        return found
    return as_complex(found) if found.dtype.kind == "c" else Array(found) if found.dtype.itemsize in (4, 8) else found


def _foreign(x):
    if type(x) in _OURS or isinstance(x, (*_NUMBERS, list, tuple, np.ndarray)):
        return False
    return getattr(type(x), "__array_ufunc__", None) is not None


def _operand(name, x):
    if isinstance(x, (list, tuple)):
        x = as_complex(x) if holds(x) else np.asarray(x)
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fiubc":
        refuse(name, f"an operand is {x.dtype}, and only numbers can be combined with a ComplexArray")
    return x


def _settled(inputs):
    """The inputs, where numbers of Python take the precision of the arrays beside them."""
    for x in inputs:
        if type(x) is Complex and x.kind is complex:
            break
    else:
        return inputs
    strong = [plain(x).dtype for x in inputs if hasattr(plain(x), "dtype")]
    if not strong or np.result_type(*strong).char not in "fFe":
        return inputs
    return tuple(x.stands_for(np.complex64) if type(x) is Complex and x.kind is complex else x for x in inputs)


def _select(ufunc, x, y):
    """`maximum` and its like, by the order of real parts, then of imaginary parts."""
    first, second = plain(x), plain(y)
    if ufunc in (np.maximum, np.minimum):
        ordered = np.greater_equal if ufunc is np.maximum else np.less_equal
        chosen = ordered(first, second) | np.isnan(first)
    else:
        ordered = np.greater_equal if ufunc is np.fmax else np.less_equal
        chosen = ordered(first, second) | np.isnan(second)
    return np.where(chosen, x, y)[()]


# Whether the square of a scalar has the bits of the operator: up to NumPy 2.2 it has those of an array's elements.
_TRIED = np.cos(np.arange(64.0)) + 1j * np.sin(np.arange(64.0) ** 2)
_SQUARES_AS_OPERATOR = all(np.square(z) == z * z for z in _TRIED)


def _apply(ufunc, inputs, options):
    name = ufunc.__name__
    if ufunc in PASSIVE:
        return ufunc(*value_tree(inputs), **options)
    if ufunc in _SELECTING:
        return _select(ufunc, *inputs)
    if ufunc is np.square and type(inputs[0]) is Complex and _SQUARES_AS_OPERATOR:
        z = inputs[0].stands_for(np.complex128) if inputs[0].kind is complex else inputs[0]
        return operators.apply_operator("multiply", (z, z))
    if (name in elementwise.NAMES or name in holomorphic.UFUNCS) and getattr(np, name) is ufunc:
        return record(name, _settled(inputs), options)
    if special_name(ufunc) is not None:
        return record(special_name(ufunc), inputs, options)
    why = "no derivative is known for complex operands: take `codipy.value(z)` where none is wanted"
    if getattr(np, name, None) is ufunc:
        refuse(name, why)
    refuse(f"scipy.special.{name}", REFUSED.get(name, why))


def _of_number(ufunc, z):
    """A ufunc of one Complex; None where it is to go the way of arrays."""
    name = ufunc.__name__
    if type(z) is not Complex or z.kind is np.complex64 or getattr(np, name, None) is not ufunc:
        return None
    if ufunc is np.conjugate:
        return z.stands_for(np.complex128).conjugate() if status.recording() is not None else None
    if ufunc is np.absolute:
        found = size_of(z.stands_for(np.complex128), ufunc)
    else:
        found = of_function(name, ufunc, z, np.complex128)
    if found is NotImplemented:
        with np.errstate(all="ignore"):  # the plain value has been computed, with its warnings
            return record(name, (z,))
    return found


# What is recorded by a rule, and what operands may be for that to be all.
_RULES = {getattr(np, name): name for name in {*elementwise.NAMES, *holomorphic.UFUNCS}}
_ARRAYS = frozenset({ComplexArray, Array})
_SETTLED = _ARRAYS | {Real, Complex, float, int, complex, np.float64, np.complex128}


def _is_settled(inputs):
    """Whether an array is among the operands, one of them is active, and none has to be looked into."""
    arrays = active = False
    for x in inputs:
        kind = type(x)
        if kind in _ARRAYS:
            arrays, active = True, active or x.is_active
        elif kind is np.ndarray:
            if x.dtype.char not in "dD":
                return False
        elif kind not in _SETTLED:
            return False
        elif kind is Complex or kind is Real:
            active = active or x.is_active
    return arrays and active and not status.in_passive()


def array_ufunc(ufunc, method, inputs, kwargs):
    """``__array_ufunc__`` of ComplexArray and Complex."""
    if method == "__call__" and not kwargs and ufunc in _RULES and _is_settled(inputs):
        return record(_RULES[ufunc], _settled(inputs))
    kwargs = dict(kwargs)
    outs = kwargs.pop("out", None)
    if len(inputs) == 1 and method == "__call__" and not kwargs and outs is None:
        found = _of_number(ufunc, inputs[0])
        if found is not None:
            return found
    if any(map(_foreign, inputs)):
        return NotImplemented
    if method == "__call__" and not kwargs and outs is None and isinstance(inputs[0], np.generic):
        name = operators.NAMES.get(ufunc)
        if name is not None and type(inputs[1]) is Real and called_by_operator(1):
            return operators.apply_operator(name, inputs)
    if status.in_passive() or not (holds(inputs) or holds(kwargs) or holds(outs or ()) and "where" in kwargs):
        given = {} if outs is None else {"out": tuple(map(_laid_out, outs))}  # `where` may leave some
        values = getattr(ufunc, method)(*value_tree(inputs), **value_tree(kwargs), **given)
        return assign(values if ufunc in PASSIVE else fresh(values), outs)
    if method == "at":
        return at(ufunc, *inputs)
    if method == "outer":
        inputs = [x if type(x) in _OURS else _operand(ufunc.__name__, np.asarray(x)) for x in inputs]
        inputs[0] = np.reshape(inputs[0], np.shape(plain(inputs[0])) + (1,) * np.ndim(plain(inputs[1])))
        return array_ufunc(ufunc, "__call__", tuple(inputs), kwargs if outs is None else {**kwargs, "out": outs})
    if method != "__call__":
        name = f"{ufunc.__name__}.{method}"
        if name not in RULES:
            refuse(name, "no derivative is known for complex elements: take `codipy.value(z)` where none is wanted")
        if kwargs.get("dtype") is not None and np.dtype(kwargs["dtype"]).kind != "c":
            refuse(name, f"dtype={np.dtype(kwargs['dtype'])} would drop imaginary parts: take `z.real`")
        if outs is not None and kwargs.get("dtype") is None and outs[0].dtype.kind == "c":
            given = np.asarray(plain(inputs[0])).dtype
            kwargs["dtype"] = wider = np.promote_types(given, outs[0].dtype)  # in which NumPy computes
            if wider != outs[0].dtype and method != "accumulate":
                refuse(name, ROUNDED)
        return assign(record(name, inputs, kwargs), outs)
    where = plain(kwargs.pop("where", True))
    dtype = kwargs.pop("dtype", None)
    kwargs.pop("casting", None), kwargs.pop("subok", None)
    order = kwargs.pop("order", "K")
    if kwargs.keys() - {"axis", "axes", "keepdims"}:
        refuse(ufunc.__name__, "signature= is not known for complex operands: take dtype=")
    inputs = tuple(_operand(ufunc.__name__, x) for x in inputs)
    if dtype is not None:
        inputs = tuple(x.astype(dtype) if hasattr(x, "astype") else x for x in inputs)
    if where is True:
        found = _apply(ufunc, inputs, kwargs)
        found = found if order == "K" else ordered(found, order, inputs)
        if outs is None:
            return found
        if dtype is None:
            found = _with_values_for(ufunc, found, inputs, outs, kwargs)
        if ufunc in GENERALISED:
            demand_unread(ufunc, inputs, found, outs[0] if isinstance(outs, tuple) else outs)
        return assign(found, outs, kept(ufunc, inputs, kwargs))
    with np.errstate(all="ignore"):
        result = _apply(ufunc, inputs, kwargs)
    out = outs[0] if isinstance(outs, tuple) else outs
    rest = np.zeros(np.shape(plain(result)), plain(result).dtype) if out is None else out
    if out is not None and dtype is None:
        result = _with_values_for(ufunc, result, inputs, out, kwargs, where)
    found = np.where(where, result, rest)
    return assign(found if order == "K" else ordered(found, order, inputs), outs, 0)


def _laid_out(out):
    """A copy of the values with the same strides, by which NumPy chooses the loop."""
    return Layout([out]).copies([plain(out)])[0] if np.ndim(plain(out)) else np.array(plain(out))


def _with_values_for(ufunc, found, inputs, out, options, where=True):
    """A result with the bits that NumPy's loop gives for this ``out=``: `square` has others from strides to strides."""
    out = out[0] if isinstance(out, tuple) else out
    if ufunc.signature is not None or options or type(found) is not ComplexArray or type(out) is not ComplexArray:
        return found
    if out.shape != found.shape or out.dtype != found.dtype or out.strides == found.strides:
        return found
    run = loop_into(ufunc, inputs, out, {"where": where})
    args = (*inputs, np.array(plain(out)))
    written = np.broadcast_to(where, out.shape)
    if run(*value_tree(args))[written].tobytes() == plain(found)[written].tobytes():
        return found
    return recorded_once(_of_loop(ufunc, run), (found, *args))


def _of_loop(ufunc, run):
    """A primitive that puts the values of a loop in the place of those that an operand has."""

    def vjp(g, out, args, kwargs, argnums):
        return [g if k == 0 else None for k in argnums]

    def jvp(tangents, out, args, kwargs):
        return tangents[0] if 0 in tangents else np.zeros(np.shape(out), out.dtype)

    return Primitive(f"np.{ufunc.__name__} with out=", lambda found, *args: run(*args), vjp, jvp, keep_args=False,
                     keep_out=False)  # fmt: skip


_POWERS = {1: np.positive, 2: np.square, -1: np.reciprocal, 0.5: np.sqrt}  # as NumPy's operator


def operate(ufunc, x, y, other):
    """An operator of a ComplexArray, or of a Complex with an array; `other` is what is beside it."""
    if type(other) not in _OURS and not isinstance(other, (*_NUMBERS, list, tuple, np.ndarray)):
        return NotImplemented
    if ufunc is np.power and type(x) is ComplexArray and isinstance(y, (int, float, complex)) and y in _POWERS:
        return array_ufunc(_POWERS[y], "__call__", (x,), {})
    if ufunc in (np.floor_divide, np.remainder):
        return ufunc(plain(x), plain(y))  # which NumPy refuses
    return array_ufunc(ufunc, "__call__", (x, y), {})


def in_place(ufunc, z, other):
    """``z += other`` and its like."""
    is_power = ufunc is np.power and isinstance(other, (int, float, complex)) and other in _POWERS
    result = operate(ufunc, z, other, other)
    if result is NotImplemented:
        return result
    shape = np.shape(plain(result))
    if shape != z.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {z.shape} doesn't match the broadcast shape {shape}"
        )
    if not z.flags.writeable:
        raise ValueError("output array is read-only")
    z[...] = _with_values_for(_POWERS[other], result, (z,), z, {}) if is_power else result
    return z


def combine(name, x, y):
    """An operator of a Real or an Array with a plain complex number."""
    if type(x) is Array or type(y) is Array:
        return array_ufunc(_UFUNCS[name], "__call__", (x, y), {})
    return operators.apply_operator(name, (x, y))


_UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide, "power": np.power}
