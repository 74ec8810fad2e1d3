# SPDX-License-Identifier: Apache-2.0
"""Objects of SciPy whose methods are rebuilt one by one, when they are asked for."""

from __future__ import annotations

import inspect
from types import FunctionType, MethodType

from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["Rebuilt", "translated"]

_REBINDER, _HELD = Rebinder(Scope(None, ("scipy.stats",))), Unit()


def translated(function):
    """A function of `scipy.stats`, rebuilt."""
    return _REBINDER.translate(function, _HELD)


class Rebuilt:
    """An object, a distribution for instance, whose methods are rebuilt when they are asked for."""

    def __init__(self, original):
        self._original = original

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self._original)  # of `super()` in a method

    def __getattr__(self, name):
        found = inspect.getattr_static(type(self._original), name, None)
        if type(found) is FunctionType and name not in vars(self._original):
            found = MethodType(translated(found), self)
            setattr(self, name, found)
            return found
        return getattr(self._original, name)
