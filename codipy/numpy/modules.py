# SPDX-License-Identifier: Apache-2.0
"""Modules that stand for those of libraries, with some functions of our own."""

from __future__ import annotations

from types import ModuleType

__all__ = ["module_for"]


def module_for(original, own):
    """A module with the names of another, some replaced by our own; those that the other gets later are found, too."""
    module = ModuleType(original.__name__, original.__doc__)
    later = {"__getattr__": lambda name: getattr(original, name), "__dir__": lambda: dir(original)}
    vars(module).update({**vars(original), **own, **later})
    return module
