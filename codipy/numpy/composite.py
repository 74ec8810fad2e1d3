# SPDX-License-Identifier: Apache-2.0
"""Functions made of others that have derivatives, with NumPy's own arguments."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, Real, call, from_nested, is_complex_variable, plain
from codipy.active.doors import door

from . import differentiable, registry
from .arguments import copied, gather_tree, holds_active, holds_complex, identifier_tree, refuse, value_tree
from .order import refuse_leading_zeros
from .padding import pad
from .primitive import Primitive

__all__ = ["FUNCTIONS", "element_of", "placed_along", "rows_along"]


def _array(x):
    if isinstance(x, Array):
        return x
    return from_nested(x) if holds_active(x) else np.asarray(value_tree(x))


def _any_array(x):
    return door("complexes")().as_array(x) if holds_complex(x) else _array(x)


# ---- numpy.emath: complex outside the real domain


def _within(name, inside):
    """The function of real numbers where `inside` holds for all of them, else of complex ones."""

    def function(x, *args):
        x = element_of(x)
        if not np.all(inside(value_tree(x))):
            x = _complex(x)
        return getattr(np, name)(x, *map(element_of, args))

    return function


def element_of(x):
    """An array as it is; a number as an element of one: that of Python's float is a double, beside single ones too."""
    if not holds_active(x) and not holds_complex(x):
        return np.asarray(plain(x))
    return x if isinstance(x, Array) else _any_array(x)[()]


def _complex(x):
    """In the precision of x, an element of an array without dimensions."""
    x = _array(x)
    return x.astype(np.complex64 if x.dtype == np.float32 else np.complex128)[()]


def _not_negative(x):
    return ~(np.asarray(x) < 0)


def _within_one(x):
    return ~(np.abs(x) > 1)


def logn(n, x):
    """As NumPy: the quotient of two logarithms."""
    return np.divide(*(_within("log", _not_negative)(y) for y in (x, n)))


# ---- functions of functions


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d` sees each row as an Array."""
    arr = _array(arr)
    axis, rows, lead = rows_along(axis, arr)
    results = [copied(func1d(rows[index], *args, **kwargs)) for index in np.ndindex(lead)]
    return of_rows(results, lead, axis, arr.dtype)


def of_rows(results, lead, axis, dtype):
    """What each row became, as one array in the place of the rows."""
    if any(map(is_complex_variable, results)):
        return placed_along(np.stack(results), lead, axis)
    values = np.array([value_tree(part) for part in results])
    if dtype == np.float32 and any(type(part) is Real for part in results):
        values = values.astype(np.float32)  # NumPy's scalars of such rows are float32
    ids = np.array([identifier_tree(part) for part in results])
    return placed_along(gather_tree(values, ids), lead, axis)


def rows_along(axis, arr):
    """The axis from the front, a view that has it last, and the shape of the others, each of whose places is a row."""
    axis = np.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    rows = np.moveaxis(arr, axis, -1)
    lead = rows.shape[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    return axis, rows, lead


def placed_along(rows, lead, axis):
    """What each row became, one after the other, in the place of the rows: along `axis`."""
    found = np.reshape(rows, lead + rows.shape[1:])
    tail = len(lead)
    return np.transpose(found, (*range(axis), *range(tail, found.ndim), *range(axis, tail)))


def apply_over_axes(func, a, axes):
    """Axis after axis, those that `func` took kept with length 1."""
    a = found = _any_array(a)
    for axis in np.atleast_1d(axes):
        axis = int(axis) + (a.ndim if axis < 0 else 0)
        found = func(a, axis)
        result = _any_array(found)
        if result.ndim != a.ndim:
            result = np.expand_dims(result, axis)
        if result.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = result
    return a if a.ndim else found


# ---- grids and polynomials


def _progression(start, stop=None, step=1.0):
    return np.arange(start, stop, step)


def _progression_vjp(g, out, args, kwargs, argnums):
    slopes = {0: np.ones(g.size), 1: np.zeros(g.size), 2: np.arange(g.size)}
    return [np.dot(slopes[k], g) for k in argnums]


def _progression_jvp(tangents, out, args, kwargs):
    return tangents.get(0, 0.0) + tangents.get(2, 0.0) * np.arange(out.size)


PROGRESSION = Primitive("arange", _progression, _progression_vjp, _progression_jvp, keep_args=False)


def arange(start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None):
    """Linear in `start` and `step`; the number of elements is passive."""
    if not holds_active([start_or_stop, stop, step]):
        found = np.arange(*value_tree([start_or_stop, stop, step]), dtype)
        return Array(found) if found.dtype.kind == "f" else found
    if dtype is not None and np.dtype(dtype) not in (np.float64, np.float32):
        refuse("arange", f"dtype={np.dtype(dtype)} would lose the derivative: leave it away")
    start, stop = (0.0, start_or_stop) if stop is None else (start_or_stop, stop)
    return call(PROGRESSION, (start, stop, step))


def _horner(x, c, tensor=True):
    """`numpy.polynomial.polynomial.polyval`, step by step."""
    if tensor:
        c = np.reshape(c, (*np.shape(value_tree(c)), *(1,) * np.ndim(value_tree(x))))
    total = c[-1] + x * 0
    for k in np.arange(2, len(c) + 1):
        total = c[-k] + total * x
    return total


def sort_complex(a):
    """The elements in order, as complex numbers."""
    return np.sort(_array(a)).astype(complex)


def polyval2d(x, y, c):
    """A polynomial of two variables."""
    x, y, c = map(_array, (x, y, c))
    if np.shape(value_tree(x)) != np.shape(value_tree(y)):
        raise ValueError("x, y are incompatible")
    return _horner(y, _horner(x, c), tensor=False)


def polygrid2d(x, y, c):
    """A polynomial of two variables on a grid."""
    x, y = (_array(t) if isinstance(t, (list, tuple)) else t for t in (x, y))  # a number leaves float32 what it is
    return _horner(y, _horner(x, np.atleast_1d(_array(c))))


def polyval(p, x):
    """The primitive of this name; of coefficients in rows, a polynomial for each column, the steps of NumPy's."""
    if isinstance(x, np.poly1d) or np.ndim(value_tree(p)) < 2:
        return differentiable.apply("polyval", (p, x), {})
    p, x = map(_array, (p, x))
    y = np.zeros_like(value_tree(x))
    for row in p:
        y = y * x + row
    return y


def polyder(p, m=1):
    """The primitive of this name; of coefficients with more dimensions the steps of NumPy's, along the last one."""
    if isinstance(p, np.poly1d) or np.ndim(value_tree(p)) < 2:
        return differentiable.apply("polyder", (p, m), {})
    np.polyder(value_tree(p), m)  # which raises of what it cannot take
    p = _array(p)
    for _ in range(int(m)):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polymul(a1, a2):
    """The primitive of this name, which sees no coefficient that NumPy leaves out."""
    a1, a2 = (a if np.size(value_tree(a)) else np.zeros(1, np.asarray(value_tree(a)).dtype) for a in (a1, a2))
    for factor in (a1, a2):
        refuse_leading_zeros(factor, kept=1)
    return differentiable.apply("polymul", (a1, a2), {})


def _polynomials_of_rows(name, function):
    """The primitive of this name; of coefficients with more dimensions NumPy's sum of what it fills up with zeros."""

    def combined(a1, a2):
        if max(np.ndim(value_tree(a1)), np.ndim(value_tree(a2))) < 2:
            return differentiable.apply(name, (a1, a2), {})
        a1, a2 = (np.atleast_1d(_array(a)) for a in (a1, a2))
        missing = len(a2) - len(a1)
        if missing > 0:
            a1 = np.concatenate((np.zeros(missing, a1.dtype), a1))
        elif missing < 0:
            a2 = np.concatenate((np.zeros(-missing, a2.dtype), a2))
        return function(a1, a2)

    return combined


def polydiv(u, v):
    """The primitive of this name."""
    if max(np.ndim(value_tree(u)), np.ndim(value_tree(v))) > 1:
        refuse("polydiv", "coefficients with more than one dimension are known to nobody: divide row by row")
    u, v = (x if np.ndim(value_tree(x)) else np.reshape(_array(x), 1) for x in (u, v))
    return differentiable.apply("polydiv", (u, v), {})


def histogram(a, bins=10, range=None, density=None, weights=None):
    """The primitive of this name; active edges, and those between active ends, as `histogram_bin_edges` has them."""
    if not holds_active([bins, range]):
        counts = {"bins": bins, "range": range, "density": density}
        if holds_active(weights):
            return differentiable.apply("histogram", (a, *counts.values(), weights), {})
        return differentiable.apply("histogram", (a,), {**counts, "weights": weights})
    edges = np.histogram_bin_edges(a, bins, range)
    counts, _ = np.histogram(a, value_tree(bins), value_tree(range), weights=weights)
    return counts / np.diff(edges).astype(float) / counts.sum() if density else counts, edges


FUNCTIONS = {name: rule for name, rule in registry.COMPOSITES.items() if differentiable.is_function(name)}
FUNCTIONS |= {
    "histogram": histogram,
    "pad": pad,
    "polyadd": _polynomials_of_rows("polyadd", np.add),
    "polyder": polyder,
    "polydiv": polydiv,
    "polymul": polymul,
    "polysub": _polynomials_of_rows("polysub", np.subtract),
    "polyval": polyval,
    "sort_complex": sort_complex,
    "arange": arange,
    "apply_along_axis": apply_along_axis,
    "apply_over_axes": apply_over_axes,
    "lib.scimath.sqrt": _within("sqrt", _not_negative),
    "lib.scimath.log": _within("log", _not_negative),
    "lib.scimath.log2": _within("log2", _not_negative),
    "lib.scimath.log10": _within("log10", _not_negative),
    "lib.scimath.logn": logn,
    "lib.scimath.power": _within("power", _not_negative),
    "lib.scimath.arccos": _within("arccos", _within_one),
    "lib.scimath.arcsin": _within("arcsin", _within_one),
    "lib.scimath.arctanh": _within("arctanh", _within_one),
    "polynomial.polynomial.polyval2d": polyval2d,
    "polynomial.polynomial.polygrid2d": polygrid2d,
}
