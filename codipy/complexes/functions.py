# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions with complex arguments, or with complex results."""

from __future__ import annotations

import numpy as np

from codipy.active.doors import door
from codipy.active.recordings import status
from codipy.active.scalar.real import Real
from codipy.complexes import composed, fft, holomorphic, linalg, movement, reductions
from codipy.complexes.array import ComplexArray
from codipy.complexes.composed import as_array
from codipy.complexes.creation import as_complex, as_type
from codipy.complexes.elementary import phase_of
from codipy.complexes.movement import assign, holds, plain, value_tree
from codipy.complexes.record import record
from codipy.complexes.scalar import Complex
from codipy.complexes.ufuncs import DROPPED, demand_parts, fresh
from codipy.numpy import differentiable, passive, writers
from codipy.numpy.arguments import bind, call_with, holds_objects, kept_by, refuse, sees_objects
from codipy.numpy.functions import CALLING, OBJECTS, name_of
from codipy.numpy.outputs import door_with_out
from codipy.numpy.rules.linalg_products import COMPOSITES

__all__ = ["METHODS", "array_function"]

RECORDED = holomorphic.FUNCTIONS | fft.FUNCTIONS | reductions.RECORDED | linalg.FUNCTIONS
_PASSIVE = {*passive.FUNCTIONS, "iscomplexobj", "isrealobj", "linalg.matrix_rank"} - {"angle", "round", "around", "fix"}


# ---- functions of their own ------------------------------------------------------------------------------------------
def real(val):
    """A view that can be written to."""
    return val.real


def imag(val):
    """A view that can be written to."""
    return val.imag


def angle(z, deg=False):
    """The phase, between -pi and pi; its derivative at 0 is 0."""
    if type(z) is Complex and not deg:
        found = phase_of(z, np.angle)
        if found is not None:
            return found
    return record("angle", (z,), {"deg": bool(deg)})


def real_if_close(a, tol=100):
    """The array itself, unless that would lose a derivative."""
    if np.isrealobj(np.real_if_close(plain(a), tol)):
        refuse("real_if_close", "the imaginary parts are small, and their derivatives would be lost: say `z.real`")
    return a


def copy(a, order="K", subok=False):
    """A new array with the same elements."""
    return a.copy(order)


def astype(x, dtype, /, *, copy=True, device=None):
    """As the method."""
    return as_type(x, dtype, "K", "unsafe", copy)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **options):
    """Every element is `fill_value`."""
    made = fresh(np.full_like(plain(a), plain(fill_value), dtype, order, subok, shape, **options))
    if holds(fill_value):
        made[...] = fill_value
    return made


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The sum of mean values times steps."""
    if x is None:
        d = dx
    elif np.ndim(x) == 1:
        shape = [1] * np.ndim(y)
        d = np.diff(x)
        shape[axis] = d.shape[0]
        d = d.reshape(shape)
    else:
        d = np.diff(x, axis=axis)
    before, behind = [slice(None)] * np.ndim(y), [slice(None)] * np.ndim(y)
    before[axis], behind[axis] = slice(None, -1), slice(1, None)
    return (d * (y[tuple(behind)] + y[tuple(before)]) / 2.0).sum(axis)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def outer(x1, x2, /):
    """Of vectors."""
    np.linalg.outer(plain(x1), plain(x2))  # which raises of what is none
    return np.outer(x1, x2)


def polyval(p, x):
    """Horner's rule, in NumPy's order."""
    x, p = (y if isinstance(y, np.poly1d) or hasattr(y, "shape") else as_array(y) for y in (x, p))
    y = np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


_OWN = (
    reductions.FUNCTIONS
    | {
        function.__name__: function
        for function in (
            angle,
            astype,
            copy,
            full_like,
            imag,
            polyval,
            real,
            real_if_close,
            trace,
            trapezoid,
        )
    }
)
_OWN |= {
    "linalg.matmul": np.matmul, "linalg.outer": outer, "linalg.tensordot": np.tensordot, "linalg.vecdot": np.vecdot,
    "linalg.multi_dot": COMPOSITES["linalg.multi_dot"],
}  # fmt: skip
_WRITING = writers.FUNCTIONS
_MAKING = {"empty_like", "ones_like", "zeros_like"}


def _dtypes(name, dtype):
    if dtype is not None and np.dtype(dtype).char not in "FD":
        refuse(name, f"dtype={np.dtype(dtype)} of active complex elements would lose the derivative: leave it away")


# Of which NumPy makes real numbers where ``out=`` is real.
_REDUCING = frozenset({
    "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod", "sum", "prod", "nansum",
    "nanprod", "max", "amax", "min", "amin", "nanmax", "nanmin", "trace",
})  # fmt: skip
_TRANSFORMS = frozenset({"fft.fft2", "fft.fftn", "fft.ifft2", "fft.ifftn"})


@door_with_out
def array_function(func, types, args, kwargs):
    """``__array_function__`` of ComplexArray and Complex, and of Arrays where the result is complex."""
    name = name_of(func)
    if name in ("may_share_memory", "shares_memory"):  # of pairs: values may be shared until one is written to
        return func(*(x.pairs if type(x) is ComplexArray else plain(x) for x in args), **kwargs)
    if name in movement.FUNCTIONS:
        return movement.FUNCTIONS[name](func, args, kwargs)
    if name in _WRITING:
        return _WRITING[name](*args, **kwargs)
    if name in ("real", "imag", "copy", "astype"):
        return _OWN[name](*args, **kwargs)
    if name in _MAKING:
        return fresh(call_with(func, bind(func, args, kwargs), value_tree))
    if status.in_passive() or not (holds(args) or holds(kwargs)):
        bound = bind(func, args, kwargs)
        out = bound.pop("out", None)
        values = call_with(func, {key: value_tree(value) for key, value in bound.items()}, value_tree)
        return assign(values if name in _PASSIVE else fresh(values), out, kept_by(name))
    out = kwargs.pop("out", None)
    given = bind(func, args, kwargs) if len(args) > 1 else kwargs
    dtype = given.get("dtype")
    if given.get("initial") is not None:
        demand_parts(name, args[0] if args else given["a"], given["initial"], dtype)
    if name in ("round", "around") or name in _PASSIVE:
        given = {} if out is None else {"out": np.array(plain(out))}  # the values of some depend on its dtype
        found = func(*value_tree(args), **value_tree(kwargs), **given)
        return assign(found if name in _PASSIVE else fresh(found), out, kept_by(name))
    if name not in CALLING and any(sees_objects(x) or holds_objects(x) for x in (*args, *kwargs.values())):
        refuse(name, OBJECTS)
    if out is not None and out.dtype.kind != "c" and name in _REDUCING:
        refuse(name, DROPPED)
    if out is not None and dtype is None:
        differentiable.refuse_precision(name, args, out)
    _dtypes(name, dtype)
    if name in _OWN:
        return assign(_OWN[name](*args, **kwargs), out, kept_by(name))
    if name in composed.FUNCTIONS:
        return assign(composed.FUNCTIONS[name](*args, **kwargs), out, kept_by(name))
    if name in RECORDED:
        if kwargs or len(args) > 1:
            positional, rest, _ = differentiable.in_order(func, args, kwargs, holds)
        else:
            positional, rest = list(args), {}
        if name in _TRANSFORMS and _has_no_axis(name, positional[0], rest.get("axes")):
            x = positional[0]  # of which NumPy makes an array, and leaves `out` alone
            return door("array")(x) if type(x) is Real else as_complex(x) if type(x) is Complex else x
        if holds(rest):
            refuse(name, "there is no derivative for an argument by keyword: pass `codipy.value` of it")
        rest = {key: np.asarray(x) if isinstance(x, list) else x for key, x in rest.items()}
        positional = [as_complex(x) if isinstance(x, (list, tuple)) and holds(x) else x for x in positional]
        return assign(record(name, positional, value_tree(rest)), out, kept_by(name))
    refuse(name, "no derivative is known of complex arrays: compute with `z.real` and `z.imag`, or say "
                 "codipy.value(z) where the derivative is not wanted")  # fmt: skip
    return None


def _has_no_axis(name, x, axes):
    """Whether a transform of several axes has none here."""
    return axes in ((), []) or axes is None and name in ("fft.fftn", "fft.ifftn") and not np.ndim(plain(x))


# ---- methods ---------------------------------------------------------------------------------------------------------
def _method(name):
    function = getattr(np, name)

    def method(z, *args, **kwargs):
        return array_function(function, (), (z, *args), kwargs)

    method.__name__, method.__doc__ = name, f"``ndarray.{name}``."
    return method


def conjugate(z):
    """``ndarray.conjugate``."""
    return np.conjugate(z)


def sort_in_place(z, axis=-1, kind=None, order=None, *, stable=None, **options):
    """``ndarray.sort``."""
    z[...] = reductions.sort(z, axis, order=order, **options)


METHODS = {
    name: _method(name)
    for name in (
        "all", "any", "argmax", "argmin", "argpartition", "argsort", "cumprod", "cumsum", "dot", "max",
        "mean", "min", "nonzero", "prod", "ptp", "put", "repeat", "round", "searchsorted", "std", "sum", "take",
        "trace", "var",
    )
}  # fmt: skip
def partition_in_place(z, kth, axis=-1, kind="introselect", order=None):
    """``ndarray.partition``."""
    z[...] = composed.partition(z, kth, axis, kind)


METHODS |= {"partition": partition_in_place, "conj": conjugate, "conjugate": conjugate, "sort": sort_in_place}
METHODS["clip"] = lambda z, min=None, max=None, out=None, **options: np.clip(z, min, max, out, **options)
METHODS["compress"] = lambda z, condition, axis=None, out=None: np.compress(condition, z, axis, out)
_ = Complex
