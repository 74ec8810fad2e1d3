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
from codipy.complexes.movement import as_objects, assign, holds, pairs_for, plain, value_tree
from codipy.complexes.pairs import complex_of_pairs, pairs_of_complex
from codipy.complexes.record import RULES, record, special_name
from codipy.complexes.scalar import Complex
from codipy.numpy.arguments import refuse
from codipy.numpy.differentiable import ROUNDED
from codipy.numpy.laid_out import by_loop
from codipy.numpy.special import REFUSED
from codipy.numpy.ufuncs import (
    GENERALISED,
    cast,
    computes_objects,
    demand_unread,
    kept,
    on_objects,
    ordered,
    takes_masks,
)
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["DROPPED", "array_ufunc", "demand_parts", "fresh", "in_place", "operate"]

_OURS = (ComplexArray, Complex, Array, Real)
_NUMBERS = (float, int, complex, np.number, np.bool_)
PASSIVE = {
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.isfinite, np.isinf, np.isnan,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor, np.rint,
}  # fmt: skip
DROPPED = "NumPy drops imaginary parts where out= is real: take `z.real`"
_SELECTING = {np.maximum, np.minimum, np.fmax, np.fmin}


def fresh(found):
    """What NumPy made while a tape records: complex and real arrays that can be filled."""
    if isinstance(found, (tuple, list)):
        made = map(fresh, found)
        return type(found)(*made) if hasattr(found, "_fields") else type(found)(made)
    if status.recording() is None or not isinstance(found, np.ndarray) or found.dtype.kind not in "fc":
        return found
    if found.dtype.char in "egG":
        return found
    return as_complex(found) if found.dtype.kind == "c" else Array(found)


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
    larger = np.greater_equal if ufunc in (np.maximum, np.fmax) else np.less_equal
    with np.errstate(invalid="ignore"):  # of NaN these say nothing
        chosen = larger(first, second) | np.isnan(first if ufunc in (np.maximum, np.minimum) else second)
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


def demand_parts(name, a, initial, dtype):
    """Refuse a complex start of a real sum, of which NumPy takes the real part."""
    dtype = np.asarray(plain(a)).dtype if dtype is None else np.dtype(dtype)
    if np.iscomplexobj(plain(initial)) and dtype.kind != "c":
        refuse(name, "of real elements NumPy drops the imaginary part of initial=: take `initial.real`")


def _with_values_for(ufunc, found, inputs, out, options):
    """A result with the values that NumPy's loop gives for an ``out=``: those of complex numbers depend on where it
    lies.
    """
    other = by_loop(ufunc, found, inputs, out, options, always=True)
    if other is None:
        return found
    found, values, run, args = other
    if not holds(found):
        return fresh(values)
    kinds, is_complex = [type(x) in (ComplexArray, Complex) for x in args], values.dtype.kind == "c"
    args = [pairs_for(x) if is_pair else x for x, is_pair in zip(args, kinds)]

    def as_real(made):
        return pairs_of_complex(made) if is_complex else made

    def in_pairs(*args):
        return as_real(run(*(complex_of_pairs(x) if is_pair else x for x, is_pair in zip(args, kinds))))

    made = with_values_of(f"np.{ufunc.__name__} with out=", in_pairs, args, pairs_for(found) if is_complex else found,
                          as_real(values))  # fmt: skip
    return ComplexArray.of_pairs(made) if is_complex else made


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
    if not status.in_passive() and computes_objects(ufunc, inputs, outs):
        return on_objects(ufunc, method, inputs, kwargs, outs, as_objects)
    if status.in_passive() or not (holds(inputs) or holds(kwargs) or holds(outs or ()) and "where" in kwargs):
        given = {} if outs is None else {"out": tuple(np.array(plain(out)) for out in outs)}  # `where` may leave some
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
        if outs is not None and outs[0].dtype.kind != "c":
            refuse(name, DROPPED)
        if outs is not None and kwargs.get("dtype") is None and outs[0].dtype.kind == "c":
            given = np.asarray(plain(inputs[0])).dtype
            kwargs["dtype"] = wider = np.promote_types(given, outs[0].dtype)  # in which NumPy computes
            if wider != outs[0].dtype and method != "accumulate":
                refuse(name, ROUNDED)
        demand_parts(name, inputs[0], kwargs.get("initial"), kwargs.get("dtype"))
        return assign(record(name, inputs, kwargs), outs)
    where = plain(kwargs.pop("where", True))
    dtype = kwargs.pop("dtype", None)
    casting = kwargs.pop("casting", "same_kind")
    kwargs.pop("subok", None)
    order = kwargs.pop("order", "K")
    if kwargs.keys() - {"axis", "axes", "keepdims"}:
        refuse(ufunc.__name__, "signature= is not known for complex operands: take dtype=")
    inputs = tuple(_operand(ufunc.__name__, x) for x in inputs)
    if dtype is not None:
        inputs = cast(ufunc, inputs, dtype, casting)
    if where is True:
        found = _apply(ufunc, inputs, kwargs)
        found = found if order == "K" else ordered(found, order, inputs)
        if outs is None:
            is_turned = order != "K" and isinstance(plain(found), np.ndarray)
            return _with_values_for(ufunc, found, inputs, np.empty_like(plain(found)), kwargs) if is_turned else found
        out = outs[0] if isinstance(outs, tuple) else outs
        if ufunc in GENERALISED:
            demand_unread(ufunc, inputs, found, out)
        found = _with_values_for(ufunc, found, inputs, out, kwargs)
        return assign(found, outs, kept(ufunc, inputs, kwargs))
    with np.errstate(all="ignore"):
        result = _apply(ufunc, inputs, kwargs)
    out = outs[0] if isinstance(outs, tuple) else outs
    rest = np.zeros(np.shape(plain(result)), plain(result).dtype) if out is None else out
    found = np.where(where, result, rest)
    found = found if order == "K" else ordered(found, order, inputs)
    if takes_masks(ufunc):
        ufunc(*value_tree(inputs), where=where, out=None)  # says what NumPy says
        found = found if out is None else _with_values_for(ufunc, found, inputs, out, {"where": where})
    return assign(found, outs, 0)


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
