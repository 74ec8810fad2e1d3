# SPDX-License-Identifier: Apache-2.0
"""The active complex number: two Reals. Its operators are in C."""

from __future__ import annotations

import numbers

import numpy as np

from codipy.active.array import Array, Real
from codipy.active.messages.callers import in_rebound_code, refusal
from codipy.active.recordings import status
from codipy.active.scalar.kinds import called_by_operator, converted
from codipy.active.scalar.real import meet_complex
from codipy.complexes.arithmetic import ComplexNumber, combine
from codipy.complexes.compared import ComparedByValue, doors
from codipy.complexes.number import stand_as
from codipy.errors import ActiveError

__all__ = ["NAMES", "Complex", "pair_of"]


class Complex(ComparedByValue, ComplexNumber):
    """A complex number that a tape can follow: two Reals.

    Parameters
    ----------
    real, imag : number
        As of ``complex``: Reals and Complex stay active.

    Raises
    ------
    TypeError
        Of what is no number.

    Examples
    --------
    >>> import codipy
    >>> codipy.grad(lambda x: abs(codipy.Complex(x, 2.0) * 1j) ** 2)(3.0)
    6.0
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    is_complex_variable = True

    def __init__(self, real=0.0, imag=None):
        # As Python does it: not real + imag * 1j, where an infinite part makes the others nan.
        real, over = _parts(real, of_first=True)
        if imag is None:
            self._set(real, 0.0 if over is None else over, complex)
            return
        imag, less = _parts(imag)
        self._set(real if less is None else real - less, imag if over is None else imag + over, complex)

    @classmethod
    def of_element(cls, pair):
        """The element that a pair, an Array of two, is: a scalar of NumPy's."""
        return cls.of(pair[0], pair[1], np.complex64 if pair.dtype == np.float32 else np.complex128)

    def stands_for(self, kind):
        """The same number of another class."""
        return self if kind is self.kind else Complex.of(self.real, self.imag, kind)

    # ---- Value and derivative ----

    @property
    def gradient(self):
        """complex: dL/dRe(z) + i dL/dIm(z) of what was seeded."""
        return complex(*self._of_parts("gradient"))

    @gradient.setter
    def gradient(self, seed):
        if np.ndim(seed):
            raise TypeError(f"gradient: a seed must be a plain complex number, got {type(seed).__name__}")
        self._set_parts("gradient", seed)

    @property
    def tangent(self):
        """complex: the derivative along the seeds of a tape of strategy 'forward', an array with more directions than
        one; set it to seed an input that nothing has read yet."""
        real, imag = self._of_parts("tangent")
        if not (np.ndim(real) or np.ndim(imag)):
            return complex(real, imag)
        found = np.empty(max(np.size(real), np.size(imag)), complex)
        found.real, found.imag = real, imag
        return found

    @tangent.setter
    def tangent(self, seed):
        self._set_parts("tangent", seed)

    def _of_parts(self, name):
        """The derivatives of both parts, where one may be passive."""
        if not self.imag.is_active:
            return getattr(self.real, name), 0.0
        return getattr(self.real, name) if self.real.is_active else 0.0, getattr(self.imag, name)

    def _set_parts(self, name, seed):
        """Seed both parts, or none where one of them refuses."""
        numbers = np.asarray(seed)
        if numbers.dtype.kind not in "fiubc":
            raise TypeError(f"{name}: a seed must be plain complex numbers, got {type(seed).__name__}")
        before = getattr(self.real, name)
        setattr(self.real, name, numbers.real)
        try:
            setattr(self.imag, name, numbers.imag)
        except BaseException:
            setattr(self.real, name, before)
            raise

    # ---- Truth, leaving ----

    def __hash__(self):
        if self._is_held():
            raise ActiveError("an active Complex cannot be a key of a dictionary or of a cache, nor be in a set: take "
                              "codipy.value(z) for the key of what is filled anew for each gradient, since what a "
                              "plain run has left there is a constant")
        return hash(self.value)

    def __bool__(self):
        return bool(self.value)

    def __complex__(self):
        return self._leaving("complex() of an active Complex")

    def _is_held(self):
        return any(x.is_active and not status.may_be_plain(x) for x in (self.real, self.imag))

    def _leaving(self, what):
        if self._is_held():
            raise ActiveError(refusal(what, "take codipy.value(z), or codipy.cmath for the functions of cmath"))
        return complex(self.value)

    def __float__(self):  # of a plain complex number NumPy takes the real part, with a warning
        raise (ActiveError if self._is_held() else TypeError)(
            "a complex number is no float, nor does it go into a real array: take z.real or abs(z), or make the "
            "array complex: np.zeros(n, complex)"
        )

    def __int__(self):
        raise TypeError("a complex number is no integer: take z.real")

    def __reduce__(self):
        return Complex, (self._leaving("pickling of an active Complex"),)

    def __copy__(self):
        return +self

    def __deepcopy__(self, memo):
        return +self

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._leaving("np.asarray() of an active Complex"), dtype)

    # ---- NumPy's protocols and attributes ----

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        is_operator = ufunc in NAMES and method == "__call__" and not kwargs and isinstance(inputs[0], np.generic)
        if is_operator and type(inputs[1]) is Complex and called_by_operator(1):  # of a scalar of NumPy's
            return combine(NAMES[ufunc], *inputs)
        return doors().array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return doors().array_function(func, types, args, kwargs)

    def __getitem__(self, index):
        if self.kind is complex:
            raise TypeError("'complex' object is not subscriptable")
        return doors().as_complex(self)[index]

    __iter__ = None  # which else `__getitem__` would stand for

    def __getattr__(self, name):
        if name == "tangent":
            return self._of_parts(name)  # which has said why there is none
        if self.kind is not complex and name in _OF_SCALARS:
            if name in _PASSIVE:
                return getattr(self.value, name)
            if name in ("T", "conj"):
                return self if name == "T" else self.conjugate
            if name in ("item", "tolist"):
                return lambda: self.stands_for(complex)
            member = getattr(doors().as_complex(self), name)
            return _unpacked(member) if callable(member) else member
        raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")

    def __repr__(self):
        return repr(self.value) if in_rebound_code() else f"Complex({self.value}{', active' * self.is_active})"

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)


NAMES = {
    np.add: "add", np.subtract: "subtract", np.multiply: "multiply", np.true_divide: "divide", np.power: "power",
}  # fmt: skip
_OF_SCALARS = frozenset(name for name in dir(np.complex128) if not name.startswith("_"))
_PASSIVE = {"base", "device", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides"}


def _unpacked(of_array):
    """The method of an array without dimensions as that of an element."""

    def method(*args, **kwargs):
        found = of_array(*args, **kwargs)
        return found[()] if getattr(found, "shape", None) == () else found

    return method


stand_as(Complex)
meet_complex(Complex, combine)
numbers.Complex.register(Complex)


def _parts(x, of_first=False):
    """The two floats or Reals of an argument of ``complex``; the second is None where Python takes a float of it."""
    if type(x) is not Complex and not isinstance(x, (complex, np.complexfloating)):
        return _as_float(x), None
    is_single = isinstance(x, np.complex64) or type(x) is Complex and x.kind is np.complex64
    return _as_float(x.real), _as_float(x.imag) if of_first or not is_single else None


def _as_float(x):
    return converted(x, float) if type(x) is Real else float(x)


def pair_of(z):
    """The Array of both parts."""
    return Array([z.real, z.imag])
