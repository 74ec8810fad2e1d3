# SPDX-License-Identifier: Apache-2.0
"""The active complex number: two Reals."""

from __future__ import annotations

import numbers

import numpy as np

from codipy.active.array import Array, Real
from codipy.active.messages.callers import in_rebound_code, refusal
from codipy.active.recordings import status
from codipy.active.scalar.kinds import converted, type_of
from codipy.complexes.compared import ComparedByValue, doors
from codipy.errors import ActiveError

__all__ = ["Complex", "pair_of"]

_FLOAT = {complex: float, np.complex128: np.float64, np.complex64: np.float32}


def _plain(x):
    return x.value if type(x) is Real or type(x) is Complex else x


def _part(x, kind):
    """A part of a number of a class, as a Real that stands for a float of the class that belongs to it."""
    part = _FLOAT[kind]
    if type(x) is not Real:
        return Real(part(x))
    return x if type_of(x) is part else converted(x, part)


class Complex(ComparedByValue):
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

    __slots__ = ("__weakref__", "_imag", "_kind", "_real")
    __array_priority__ = 1000.0
    is_complex_variable = True

    def __init__(self, real=0.0, imag=0.0):
        if type(real) is Complex or isinstance(real, (complex, np.complexfloating)):
            if type(imag) is Complex or type(imag) is Real or imag:
                real = real + imag * 1j
            self._set(real.real, real.imag, complex)
        elif type(imag) is Complex or isinstance(imag, (complex, np.complexfloating)):
            self._set(real - imag.imag, imag.real, complex)
        else:
            self._set(*(x if type(x) is Real else float(x) for x in (real, imag)), complex)

    def _set(self, real, imag, kind):
        self._kind, self._real, self._imag = kind, _part(real, kind), _part(imag, kind)

    @classmethod
    def of(cls, real, imag, kind):
        """The number of two parts that stands for one of a class: complex, numpy.complex128 or numpy.complex64."""
        made = object.__new__(cls)
        made._set(real, imag, kind)
        return made

    @classmethod
    def of_element(cls, pair):
        """The element that a pair, an Array of two, is: a scalar of NumPy's."""
        return cls.of(pair[0], pair[1], np.complex64 if pair.dtype == np.float32 else np.complex128)

    def stands_for(self, kind):
        """The same number of another class."""
        return self if kind is self._kind else Complex.of(self._real, self._imag, kind)

    # ---- Value and derivative ----

    @property
    def kind(self):
        """type: what the plain run has in its place, complex, numpy.complex128 or numpy.complex64"""
        return self._kind

    @property
    def value(self):
        """complex: the plain value; of an element or of what NumPy computed the NumPy scalar that it is."""
        return self._kind(complex(self._real.value, self._imag.value))

    @property
    def is_active(self):
        """bool: whether the value depends on a registered input."""
        return self._real.is_active or self._imag.is_active

    @property
    def gradient(self):
        """complex: dL/dRe(z) + i dL/dIm(z) of what was seeded."""
        return complex(*(x.gradient if x.is_active else 0.0 for x in (self._real, self._imag)))

    @gradient.setter
    def gradient(self, seed):
        self._real.gradient, self._imag.gradient = complex(seed).real, complex(seed).imag

    @property
    def tangent(self):
        """complex: the derivative along the seeds of a tape of strategy 'forward', of one direction."""
        return complex(*(x.tangent if x.is_active else 0.0 for x in (self._real, self._imag)))

    @tangent.setter
    def tangent(self, seed):
        self._real.tangent, self._imag.tangent = complex(seed).real, complex(seed).imag

    @property
    def real(self):
        """Real: the real part."""
        return self._real

    @property
    def imag(self):
        """Real: the imaginary part."""
        return self._imag

    # ---- Arithmetic ----

    def __neg__(self):
        return Complex.of(-self._real, -self._imag, self._kind)

    def __pos__(self):
        return Complex.of(self._real, self._imag, self._kind)

    def __abs__(self):
        return doors().apply_operator("absolute", (self,))

    def conjugate(self):
        """The conjugate number."""
        return Complex.of(self._real, -self._imag, self._kind)

    def __pow__(self, other, modulus=None):
        if modulus is not None:
            raise ValueError("complex modulo")
        return _operate("power", self, other, other)

    def __rpow__(self, other):
        return _operate("power", other, self, other)

    # ---- Truth, leaving ----

    def __hash__(self):
        if self._is_held():
            raise ActiveError("an active Complex cannot be a key of a dictionary or of a cache, nor be in a set: take "
                              "codipy.value(z) for the key")  # fmt: skip
        return hash(self.value)

    def __bool__(self):
        return bool(self.value)

    def __complex__(self):
        return self._leaving("complex() of an active Complex")

    def _is_held(self):
        return any(x.is_active and not status.may_be_plain(x) for x in (self._real, self._imag))

    def _leaving(self, what):
        if self._is_held():
            raise ActiveError(refusal(what, "take codipy.value(z), or codipy.cmath for the functions of cmath"))
        return complex(self.value)

    def __float__(self):
        raise TypeError(
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
        return doors().array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return doors().array_function(func, types, args, kwargs)

    def __getitem__(self, index):
        if self._kind is complex:
            raise TypeError("'complex' object is not subscriptable")
        return doors().as_complex(self)[index]

    __iter__ = None  # which else `__getitem__` would stand for

    def __getattr__(self, name):
        if self._kind is not complex and name in _OF_SCALARS:
            if name in _PASSIVE:
                return getattr(self.value, name)
            if name in ("T", "conj"):
                return self if name == "T" else self.conjugate
            if name in ("item", "tolist"):
                return lambda: self.stands_for(complex)
            member = getattr(doors().as_complex(self), name)
            return _unpacked(member) if callable(member) else member
        raise AttributeError(f"{self._kind.__name__!r} object has no attribute {name!r}")

    def __repr__(self):
        return repr(self.value) if in_rebound_code() else f"Complex({self.value}{', active' * self.is_active})"

    def __str__(self):
        return str(self.value)

    def __format__(self, spec):
        return format(self.value, spec)


_OF_SCALARS = frozenset(name for name in dir(np.complex128) if not name.startswith("_"))
_PASSIVE = {"base", "device", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides"}


def _unpacked(of_array):
    """The method of an array without dimensions as that of an element."""

    def method(*args, **kwargs):
        found = of_array(*args, **kwargs)
        return found[()] if getattr(found, "shape", None) == () else found

    return method


numbers.Complex.register(Complex)


def pair_of(z):
    """The Array of both parts."""
    return Array([z.real, z.imag])


def _operate(name, x, y, other):
    """An operator of a Complex with a number; arrays know more."""
    if isinstance(other, (list, tuple)) and (y if other is x else x)._kind is complex:
        return NotImplemented
    if isinstance(other, (np.ndarray, list, tuple)) or hasattr(type(other), "of_pairs") or type(other) is Array:
        return doors().operate(_UFUNCS[name], x, y, other)
    if not isinstance(other, (numbers.Number, np.generic)):
        return NotImplemented
    return doors().apply_operator(name, (x, y))


_UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide, "power": np.power}


def _binary(name):
    def left(self, other):
        return _operate(name, self, other, other)

    def right(self, other):
        return _operate(name, other, self, other)

    return left, right


for _dunder, _name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"}.items():
    _left, _right = _binary(_name)
    setattr(Complex, f"__{_dunder}__", _left)
    setattr(Complex, f"__r{_dunder}__", _right)
