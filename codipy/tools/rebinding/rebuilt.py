# SPDX-License-Identifier: Apache-2.0
"""Objects of SciPy whose methods are rebuilt one by one, when they are asked for."""

from __future__ import annotations

from types import FunctionType, MethodType

from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.rebinder import Rebinder
from codipy.tools.rebinding.scope import Scope
from codipy.tools.rebinding.unit import Unit

__all__ = ["Rebuilt", "translated"]

_REBINDER, _HELD = Rebinder(Scope(None, ("scipy.stats",))), Unit()


def translated(function):
    """A function of `scipy.stats`, rebuilt."""
    return _REBINDER.translate(function, _HELD)


def _passes_on(method, name):
    """Whether a method only calls that of the next class, as those of discrete distributions do from SciPy 1.18 on."""
    return type(method) is FunctionType and set(code_of(method).co_names) == {"super", name}


class Rebuilt:
    """An object, a distribution for instance, whose methods are rebuilt when they are asked for."""

    def __init__(self, original):
        self._original = original

    @property  # type: ignore[misc]
    def __class__(self):
        return type(self._original)  # of `super()` in a method

    def __getattr__(self, name):
        kinds = type(self._original).__mro__
        found = next((own for kind in kinds if (own := vars(kind).get(name)) and not _passes_on(own, name)), None)
        if type(found) is FunctionType and name not in vars(self._original):
            found = MethodType(translated(found), self)
            setattr(self, name, found)
            return found
        return getattr(self._original, name)
