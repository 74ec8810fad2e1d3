# SPDX-License-Identifier: Apache-2.0
"""`Array.__array_ufunc__`: which ufunc has which derivative, and the keyword arguments that all of them take."""

from __future__ import annotations

import numbers
from functools import cache

import numpy as np

from codipy.active.array import Array, Real, call, identifiers, is_complex_variable, plain
from codipy.active.arrays.elementwise_door import elementwise, overlap
from codipy.active.doors import door
from codipy.active.recordings import status
from codipy.active.recordings.recognised import note_equal

from . import differentiable, registry, sparse, special, ufunc_methods
from .arguments import (
    apart,
    assign,
    each,
    fillable,
    gather_tree,
    holds_active,
    holds_array,
    is_of_objects,
    refuse,
    sees_objects,
    value_tree,
)  # fmt: skip
from .decisions import decision, keep
from .elementary import elementwise_primitive
from .laid_out import loop_for, with_values_for
from .order import clip
from .outside import as_objects
from .ufunc_sets import PASSIVE, REFUSED, STEPS, TABLE_NAMES

__all__ = [
    "GENERALISED", "MORE", "PRODUCTS", "apply", "array_ufunc", "cast", "computes_objects", "demand_unread",
    "is_of_python", "kept", "kind_of", "on_objects", "ordered", "takes_masks",
]  # fmt: skip


def _share(x, y, w):
    """2**x / (2**x + 2**y)."""
    return np.where(np.equal(x, y), 0.5, 1 / (1 + np.exp2(y - x)))


# Its loop is C's pow, with other bits than power()'s, and always in float64.
def _float_power_x(x, y, w):
    return np.where(np.equal(y, 0.0), 0.0, y * np.power(x, np.subtract(y, 1.0)))


def _float_power_y(x, y, w):
    return np.where(np.equal(x, 0.0) | (np.equal(w, 0.0) & np.greater(x, 0.0)), 0.0, w * np.log(x))


PRIMITIVES = {
    "float_power": elementwise_primitive("float_power", np.float_power, (_float_power_x, _float_power_y)),
    # x moved by one unit in the last place, whatever y is: the slope by which finite differences see it.
    "nextafter": elementwise_primitive(
        "nextafter", np.nextafter, (lambda x, y, w: np.ones(np.shape(w)), lambda x, y, w: np.zeros(np.shape(w)))
    ),
    "logaddexp2": elementwise_primitive("logaddexp2", np.logaddexp2, (_share, lambda x, y, w: _share(y, x, w))),
    "fraction": elementwise_primitive("modf", lambda x: np.modf(x)[0], (lambda x, w: np.ones(np.shape(x)),)),
    "mantissa": elementwise_primitive(
        "frexp", lambda x: np.frexp(x)[0], (lambda x, w: np.ldexp(1.0, -np.frexp(x)[1]),)
    ),
}


def _heaviside(x, y):
    """At 0 it is `y`, elsewhere a step."""
    keep(_STEPS[np.sign], (x,))
    values = np.heaviside(plain(x), plain(y))
    return gather_tree(values, np.where(np.equal(plain(x), 0.0), identifiers(y), 0))


def _step(ufunc, *inputs):
    keep(_STEPS[ufunc], inputs)
    return ufunc(*map(plain, inputs))


def _divmod(x, y):
    np.divmod(plain(x), plain(y))  # which warns by its own name
    with np.errstate(all="ignore"):
        found = _step(np.floor_divide, x, y), elementwise("mod", x, y)
        plain(found[1])  # here, and not when it is asked for
    return found


def _exponent(x):
    keep(_EXPONENT, (x,))
    return _exponent_of(plain(x))


def _exponent_of(x):
    return np.frexp(x)[1]


_EXPONENT = decision("np.frexp", _exponent_of)
_EQUAL = {np.equal: True, np.not_equal: False}
_STEPS = {ufunc: decision(f"np.{ufunc.__name__}", ufunc) for ufunc in STEPS}


# The second result of the first two, and the first of the third, are whole numbers and passive.
_CLIP = getattr(vars(np)["_core"].umath, "clip", None)  # np.clip's own ufunc has no public name
_FUNCTIONS = {
    np.float_power: lambda x, y: call(PRIMITIVES["float_power"], (x, y)),
    np.logaddexp2: lambda x, y: call(PRIMITIVES["logaddexp2"], (x, y)),
    np.nextafter: lambda x, y: call(PRIMITIVES["nextafter"], (x, y)),
    np.heaviside: _heaviside,
    np.modf: lambda x: (call(PRIMITIVES["fraction"], (x,)), _step(np.trunc, x)),
    np.frexp: lambda x: (call(PRIMITIVES["mantissa"], (x,)), _exponent(x)),
    np.divmod: _divmod,
    _CLIP: lambda x, low, high: clip(x, low, high),
}
MORE = sorted(ufunc.__name__ for ufunc in _FUNCTIONS if ufunc is not None)
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
GENERALISED = {getattr(np, name): name for name in ("matmul", "matvec", "vecdot", "vecmat") if hasattr(np, name)}
PRODUCTS = {ufunc: registry.PRIMITIVES[name] for ufunc, name in GENERALISED.items()}


def kind_of(ufunc):
    """What is done with a ufunc: "table", "special", "primitive", "function", "passive", or None for refused."""
    if ufunc in TABLE_NAMES or special.row_of(ufunc):
        return "table"
    if ufunc in PASSIVE:
        return "passive"
    if ufunc in _FUNCTIONS:
        return "function"
    if special.primitive_of(ufunc) is not None:
        return "special"
    return "primitive" if ufunc in GENERALISED else None


def apply(ufunc, *inputs, **kwargs):
    """``ufunc(*inputs)`` for active inputs, recorded."""
    kind = kind_of(ufunc)
    if kind == "table":
        return elementwise(TABLE_NAMES.get(ufunc) or special.row_of(ufunc), *inputs)
    if kind == "passive":
        return ufunc(*value_tree(inputs))
    if kind == "function":
        return _FUNCTIONS[ufunc](*inputs)
    if kind == "special":
        for k in special.lacking(ufunc):
            if holds_active(inputs[k]):
                name = f"scipy.special.{ufunc.__name__}"
                refuse(name, f"there is no derivative in argument {k + 1}: pass `codipy.value` of it")
        return call(special.primitive_of(ufunc), inputs)
    if kind == "primitive":
        return call(PRODUCTS[ufunc], inputs, kwargs)
    if all(types[-1] in "FDG" for types in ufunc.types):
        return door("complexes")().array_ufunc(ufunc, "__call__", inputs, {})  # complex of real numbers too
    name = ufunc.__name__
    why = REFUSED.get(name, "codipy has no derivative for it: take `codipy.value(x)` where none is wanted")
    if hasattr(np, name) and getattr(np, name) is ufunc:
        refuse(name, why)
    refuse(f"scipy.special.{name.lstrip('_')}", special.REFUSED.get(name, why))


def operand(name, x):
    """An Array, a Real, a number or a plain real array."""
    if type(x) in (Array, Real, float, int):
        return x  # and a pending expression stays pending
    x = differentiable.operand(x) if holds_active(x) else np.asarray(x) if isinstance(x, (list, tuple, range)) else x
    dtype = x.dtype if type(x) is Array else np.asarray(x).dtype
    if dtype.kind not in "fiub":
        refuse(name, f"an operand is {dtype}, and only numbers can be combined with an Array")
    return x


def _checked(name, kwargs):
    """Keyword arguments that change nothing; errors for those that would."""
    for key in ("dtype", "signature", "sig"):
        wanted = kwargs.get(key)
        if wanted is not None and key == "dtype" and np.dtype(wanted) not in _FLOATS:
            refuse(name, f"dtype={np.dtype(wanted)} would lose the derivative: leave it away")
        if wanted is not None and key != "dtype" and "d" not in str(wanted):
            refuse(name, f"{key}= would lose the derivative: leave it away")
    return {key: value for key, value in kwargs.items() if key in ("axes", "axis", "keepdims")}


def _cast(ufunc, inputs, kwargs):
    """The inputs as the loop sees them that `dtype` or `signature` asks for; a Real and a Python number fit any."""
    wanted = kwargs.get("dtype")
    if wanted is None:
        wanted = None if kwargs.get("signature") is None and kwargs.get("sig") is None else np.float64
    if wanted is None:
        return inputs
    return cast(ufunc, inputs, wanted, kwargs.get("casting", "same_kind"))


def cast(ufunc, inputs, dtype, casting):
    """The inputs as the loop sees them whose results are of a dtype; raises NumPy's error where there is none.

    A Real and a Python float fit any.
    """
    known = tuple(x.dtype if hasattr(x, "dtype") else _kind_of_number(plain(x)) for x in inputs)
    loop = ufunc.resolve_dtypes((*known, *(None,) * ufunc.nout), signature=(None,) * ufunc.nin + (
        np.dtype(dtype),) * ufunc.nout, casting=casting)  # fmt: skip
    return tuple(_as_seen(x, seen, casting) for x, seen in zip(inputs, loop))


def _kind_of_number(x):
    return np.dtype(bool) if isinstance(x, bool) else next(k for k in (int, float, complex) if isinstance(x, k))


def _as_seen(x, dtype, casting):
    if not hasattr(x, "dtype"):
        return float(x) if isinstance(x, int) and dtype.kind == "f" else x
    if x.dtype == dtype:
        return x
    strides = getattr(plain(x), "strides", ())
    if 0 not in strides:
        return x.astype(dtype, casting=casting)
    once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in strides)
    return np.broadcast_to(x[once].astype(dtype, casting=casting), x.shape)  # it lies as it did


def takes_masks(ufunc):
    """Whether a ufunc may be called with ``where=``: SciPy's loops (1.17) write into other memory then."""
    return getattr(np, ufunc.__name__, None) is ufunc or ufunc is _CLIP


def _masked(result, where, out):
    """The result where `where` holds, elsewhere what `out` had, or 0, where NumPy leaves what memory held."""
    shape = np.shape(plain(result))
    rest = np.zeros(shape, getattr(plain(result), "dtype", float)) if out is None else out
    values = np.where(where, plain(result), plain(rest))
    return gather_tree(values, np.where(where, identifiers(result), identifiers(rest)))


def ordered(part, order, inputs):
    """A result laid out as `order` says, which is not "K"."""
    if np.ndim(plain(part)) == 0:
        return part
    if order == "A":
        order = "F" if all(x.flags.f_contiguous for x in inputs if np.ndim(plain(x))) else "C"
    if isinstance(part, np.ndarray):
        return np.array(part, order=order, copy=None)
    return part if (part.flags.f_contiguous if order == "F" else part.flags.c_contiguous) else part.copy(order)


def kept(ufunc, inputs, options):
    """How many of the last dimensions ``out=`` must have as the result of a call, which is repeated along others."""
    if ufunc not in GENERALISED:
        return 0
    if options.get("axes") is not None or options.get("axis") is not None or options.get("keepdims"):
        return None
    if ufunc is np.matmul:
        return sum(np.ndim(plain(x)) > 1 for x in inputs)
    return 0 if GENERALISED[ufunc] == "vecdot" else 1


def demand_unread(ufunc, inputs, result, out):
    """Refuse an ``out=`` over which products are repeated and that is an operand: NumPy reads what it has written."""
    is_larger = out is not None and np.shape(out) != np.shape(plain(result))
    if is_larger and any(np.may_share_memory(x, out) for x in inputs if np.ndim(plain(x))):
        refuse(ufunc.__name__, "out= is an operand and larger than the result: give a copy of the operand")


def demand_apart(ufunc, outs):
    """Refuse two results in the same memory: which of them stays in an element depends on the order of NumPy's loop."""
    given = [out for out in outs if out is not None]
    for k, first in enumerate(given):
        if any(overlap(np.shares_memory, first, other) for other in given[:k]):
            refuse(ufunc.__name__, "two arrays of out= share memory: give each result an array of its own")


def _call(ufunc, inputs, kwargs, outs):
    where = kwargs.pop("where", True)
    where = np.array(value_tree(where), bool) if isinstance(where, (list, tuple)) else plain(where)
    options = _checked(ufunc.__name__, kwargs)
    inputs = _cast(ufunc, tuple(operand(ufunc.__name__, x) for x in inputs), kwargs)
    error = None
    if where is True:
        try:
            results = apply(ufunc, *inputs, **options)
        except (FloatingPointError, Warning) as said:
            if outs is None:
                raise
            error = said.with_traceback(None)  # a traceback would have this frame, and so keep the arrays
    if where is not True or error is not None:
        with np.errstate(all="ignore"):  # what is not selected says nothing
            results = apply(ufunc, *inputs, **options)
    several = isinstance(results, tuple)
    parts = list(results) if several else [results]
    outs = list(outs or ()) + [None] * (len(parts) - len(outs or ()))
    if where is not True:
        parts = [_masked(part, where, out) for part, out in zip(parts, outs)]
    if kwargs.get("order", "K") != "K":
        parts = [ordered(part, kwargs["order"], inputs) for part in parts]
        if ufunc in GENERALISED and outs[0] is None and np.ndim(plain(parts[0])):
            parts = [with_values_for(ufunc, parts[0], inputs, np.empty_like(plain(parts[0])), options)]
    if several and any(out is not None and np.shape(out) != np.shape(plain(part)) for part, out in zip(parts, outs)):
        refuse(ufunc.__name__, "out= has another shape than the results, which would all have it: broadcast first")
    if ufunc in GENERALISED:  # of one result
        demand_unread(ufunc, inputs, parts[0], outs[0])
    if isinstance(outs[0], Array) and not several and (where is True or takes_masks(ufunc)):
        given = kwargs if where is True else {**kwargs, "where": where}  # which products do not have
        parts = [with_values_for(ufunc, parts[0], inputs, outs[0], given)]
    parts = [assign(part, out, kept(ufunc, inputs, options)) for part, out in zip(parts, outs)]
    if where is not True and takes_masks(ufunc):
        ufunc(*value_tree(inputs), where=where, out=None, **options)  # says what NumPy says
    elif error is not None:
        raise error  # NumPy has written when it raises
    return tuple(parts) if several else parts[0]


def _on_values(ufunc, method, inputs, kwargs, outs):
    """Nothing is active: NumPy's own call, into copies of what an Array holds where it writes."""
    keeps = ufunc not in PASSIVE and holds_array(inputs)
    inputs = apart(inputs) if ufunc in GENERALISED else inputs
    is_called = method == "__call__" and outs is not None and len(outs) == 1 and ufunc not in GENERALISED
    loop = loop_for(ufunc, inputs, outs[0], value_tree(kwargs)) if is_called and isinstance(outs[0], Array) else None
    inputs, kwargs = value_tree(inputs), value_tree(kwargs)
    if outs is None:
        found = getattr(ufunc, method)(*inputs, **kwargs)
        return fillable(found) if keeps else found
    if loop is not None:
        ufunc(*inputs, out=np.array(plain(outs[0])), **kwargs)  # says what NumPy says
        return assign(loop(*inputs, plain(outs[0])), outs[0], 0)
    copies = tuple(np.array(plain(out)) if isinstance(out, Array) else out for out in outs)
    made = getattr(ufunc, method)(*inputs, out=copies, **kwargs)
    made = made if isinstance(made, tuple) else (made,)  # also those that no out= takes
    outs = (*outs, *(None for _ in made[len(outs) :]))
    found = [
        assign(part, out, 0) if isinstance(out, Array) else part if out is not None else fillable(part)
        for part, out in zip(made, outs)
    ]
    return tuple(found) if len(found) > 1 else found[0]


def computes_objects(ufunc, inputs, outs):
    """Whether NumPy computes with objects as they are, one by one: a function of `np.frompyfunc` sees them always."""
    if is_of_python(ufunc) or any(map(sees_objects, inputs)):
        return True
    return outs is not None and any(isinstance(x, np.ndarray) and x.dtype == object for x in inputs) and any(
        isinstance(out, np.ndarray) and out.dtype == object for out in outs)  # fmt: skip


def is_of_python(ufunc):
    """Whether `np.frompyfunc` made a ufunc, of Python code."""
    return ufunc.ntypes == 1 and set(ufunc.types[0]) <= set("O->")


@cache
def _has_loop(ufunc):
    """Whether the loop of NumPy's ufunc for objects takes floats of Python, of which it can ask no method, as `sin`."""
    try:
        ufunc(*[np.array([[1.0]], object)] * ufunc.nin)
    except (AttributeError, TypeError):
        return False
    return True


def on_objects(ufunc, method, inputs, kwargs, outs, boxing):
    """NumPy's own call on arrays of objects, and on those that `boxing` makes of variables."""
    if method == "at" and not isinstance(inputs[0], np.ndarray):
        return ufunc.at(np.array(inputs[0].value), *inputs[1:])  # into which NumPy puts no objects
    inputs = tuple(map(boxing, inputs))
    if not (is_of_python(ufunc) or _has_loop(ufunc) or any(map(is_of_objects, inputs))):
        inputs = [each(plain, x) if isinstance(x, np.ndarray) and x.dtype == object else x for x in inputs]
    if "where" in kwargs:
        kwargs["where"] = value_tree(kwargs["where"])
    if outs is None:
        return getattr(ufunc, method)(*inputs, **kwargs)
    copies = tuple(out if out is None or isinstance(out, np.ndarray) else np.array(out.value) for out in outs)
    made = getattr(ufunc, method)(*inputs, out=copies, **kwargs)  # objects into one of numbers NumPy refuses
    made = made if isinstance(made, tuple) else (made,)
    for part, copy, out in zip(made, copies, outs):
        if copy is not out:
            out[...] = part  # truths
    found = [part if copy is out else out for part, copy, out in zip(made, copies, outs)]
    found += made[len(outs) :]
    return tuple(found) if len(found) > 1 else found[0]


def _foreign(x):
    """Whether x has a ufunc door of its own, and should be asked."""
    if is_complex_variable(x):
        return True  # which is registered as a number
    if isinstance(x, (Array, Real, numbers.Number, list, tuple)) or type(x) is np.ndarray:
        return False
    door = getattr(type(x), "__array_ufunc__", None)
    return door is not None and door is not np.ndarray.__array_ufunc__


def _is_complex(x):
    """Whether an operand is of plain complex numbers."""
    if isinstance(x, (complex, np.ndarray, np.generic)):
        return np.iscomplexobj(x)
    return isinstance(x, (list, tuple)) and not holds_active(x) and np.asarray(x).dtype.kind == "c"


# Of whose methods the precision matters: extremes are elements, and none is rounded.
_SUMS = {np.add, np.subtract, np.multiply, np.divide, np.logaddexp, np.logaddexp2, np.hypot}


def array_ufunc(ufunc, method, inputs, kwargs):
    """Run a ufunc that was called with an Array.

    Raises
    ------
    ActiveError
        For a ufunc without a derivative and for ``out=`` or ``at`` into a plain array, if a derivative would be lost.
    """
    kwargs = dict(kwargs)
    outs = kwargs.pop("out", None)
    if any(map(_foreign, inputs)):
        return NotImplemented
    if outs is not None and len(outs) > 1:
        demand_apart(ufunc, outs)
    if any(map(_is_complex, inputs[::2] if method == "at" else inputs)) or np.dtype(kwargs.get("dtype")).kind == "c":
        options = kwargs if outs is None else {**kwargs, "out": outs}
        return door("complexes")().array_ufunc(ufunc, method, inputs, options)
    if not status.in_passive() and computes_objects(ufunc, inputs, outs):
        return on_objects(ufunc, method, inputs, kwargs, outs, as_objects)
    if method == "at":
        return ufunc_methods.at(ufunc, *inputs)
    written = outs is not None and kwargs.get("where", True) is not True and holds_active(outs)
    if ufunc is np.matmul and sparse.holds_sparse(inputs):
        return assign(sparse.product(*inputs), outs)
    steps = method == "__call__" and ufunc in PASSIVE
    if steps and ufunc in STEPS and holds_active(inputs):
        keep(_STEPS[ufunc], inputs)
    if not (written or not steps and (holds_active(inputs) or holds_active(kwargs))):
        found = _on_values(ufunc, method, inputs, kwargs, outs)
        if steps and ufunc in _EQUAL:
            note_equal(found, _EQUAL[ufunc], [*map(holds_active, inputs)])
        return found
    if method == "__call__":
        return _call(ufunc, inputs, kwargs, outs)
    inputs = (operand(ufunc.__name__, inputs[0]), *inputs[1:])
    if outs is not None and ufunc in _SUMS and method != "outer" and kwargs.get("dtype") is None:
        given = np.asarray(plain(inputs[0])).dtype
        kwargs["dtype"] = wider = np.promote_types(given, outs[0].dtype)  # in which NumPy computes
        if wider != outs[0].dtype and method != "accumulate":
            refuse(f"{ufunc.__name__}.{method}", differentiable.ROUNDED)
    return assign(getattr(ufunc_methods, method)(ufunc, *inputs, **kwargs), outs, 0 if method == "outer" else None)
