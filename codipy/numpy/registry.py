# SPDX-License-Identifier: Apache-2.0
"""Every rule of `codipy.numpy.rules`, found by looking into that folder: primitives, and functions composed of them."""

from __future__ import annotations

import importlib
import pkgutil

from . import rules

__all__ = ["COMPOSITES", "FAMILIES", "PRIMITIVES"]

_NAMES = [found.name for found in pkgutil.iter_modules(rules.__path__)]
FAMILIES = {name: importlib.import_module(f"{rules.__name__}.{name}") for name in _NAMES}
PRIMITIVES = {name: rule for family in FAMILIES.values() for name, rule in getattr(family, "PRIMITIVES", {}).items()}
COMPOSITES = {name: rule for family in FAMILIES.values() for name, rule in getattr(family, "COMPOSITES", {}).items()}
