# SPDX-License-Identifier: Apache-2.0
"""Classes in the place of float, NumPy's floats, numpy.ndarray and type: they accept active values and keep them.

Each is a subclass of its original and equal to it. So NumPy takes it as a dtype, and `isinstance`, `issubclass`, unions
and tables keyed by type work. Calling it gives instances of the original: nothing is ever an instance of a stand-in
alone, except ``x.view(ndarray)`` and the classes that a user derives from it.

Rejected: functions. ``float | None``, ``isinstance(x, float)`` and ``dtype=float`` need a class.
"""

from __future__ import annotations

import types
import warnings

import numpy as np

from codipy.active import Real
from codipy.active.array import Array
from codipy.active.doors import door
from codipy.active.scalar.given import number_of
from codipy.active.scalar.kinds import converted, show_classes, type_of
from codipy.numpy.allocation import asarray, fresh, holds_movable
from codipy.numpy.arguments import refuse

__all__ = [
    "FURTHER", "STANDINS", "StandIn", "complex128", "complex64", "float32", "float64", "isinstance_", "ndarray",
    "pass_for", "plain_like", "plain_type", "shown", "stand_for", "standin_complex", "standin_float", "standin_type",
]  # fmt: skip

# What an active value passes for: it is an instance of what its plain value would be an instance of.
_NO_OBJECTS = frozenset({float, int, str, bool, np.float64, np.ndarray, Array})
_LIKE: dict = {kind: kind(0.0) for kind in (float, np.float64, np.float32, complex, np.complex128, np.complex64)}
_LIKE[np.ndarray] = np.zeros(0)
FURTHER: dict = {}  # by the class of further variables, what gives the type that the plain run has in their place


def stand_for(kind, type_of_plain):
    """Let ``isinstance`` and ``type`` take variables of a further class for what their plain values are.

    Parameters
    ----------
    kind : type
        Of the variables.
    type_of_plain : callable
        Of a variable the type of its plain value.
    """
    FURTHER[kind] = type_of_plain

_PASSING: dict = {}  # types of others that pass for what NumPy has, and one such


def plain_type(x):
    """The type that the plain run has here."""
    kind = type(x)
    if kind in FURTHER:
        return FURTHER[kind](x)
    return type_of(x) if kind is Real else np.ndarray if kind is Array else kind


def plain_like(x):
    """Something of the type that the plain run has in the place of a variable; None of what is no variable."""
    kind = type(x)
    return _LIKE[plain_type(x)] if kind is Real or kind is Array or kind in FURTHER else None


def isinstance_(instance, classes, /):
    """``isinstance``, where a Real and an Array are whatever their plain values are."""
    like = plain_like(instance)
    if like is not None:  # a protocol asks for methods, of which a variable has others
        return isinstance(like, classes) or _is_of(type(instance), classes)
    return isinstance(instance, classes) or (
        type(instance) in _PASSING and isinstance(_PASSING[type(instance)], classes)
    )


def _is_of(kind, classes):
    """Whether a class, or one that it is derived from, is among others."""
    if isinstance(classes, (tuple, types.UnionType)):
        return any(_is_of(kind, cls) for cls in getattr(classes, "__args__", classes))
    return classes in kind.__mro__


class StandIn(type):
    """The class of stand-ins, which have an `_original`. What users derive from one is an ordinary class."""

    def __instancecheck__(cls, instance):
        original = vars(cls).get("_original")
        return type.__instancecheck__(cls, instance) if original is None else isinstance_(instance, original)

    def __subclasscheck__(cls, subclass):
        original = vars(cls).get("_original")
        return type.__subclasscheck__(cls, subclass) if original is None else issubclass(subclass, original)

    def __eq__(cls, other):
        is_same = other is cls or (other is not None and other is vars(cls).get("_original"))
        return True if is_same else NotImplemented  # a dtype knows a class as itself

    def __hash__(cls):
        return type.__hash__(vars(cls).get("_original", cls))


def _takes_one():
    """Whether ``float`` of an array of one dimension and one element is a number: up to NumPy 2.3, with a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(np.ones(1)) == 1.0
        except TypeError:
            return False


_ONE_IS_A_NUMBER = _takes_one()


class _FloatStandIn(StandIn):
    dtype = np.dtype(np.float64)  # by this attribute NumPy knows a class as a dtype

    def __call__(cls, *args, **kwargs):
        if cls is not standin_float:
            return type.__call__(cls, *args, **kwargs)
        if len(args) == 1:
            kind = type(args[0])
            if kind is Real:
                return converted(args[0], float)
            if kind is Array and args[0].size == 1 and (args[0].ndim == 0 or _ONE_IS_A_NUMBER):
                return args[0].item()
            if kind not in _NO_OBJECTS:
                args = (number_of(args[0]),)
                if type(args[0]) is Real:
                    return args[0]
        return float(*args, **kwargs)


class standin_float(float, metaclass=_FloatStandIn):
    """``float`` that keeps what is active: ``float(x)`` of a Real is one on the same adjoint slot."""

    _original = float


class _ComplexStandIn(StandIn):
    dtype = np.dtype(np.complex128)

    def __call__(cls, *args, **kwargs):
        if cls is not standin_complex:
            return type.__call__(cls, *args, **kwargs)
        kinds = {type(x) for x in (*args, *kwargs.values())}
        if kinds & {Real, Array} or kinds & FURTHER.keys():
            return door("complexes")().number(complex, *args, **kwargs)
        return complex(*args, **kwargs)


class standin_complex(complex, metaclass=_ComplexStandIn):
    """``complex`` that keeps what is active."""

    _original = complex


class _ScalarStandIn(StandIn):
    def __call__(cls, *args, **kwargs):
        kind = vars(cls).get("_original")
        if kind is None:
            return type.__call__(cls, *args, **kwargs)
        if len(args) == 1:
            if type(args[0]) is Array:
                return asarray(args[0], kind) if args[0].ndim else args[0].astype(kind)[()]
            if type(args[0]) in FURTHER and not issubclass(kind, np.complexfloating):
                found = kind(args[0].value)  # or the error of Python's
                if not args[0].is_active:
                    return found
                refuse(kind.__name__, "of a complex number it drops the imaginary part: take z.real")
            if type(args[0]) in FURTHER or type(args[0]) is Real and issubclass(kind, np.complexfloating):
                return door("complexes")().number(kind, args[0])
            if type(args[0]) is Real:
                return converted(args[0], kind)
            if type(args[0]) in (list, tuple) and holds_movable(args[0]):
                return asarray(args[0], kind)
        elif issubclass(kind, np.complexfloating) and not {Real, Array}.isdisjoint(map(type, args)):
            return door("complexes")().number(kind, *args, **kwargs)
        return kind(*args, **kwargs)


class float64(np.float64, metaclass=_ScalarStandIn):
    """``numpy.float64`` that keeps what is active."""

    _original = np.float64


class float32(np.float32, metaclass=_ScalarStandIn):
    """``numpy.float32`` that keeps what is active."""

    _original = np.float32


class complex128(np.complex128, metaclass=_ScalarStandIn):
    """``numpy.complex128`` that keeps what is active."""

    _original = np.complex128


class complex64(np.complex64, metaclass=_ScalarStandIn):
    """``numpy.complex64`` that keeps what is active."""

    _original = np.complex64


class _NdarrayStandIn(StandIn):
    def __call__(cls, *args, **kwargs):
        if cls is not ndarray:
            return type.__call__(cls, *args, **kwargs)
        array = np.ndarray(*args, **kwargs)
        return fresh(array) if array.base is None else array


class ndarray(np.ndarray, metaclass=_NdarrayStandIn):
    """``numpy.ndarray``, of which an Array is an instance; ``ndarray(shape)`` gives an Array where `empty` does."""

    _original = np.ndarray


class _TypeStandIn(StandIn):
    def __call__(cls, *args, **kwargs):
        if cls is not standin_type:
            return type.__call__(cls, *args, **kwargs)
        if len(args) != 1 or kwargs:
            return type(*args, **kwargs)
        return _class_of(args[0])

    def __getitem__(cls, item):
        return type[item]


class standin_type(type, metaclass=_TypeStandIn):
    """``type``, so that ``type(x) is float`` holds where it would for the plain value."""

    _original = type


# Originals and what stands for them in rebound code.
STANDINS: dict = {cls._original: cls for cls in (
    standin_float, float64, float32, standin_complex, complex128, complex64, ndarray, standin_type,
)}  # fmt: skip
_KINDS: dict = dict(STANDINS)


_KINDS |= dict.fromkeys(map(type, STANDINS.values()), standin_type)  # of a class


def shown(kind):
    """What rebound code has in the place of a class that an object is of."""
    return _KINDS.get(kind, kind)


def _class_of(x):
    """What ``type(x)`` is in rebound code."""
    return shown(plain_type(x))


show_classes(_class_of, plain_type)


def pass_for(kind, original, example=None):
    """Let ``type(x)`` of instances of `kind` be `original`, and ``isinstance`` say of them what it says of `example`.

    Parameters
    ----------
    kind, original : type
    example : object, optional
        Of `original`.
    """
    _KINDS[kind] = original
    if example is not None:
        _PASSING[kind] = example


for _cls in STANDINS.values():  # so that messages and representations are the original's
    _original = _cls._original
    _cls.__name__, _cls.__qualname__, _cls.__module__ = _original.__name__, _original.__qualname__, _original.__module__
