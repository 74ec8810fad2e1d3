# SPDX-License-Identifier: Apache-2.0
"""The class behind a twin or a stand-in, and what rebuilt code finds of the classes that a class is derived from.

A twin and a stand-in are derived from their originals, which so stand in the order of methods once more. Rebuilt code
finds each class once, as in the plain run: who adds up what the classes of an object have must not count one twice.
"""

from __future__ import annotations

from codipy.numpy.standins import StandIn

__all__ = ["base_of", "bases_of", "mro_method_of", "mro_of", "origin_of", "original_of_class"]


def origin_of(cls):
    """The user's class of which `cls` is the twin, or `cls` itself."""
    return vars(cls).get("__codipy_origin__", cls) if isinstance(cls, type) else cls


def original_of_class(cls):
    """The class that the plain run has in the place of a twin or a stand-in; all else is its own."""
    return vars(cls).get("_original", origin_of(cls)) if isinstance(cls, StandIn) else origin_of(cls)


def mro_of(value):
    """``value.__mro__``, of a class those of rebuilt code, each once."""
    if not isinstance(value, type):
        return value.__mro__
    behind = [original_of_class(cls) for cls in value.__mro__]
    return tuple(cls for place, cls in enumerate(value.__mro__) if cls not in behind[:place])


def bases_of(value):
    """``value.__bases__``, see `mro_of`."""
    if not isinstance(value, type):
        return value.__bases__
    return tuple(_found(base, value) for base in original_of_class(value).__bases__)


def base_of(value):
    """``value.__base__``, see `mro_of`."""
    return _found(original_of_class(value).__base__, value) if isinstance(value, type) else value.__base__


def mro_method_of(value):
    """``value.mro``, see `mro_of`."""
    return (lambda: list(mro_of(value))) if isinstance(value, type) and type(value).mro is type.mro else value.mro


def _found(base, cls):
    """A class that another one is derived from, as rebuilt code has it."""
    return next((one for one in mro_of(cls) if original_of_class(one) is base), base)
