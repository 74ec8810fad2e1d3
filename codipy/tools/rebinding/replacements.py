# SPDX-License-Identifier: Apache-2.0
"""What rebound code sees in the place of NumPy, SciPy, `math` and some built-ins."""

from __future__ import annotations

import builtins
import functools
import math
import sys

import numpy as np

import codipy.math
import codipy.numpy
import codipy.scipy
from codipy.numpy.lists import LINALG
from codipy.numpy.namespace import OWN
from codipy.numpy.standins import STANDINS, isinstance_, pass_for
from codipy.tools.rebinding.caches import FUNCTOOLS, cache, lru_cache
from codipy.tools.rebinding.containers import VIEWS

__all__ = ["BUILTINS", "MODULES", "replacement"]

MODULES = {"numpy": codipy.numpy, "numpy.linalg": codipy.numpy.linalg, "math": codipy.math, "scipy": codipy.scipy}
MODULES["functools"] = FUNCTOOLS


def _pairs():
    for name, new in OWN.items():
        yield getattr(np, name), new
    for name, new in LINALG.items():
        yield getattr(np.linalg, name), new
    yield from STANDINS.items()
    yield isinstance, isinstance_
    yield functools.lru_cache, lru_cache
    yield functools.cache, cache
    for name, old in vars(math).items():
        new = getattr(codipy.math, name)
        if callable(old) and new is not old:
            yield old, new


for _kind, _view in VIEWS.items():
    pass_for(_view, _kind)
_OBJECTS = {id(old): (old, new) for old, new in _pairs()}

# The built-ins that make a function worth rebuilding.
BUILTINS = {name: new for name, old in vars(builtins).items() for _, new in [_OBJECTS.get(id(old), (0, None))] if new}


def replacement(value, default=None):
    """What stands for `value` in rebound code, `default` if nothing does."""
    found = _OBJECTS.get(id(value))
    if found is not None:
        return found[1]
    if type(value) is type(sys) and sys.modules.get(value.__name__) is value:
        return MODULES.get(value.__name__, default)
    return default
