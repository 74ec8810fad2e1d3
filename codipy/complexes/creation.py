# SPDX-License-Identifier: Apache-2.0
"""What becomes a ComplexArray, and what one becomes."""

from __future__ import annotations

import numpy as np

from codipy.active.array import Array, from_ndarray
from codipy.active.arrays.conversion import is_laid_out
from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted
from codipy.active.scalar.real import Real
from codipy.complexes.array import ComplexArray
from codipy.complexes.movement import Shown, copied, holds, moved, pair_identifiers, pairs_for, plain, seen, value_tree
from codipy.complexes.pairs import pairs_of_complex
from codipy.complexes.record import lifted
from codipy.complexes.scalar import Complex
from codipy.errors import ActiveError
from codipy.numpy.allocation import array_of_objects
from codipy.numpy.arguments import rebuilt

__all__ = ["array", "as_complex", "as_type", "full", "number", "of_parts", "pairs_of"]


def pairs_of(value):
    """``ComplexArray(value)``: the Array of pairs of a copy of what is array_like."""
    if holds(value):
        found = pairs_for(value)
        return found.copy("K") if found is getattr(value, "pairs", None) else found
    values = np.array(value_tree(value))
    if values.dtype.kind not in "fiubc":
        raise TypeError(f"a ComplexArray holds complex128 or complex64 numbers, got dtype {values.dtype}")
    return from_ndarray(np.array(pairs_of_complex(values), order="K"))


def as_complex(x):
    """The ComplexArray of numbers: of a real Array with imaginary parts of 0."""
    if type(x) is ComplexArray:
        return x
    return lifted(x) if type(x) is Array else ComplexArray(x)  # of a Complex it has no dimensions


def of_parts(x, dtype=None, type=None):
    """``x.view(complex)`` of an Array, where neighbours are the parts of a number; None of other dtypes."""
    if dtype is None or type is not None or np.dtype(dtype) != np.result_type(x.dtype, np.complex64):
        return None
    x.value[...].view(dtype)  # or NumPy's error for numbers that are no pairs
    if x.strides[-1] != x.itemsize:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    return ComplexArray.of_pairs(x.reshape(*x.shape[:-1], -1, 2), x if x.base is None else x.base)


def as_type(z, dtype, order, casting, copy):
    """``z.astype(dtype)``."""
    dtype = np.dtype(dtype)
    if dtype == z.dtype:
        return z.copy(order) if copy or not is_laid_out(z, order) else z
    if not np.can_cast(z.dtype, dtype, casting):
        raise TypeError(f"Cannot cast array data from {z.dtype!r} to {dtype!r} according to the rule '{casting}'")
    if dtype in (np.complex128, np.complex64):
        part = np.float64 if dtype == np.complex128 else np.float32
        return ComplexArray.of_pairs(copied(z, order).pairs.astype(part, order="K"))
    if dtype == np.bool_:
        return z.value.astype(bool)
    if dtype == np.object_ and z.is_active:
        box = np.empty(z.shape, object)
        for index in np.ndindex(z.shape):
            box[index] = z[index].stands_for(complex)
        return box
    if z.is_active and not status.in_passive():
        raise ActiveError(f"astype({dtype}) of an active ComplexArray drops imaginary parts: take z.real, or abs(z)")
    return z.value.astype(dtype, order, casting)


def array(function, x, dtype, *args, **options):
    """``numpy.array`` and its like of what holds complex variables, or of variables with a complex dtype."""
    if type(x) is ComplexArray or type(x) is Array:
        shown = Shown()
        values = function(shown.tree(x), dtype, *args, **options)
        view = shown.view(values)
        if view is not None:
            return view
        if values.dtype.kind != "c":
            return x.astype(values.dtype)
        z = as_complex(x)
        made = seen(z, lambda a: function(a, a.dtype, *args, **options))
        return made if made.dtype == values.dtype else made.astype(values.dtype)
    if options.get("copy") is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    values = function(value_tree(x), dtype, *args, **options)
    if values.dtype == object:
        return array_of_objects(function, x, *args, **options)
    if values.dtype.kind != "c":
        if holds(x) and values.dtype.kind == "f":
            raise ActiveError(
                "np.array of active complex values with a real dtype would lose the derivative: take z.real"
            )
        return values
    numbers = np.array(rebuilt(x, pair_identifiers)).reshape(values.shape)
    return moved(values, numbers)


def full(function, like, fill_value, *args, **options):
    """``numpy.full`` and ``full_like`` of an active number where the result is complex."""
    values = function(plain(like), plain(fill_value), *args, **options)
    if values.dtype.kind != "c":
        raise ActiveError(f"{function.__name__} of an active complex number with dtype {values.dtype}: take z.real")
    made = as_complex(values)
    made[...] = fill_value
    return made


def number(kind, real=0.0, *imag, **named):
    """``complex(real, imag)`` and its like, of variables.

    Parameters
    ----------
    kind : type
        complex, numpy.complex128 or numpy.complex64.
    real, *imag, **named : number
        As they were given.
    """
    parts = [real, *imag]
    if kind is complex or len(parts) > 1 or named:
        kind(*map(plain, parts), **{name: plain(x) for name, x in named.items()})  # which raises of what it cannot take
    if kind is complex:
        parts = [converted(x, float) if type(x) is Real else x for x in parts]
    parts += [named["imag"]] if named else []
    parts = [x.item() if type(x) in (Array, ComplexArray) and x.size == 1 else x for x in parts]
    if type(parts[0]) in (Array, ComplexArray):
        return as_complex(parts[0]).astype(kind)
    return Complex(*parts).stands_for(kind)
