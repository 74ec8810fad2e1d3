# SPDX-License-Identifier: Apache-2.0
"""What rebuilt code asks a value to learn what it is: its class, and whether it has an attribute."""

from __future__ import annotations

import sys

import numpy as np

from codipy.errors import ActiveError
from codipy.numpy.standins import plain_like, shown
from codipy.tools.rebinding.ancestry import base_of, bases_of, mro_of
from codipy.tools.rebinding.replacements import replacement

__all__ = ["attribute_of", "class_of", "has_attribute", "names_of_attributes"]


def class_of(value):
    """``value.__class__``, of which rebuilt code knows another one: ``v.__class__ is float`` of a plain number."""
    if plain_like(value) is not None:
        return replacement(type)(value)
    kind = shown(value.__class__)
    return replacement(kind, kind)


def _like(value):
    """What has the attributes of the plain value of a variable; None of what is no variable."""
    like = plain_like(value)
    return np.empty((0,) * value.ndim) if type(like) is np.ndarray else like


_CLASSES = {"__base__": base_of, "__bases__": bases_of, "__class__": class_of, "__mro__": mro_of}


def attribute_of(value, name, *default):
    """``getattr``, with which code asks what a value is: a variable has what its plain value has.

    Units and wrappers are taken off so, ``getattr(x, "value", x)``, which would lose the derivative.
    """
    if type(name) is str and name in _CLASSES:
        return _CLASSES[name](value)
    like = _like(value)
    if like is None or type(name) is not str:
        return getattr(value, name, *default)
    if not hasattr(like, name):
        if default:
            return default[0]
        instead = ": codipy.value(x) works in both" if name == "value" else ""
        raise AttributeError(f"{type(like).__name__!r} object has no attribute {name!r}, as in the plain run{instead}",
                             name=name, obj=value)  # fmt: skip
    try:
        return getattr(value, name)
    except AttributeError:
        kind = type(like).__name__
        raise ActiveError(f"an active {kind} has no {name}, which a plain one has: say codipy.value(x) where no "
                          "derivative is wanted") from None


def has_attribute(value, name, /):
    """``hasattr``, see `attribute_of`."""
    like = _like(value)
    return hasattr(value if like is None else like, name)


def names_of_attributes(*values):
    """``dir``, see `attribute_of`."""
    if not values:
        return sorted(sys._getframe(1).f_locals)
    like = _like(*values)
    return dir(values[0] if like is None else like)
